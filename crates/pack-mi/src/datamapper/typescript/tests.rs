//! The file of a mapping, written and read.

use serde_json::json;

use super::super::{Form, read_schema};
use super::*;

const EXPECTED: &str = r#"import * as dmUtils from "./dm-utils";
declare var DM_PROPERTIES: any;

/*
* title : "ns1:order",
* inputType : "XML",
* namespaces :[{"prefix": "ns1", "url": "http://a"}]
*/
interface Order {
    attr_id: number
    ns1_line: {
        "ns1_item-no": string
        ns1_tag?: string[]
    }[]
}

/*
* title : "root",
* outputType : "JSON",
*/
interface Root {
    "first name": string
    end_at: (string | null)
    tags: any[]
}



/**
 * functionName : map_S_ns1:order_S_root
 * inputVariable : inputns1:order
*/
export function mapFunction(input: Order): Root {
    return {}
}

"#;

fn schema(text: &str, form: Form) -> Schema {
    read_schema(text, form).unwrap().0
}

#[test]
fn the_file_is_laid_out_as_the_editor_does() {
    let input = schema(
        "<ns1:order xmlns:ns1=\"http://a\" id=\"1\"><ns1:line><ns1:item-no>a</ns1:item-no></ns1:line><ns1:line><ns1:item-no>b</ns1:item-no><ns1:tag>x</ns1:tag><ns1:tag>y</ns1:tag></ns1:line></ns1:order>",
        Form::Xml,
    );
    let mut output = schema(r#"{"first name": "a", "end_at": "x", "tags": []}"#, Form::Json);
    if let Shape::Object(fields) = &mut output.shape {
        fields[1].shape = Shape::OneOf(vec![Shape::Text, Shape::Null]);
    }
    assert_eq!(write(&input, &output, "return {}"), EXPECTED);
}

#[test]
fn names_that_clash_and_lists() {
    let side = schema("a,b\n1,x\n", Form::Csv);
    let text = write(&side, &side, "return []");
    assert!(text.contains("interface Root {\n    a: number\n    b: string\n}\n"), "{text}");
    assert!(text.contains("interface OutputRoot {\n"), "{text}");
    assert!(
        text.contains("export function mapFunction(input: Root[]): OutputRoot[] {\n    return []\n}\n"),
        "{text}"
    );
}

#[test]
fn what_is_written_is_read() {
    for (input, form) in [
        (r#"{"a": {"b": [1, "x"]}, "c-d": null, "e": [{"f": true}, {}]}"#, Form::Json),
        ("<o a=\"1\"><b>x</b><b>y</b></o>", Form::Xml),
        ("x;y\n1;2\n", Form::Csv),
    ] {
        let (input, output) = (schema(input, form), schema(r#"{"z": 1}"#, Form::Json));
        let file = read(&write(&input, &output, "return { z: 1 };"), "a.ts").unwrap();
        assert_eq!(Schema { namespaces: Vec::new(), ..input }, file.input);
        assert_eq!(output, file.output);
    }
}

#[test]
fn files_of_others_are_read() {
    let source = "interface Person { name: string; kind: \"a\" | \"b\" }\ninterface Root { people: Person[]; boss?: Person }\n/**\n * outputType:CSV\n * title:\"names\"\n */\ninterface Out { name: string }\nexport function mapFunction(input: Root): Out[] { return []; }";
    let file = read(source, "a.ts").unwrap();
    let person = Shape::Object(vec![
        Field::new("name", Shape::Text),
        Field::new("kind", Shape::Exactly(vec![json!("a"), json!("b")])),
    ]);
    let root =
        Shape::Object(vec![Field::new("people", person.clone().list()), Field::optional("boss", person)]);
    assert_eq!(file.input, Schema::new("Root", Kind::Json, root));
    let out = Shape::Object(vec![Field::new("name", Shape::Text)]).list();
    assert_eq!(file.output, Schema::new("names", Kind::Csv, out));
    assert_eq!(read("const a = 1;", "a.ts"), Err(MappingError::NoFunction));
    assert_eq!(read("function mapFunction(input) {}", "a.ts"), Err(MappingError::NoType("what it takes")));
}

#[test]
fn bodies_are_indented_once() {
    assert_eq!(indented("\n  return {\n    a: 1,\n  };\n"), "    return {\n      a: 1,\n    };");
    assert_eq!(indented("return 1;"), "    return 1;");
    assert_eq!(indented("return `a\n  b`;\n"), "return `a\n  b`;", "blanks within a text stay");
}

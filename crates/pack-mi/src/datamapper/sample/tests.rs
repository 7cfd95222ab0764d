//! Samples, the schemas they become, and what a mapping sees of them.

#![allow(clippy::needless_pass_by_value, reason = "expectations read best as they are")]

use serde_json::json;

use super::super::schema;
use super::*;

/// What a sample looks like, as JSON Schema, and what a mapping sees of it.
fn check(text: &str, kind: Kind, schema: Value, value: Value) {
    let sampled = read(text, kind).unwrap();
    assert_eq!(schema::write(&sampled.schema.shape), schema, "{text}");
    assert_eq!(sampled.value, value, "{text}");
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn refused(text: &str, kind: Kind, expected: &str) {
    assert_eq!(read(text, kind).unwrap_err().to_string(), expected);
}

#[test]
fn json_items_are_looked_at_together() {
    let sample = json!({ "id": 1, "lines": [{ "sku": "a", "n": 2 }, { "sku": "b", "note": null }, { "sku": "c", "note": "x" }], "none": [], "odd name": [1, "a"] });
    let line = object(
        json!({ "sku": text(), "note": { "anyOf": [text(), { "type": "null" }] }, "n": number() }),
        &["sku"],
    );
    let schema = object(
        json!({ "id": number(), "lines": list(line), "none": list(json!({})), "odd name": list(json!({ "anyOf": [number(), text()] })) }),
        &["id", "lines", "none", "odd name"],
    );
    check(&sample.to_string(), Kind::Json, schema, sample);
    check(
        "[{\"a\": true}]",
        Kind::Json,
        list(object(json!({ "a": { "type": "boolean" } }), &["a"])),
        json!([{ "a": true }]),
    );
    refused("3", Kind::Json, "it is no usable JSON: the root must be an object or an array");
    refused("{", Kind::Json, "it is no usable JSON: EOF while parsing an object at line 1 column 1");
}

#[test]
fn xml_is_what_the_runtime_makes_of_it() {
    let sample = r#"<?xml version="1.0"?>
<ns1:employees xmlns:ns1="http://a" xmlns:ns2="http://b">
  <ns1:employee id="7" active="true">
    <ns1:name>Ann</ns1:name>
    <ns2:city code="0012">Bern</ns2:city>
    <ns2:phone>1</ns2:phone>
    <ns2:phone>2</ns2:phone>
  </ns1:employee>
  <ns1:employee id="8" active="false">
    <ns1:name>Bob</ns1:name>
    <ns2:phone>x3</ns2:phone>
    <ns1:note><![CDATA[ <b> ]]></ns1:note>
  </ns1:employee>
</ns1:employees>"#;
    let employee = object(
        json!({
            "attr_id": number(),
            "attr_active": { "type": "boolean" },
            "ns1_name": text(),
            "ns2_city": object(json!({ "attr_code": text(), "_ELEMVAL": text() }), &["attr_code", "_ELEMVAL"]),
            "ns2_phone": list(text()),
            "ns1_note": text(),
        }),
        &["attr_id", "attr_active", "ns1_name", "ns2_phone"],
    );
    let value = json!({ "ns1_employee": [
        { "attr_id": 7, "attr_active": true, "ns1_name": "Ann", "ns2_city": { "attr_code": "0012", "_ELEMVAL": "Bern" }, "ns2_phone": ["1", "2"] },
        { "attr_id": 8, "attr_active": false, "ns1_name": "Bob", "ns2_phone": ["x3"], "ns1_note": "<b>" },
    ] });
    check(sample, Kind::Xml, object(json!({ "ns1_employee": list(employee) }), &["ns1_employee"]), value);
    let schema = read(sample, Kind::Xml).unwrap().schema;
    assert_eq!(schema.title, "ns1:employees");
    let namespace = |prefix: &str, url: &str| (prefix.to_owned(), url.to_owned());
    assert_eq!(schema.namespaces, [namespace("ns1", "http://a"), namespace("ns2", "http://b")]);
}

#[test]
fn xml_of_text_and_of_both() {
    check(
        "<a>5</a>",
        Kind::Xml,
        object(json!({ "_ELEMVAL": number() }), &["_ELEMVAL"]),
        json!({ "_ELEMVAL": 5 }),
    );
    // Text between elements is kept together.
    check(
        "<a>one <b>2</b> three</a>",
        Kind::Xml,
        object(json!({ "b": number(), "_ELEMVAL": text() }), &["b", "_ELEMVAL"]),
        json!({ "b": 2, "_ELEMVAL": "one  three" }),
    );
    // An element that is sometimes more than its text.
    check(
        "<r><a>x</a><a k=\"1\">y</a><a/></r>",
        Kind::Xml,
        object(json!({ "a": list(object(json!({ "attr_k": number(), "_ELEMVAL": text() }), &[])) }), &["a"]),
        json!({ "a": [{ "_ELEMVAL": "x" }, { "attr_k": 1, "_ELEMVAL": "y" }, {} ] }),
    );
    refused("<a><b></a>", Kind::Xml, "it is no usable XML, line 1: <b> is not closed: </b> is missing");
    refused("", Kind::Xml, "it is no usable XML, line 1: there is no element");
    refused("text", Kind::Xml, "it is no usable XML, line 1: text must stand inside the document element");
}

#[test]
fn csv_has_names_and_kinds() {
    check(
        "id;name;ok;code\r\n1;\"a;\"\"b\"\"\";true;007\r\n2;;false;8\r\n\r\n",
        Kind::Csv,
        list(object(
            json!({ "id": number(), "name": text(), "ok": { "type": "boolean" }, "code": text() }),
            &["id", "name", "ok", "code"],
        )),
        json!([{ "id": 1, "name": "a;\"b\"", "ok": true, "code": "007" }, { "id": 2, "name": "", "ok": false, "code": "8" }]),
    );
    check(
        "Name,Age\n",
        Kind::Csv,
        list(object(json!({ "Name": text(), "Age": text() }), &["Name", "Age"])),
        json!([]),
    );
    refused("a,b\n1\n", Kind::Csv, "it is no usable CSV, line 2: 1 values for 2 columns");
    refused("a,a\n1,2\n", Kind::Csv, "it is no usable CSV, line 1: two columns are called \"a\"");
    refused("a\n\"b", Kind::Csv, "it is no usable CSV, line 2: a quote is never closed");
    refused("\n", Kind::Csv, "it is no usable CSV, line 1: there is no line with names");
}

#[test]
fn only_what_stays_the_same_is_a_number() {
    for text in ["0", "-1", "12.50", "0.1", "123456789012345"] {
        assert!(scalar(text).is_number(), "{text}");
    }
    for text in ["", "-", "01", "1.", ".5", "1e3", "+1", "1 ", "1234567890123456", "0x1", "1.2.3"] {
        assert_eq!(scalar(text), Value::from(text), "{text}");
    }
}

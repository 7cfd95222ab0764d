//! Results against their target, every helper, and mappings that do not run.

#![allow(clippy::needless_pass_by_value, reason = "expectations read best as they are")]

use serde_json::json;

use super::super::shape::Field;
use super::super::{DM_UTILS, Kind};
use super::*;

fn target() -> Shape {
    Shape::Object(vec![
        Field::new("id", Shape::Number),
        Field::optional("note", Shape::Text),
        Field::new(
            "lines",
            Shape::Object(vec![
                Field::new("sku", Shape::Text),
                Field::new("n", Shape::OneOf(vec![Shape::Number, Shape::Null])),
            ])
            .list(),
        ),
    ])
}

#[test]
fn results_are_judged() {
    let finding = |path: &str, what| Finding { path: path.to_owned(), what };
    let wrong = |text: &str| What::Wrong(text.to_owned());
    for (value, expected) in [
        (json!({ "id": 1, "lines": [{ "sku": "a", "n": null }] }), vec![]),
        (json!({ "lines": [] }), vec![finding("id", What::Missing)]),
        (
            json!({ "id": "1", "extra": 1, "lines": [{ "sku": "a", "n": 1 }, { "n": 1 }, { "n": 2 }] }),
            vec![
                finding("extra", What::Extra),
                finding("id", wrong("wants number, is \"1\"")),
                finding("lines[].sku", What::Missing),
            ],
        ),
        (
            json!({ "id": 1, "lines": [{ "sku": {}, "n": "x" }] }),
            vec![
                finding("lines[].sku", wrong("wants string, is an object")),
                finding("lines[].n", wrong("fits no form of it, is \"x\"")),
            ],
        ),
        (json!([]), vec![finding("the result", wrong("wants object, is a list"))]),
    ] {
        let mut found = judge(&value, &target());
        found.sort_by_key(|finding| expected.iter().position(|one| one == finding));
        assert_eq!(found, expected, "{value}");
    }
}

async fn run(body: &str) -> Result<Tried, String> {
    let source = format!(
        "import * as dmUtils from \"./dm-utils\";\ndeclare var DM_PROPERTIES: any;\ninterface Root {{ a: string }}\nexport function mapFunction(input: Root): any {{\n{body}\n}}\n"
    );
    let output = Schema::new("root", Kind::Json, target());
    let others = [("dm-utils.ts".to_owned(), DM_UTILS.to_owned())];
    let input = json!({ "a": "x", "n": [3, 1, 2] });
    let trial = Trial { name: "map.ts", source: &source, others: &others, input: &input, output: &output };
    trial.run(&CancellationToken::new()).await.map_err(|error| failure(&error, "map.ts", &source))
}

#[tokio::test]
async fn every_helper_works() {
    let tried = run(
        "return [dmUtils.sum(1, 2, 3), dmUtils.max(1, 3, 2), dmUtils.min(2, 1), dmUtils.average(1, 2), dmUtils.ceiling(1.2), dmUtils.floor(1.8), dmUtils.round(1.5), \
         dmUtils.toNumber(\"12\"), dmUtils.toBoolean(\"True\"), dmUtils.numberToString(1.5), dmUtils.booleanToString(false), dmUtils.concat(\"a\", \"b\", \"c\"), \
         dmUtils.split(\"a b\", \" \"), dmUtils.toUppercase(\"a\"), dmUtils.toLowercase(\"A\"), dmUtils.stringLength(\"abc\"), dmUtils.startsWith(\"ab\", \"a\"), \
         dmUtils.endsWith(\"ab\", \"a\"), dmUtils.substring(\"abcd\", 1, 3), dmUtils.trim(\" a \"), dmUtils.replaceFirst(\"aba\", \"a\", \"$&\"), dmUtils.match(\"abc\", /b/), \
         dmUtils.getPropertyValue(\"default\", \"user\")];",
    )
    .await
    .unwrap();
    let expected = json!([
        6,
        3,
        1,
        1.5,
        2,
        1,
        2,
        12,
        true,
        "1.5",
        "false",
        "abc",
        ["a", "b"],
        "A",
        "a",
        3,
        true,
        false,
        "bc",
        "a",
        "$&ba",
        true,
        "user"
    ]);
    assert_eq!(tried.value, expected);
}

#[tokio::test]
async fn results_are_told() {
    let tried = run("console.log('hi');\nreturn { id: '1', lines: [] , more: 1};").await.unwrap();
    assert_eq!(
        tried.text("the sample"),
        "Tried on the sample; the result is:\n{\n  \"id\": \"1\",\n  \"lines\": [],\n  \"more\": 1\n}\nNot in the target schema: more\nWrong: id (wants number, is \"1\")\nconsole: hi"
    );
    assert!(
        run("return { id: 1, lines: [] };")
            .await
            .unwrap()
            .text("x")
            .ends_with("\nIt fits the target schema.")
    );
}

#[tokio::test]
async fn mappings_that_do_not_run_are_told_with_their_line() {
    assert_eq!(
        run("const b = input.b.c;\nreturn b;").await.unwrap_err(),
        "TypeError: cannot read property 'c' of undefined\n    at mapFunction (map.ts:5:11)\n5 | const b = input.b.c;"
    );
    let endless = run("for (;;) {}").await.unwrap_err();
    assert!(endless.starts_with("The script did not end within 1s. It was stopped here"), "{endless}");
    let syntax = run("return {").await.unwrap_err();
    assert!(syntax.starts_with("Syntax error in map.ts, line"), "{syntax}");
    let import = run("return fs;\n}\nimport fs from 'fs';\nexport function other() {").await.unwrap_err();
    assert_eq!(import, "There is no module `fs`. There is: dm-utils.ts, map.ts.");
}

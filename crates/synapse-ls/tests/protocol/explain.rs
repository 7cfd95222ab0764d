//! Hover and signature help.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sequence;

fn hovered(client: &mut Client, steps: &str) -> String {
    let hover = client.ask_at_cursor("textDocument/hover", &sequence(steps));
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn elements_attributes_and_values_are_explained() {
    let mut client = Client::start();
    let element = hovered(&mut client, "<lo|g/>");
    assert!(element.starts_with("**Log** `<log>`\n\nWrites a line to the log of the runtime."), "{element}");
    assert!(element.contains("\n- `level`: How much of the message is written."), "{element}");
    assert_eq!(hovered(&mut client, "<log></lo|g>"), element);
    let attribute = hovered(&mut client, "<log cate|gory=\"INFO\"/>");
    assert_eq!(
        attribute,
        "`category` of `<log>`\n\nThe severity of the line.\n\n- Value: one of INFO, TRACE, DEBUG, WARN, ERROR, FATAL (in any case)\n- Default: `INFO`\n- Evaluated: never; it is a literal"
    );
    assert_eq!(hovered(&mut client, "<log category=\"IN|FO\"/>"), attribute);
    let property = hovered(&mut client, "<property name=\"HTTP|_SC\" value=\"200\" scope=\"axis2\"/>");
    assert!(property.starts_with("Property `HTTP_SC`, scope `axis2`\n\n"), "{property}");
}

#[test]
fn functions_roots_and_names_are_explained() {
    let mut client = Client::start();
    assert_eq!(
        hovered(&mut client, "<log><message>${tr|im(payload.a)}</message></log>"),
        "```\ntrim(text: string) \u{2192} string\n```\n\nThe text without blanks at both ends."
    );
    let root = hovered(&mut client, "<log><message>${trim(pay|load.a)}</message></log>");
    assert!(root.starts_with("`payload`: The body as JSON"), "{root}");
    assert_eq!(
        hovered(&mut client, "<variable name=\"x\" value=\"1\"/><log><message>${vars.x|}</message></log>"),
        "Variable `x`, written once in this file"
    );
}

#[test]
fn findings_are_named() {
    let mut client = Client::start();
    let text = hovered(&mut client, "<lg|o/>");
    assert!(text.starts_with("**SYN0101** "), "{text}");
}

#[test]
fn nothing_is_said_about_nothing() {
    let mut client = Client::start();
    assert_eq!(client.ask_at_cursor("textDocument/hover", &sequence("\n|\n")), Value::Null);
}

#[test]
fn calls_show_their_arguments() {
    let mut client = Client::start();
    let text = sequence("<log><message>${subString(payload.a, 1, |)}</message></log>");
    let help = client.ask_at_cursor("textDocument/signatureHelp", &text);
    assert_eq!((&help["activeSignature"], &help["activeParameter"]), (&json!(1), &json!(2)));
    let labels: Vec<&str> =
        help["signatures"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "subString(text: string, begin: int) \u{2192} string",
            "subString(text: string, begin: int, end: int) \u{2192} string"
        ]
    );
    assert_eq!(help["signatures"][1]["parameters"][2]["label"], "end: int");
    assert_eq!(
        client.ask_at_cursor("textDocument/signatureHelp", &sequence("<log level=\"(|\"/>")),
        Value::Null
    );
}

//! Strict at the end, tolerant on the way.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn whole_arguments_are_an_object() {
    let arguments = Arguments::from_text(" {\"b\": 1, \"a\": [true, null]} ");
    assert_eq!(Value::Object(arguments.parse().unwrap()), json!({ "b": 1, "a": [true, null] }));
    assert_eq!(arguments.text(), " {\"b\": 1, \"a\": [true, null]} ", "the text stays as it was");
}

#[test]
fn what_is_not_whole_is_never_an_empty_object() {
    for (text, expected) in [
        ("", "the arguments are empty"),
        ("  ", "the arguments are empty"),
        ("{\"path\": \"a", "the arguments stop in the middle, after 11 bytes"),
        ("{", "the arguments stop in the middle, after 1 bytes"),
        ("[1]", "the arguments are an array, not an object"),
        ("\"{}\"", "the arguments are a string, not an object"),
        ("null", "the arguments are null, not an object"),
        ("{'a': 1}", "the arguments are not valid JSON: key must be a string at line 1 column 2"),
        ("{} {}", "the arguments are not valid JSON: trailing characters at line 1 column 4"),
        ("```json\n{}\n```", "the arguments are not valid JSON: expected value at line 1 column 1"),
    ] {
        assert_eq!(Arguments::from_text(text).parse().unwrap_err().to_string(), expected, "{text:?}");
    }
}

#[test]
fn the_model_is_told_that_nothing_was_run() {
    assert_eq!(
        BadArguments::CutOff { at: 3 }.for_model(),
        "the arguments stop in the middle, after 3 bytes. Nothing was run. Call the tool again with one complete JSON object."
    );
}

#[test]
fn a_beginning_is_read_as_far_as_it_goes() {
    for (text, expected) in [
        ("", None),
        ("{", Some(json!({}))),
        ("{\"pa", Some(json!({}))),
        ("{\"path\"", Some(json!({}))),
        ("{\"path\":", Some(json!({}))),
        ("{\"path\":\"sr", Some(json!({ "path": "sr" }))),
        ("{\"path\":\"a\\", Some(json!({ "path": "a" }))),
        ("{\"path\":\"a\\u00e", Some(json!({ "path": "a" }))),
        ("{\"a\":1,\"b\":[1,{\"c\":\"d", Some(json!({ "a": 1, "b": [1, { "c": "d" }] }))),
        ("{\"a\":tru", Some(json!({}))),
        ("{\"a\":1}", Some(json!({ "a": 1 }))),
        ("not json", None),
    ] {
        assert_eq!(read_partial(text), expected, "{text:?}");
    }
}

#[test]
fn views_are_made_seldom_enough_to_stay_linear() {
    let mut arguments = PartialArguments::default();
    let mut parsed = 0;
    arguments.push("{\"text\":\"");
    for _ in 0..20_000 {
        if arguments.push("abcde").is_some() {
            parsed += arguments.text().len();
        }
    }
    let size = arguments.text().len();
    assert!(parsed < size * 20, "{parsed} bytes were parsed for {size}");
    assert_eq!(arguments.view().unwrap()["text"].as_str().unwrap().len(), 100_000);
}

proptest! {
    #[test]
    fn any_beginning_of_json_can_be_read(text in "\\PC{0,40}", number in any::<i32>(), cut in any::<prop::sample::Index>()) {
        let whole = json!({ "text": text, "list": [number, null, { "k": text }], "flag": true }).to_string();
        let mut at = cut.index(whole.len());
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        let view = read_partial(&whole[..at]);
        prop_assert!(at == 0 || view.is_some_and(|view| view.is_object()), "{}", &whole[..at]);
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,60}") {
        let _ = read_partial(&text);
        let _ = Arguments::from_text(text).parse();
    }
}

//! Expressions: parsing never panics, and what parses can be evaluated in every mode and ends.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use synapse_lang::expr::{self, Context, Mode};

/// A message with something behind every root.
static CONTEXT: LazyLock<Context> = LazyLock::new(|| {
    serde_json::from_str(
        r#"{
            "payload": "{\"a\": 1, \"big\": 3000000000, \"d\": 1.5, \"s\": \"text\", \"n\": null, \"t\": true, \"arr\": [1, 2.5, \"x\", null, {\"k\": [1, 2]}], \"items\": [{\"id\": 1, \"p\": 9.5}, {\"id\": 2, \"p\": 3}], \"o\": {\"o\": {\"x\": \"y\"}}}",
            "content_type": "application/json",
            "vars": {
                "i": {"type": "int", "value": 7}, "l": {"type": "long", "value": 9000000000}, "d": {"type": "double", "value": 2.5},
                "s": {"type": "string", "value": "it's"}, "b": {"type": "boolean", "value": true},
                "j": {"type": "json", "value": "{\"a\": [1, 2, 3]}"}, "x": {"type": "xml", "value": "<a b='1'><c>2</c></a>"},
                "m": {"type": "map", "value": {"payload": {"type": "json", "value": "{\"a\": 1}"}}}
            },
            "headers": {"Accept": "application/json", "n": "007"},
            "syn": {"uri.var.id": "42", "query.param.q": "x y", "p": "1.50"},
            "ax": {"HTTP_SC": "200"},
            "func": {"who": "me"},
            "reg": {"conf:/a": "{\"a\": 1}"},
            "configs": {"url": "http://example.org"},
            "now": 1700000000000
        }"#,
    )
    .unwrap_or_else(|error| panic!("the context is no context: {error}"))
});

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match expr::parse(&text) {
        Ok(parsed) => {
            for mode in [Mode::Text, Mode::Object] {
                let first = expr::evaluate_as(&parsed, &CONTEXT, mode);
                let again = expr::evaluate_as(&parsed, &CONTEXT, mode);
                assert_eq!(format!("{first:?}"), format!("{again:?}"), "{text:?} has one result");
            }
            let _ = expr::evaluate(&parsed, &Context::default());
        }
        Err(error) => {
            let _ = error.message();
        }
    }
});

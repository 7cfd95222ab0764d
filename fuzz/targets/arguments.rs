//! The partial-JSON reader: never panics, agrees with the strict parser on what is whole, and reads every beginning.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_ai::arguments::{Arguments, PartialArguments, read_partial};
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let strict = Arguments::from_text(text.as_ref()).parse();
    let partial = read_partial(&text);
    if let Ok(object) = strict {
        let partial = partial.unwrap_or_else(|| panic!("{text:?} parses, but is not read"));
        // The two parsers round the last digit of some numbers differently; shapes and texts must agree.
        assert_eq!(shape(&Value::Object(object.clone())), shape(&partial), "{text:?}");
        let mut arguments = PartialArguments::default();
        for piece in text.split_inclusive(',') {
            let _ = arguments.push(piece);
        }
        assert_eq!(arguments.view().map(|view| shape(&view)), Some(shape(&partial)));
    }
    // Any beginning of it: for display, so anything but a panic will do.
    for (at, _) in text.char_indices().take(64) {
        let _ = read_partial(&text[..at]);
    }
});

fn shape(value: &Value) -> String {
    match value {
        Value::Number(_) => "number".to_owned(),
        Value::Array(items) => items.iter().map(shape).collect::<Vec<_>>().join(","),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| format!("{key:?}:{}", shape(value)))
            .collect::<Vec<_>>()
            .join(";"),
        other => other.to_string(),
    }
}

//! JSON paths: compiling and reading never panic, and end; and JSON that is read prints as JSON that reads the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use synapse_lang::json;
use synapse_lang::jsonpath::Path;

const DOCUMENT: &str = r#"{"a": {"b": [1, 2, {"c": "d", "n": null}], "e": 1.50}, "items": [{"id": 1, "tags": ["x", "y"]}, {"id": 20, "tags": []}], "s": "text", "t": true, "": 0}"#;

// A path, and after a line end a document of its own.
fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (path, document) = text.split_once('\n').unwrap_or((&text, DOCUMENT));
    let document = json::parse(document);
    if let Ok(document) = &document {
        let printed = document.to_string();
        let again =
            json::parse(&printed).unwrap_or_else(|error| panic!("{printed:?} does not read: {error:?}"));
        assert_eq!(again.to_string(), printed, "what is printed reads the same");
    }
    let Ok(path) = Path::compile(path) else { return };
    let _ = path.is_definite();
    if let Ok(document) = &document {
        let first = format!("{:?}", path.read(document));
        assert_eq!(first, format!("{:?}", path.read(document)), "one path has one result");
    }
});

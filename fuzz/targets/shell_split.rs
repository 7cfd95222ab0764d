//! The splitter of shell commands: it always answers, its ranges are in the text, and a harmless frame hides nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_policy::shell::{ShellFacts, Split, split};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let facts = ShellFacts::of_project("/project").with_home("/home/user");
    let whole = split(text, &facts);
    if let Split::Opaque { at, .. } = &whole {
        assert!(at.end <= text.len().max(at.start), "{at:?}");
    }
    // A command before it changes nothing about what is found in it.
    if whole.is_plain() {
        let framed = split(&format!("echo a\n{text}"), &facts);
        assert!(framed.is_plain());
        assert_eq!(framed.commands().len(), whole.commands().len() + 1);
    }
});

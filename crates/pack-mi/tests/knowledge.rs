//! Every reference reads well, and every example in it holds.

use pack_mi::knowledge::Library;
use pack_mi::knowledge::prove::prove;

#[test]
fn every_document_can_be_read() {
    let bad: Vec<String> = Library::builtin().bad().iter().map(ToString::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_example_holds() {
    let mut failures = Vec::new();
    for (file, text) in Library::sources() {
        failures.extend(prove(file, text).failures.iter().map(ToString::to_string));
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

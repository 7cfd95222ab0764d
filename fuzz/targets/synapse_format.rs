//! The formatter: never panics, changes nothing but blanks, and a second time changes nothing at all.

#![no_main]

use libfuzzer_sys::fuzz_target;
use synapse_lang::format::{Style, format};
use synapse_lang::syntax::Document;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input).into_owned();
    let style = Style::default();
    let once = format(&text, &style);
    assert_eq!(format(&once, &style), once, "formatted twice, {text:?} changes again");
    let (before, after) = (Document::parse(text.as_str()), Document::parse(once.as_str()));
    assert_eq!(before.problems().len(), after.problems().len(), "{text:?} is as well-formed as before");
    assert_eq!(shape(&before), shape(&after), "{text:?} has the same tree");
});

/// Names, attributes and texts, without the blanks around them.
fn shape(document: &Document) -> Vec<String> {
    let mut shape = Vec::new();
    for element in document.elements() {
        let attributes: Vec<String> =
            element.attributes().map(|one| [one.name(), "=", one.raw()].concat()).collect();
        shape.push([element.name(), " ", &attributes.join(" "), " ", element.text().trim()].concat());
    }
    shape
}

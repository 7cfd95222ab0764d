//! The reader of XML: never panics, keeps every byte, and names only places that are in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use synapse_lang::syntax::{Document, Node};
use synapse_lang::text::Span;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input).into_owned();
    let document = Document::parse(text.as_str());
    let mut at = 0;
    for token in document.tokens() {
        assert_eq!(token.span.start, at, "tokens follow each other in {text:?}");
        within(&text, token.span);
        at = token.span.end;
    }
    assert_eq!(at as usize, text.len(), "the tokens cover all of {text:?}");
    for problem in document.problems() {
        within(&text, problem.span);
        for edit in problem.fix.iter().flat_map(|fix| &fix.edits) {
            within(&text, edit.span);
        }
    }
    for element in document.elements() {
        for span in [element.span(), element.name_span(), element.open_span()] {
            within(&text, span);
        }
        for span in [element.close_span(), element.close_name_span(), element.content_span()] {
            within(&text, span.unwrap_or(Span::at(0)));
        }
        within(&text, Span::at(element.attributes_end()));
        let decoded = element.decoded_text();
        within(&text, decoded.source_span(0..decoded.text().len()));
        for attribute in element.attributes() {
            within(&text, attribute.span());
            within(&text, attribute.span_with_space());
            within(&text, attribute.value_span());
            let decoded = attribute.decoded();
            for (offset, one) in decoded.text().char_indices() {
                within(&text, decoded.source_span(offset..offset + one.len_utf8()));
            }
        }
        for child in element.children() {
            let parent = match child {
                Node::Element(child) => child.parent().map(|parent| parent.id()),
                other => other.parent().map(|parent| parent.id()),
            };
            assert_eq!(parent, Some(element.id()), "a child knows its parent");
        }
    }
    for offset in (0..=text.len()).step_by(1 + text.len() / 16) {
        let _ = document.node_at(offset as u32);
    }
});

fn within(text: &str, span: Span) {
    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} is no place in {text:?}");
}

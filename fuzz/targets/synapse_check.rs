//! The checker and its repairs: no panic, the same findings twice, places in the text, and no repair that makes the
//! document worse. Repairing ends, and repairing what was repaired changes little and ends too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::fix::{self, Extent};
use synapse_lang::model::Version;
use synapse_lang::syntax::Document;
use synapse_lang::text::Span;

// The first byte chooses the runtime and whether the text is taken for the steps of a sequence.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let text = if choice & 1 == 0 {
        text.into_owned()
    } else {
        format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"s\">{text}</sequence>")
    };
    let runtime = if choice & 2 == 0 { None } else { "4.3.0".parse::<Version>().ok() };
    let look = |text: &str| check::check(&Document::parse(text), Setting { runtime, ..Setting::default() });
    let found = look(&text);
    assert_eq!(found, look(&text), "the same text gives the same findings");
    places(&text, &found);
    for extent in [Extent::Safe, Extent::Everything] {
        let once = fix::repair(&text, extent, look);
        let problems = |text: &str| Document::parse(text).problems().len();
        assert!(problems(&once.text) <= problems(&text), "the repair breaks {text:?} into {:?}", once.text);
        let _ = fix::repair(&once.text, extent, look);
    }
});

fn places(text: &str, found: &[Diagnostic]) {
    let within = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    for one in found {
        assert!(within(one.span), "{} is at {:?}, which is no place", one.code, one.span);
        for repair in &one.fixes {
            assert!(repair.edits.iter().all(|edit| within(edit.span)), "{} has edits at no place", one.code);
            let edits: Vec<_> = repair.edits.iter().collect();
            assert!(fix::apply(text, &edits).is_some(), "{} has edits that meet", one.code);
        }
    }
}

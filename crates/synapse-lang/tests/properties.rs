//! What holds for every document: valid ones get no error, repairs never make things worse, places are places.

#![allow(clippy::expect_used, reason = "a test that cannot go on stops")]

#[path = "properties/assemble.rs"]
mod assemble;

use std::collections::BTreeMap;

use proptest::prelude::*;
use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::{Code, Diagnostic, Edit, Safety, Severity};
use synapse_lang::fix::{self, Extent};
use synapse_lang::syntax::Document;
use synapse_lang::text::Span;

use assemble::Decisions;

fn look(text: &str) -> Vec<Diagnostic> {
    check::check(&Document::parse(text), Setting::default())
}

fn errors(found: &[Diagnostic]) -> BTreeMap<Code, usize> {
    let mut counts = BTreeMap::new();
    for one in found.iter().filter(|one| one.severity == Severity::Error) {
        *counts.entry(one.code).or_default() += 1;
    }
    counts
}

fn show(found: &[Diagnostic], text: &str) -> String {
    let bad = found.iter().filter(|one| one.severity == Severity::Error);
    bad.map(|one| format!("{} {:?} {}\n", one.code, one.span.of(text), one.message)).collect()
}

fn problems(text: &str) -> usize {
    Document::parse(text).problems().len()
}

fn decisions() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..400)
}

/// Pieces that people type in the wrong place, and pieces that break things.
const PIECES: &[&str] = &[
    "${",
    "}",
    "${payload.a}",
    "{${vars.x}}",
    " ",
    "\n",
    "\"",
    "'",
    "<",
    ">",
    "/>",
    "</",
    "&",
    "&amp;",
    "&#x41;",
    "<log level=\"FULL\"/>",
    "<lgo/>",
    " value=\"${payload.b}\"",
    " expression=\"payload.b\"",
    " scope=\"synapse\"",
    " type=\"int\"",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "xmlns=\"\"",
    "json-eval($.a",
    "payload.x > 5",
    "<property name=\"HTTP_SC\" value=\"x\"/>",
    "<header name=\"Accept\" value=\"a\"/>",
    "é€😀",
    "\u{0}",
];

/// A text with a few things done to it.
fn damaged(mut text: String, decisions: &mut Decisions) -> String {
    for _ in 0..=decisions.among(4) {
        let at = boundary(&text, decisions.among(text.len() + 1));
        match decisions.among(4) {
            0 => text.insert_str(at, PIECES[decisions.among(PIECES.len())]),
            1 => {
                let end = boundary(&text, (at + decisions.among(30)).min(text.len()));
                text.replace_range(at..end.max(at), "");
            }
            2 => {
                let end = boundary(&text, (at + decisions.among(60)).min(text.len())).max(at);
                let copy = text[at..end].to_owned();
                text.insert_str(end, &copy);
            }
            // A whole attribute goes, or its value changes.
            _ => {
                let Some(start) = text[at..].find("=\"").map(|found| at + found + 2) else { continue };
                let Some(end) = text[start..].find('"').map(|found| start + found) else { continue };
                let from =
                    if decisions.among(2) == 0 { text[..start].rfind(' ').unwrap_or(start) } else { start };
                let to = if from == start { end } else { end + 1 };
                text.replace_range(from..to, "");
            }
        }
    }
    text
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_model_allows_gets_no_error(numbers in decisions()) {
        let Some(text) = assemble::artifact(&mut Decisions::new(numbers)) else { return Ok(()) };
        prop_assert_eq!(problems(&text), 0, "{}", text);
        let found = look(&text);
        prop_assert!(errors(&found).is_empty(), "{}\n{}", show(&found, &text), text);
    }

    #[test]
    fn repairs_never_make_things_worse(numbers in decisions(), damage in proptest::collection::vec(any::<u16>(), 20)) {
        let Some(text) = assemble::artifact(&mut Decisions::new(numbers)) else { return Ok(()) };
        let text = damaged(text, &mut Decisions::new(damage));
        let found = look(&text);
        prop_assert_eq!(&found, &look(&text), "the same text gives the same findings");
        let within = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
        let before = errors(&found);
        for one in &found {
            prop_assert!(within(one.span), "{} is at {:?} of {:?}", one.code, one.span, text);
            for repair in &one.fixes {
                let edits: Vec<&Edit> = repair.edits.iter().collect();
                prop_assert!(edits.iter().all(|edit| within(edit.span)), "{} {:?}", one.code, repair);
                let after = fix::apply(&text, &edits);
                prop_assert!(after.is_some(), "the edits of {} meet: {:?}", one.code, repair);
                let after = after.unwrap_or_default();
                // A repair of the syntax can show the next mistake of the syntax; others leave it as it is.
                prop_assert!(
                    one.code == Code(1) || problems(&after) <= problems(&text),
                    "{:?} of {} breaks\n{}\ninto\n{}", repair.title, one.code, text, after
                );
                if repair.safety == Safety::Safe && problems(&text) == 0 {
                    let left = look(&after);
                    let new: Vec<Code> = errors(&left).into_keys().filter(|code| !before.contains_key(code)).collect();
                    prop_assert!(new.is_empty(), "{:?} of {} brings {new:?} to\n{}\n{}", repair.title, one.code, text, show(&left, &after));
                }
            }
        }
        for extent in [Extent::Safe, Extent::Everything] {
            let repaired = fix::repair(&text, extent, look);
            prop_assert!(problems(&repaired.text) <= problems(&text));
            let left = errors(&look(&repaired.text));
            for (code, count) in left {
                let had = before.get(&code).copied().unwrap_or_default();
                prop_assert!(count <= had, "{code} {count} times after the repair, {had} before:\n{}", text);
            }
        }
    }

    #[test]
    fn a_document_that_is_cut_anywhere_is_checked(numbers in decisions(), at in any::<u16>()) {
        let Some(text) = assemble::artifact(&mut Decisions::new(numbers)) else { return Ok(()) };
        let at = boundary(&text, usize::from(at) % (text.len() + 1));
        let found = look(&text[..at]);
        for one in &found {
            prop_assert!(one.span.end as usize <= at, "{} is at {:?}, behind {at}", one.code, one.span);
        }
    }
}

/// The generator reaches most of the model; otherwise the properties above would say little.
#[test]
fn most_of_the_model_is_assembled() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    let mut made = 0;
    for _ in 0..1500 {
        let numbers = decisions().new_tree(&mut runner).expect("numbers").current();
        let Some(text) = assemble::artifact(&mut Decisions::new(numbers)) else { continue };
        made += 1;
        let document = Document::parse(text.as_str());
        let model = synapse_lang::model::Model::get();
        let tree = check::walk::Tree::of(&document, model);
        seen.extend(tree.placed().iter().map(check::walk::Placed::id));
    }
    let all = synapse_lang::model::Model::get().elements().count();
    assert!(made > 1000, "only {made} of 1500 artifacts could be made whole");
    assert!(seen.len() * 10 > all * 7, "only {} of {all} elements were ever made", seen.len());
}

/// Replacing the value of an attribute that has none wrote into the middle of the tag.
#[test]
fn a_broken_tag_gets_only_repairs_of_its_syntax() {
    let text = "<sequence xmlns<log level=\"FULL\"/>=\"http://ws.apache.org/ns/synapse\"><log level=\"FULL\"/></sequence>";
    let found = look(text);
    let root: Vec<_> = found.iter().filter(|one| one.code == Code(2)).collect();
    assert!(!root.is_empty() && root.iter().all(|one| one.fixes.is_empty()), "{root:?}");
}

/// What a broken tag swallows can hold the ends of other elements, so that taking steps away left those open.
#[test]
fn a_repair_that_moves_tags_of_a_broken_text_leaves_it_no_worse() {
    let tried = [
        "<sequence name=\"a\" disable\"><respond/><log/></sequence>",
        "<sequence name=\"a\"><drop/><sequence onError=\"b\" disable\"><log/></sequence></sequence>",
        "<sequence name=\"a\"><respond/><filter source=\"a\" regex=\"b\"><then><log/></filter><log/></sequence>",
        "<sequence name=\"a\"><respond/><log><property name=\"a\" value=\"b\"</log></sequence>",
        "<sequence name=\"a\"><drop/><log level=\"full><log/></log></sequence>",
        "<sequence name=\"a\" disable\"><respond/><log level=\"full\"/><log/></sequence>",
        "<sequence onError=\"n2\" disable\"><respond/><log level=\"full\"/><log level=\"full\"/></sequence>",
        "<sequence><sequence onError=\"n2\" disable\"><drop/><log level=\"full\"/></sequence><log/></sequence>",
        "<sequence><drop/><sequence onError=\"n2\" disable\"><log level=\"full\"/></sequence><log/></sequence>",
        "<sequence><drop/><log level=\"full\"/><sequence onError=\"n2\" disable\"><log/></sequence><log/></sequence>",
        "<sequence><drop/><log/></log></sequence>",
        "<sequence><drop/><log></sequence>",
        "<sequence><drop/><log>a</sequence><log/>",
        "<sequence><drop/><log><property></log><log/></sequence>",
        "<sequence><drop/><log/><log",
        "<sequence><drop/><log/><log></sequence",
        "<sequence><drop/><log/>",
        "<sequence><drop/><log/><!-- </sequence>",
    ];
    let mut offered = 0;
    for text in tried {
        for one in look(text).iter().filter(|one| one.code != Code(1)) {
            for repair in &one.fixes {
                offered += 1;
                let after = fix::apply(text, &repair.edits.iter().collect::<Vec<_>>()).unwrap_or_default();
                assert!(problems(&after) <= problems(text), "{} {:?}: {after}", one.code, repair.title);
            }
        }
    }
    assert!(offered > 0, "what is harmless is still offered");
}

/// A prefix that is no name cannot be declared.
#[test]
fn a_fault_code_without_a_name_for_its_prefix_gets_no_declaration() {
    let check = |code: &str, fixes: usize| {
        let text = format!(
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"a\"><makefault version=\"soap11\">\
             <code value=\"{code}\"/><reason value=\"b\"/></makefault></sequence>"
        );
        let found = look(&text);
        let codes: Vec<_> = found.iter().filter(|one| one.code == Code(820)).collect();
        assert_eq!(codes.len(), 1, "{code}: {found:?}");
        assert_eq!(codes[0].fixes.len(), fixes, "{code}: {:?}", codes[0]);
    };
    check("soap11Env:Server", 1);
    check("&gt;soap11Env:Server", 0);
    check("1a:Server", 0);
    check(":Server", 0);
    check("xmlns:Server", 0);
}

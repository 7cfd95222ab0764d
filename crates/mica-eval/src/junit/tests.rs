//! Whatever a case, a model or a program says: what is written is XML, and has all of it.

use proptest::prelude::*;
use quick_xml::{Reader, XmlVersion};

use super::*;
use mica_ai::Usage;

fn report(words: &str) -> Report {
    let check = Check {
        at: words.to_owned(),
        what: words.to_owned(),
        passed: false,
        judged: false,
        expected: words.to_owned(),
        found: words.to_owned(),
    };
    let case = |status: Status| CaseReport {
        name: words.to_owned(),
        about: words.to_owned(),
        product: words.to_owned(),
        digest: String::new(),
        status,
        problem: Some(words.to_owned()),
        seconds: 0.0,
        requests: 0,
        usage: Usage::default(),
        journal: None,
        notes: Vec::new(),
        checks: vec![check.clone()],
    };
    Report::new(vec![case(Status::Passed), case(Status::Failed), case(Status::Error), case(Status::Skipped)])
}

/// The texts of a document, and the attributes called `message`.
fn read(xml: &str) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut texts, mut messages) = (String::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Text(text) => texts.push_str(&text),
            Event::GeneralRef(reference) => {
                texts.push_str(quick_xml::escape::resolve_predefined_entity(&reference).unwrap());
            }
            Event::Start(start) | Event::Empty(start) => {
                for attribute in start.attributes() {
                    let attribute = attribute.unwrap();
                    let value = attribute.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned();
                    if AsRef::<str>::as_ref(&attribute.key) == "message" {
                        messages.push(value);
                    }
                }
            }
            _ => {}
        }
    }
    (texts.split("expected: ").map(str::to_owned).collect(), messages)
}

#[test]
fn escape_codes_are_written_as_what_they_are() {
    let xml = junit(&report("\u{1b}[31mred\u{1b}[0m & <b>\r\n\u{9b}1m\u{202e}x\u{0}\u{ffff}")).unwrap();
    assert!(!xml.contains(['\u{1b}', '\r', '\u{9b}', '\u{202e}', '\u{0}', '\u{ffff}']), "{xml:?}");
    let (texts, messages) = read(&xml);
    let shown = "\\u{1b}[31mred\\u{1b}[0m & <b>\\u{d}\n\\u{9b}1m\\u{202e}x\\u{0}\\u{ffff}";
    assert!(texts.iter().any(|text| text.starts_with(&format!("{shown}\nfound: {shown}"))), "{texts:?}");
    assert_eq!(messages, [shown, shown, shown]);
}

proptest! {
    #[test]
    fn any_text_makes_xml(words in any::<String>()) {
        let xml = junit(&report(&words)).unwrap();
        let (_, messages) = read(&xml);
        prop_assert_eq!(messages, vec![allowed(&words); 3]);
        let allowed = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        prop_assert!(xml.chars().all(allowed));
    }
}

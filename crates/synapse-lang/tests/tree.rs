//! The tree against its promises: nothing is lost, nothing panics, and well-formed text means what others read in it.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may read where the development oracles are, and stop at the first surprise"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use synapse_lang::syntax::{Document, Element, Node, ProblemKind, Spot};

/// Everything that must hold for any text.
fn check_invariants(source: &str) {
    let document = Document::parse(source);
    let mut at = 0;
    for token in document.tokens() {
        assert_eq!(token.span.start, at, "a gap or an overlap before {token:?} in {source:?}");
        assert!(!token.span.is_empty(), "{token:?} in {source:?}");
        assert_eq!(token.span.of(source).len() as u32, token.span.len(), "{token:?} in {source:?}");
        at = token.span.end;
    }
    assert_eq!(at as usize, source.len(), "the end is lost: {source:?}");
    for problem in document.problems() {
        assert!(problem.span.end as usize <= source.len(), "{problem:?} in {source:?}");
        assert!(source.is_char_boundary(problem.span.start as usize), "{problem:?} in {source:?}");
        assert!(source.is_char_boundary(problem.span.end as usize), "{problem:?} in {source:?}");
        for edit in problem.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(edit.span.end as usize <= source.len(), "{problem:?} in {source:?}");
            assert!(source.is_char_boundary(edit.span.start as usize), "{problem:?} in {source:?}");
            assert!(source.is_char_boundary(edit.span.end as usize), "{problem:?} in {source:?}");
        }
        assert_ne!(problem.to_string(), "");
    }
    let mut seen = 0;
    for element in document.elements() {
        seen += 1;
        check_element(&element, source);
    }
    let reached: usize = document
        .top_level()
        .filter_map(Node::as_element)
        .map(|element| 1 + element.descendants().count())
        .sum();
    assert_eq!(reached, seen, "{source:?}");
    for offset in 0..=source.len() as u32 {
        let place = document.node_at(offset);
        assert!(place.span.touches(offset), "{offset} is not at {place:?} in {source:?}");
    }
}

fn check_element(element: &Element<'_>, source: &str) {
    let span = element.span();
    assert!(span.covers(element.open_span()), "{element:?} in {source:?}");
    assert!(element.open_span().covers(element.name_span()), "{element:?} in {source:?}");
    assert!(element.close_span().is_none_or(|close| span.covers(close)), "{element:?} in {source:?}");
    assert!(element.content_span().is_none_or(|content| span.covers(content)), "{element:?} in {source:?}");
    assert!(element.open_span().touches(element.attributes_end()), "{element:?} in {source:?}");
    let mut at = element.name_span().end;
    for attribute in element.attributes() {
        assert!(attribute.span_with_space().start >= at, "{attribute:?} in {source:?}");
        assert!(element.open_span().covers(attribute.span()), "{attribute:?} in {source:?}");
        at = attribute.span().end;
        let decoded = attribute.decoded();
        assert_eq!(decoded.source_span(0..decoded.text().len()), attribute.value_span(), "{attribute:?}");
    }
    let mut before = None;
    for child in element.elements() {
        assert_eq!(child.parent().as_ref(), Some(element), "{source:?}");
        assert_eq!(child.previous_sibling_element(), before, "{source:?}");
        if let Some(before) = before {
            assert_eq!(before.next_sibling_element(), Some(child), "{source:?}");
        }
        before = Some(child);
    }
    let text = element.decoded_text();
    for (at, character) in text.text().char_indices() {
        let written = text.source_span(at..at + character.len_utf8());
        assert!(
            !written.is_empty() && span.covers(written),
            "{character:?} at {at} of {element:?} in {source:?}"
        );
    }
}

/// The tree as text, in the words both readers have.
fn ours(document: &Document) -> String {
    let mut out = String::new();
    for element in document.elements() {
        let _ =
            writeln!(out, "{} {:?} {:?}", element.ancestors().count(), element.namespace(), element.local());
        for attribute in element.attributes().filter(|attribute| !attribute.is_declaration()) {
            let _ = writeln!(
                out,
                "  @{:?} {:?} {:?}",
                attribute.namespace(),
                attribute.local(),
                attribute.value()
            );
        }
        for child in element.children() {
            if let Node::Comment(comment) = child {
                let _ = writeln!(out, "  # {:?}", comment.text());
            }
        }
        let _ = writeln!(out, "  {:?}", element.text());
    }
    out
}

fn theirs(document: &roxmltree::Document<'_>) -> String {
    let mut out = String::new();
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let depth = element.ancestors().filter(roxmltree::Node::is_element).count() - 1;
        let tag = element.tag_name();
        let _ =
            writeln!(out, "{depth} {:?} {:?}", tag.namespace().filter(|name| !name.is_empty()), tag.name());
        for attribute in element.attributes() {
            let _ = writeln!(
                out,
                "  @{:?} {:?} {:?}",
                attribute.namespace(),
                attribute.name(),
                attribute.value()
            );
        }
        for child in element.children().filter(roxmltree::Node::is_comment) {
            let _ = writeln!(out, "  # {:?}", child.text().unwrap_or_default());
        }
        let text: String =
            element.children().filter(roxmltree::Node::is_text).filter_map(|child| child.text()).collect();
        let _ = writeln!(out, "  {text:?}");
    }
    out
}

/// Pieces from which broken documents are made.
fn fragments() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<",
        ">",
        "</",
        "/>",
        "<a",
        "<a>",
        "</a>",
        "<b>",
        "</b>",
        "<c/>",
        "<p:q",
        " xmlns:p='u'",
        " xmlns=\"\"",
        " xmlns='v'",
        "=",
        "\"",
        "'",
        " x=\"1\"",
        " y='2'",
        " x=\"${f(\"a\")}\"",
        "&",
        "&&",
        "&amp;",
        "&#65;",
        "&#x0;",
        "&foo;",
        "&lt",
        "<!--",
        "-->",
        "--",
        "<![CDATA[",
        "]]>",
        "<?xml version='1.0'?>",
        "<?",
        "?>",
        "<!DOCTYPE",
        "[",
        "<!ENTITY",
        "]",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "text",
        "\u{e9}",
        "\u{1f600}",
        "\u{feff}",
        "\u{0}",
        "\u{ffff}",
        "(",
        ")",
        " name=",
        "\n  <",
        "</ab>",
        "<ab x",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Well-formed elements.
fn well_formed() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("a"), Just("b"), Just("p:c"), Just("long-name.x"), Just("\u{e9}t\u{e9}")];
    let value = prop_oneof![
        Just(""),
        Just("plain"),
        Just("a &lt; b &amp;&amp; c"),
        Just("l1\nl2\tl3\r\nl4"),
        Just("&#10;&#x1F600;"),
        Just("a > b"),
        Just("\u{e9}"),
        Just("urn:x"),
    ];
    let attribute_name =
        prop_oneof![Just("x"), Just("p:x"), Just("xml:lang"), Just("xmlns"), Just("xmlns:p")];
    let attributes =
        prop::collection::btree_map(attribute_name, (value, any::<bool>()), 0..4).prop_map(|all| {
            all.into_iter().fold(String::new(), |mut out, (name, (value, single))| {
                let value = if name == "xmlns:p" && value.is_empty() { "urn:p" } else { value };
                let quote = if single { '\'' } else { '"' };
                let _ = write!(out, " {name}={quote}{value}{quote}");
                out
            })
        });
    let text = prop_oneof![
        Just(""),
        Just(" "),
        Just("\r\n"),
        Just("text &amp; more"),
        Just("<![CDATA[<x> & ]] \r\n]]>"),
        Just("<!-- - c -->"),
        Just("&#13;x\r"),
        Just("<?pi some > data?>"),
        Just("\u{1f600}]] >"),
    ];
    let leaf = (name.clone(), attributes.clone(), text.clone()).prop_map(|(name, attributes, text)| {
        if text.is_empty() {
            format!("<{name}{attributes}/>")
        } else {
            format!("<{name}{attributes}>{text}</{name} >")
        }
    });
    leaf.prop_recursive(5, 40, 5, move |inner| {
        (name.clone(), attributes.clone(), text.clone(), prop::collection::vec((inner, text.clone()), 0..5))
            .prop_map(|(name, attributes, text, children)| {
                let children: String = children.into_iter().map(|(child, text)| child + text).collect();
                format!("<{name}{attributes}\n>{text}{children}</{name}>")
            })
    })
    .prop_map(|body| format!("<?xml version=\"1.0\"?>\n<!-- before --><r xmlns:p=\"urn:outer\">{body}</r>\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_of_broken_documents(source in fragments()) {
        check_invariants(&source);
    }

    #[test]
    fn nothing_is_lost_of_any_text(source in any::<String>()) {
        check_invariants(&source);
    }

    #[test]
    fn well_formed_text_means_what_others_read_in_it(source in well_formed()) {
        let document = Document::parse(source.as_str());
        prop_assert_eq!(document.problems(), &[]);
        check_invariants(&source);
        let other = roxmltree::Document::parse(&source).unwrap();
        prop_assert_eq!(ours(&document), theirs(&other));
    }

    #[test]
    fn a_second_opinion_and_ours_agree_on_what_is_well_formed(source in fragments()) {
        // What the other reader takes has no problems but those that we are stricter about.
        let document = Document::parse(source.as_str());
        if let Ok(other) = roxmltree::Document::parse(&source) {
            let stricter = |kind: &ProblemKind| matches!(kind, ProblemKind::InvalidCharacter { .. });
            let problems: Vec<_> = document.problems().iter().filter(|one| !stricter(&one.kind)).collect();
            prop_assert!(problems.is_empty(), "{:?} in {:?}", problems, source);
            prop_assert_eq!(ours(&document), theirs(&other));
        } else {
            prop_assert!(!document.problems().is_empty(), "nothing is wrong with {:?}", source);
        }
    }
}

#[test]
fn depth_costs_no_stack() {
    const DEPTH: usize = 1_000_000;
    let source = "<a>".repeat(DEPTH);
    let document = Document::parse(source.as_str());
    assert_eq!(document.elements().count(), DEPTH);
    let deepest = document.elements().last().unwrap();
    assert_eq!(deepest.ancestors().count(), DEPTH - 1);
    assert_eq!(document.tokens().map(|token| token.span.len() as usize).sum::<usize>(), source.len());
    assert!(matches!(document.node_at(source.len() as u32).spot, Spot::Content));
    let left_out = document.problems().last().map(|problem| problem.kind.clone());
    assert_eq!(left_out, Some(ProblemKind::More { left_out: DEPTH - 1000 }));
    drop(document);

    let balanced = source + &"</a>".repeat(DEPTH);
    assert_eq!(Document::parse(balanced).problems(), []);
}

#[test]
fn real_artifacts_are_read_without_problems() {
    let Some(oracles) = std::env::var_os("MICA_ORACLES") else {
        println!("skipped: MICA_ORACLES does not say where real artifacts are");
        return;
    };
    let mut files = Vec::new();
    list(&PathBuf::from(oracles).join("xml"), &mut files);
    assert!(!files.is_empty(), "there are no artifacts");
    let mut wrong = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let Ok(source) = String::from_utf8(bytes) else {
            wrong.push(format!("{}: not UTF-8", file.display()));
            continue;
        };
        check_tokens(&source);
        let document = Document::parse(source.as_str());
        match roxmltree::Document::parse(source.trim_start_matches('\u{feff}')) {
            Ok(other) => {
                assert_eq!(ours(&document), theirs(&other), "{}", file.display());
                let problems: Vec<_> = document.problems().iter().map(ToString::to_string).collect();
                assert_eq!(problems, Vec::<String>::new(), "{}", file.display());
            }
            Err(error) => {
                assert_ne!(document.problems(), [], "{}: {error}", file.display());
                let problems: Vec<_> =
                    document.problems().iter().map(|one| format!("{:?} {one}", one.span)).collect();
                wrong.push(format!("{}: {error}\n    {}", file.display(), problems.join("\n    ")));
            }
        }
    }
    println!("{} files, {} of them broken:\n{}", files.len(), wrong.len(), wrong.join("\n"));
    // Few are broken; when many are, the reader is.
    assert!(wrong.len() * 50 < files.len(), "{} of {} files are broken", wrong.len(), files.len());
}

fn check_tokens(source: &str) {
    let document = Document::parse(source);
    let joined: String = document.tokens().map(|token| token.span.of(source)).collect();
    assert_eq!(joined, source);
}

fn list(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            list(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            into.push(path);
        }
    }
}

//! What moves, what stays, and that it does so for any document.

use proptest::prelude::*;

use super::*;
use crate::check::{self, Setting};

const OPEN: &str = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"s\">";

#[track_caller]
fn check(text: &str, expect: &str) {
    let formatted = format(text, &Style::default());
    assert_eq!(formatted, expect);
    assert_eq!(format(&formatted, &Style::default()), formatted, "twice is once");
}

/// Checks the inside of a sequence.
#[track_caller]
fn inside(text: &str, expect: &str) {
    check(&format!("{OPEN}{text}</sequence>"), &format!("{OPEN}\n{expect}</sequence>\n"));
}

#[test]
fn steps_stand_on_lines_of_their_own() {
    inside("<log/><drop/>", "    <log/>\n    <drop/>\n");
    inside(
        "<filter xpath=\"${true}\">\n<then><drop/></then>\n\t<else/></filter>",
        "    <filter xpath=\"${true}\">\n        <then>\n            <drop/>\n        </then>\n        <else/>\n    </filter>\n",
    );
}

#[test]
fn blank_lines_and_comments_stay_where_they_say_something() {
    inside("\n\n\n<log/>\n\n\n\n<drop/>\n\n", "    <log/>\n\n    <drop/>\n");
    inside(
        "<log/> <!-- why --><!-- b -->\n<!-- c\n  d -->\n<drop/>",
        "    <log/> <!-- why --> <!-- b -->\n    <!-- c\n  d -->\n    <drop/>\n",
    );
    inside("<!-- only -->", "    <!-- only -->\n");
}

#[test]
fn content_that_matters_is_not_touched() {
    let payload = "<payloadFactory media-type=\"xml\">\n        <format>\n  <a> <b/>  text</a></format>\n        <args/>\n    </payloadFactory>\n";
    inside(payload, &format!("    {payload}"));
    inside(
        "<log><property name=\"a\" value=\"x &#10;  &lt; 'y'\"/></log>",
        "    <log>\n        <property name=\"a\" value=\"x &#10;  &lt; 'y'\"/>\n    </log>\n",
    );
    inside(
        "<log category='INFO'  level=\"full\" ></log>",
        "    <log category='INFO'  level=\"full\" ></log>\n",
    );
    inside(
        "<script language=\"js\"><![CDATA[ if (a < b) {\n } ]]></script>",
        "    <script language=\"js\"><![CDATA[ if (a < b) {\n } ]]></script>\n",
    );
    inside(
        "<http.get configKey=\"c\"><relativePath> /a\n</relativePath></http.get>",
        "    <http.get configKey=\"c\">\n        <relativePath> /a\n</relativePath>\n    </http.get>\n",
    );
}

#[test]
fn attributes_on_lines_of_their_own_stay_there() {
    inside(
        "<log\ncategory=\"INFO\"\n  level=\"full\"\n/>",
        "    <log\n            category=\"INFO\"\n            level=\"full\"\n    />\n",
    );
}

#[test]
fn declarations_line_ends_and_marks_stay() {
    check(
        "\u{feff}<?xml version=\"1.0\"?><!-- a --><sequence name=\"s\"/>",
        "\u{feff}<?xml version=\"1.0\"?> <!-- a -->\n<sequence name=\"s\"/>\n",
    );
    check(
        "<sequence name=\"s\">\r\n<log/>\r\n</sequence>\r\n",
        "<sequence name=\"s\">\r\n    <log/>\r\n</sequence>\r\n",
    );
}

#[test]
fn what_is_broken_or_unknown_is_left_alone() {
    for text in ["<sequence><log></sequence>", "<html> <p/></html>", "", "   "] {
        assert_eq!(format(text, &Style::default()), text);
        assert!(obstacle(&Document::parse(text)).is_some(), "{text}");
    }
}

/// What a document says, whatever its white space: tags, attributes as written, comments, texts.
fn said(text: &str) -> Vec<String> {
    let document = Document::parse(text);
    let mut said = Vec::new();
    for element in document.elements() {
        let attributes = element.attributes().map(|one| one.span().of(text)).collect::<Vec<_>>().join(" ");
        said.push(format!("<{} {attributes}>", element.name()));
        for child in element.children() {
            match child {
                Node::Text(piece) if piece.is_blank() => {}
                Node::Element(_) => {}
                other => said.push(other.span().of(text).to_owned()),
            }
        }
        // A text without elements is kept to the last blank, unless it is white space where nobody reads it.
        if !element.has_element_children() && !element.text().trim().is_empty() {
            said.push(element.content_span().unwrap_or_default().of(text).to_owned());
        }
    }
    said
}

/// Formatting keeps what is said, changes no finding, and is done after once.
fn keeps(text: &str) -> Result<(), String> {
    let formatted = format(text, &Style::default());
    if said(text) != said(&formatted) {
        return Err(format!("the tree changed:\n{text}\n---\n{formatted}"));
    }
    let findings = |text: &str| {
        let found = check::check(&Document::parse(text), Setting::default());
        found.into_iter().map(|one| (one.code, one.message)).collect::<Vec<_>>()
    };
    if findings(text) != findings(&formatted) {
        return Err(format!("findings changed:\n{text}\n---\n{formatted}"));
    }
    if format(&formatted, &Style::default()) != formatted {
        return Err(format!("twice is not once:\n{formatted}"));
    }
    Ok(())
}

fn pieces() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("<log/>".to_owned()),
        Just("<log level=\"full\" />".to_owned()),
        Just("<!-- a\n  b -->".to_owned()),
        Just("<property name='a'\n value=\"b &amp; c\"/>".to_owned()),
        Just(
            "<payloadFactory media-type=\"json\"><format> {\"a\": 1}\n </format><args/></payloadFactory>"
                .to_owned()
        ),
        Just(
            "<payloadFactory media-type=\"xml\"><format><a>\n <b/> t</a></format></payloadFactory>"
                .to_owned()
        ),
        Just("<variable name=\"v\"><a> </a></variable>".to_owned()),
        Just("<x.y><p>\n1</p></x.y>".to_owned()),
        Just("<?pi x?>".to_owned()),
        Just("text".to_owned()),
        Just("<![CDATA[ x ]]>".to_owned()),
        Just("<unknown> <a/></unknown>".to_owned()),
        "[ \t\n\r]{0,4}",
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let many = proptest::collection::vec(inner, 0..6);
        (many, 0..4_usize).prop_map(|(parts, kind)| {
            let parts = parts.concat();
            match kind {
                0 => format!("<filter xpath=\"a\"><then>{parts}</then> <else>\n</else></filter>"),
                1 => format!("<sequence>{parts}</sequence>"),
                2 => format!("<validate><schema key='k'/><on-fail>{parts}</on-fail></validate>"),
                _ => parts,
            }
        })
    })
}

proptest! {
    #[test]
    fn any_document_keeps_what_it_says(parts in proptest::collection::vec(pieces(), 0..8)) {
        let text = format!("{OPEN}{}</sequence>", parts.concat());
        prop_assert_eq!(keeps(&text), Ok(()));
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "this test is told by its environment where the artifacts are")]
fn real_artifacts_keep_what_they_say() {
    let Some(folder) = std::env::var_os("MICA_ORACLES") else {
        println!("SKIP: MICA_ORACLES does not name a folder with real artifacts");
        return;
    };
    let mut paths = Vec::new();
    crate::project::disk::walk(&std::path::Path::new(&folder).join("xml"), &mut paths).unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for path in &paths {
        let Some(text) = crate::project::disk::text(path) else { continue };
        count += usize::from(obstacle(&Document::parse(text.clone())).is_none());
        if let Err(why) = keeps(&text) {
            wrong.push(format!("{}: {}", path.display(), why.lines().next().unwrap_or_default()));
        }
    }
    println!("{count} of {} artifacts were formatted", paths.len());
    assert!(count > 100, "only {count} were formatted");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! The tree as a whole: its shape, its places, its namespaces.

use super::*;
use crate::text::Span;

/// The elements as nested names: `a(b c(d))`; `!` marks one that is not closed.
fn shape(document: &Document) -> String {
    fn names<'a>(elements: impl Iterator<Item = Element<'a>>) -> String {
        let all: Vec<_> = elements
            .map(|element| {
                let inner = names(element.elements());
                let mark = if element.is_closed() { "" } else { "!" };
                let inner = if inner.is_empty() { inner } else { format!("({inner})") };
                format!("{}{mark}{inner}", element.name())
            })
            .collect();
        all.join(" ")
    }
    names(document.top_level().filter_map(Node::as_element))
}

#[test]
fn broken_documents_have_the_tree_that_was_meant() {
    for (source, expected) in [
        ("<a><b/><c><d/></c></a>", "a(b c(d))"),
        ("<a><b><c/></a>", "a(b!(c))"),
        ("<a><b><c></b><d/></a>", "a(b(c!) d)"),
        ("<a><b></c><d/></a>", "a(b!(d))"),
        ("<a><log></lgo><d/></a>", "a(log d)"),
        ("<a><b/></b><d/></a>", "a(b d)"),
        // Somebody types a tag before others: these do not become its children.
        ("<a><lo\n<c/><d/></a>", "a(lo! c d)"),
        ("<a><lo <m <c/><d/></a>", "a(lo! m! c d)"),
        ("<a><\n<c/></a>", "a(! c)"),
        // Only the `>` is missing.
        ("<a><b x='1'\n<c/></b><d/></a>", "a(b(c) d)"),
        ("<a><b x=\"1>\n<c y=\"2\"/>\n</b><d/></a>", "a(b(c) d)"),
        ("<a/><b/>", "a b"),
        ("</a><b/>", "b"),
    ] {
        assert_eq!(shape(&Document::parse(source)), expected, "{source}");
    }
}

#[test]
fn every_part_has_its_place() {
    let source = "<p:a xmlns:p='u'  x = \"1\" >t<b/></p:a >";
    let document = Document::parse(source);
    assert_eq!(document.problems(), []);
    let root = document.root().unwrap();
    let of = |span: Span| span.of(source);
    assert_eq!((root.name(), root.prefix(), root.local()), ("p:a", Some("p"), "a"));
    assert_eq!(of(root.span()), source);
    assert_eq!(of(root.name_span()), "p:a");
    assert_eq!(of(root.open_span()), "<p:a xmlns:p='u'  x = \"1\" >");
    assert_eq!(root.close_span().map(of), Some("</p:a >"));
    assert_eq!(root.close_name_span().map(of), Some("p:a"));
    assert_eq!(root.content_span().map(of), Some("t<b/>"));
    let x = root.attribute("x").unwrap();
    assert_eq!(of(x.span()), "x = \"1\"");
    assert_eq!(of(x.span_with_space()), "  x = \"1\"");
    assert_eq!((of(x.name_span()), of(x.value_span()), x.quote()), ("x", "1", Some('"')));
    assert_eq!(root.attributes_end(), x.span().end);
    let b = root.first("b").unwrap();
    assert!(b.is_self_closing() && b.content_span().is_none() && b.close_span().is_none());
    assert_eq!(b.attributes_end(), b.name_span().end);
}

#[test]
fn namespaces_come_from_the_nearest_declaration() {
    let source =
        "<a xmlns='one' xmlns:p='two'><p:b p:x='1' x='2'/><c xmlns=''><d/><p:e xmlns:p='three'/></c><f/></a>";
    let document = Document::parse(source);
    let found: Vec<_> = document.elements().map(|element| (element.local(), element.namespace())).collect();
    assert_eq!(
        found,
        [
            ("a", Some("one")),
            ("b", Some("two")),
            ("c", None),
            ("d", None),
            ("e", Some("three")),
            ("f", Some("one"))
        ]
    );
    let b = document.elements().nth(1).unwrap();
    let found: Vec<_> = b.attributes().map(|one| (one.name(), one.namespace())).collect();
    assert_eq!(found, [("p:x", Some("two")), ("x", None)]);
    assert_eq!(b.value("x").as_deref(), Some("2"));
    assert!(b.is("two", "b") && !b.is("one", "b"));
    assert_eq!(b.lookup_namespace("").as_deref(), Some("one"));
    let d = document.elements().nth(3).unwrap();
    assert_eq!(d.lookup_namespace(""), None);
    assert!(d.is("", "d"));
}

#[test]
fn joined_text_leads_back_to_each_piece() {
    let source = "<a>x &lt;<b>no</b><![CDATA[<&>]]>\r\ny</a>";
    let document = Document::parse(source);
    let text = document.root().unwrap().decoded_text();
    assert_eq!(text.text(), "x <<&>\ny");
    let of = |range: std::ops::Range<usize>| text.source_span(range).of(source);
    assert_eq!(of(2..3), "&lt;");
    assert_eq!(of(3..6), "<&>");
    assert_eq!(of(6..7), "\r\n");
    assert_eq!(of(7..8), "y");
}

#[test]
fn tokens_name_each_part() {
    let source = "<a x = '1' !>t</a ><?p?>";
    let found: Vec<_> = Document::parse(source)
        .tokens()
        .map(|token| (token.kind, token.span.of(source).to_owned()))
        .collect();
    let expected = [
        (TokenKind::Bracket, "<"),
        (TokenKind::ElementName, "a"),
        (TokenKind::Space, " "),
        (TokenKind::AttributeName, "x"),
        (TokenKind::Equals, " = "),
        (TokenKind::Quote, "'"),
        (TokenKind::Value, "1"),
        (TokenKind::Quote, "'"),
        (TokenKind::Space, " "),
        (TokenKind::AttributeName, "!"),
        (TokenKind::Bracket, ">"),
        (TokenKind::Text, "t"),
        (TokenKind::Bracket, "</"),
        (TokenKind::ElementName, "a"),
        (TokenKind::Space, " "),
        (TokenKind::Bracket, ">"),
        (TokenKind::Instruction, "<?p?>"),
    ];
    assert_eq!(found, expected.map(|(kind, text)| (kind, text.to_owned())));
}

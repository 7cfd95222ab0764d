//! The cursor, marked with `|`.

use super::super::Document;
use super::Spot;

fn check(marked: &str, expected: &str) {
    let offset = marked.find('|').unwrap();
    let source = marked.replacen('|', "", 1);
    let document = Document::parse(source.as_str());
    let place = document.node_at(offset as u32);
    let spot = match place.spot {
        Spot::ElementName => "name".to_owned(),
        Spot::AttributeName(attribute) => format!("attribute name {}", attribute.name()),
        Spot::AttributeEquals(attribute) => format!("equals {}", attribute.name()),
        Spot::AttributeValue(attribute) => format!("value {}", attribute.name()),
        Spot::TagSpace => "space".to_owned(),
        Spot::TagEnd => "tag end".to_owned(),
        Spot::CloseName => "close name".to_owned(),
        Spot::CloseTag => "close tag".to_owned(),
        Spot::Text(_) => "text".to_owned(),
        Spot::CData(_) => "cdata".to_owned(),
        Spot::Comment(_) => "comment".to_owned(),
        Spot::Instruction(_) => "instruction".to_owned(),
        Spot::Doctype(_) => "doctype".to_owned(),
        Spot::Junk(_) => "junk".to_owned(),
        Spot::Content => "content".to_owned(),
    };
    let element = place.element.map_or("-", |element| element.name());
    let found = format!("{spot} `{}` of {element}", place.span.of(&source));
    assert_eq!(found, expected, "{marked}");
}

#[test]
fn the_cursor_is_on_what_would_be_typed_into() {
    for (marked, expected) in [
        ("|<a/>", "content `` of -"),
        ("<|a/>", "name `a` of a"),
        ("<ab|/>", "name `ab` of ab"),
        ("<a | x='1'/>", "space `  ` of a"),
        ("<a x|y='1'/>", "attribute name xy `xy` of a"),
        ("<a xy|='1'/>", "attribute name xy `xy` of a"),
        ("<a x=|'1'/>", "equals x `='` of a"),
        ("<a x='|'/>", "value x `` of a"),
        ("<a x='12|'/>", "value x `12` of a"),
        ("<a x='1'|/>", "space `` of a"),
        ("<a x='1' |>", "space ` ` of a"),
        ("<a x='1'/|>", "tag end `/>` of a"),
        ("<a>|</a>", "content `` of a"),
        ("<a>|t</a>", "text `t` of a"),
        ("<a>t|</a>", "text `t` of a"),
        ("<a><b/>|</a>", "content `` of a"),
        ("<a><b/>|t</a>", "text `t` of a"),
        ("<a><b/></|a>", "close name `a` of a"),
        ("<a><b/><|/a>", "close tag `</a>` of a"),
        ("<a></a |>", "close tag `</a >` of a"),
        ("<a></a>|", "content `` of -"),
        ("<a><!-|-x--></a>", "comment `<!--x-->` of a"),
        ("<a><![CDATA[x|]]></a>", "cdata `<![CDATA[x]]>` of a"),
        ("<?x|ml?><a/>", "instruction `<?xml?>` of -"),
        ("<!DOCTYPE| a><a/>", "doctype `<!DOCTYPE a>` of -"),
        ("<a></b|></a>", "junk `</b>` of a"),
        // Half-typed tags.
        ("<a><|</a>", "name `` of "),
        ("<a><|\n</a>", "name `` of "),
        ("<a><lo|\n</a>", "name `lo` of lo"),
        ("<a><lo |\n<b/></a>", "space ` ` of lo"),
        ("<a><lo x=\"|\n<b y=\"1\"/></a>", "value x `` of lo"),
        ("<a><lo x=\"ab|\n<b y=\"1\"/></a>", "value x `ab` of lo"),
        ("<a>t|", "text `t` of a"),
        ("<a><b>|", "content `` of b"),
    ] {
        check(marked, expected);
    }
}

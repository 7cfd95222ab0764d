//! Each slip, what is said about it, and what the repair makes of the text.

use super::super::Document;
use super::*;

/// The problems as `start..end message`, and the text after all repairs.
fn check(source: &str, problems: &[&str], repaired: &str) {
    let document = Document::parse(source);
    let found: Vec<String> = document
        .problems()
        .iter()
        .map(|problem| format!("`{}` {problem}", problem.span.of(source)))
        .collect();
    assert_eq!(found, problems, "{source}");
    assert_eq!(repair(source, document.problems()), repaired, "{source}");
}

fn repair(source: &str, problems: &[Problem]) -> String {
    let mut edits: Vec<_> =
        problems.iter().filter_map(|one| one.fix.as_ref()).flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = source.to_owned();
    for edit in edits {
        text.replace_range(std::ops::Range::from(edit.span), &edit.text);
    }
    text
}

/// As [`check`], and the repaired text has no problems.
fn check_mended(source: &str, problems: &[&str], repaired: &str) {
    check(source, problems, repaired);
    assert_eq!(Document::parse(repaired).problems(), [], "{repaired}");
}

#[test]
fn elements_that_are_not_closed() {
    check_mended("<a><b></a>", &["`b` <b> is not closed: </b> is missing"], "<a><b/></a>");
    check_mended("<a><b><c/> </a>", &["`b` <b> is not closed: </b> is missing"], "<a><b><c/></b> </a>");
    check_mended("<a>", &["`a` <a> is not closed: </a> is missing"], "<a/>");
    check_mended("<a>t", &["`a` <a> is not closed: </a> is missing"], "<a>t</a>");
}

#[test]
fn end_tags_that_fit_nothing() {
    check_mended("<a><b/></b></a>", &["`</b>` </b> closes nothing: no <b> is open here"], "<a><b/></a>");
    check_mended(
        "<a><log></lgo></a>",
        &["`lgo` </lgo> does not match <log>, which is open here"],
        "<a><log></log></a>",
    );
    check_mended("<a><b></c></a>", &["`c` </c> does not match <b>, which is open here"], "<a><b></b></a>");
    check_mended("<a><b></></a>", &["`</>` </> does not match <b>, which is open here"], "<a><b></b></a>");
    check_mended("<a></c></a>", &["`</c>` </c> closes nothing: no <c> is open here"], "<a></a>");
    check_mended("<a></A>", &["`A` </A> does not match <a>, which is open here"], "<a></a>");
    check_mended("<a/></a>", &["`</a>` </a> closes nothing: no <a> is open here"], "<a/>");
    check_mended(
        "<a><b></b></a",
        &["`</a` the tag of \"/a\" does not end: `>` is missing"],
        "<a><b></b></a>",
    );
    check_mended("<a></a x='1'>", &["`x='1'` this is not part of an attribute"], "<a></a>");
}

#[test]
fn tags_that_do_not_end() {
    check_mended(
        "<a><b x='1'\n<c/></a>",
        &["`<b` the tag of \"b\" does not end: `>` is missing"],
        "<a><b x='1'/>\n<c/></a>",
    );
    // What follows from the missing `>` is not said as well; it comes up once that is mended.
    check("<a><b x <c/></a>", &["`<b` the tag of \"b\" does not end: `>` is missing"], "<a><b x/> <c/></a>");
    // A tag that has its end tag only lacks the `>`.
    check("<a\n<b/></a>", &["`<a` the tag of \"a\" does not end: `>` is missing"], "<a>\n<b/></a>");
}

#[test]
fn attributes_that_are_not_quite_there() {
    check_mended("<a x/>", &["`x` the attribute \"x\" has no value"], "<a x=\"\"/>");
    check_mended("<a x=/>", &["`x=` the attribute \"x\" has no value"], "<a x=\"\"/>");
    check_mended("<a x=1/>", &["`1` the value of \"x\" must stand in quotes"], "<a x=\"1\"/>");
    check_mended("<a x\"1\"/>", &["`x` `=` is missing between \"x\" and its value"], "<a x=\"1\"/>");
    check_mended("<a x='1'y='2'/>", &["`` a blank is missing between two attributes"], "<a x='1' y='2'/>");
    check("<a x='1' x='2'/>", &["`x` the attribute \"x\" is there twice"], "<a x='1' x='2'/>");
    check(
        "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>",
        &["`q:x` the attribute \"q:x\" is there twice"],
        "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>",
    );
    check_mended("<a = />", &["`=` this is not part of an attribute"], "<a  />");
    check(
        "<a $x='1'/>",
        &["`$x` \"$x\" is not a name: it has characters that XML names cannot have"],
        "<a $x='1'/>",
    );
    check_mended(
        "<a><b x='1' y='2></b><c z='3'/></a>",
        &["`'2` the value of \"y\" does not end: its closing quote is missing"],
        "<a><b x='1' y='2'></b><c z='3'/></a>",
    );
    check_mended(
        "<a x=\"full y=\"z\"/>",
        &["`\"full` the value of \"x\" does not end: its closing quote is missing"],
        "<a x=\"full\" y=\"z\"/>",
    );
    check_mended(
        "<a>\n<b x=\"1>\n<c y=\"2\"/>\n</b></a>",
        &["`\"1` the value of \"x\" does not end: its closing quote is missing"],
        "<a>\n<b x=\"1\">\n<c y=\"2\"/>\n</b></a>",
    );
    check_mended(
        "<a x=\"1/>",
        &["`\"1` the value of \"x\" does not end: its closing quote is missing"],
        "<a x=\"1\"/>",
    );
}

#[test]
fn expressions_in_attributes() {
    let cut = |value: &str, quote: char| {
        format!(
            "`{value}` the value of \"e\" is cut short: {quote} stands inside a value that is quoted with {quote}"
        )
    };
    check_mended(
        r#"<a e="${xpath("//a")}" f="1"/>"#,
        &[&cut(r#""${xpath("//a")}""#, '"')],
        r#"<a e='${xpath("//a")}' f="1"/>"#,
    );
    check_mended(
        r#"<a e="${x == "it's"}"/>"#,
        &[&cut(r#""${x == "it's"}""#, '"')],
        r#"<a e="${x == &quot;it's&quot;}"/>"#,
    );
    check_mended(r#"<a e="${x == " b"}"/>"#, &[&cut(r#""${x == " b"}""#, '"')], r#"<a e='${x == " b"}'/>"#);
    check_mended(
        r#"<a e="//a[x="1" and id="2"]"><b/></a>"#,
        &[&cut(r#""//a[x="1" and id="2"]""#, '"')],
        r#"<a e='//a[x="1" and id="2"]'><b/></a>"#,
    );
    check_mended("<a e='f('x')'/>", &[&cut("'f('x')'", '\'')], "<a e=\"f('x')\"/>");
    check_mended(
        "<a e='${x < 1 && y <z}'/>",
        &[
            "`<` `<` in an attribute value must be written `&lt;`",
            "`&&` `&` must be written `&amp;`",
            "`<` `<` in an attribute value must be written `&lt;`",
        ],
        "<a e='${x &lt; 1 &amp;&amp; y &lt;z}'/>",
    );
}

#[test]
fn references_and_text() {
    check_mended("<a>b & c</a>", &["`&` `&` must be written `&amp;`"], "<a>b &amp; c</a>");
    check_mended("<a>b &lt c</a>", &["`&lt` `&lt` lacks its semicolon"], "<a>b &lt; c</a>");
    check_mended(
        "<a>&nbsp;</a>",
        &["`&nbsp;` the entity &nbsp; is not defined: XML knows only amp, lt, gt, quot and apos"],
        "<a>&#160;</a>",
    );
    check_mended(
        "<a>&x;</a>",
        &["`&x;` the entity &x; is not defined: XML knows only amp, lt, gt, quot and apos"],
        "<a>&amp;x;</a>",
    );
    check(
        "<a>&#0;&#xD800;&#;</a>",
        &[
            "`&#0;` `&#0;` does not name a character that XML allows",
            "`&#xD800;` `&#xD800;` does not name a character that XML allows",
            "`&#;` `&#;` does not name a character that XML allows",
        ],
        "<a>&#0;&#xD800;&#;</a>",
    );
    check_mended("<a>1 < 2</a>", &["`<` `<` in text must be written `&lt;`"], "<a>1 &lt; 2</a>");
    check_mended("<a>]]></a>", &["`]]>` `]]>` in text must be written `]]&gt;`"], "<a>]]&gt;</a>");
    check_mended("<a>\u{1}</a>", &["`\u{1}` the character U+0001 is not allowed in XML"], "<a></a>");
    check_mended("<a>\u{ffff}</a>", &["`\u{ffff}` the character U+FFFF is not allowed in XML"], "<a></a>");
}

#[test]
fn comments_and_instructions() {
    check_mended(
        "<a><!-- x -- y --></a>",
        &["`--` `--` must not stand in a comment"],
        "<a><!-- x - - y --></a>",
    );
    check_mended("<a/><!-- x --->", &["`-` `--` must not stand in a comment"], "<a/><!-- x - -->");
    check_mended("<a/><!-- x", &["`<!--` the comment does not end: `-->` is missing"], "<a/><!-- x-->");
    check(
        "<a><![CDATA[x",
        &[
            "`a` <a> is not closed: </a> is missing",
            "`<![CDATA[` the CDATA section does not end: `]]>` is missing",
        ],
        "<a><![CDATA[x]]></a>",
    );
    check_mended(
        "<?xml version='1.0'>\n<a/>",
        &["`<?xml version='1.0'>` the processing instruction does not end: `?>` is missing"],
        "<?xml version='1.0'?>\n<a/>",
    );
    check_mended(
        "\n<?xml version='1.0'?><a/>",
        &[
            "`<?xml version='1.0'?>` white space stands before the XML declaration: strict readers refuse such a text",
        ],
        "<?xml version='1.0'?><a/>",
    );
    check_mended(
        "<a><?xml version='1.0'?></a>",
        &["`<?xml version='1.0'?>` the XML declaration must be the very first thing in the text"],
        "<a></a>",
    );
    check(
        "<a><!FOO></a>",
        &["`<!FOO>` `<!` begins neither a comment nor a CDATA section nor a document type"],
        "<a><!FOO></a>",
    );
}

#[test]
fn roots_and_prefixes() {
    check("", &["`` there is no element"], "");
    check(
        "<a/><b/><c/>",
        &["`b` <b> stands beside the document element: there can be only one"],
        "<a/><b/><c/>",
    );
    check(
        "x<a/> y ",
        &[
            "`x` text must stand inside the document element",
            "`y` text must stand inside the document element",
        ],
        "x<a/> y ",
    );
    check(
        "<p:a><p:b q:c='1'/></p:a>",
        &[
            "`p` the prefix \"p\" is not declared: xmlns:p=\"…\" is missing",
            "`q` the prefix \"q\" is not declared: xmlns:q=\"…\" is missing",
        ],
        "<p:a><p:b q:c='1'/></p:a>",
    );
    check("<a xmlns:p=''/>", &["`xmlns:p` the prefix \"p\" cannot be bound like this"], "<a xmlns:p=''/>");
    check(
        "\u{feff}<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
        &[],
        "\u{feff}<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
    );
}

#[test]
fn entities_are_refused_and_never_expanded() {
    let source = "<!DOCTYPE a [<!ENTITY x \"yy>\"><!ENTITY z SYSTEM \"file:///etc/passwd\">]><a>&x;&z;</a>";
    check(
        source,
        &[
            "`<!ENTITY` entity declarations are refused: nothing is resolved with them",
            "`<!ENTITY` entity declarations are refused: nothing is resolved with them",
            "`&x;` the entity &x; is defined by the document itself and is not resolved",
            "`&z;` the entity &z; is defined by the document itself and is not resolved",
        ],
        source,
    );
    let document = Document::parse(source);
    assert_eq!(document.root().map(|root| root.text().into_owned()).as_deref(), Some("&x;&z;"));
    let source = "<!DOCTYPE a SYSTEM \"a.dtd\"><a/>";
    check(source, &["`SYSTEM` an external document type is refused: nothing is loaded"], source);
    check("<!DOCTYPE a><a/>", &[], "<!DOCTYPE a><a/>");
}

#[test]
fn problems_are_counted_when_they_are_not_kept() {
    let document = Document::parse(format!("<a>{}</a>", "& ".repeat(2500)));
    assert_eq!(document.problems().len(), MOST_PROBLEMS + 1);
    assert_eq!(
        document.problems().last().map(ToString::to_string).as_deref(),
        Some("1500 more problems are not listed")
    );
}

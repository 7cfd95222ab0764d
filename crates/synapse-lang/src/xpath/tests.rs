//! What parses as XPath, and what it selects.

use super::*;
use std::collections::BTreeMap;

struct World {
    forest: Forest,
    start: Option<NodeRef>,
    namespaces: BTreeMap<&'static str, &'static str>,
}

impl Environment for World {
    fn forest(&self) -> &Forest {
        &self.forest
    }
    fn start(&self) -> Option<NodeRef> {
        self.start
    }
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.namespaces.get(prefix).copied()
    }
    fn variable(&self, prefix: Option<&str>, local: &str) -> Option<Value> {
        (prefix == Some("ctx") && local == "x").then(|| Value::Text("known".to_owned()))
    }
    fn function(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, EvaluateError>> {
        (name == "count-arguments").then(|| Ok(Value::Text(arguments.len().to_string())))
    }
}

const SHOP: &str = r#"<shop xmlns:p="urn:p"><!--note--><item id="1" p:kind="a">first<sub>x</sub></item><item id="2">second</item><p:item id="3">third</p:item><empty/><price>10</price><price>2.5</price><![CDATA[raw]]></shop>"#;

fn eval(text: &str) -> Result<String, String> {
    let mut forest = Forest::default();
    let start = forest.add(SHOP).unwrap();
    let world = World { forest, start: Some(start), namespaces: BTreeMap::from([("q", "urn:p")]) };
    let xpath = parse(text).map_err(|error| error.message)?;
    match evaluate(&xpath, &world) {
        Ok(Value::Nodes(nodes)) => {
            Ok(nodes.iter().map(|node| world.forest.write(*node)).collect::<Vec<_>>().join(" | "))
        }
        Ok(other) => Ok(other.to_text(&world.forest)),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn paths_select_and_functions_calculate() {
    let table = [
        ("/shop/item[1]/@id", "1"),
        ("//item[@id='2']/text()", "second"),
        ("//item/@id", "1 | 2"),
        ("//q:item/@id", "3"),
        ("//@q:kind", "a"),
        ("//q:*", "<p:item xmlns:p=\"urn:p\" id=\"3\">third</p:item>"),
        ("//item[last()]", "<item id=\"2\">second</item>"),
        ("(//item | //price)[3]", "<price>10</price>"),
        ("//sub/..", "<item id=\"1\" p:kind=\"a\">first<sub>x</sub></item>"),
        ("//sub/ancestor::*[1]/@id", "1"),
        ("//sub/ancestor-or-self::*[last()]/price[1]", "<price>10</price>"),
        ("//price[1]/preceding-sibling::*[1]", "<empty/>"),
        ("//item[1]/following-sibling::item", "<item id=\"2\">second</item>"),
        ("//empty/preceding::sub", "<sub>x</sub>"),
        ("//sub/following::empty", "<empty/>"),
        ("/shop/comment()", "<!--note-->"),
        ("/shop/text()", "raw"),
        ("/shop/node()[1]", "<!--note-->"),
        ("self::node()/shop/empty", "<empty/>"),
        ("count(//item)", "2"),
        ("sum(//price)", "12.5"),
        ("sum(//price) div 5", "2.5"),
        ("7 mod 2 * 3 - -1", "4"),
        ("1 < 2 and 2 >= 2 or false()", "true"),
        ("//price = 10", "true"),
        ("//price != 10", "true"),
        ("//nothing = ''", "false"),
        ("not(//nothing)", "true"),
        ("string(//item)", "firstx"),
        ("concat('a', 1, true())", "a1true"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("substring('12345', 2)", "2345"),
        ("substring-before('a=b', '=')", "a"),
        ("substring-after('a=b', '=')", "b"),
        ("translate('bar', 'abr', 'AB')", "BA"),
        ("normalize-space('  a  b ')", "a b"),
        ("string-length('é€')", "2"),
        ("local-name(//q:item)", "item"),
        ("name(//q:item)", "p:item"),
        ("namespace-uri(//q:item)", "urn:p"),
        ("round(2.5)", "3"),
        ("floor(-1.5)", "-2"),
        ("ceiling(1.2)", "2"),
        ("number('x')", "NaN"),
        ("1 div 0", "Infinity"),
        ("$ctx:x", "known"),
        ("count-arguments(1, 2)", "2"),
        ("starts-with('abc', 'ab')", "true"),
        ("item", ""),
        ("shop/*[position() < 3]/@id", "1 | 2"),
        (".5 + 1.", "1.5"),
    ];
    for (text, expected) in table {
        assert_eq!(eval(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn unknown_names_are_errors() {
    for text in ["//x:a", "$y", "$ctx:y", "nope()", "count(1)", "count()", "'a' | //b", "$ctx:x/a"] {
        assert!(eval(text).is_err(), "{text}");
    }
}

#[test]
fn what_the_library_accepts() {
    for text in [
        "payload.age",
        "vars.x",
        "payload.items[0]",
        "payload.age > 5",
        "$payload.x",
        "/",
        "//a",
        "a/b//c",
        "@a",
        "..",
        ".",
        "*",
        "a:*",
        "child::a",
        "a[b][c]",
        "$ctx:name",
        "$body/a",
        "get-property('x')",
        "get-property('a', \"b\")",
        "fn:concat('a','b')",
        "div div div",
        "mod",
        "and and or",
        "-a",
        "--1",
        "(a)",
        "(a)[1]/b",
        "a|b",
        "self::node()",
        "processing-instruction('x')",
        "a - b",
        "a-b",
        "1 * 2",
        "* * *",
        "//*[@x='1']/text()",
        "text()",
        "$a/b",
        "f()/b",
    ] {
        assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
    }
    for text in [
        "",
        " ",
        "${payload.x}",
        " ${payload.x}",
        "{${payload.x}}",
        "a b",
        "a/",
        "//",
        "a[",
        "a[]",
        "a]",
        "(a",
        "a)",
        "'open",
        "a::b",
        "unknown::a",
        "a:",
        ":a",
        "$",
        "$ a:",
        "a &amp;&amp; b",
        "a ? b : c",
        "a == b",
        "a!b",
        "1/a",
        "'a'/b",
        "f(",
        "f(,)",
        "a and",
        "json-eval($.a)",
        "a\u{20ac}#",
        "a:b:c",
        "text(1)",
        "@",
        "!",
        "a,b",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn errors_have_places_and_nesting_is_bounded() {
    let error = parse("a[b").unwrap_err();
    assert_eq!((error.span.start, error.message.as_str()), (3, "`]` is expected instead of the end"));
    let error = parse("${x}").unwrap_err();
    assert_eq!(error.message, "`{` cannot stand in an XPath; is a Synapse expression meant, as in `${…}`?");
    for text in [
        "(".repeat(5_000),
        "-".repeat(5_000) + "1",
        "a[".repeat(5_000),
        "1+".repeat(5_000) + "1",
        "f(".repeat(5_000),
    ] {
        assert!(parse(&text).is_err());
    }
}

#[test]
fn work_is_bounded() {
    let mut forest = Forest::default();
    let start = forest.add(&format!("<a>{}</a>", "<b>x</b>".repeat(5_000))).unwrap();
    let world = World { forest, start: Some(start), namespaces: BTreeMap::new() };
    for text in
        ["//b[//b = 'y']", "//b[/ = 'y']", "//b[string(/) = 'y']", "//b[count(//b) = 1]", "//b/following::b"]
    {
        assert_eq!(evaluate(&parse(text).unwrap(), &world), Err(EvaluateError::TooMuchWork), "{text}");
    }
    assert_eq!(evaluate(&parse("count(//b)").unwrap(), &world), Ok(Value::Number(5_000.0)));
}

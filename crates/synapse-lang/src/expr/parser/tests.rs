//! What parses and how, what does not and what is said about it.

use super::*;
use crate::expr::ast::{IndexKind, StepKind};

/// The tree as an S-expression.
fn show(node: &Node) -> String {
    let list = |nodes: &[Node]| nodes.iter().map(show).collect::<Vec<_>>().join(" ");
    match &node.kind {
        NodeKind::Null => "null".to_owned(),
        NodeKind::Boolean(value) => value.to_string(),
        NodeKind::Number(text) | NodeKind::Text(text) => text.clone(),
        NodeKind::Array(items) => format!("[{}]", list(items)),
        NodeKind::Binary { operator, left, right, .. } => {
            format!("({} {} {})", operator.symbol(), show(left), show(right))
        }
        NodeKind::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", show(condition), show(then), show(otherwise))
        }
        NodeKind::Group(inner) => format!("<{}>", show(inner)),
        NodeKind::Call(call) => {
            let suffix = match &call.suffix {
                None => String::new(),
                Some(Suffix::Property { arguments, .. }) => format!(".property({})", list(arguments)),
                Some(Suffix::Path(path)) => path.text.clone(),
            };
            format!("{}({}){suffix}", call.name, list(&call.arguments))
        }
        NodeKind::Payload(access) => access.text.clone(),
        NodeKind::Variable(variable) => variable.text.clone(),
        NodeKind::Lookup(lookup) => format!("{:?}:{}", lookup.place, lookup.name.value),
    }
}

#[test]
fn trees() {
    let table = [
        ("1 + 2 * 3", "(+ 1 (* 2 3))"),
        ("20 / 2 / 5", "(/ (/ 20 2) 5)"),
        ("a.b", ""),
        ("1 < 2 == true", "(== (< 1 2) true)"),
        ("true and false or true", "(and true (or false true))"),
        ("payload.a > 5 and payload.b < 3", "(< (> payload.a (and 5 payload.b)) 3)"),
        ("true ? false ? 1 : 2 : 3", "(? true (? false 1 2) 3)"),
        ("true ? 1 : false ? 2 : 3", "(? true 1 (? false 2 3))"),
        ("'x' + true ? 1 : 2", "(? (+ 'x' true) 1 2)"),
        ("(payload . a [ 0 ])", "<payload.a[0]>"),
        ("vars.[\"a.b\"].c", "vars.[\"a.b\"].c"),
        ("vars.\"x\"", "vars.\"x\""),
        ("headers['X-A'] + configs.url", "(+ Header:X-A Config:url)"),
        ("params.pathParams.id", "PathParam:id"),
        ("props.axis2.length", "Axis2:length"),
        ("registry('a').property('b')", "registry('a').property('b')"),
        ("registry('a').property.x", "registry('a').property.x"),
        ("array(split('a', ','))[0].x", "array(split('a' ','))[0].x"),
        ("[1, [2], null]", "[1 [2] null]"),
        ("[]", "[]"),
        ("payload.vars.payload.length.string", "payload.vars.payload.length.string"),
        ("$..*", "$..*"),
        ("$..a[?(@.x == vars.y)].sum()", "$..a[?(@.x==vars.y)].sum()"),
        ("payload.a[(@.length-1)]", "payload.a[(@.length-1)]"),
        ("payload.a#;", "payload.a"),
    ];
    for (text, expected) in table {
        let shown = parse(text).map_or_else(|_| String::new(), |expression| show(&expression.root));
        assert_eq!(shown, expected, "{text}");
    }
}

/// The form of the first index.
fn index(text: &str) -> Option<IndexKind> {
    let expression = parse(text).ok()?;
    let NodeKind::Payload(access) = expression.root.kind else { return None };
    access.path?.steps.into_iter().find_map(|step| match step.kind {
        StepKind::Index(index) => Some(index.kind),
        _ => None,
    })
}

#[test]
fn indices_are_what_the_first_fitting_alternative_says() {
    let form = |text: &str| match index(text) {
        None => "none",
        Some(IndexKind::Number(_)) => "number",
        Some(IndexKind::Text(_)) => "text",
        Some(IndexKind::Computed(_)) => "computed",
        Some(IndexKind::List(_)) => "list",
        Some(IndexKind::Slice(_)) => "slice",
        Some(IndexKind::All) => "all",
        Some(IndexKind::Filter(_)) => "filter",
    };
    let table = [
        ("payload[0]", "number"),
        ("payload.[-1]", "number"),
        ("payload['a']", "text"),
        ("payload[0 + 1]", "computed"),
        ("payload[(payload.i)]", "computed"),
        ("payload[true ? 1 : 2]", "computed"),
        ("payload[0, 1 + 1]", "list"),
        ("payload['a','b']", "list"),
        ("payload[:]", "slice"),
        ("payload[::]", "slice"),
        ("payload[::2]", "slice"),
        ("payload[1:]", "slice"),
        ("payload[-1:]", "slice"),
        ("payload[- vars.x : - 1]", "slice"),
        ("payload[(1):2]", "slice"),
        ("payload[true ? 1 : 2 : 3]", "slice"),
        ("payload[*]", "all"),
        ("payload[?(@.a)]", "filter"),
        ("payload[(@.a)]", "filter"),
        ("payload[?((@.a) || (@.b))]", "filter"),
        ("payload[?(@.a == payload.b[?(@.c)])]", "filter"),
        ("payload[?(@.a.)]", "filter"),
        ("payload[?()]", "none"),
        ("payload[?(@.a]", "none"),
        ("payload[?@.a]", "none"),
        ("payload[@.a]", "none"),
        ("payload[?(@['a'])]", "none"),
        ("payload[?(@.a == null)]", "none"),
        ("payload[?(@.a % 2)]", "none"),
        ("payload[?(@..a)]", "none"),
        ("payload[?(@.length())]", "none"),
        ("payload[1 2]", "none"),
        ("payload[1:2:3:4]", "none"),
        ("payload[]", "none"),
        ("payload[-1]", "number"),
        ("payload[- 1]", "none"),
    ];
    for (text, expected) in table {
        assert_eq!(form(text), expected, "{text}");
    }
}

#[test]
fn spans_are_those_of_the_text() {
    let text = " 1 + payload . list [ 0 ].x ";
    let expression = parse(text).unwrap();
    assert_eq!(expression.root.span.of(text), "1 + payload . list [ 0 ].x");
    let NodeKind::Binary { right, at, .. } = &expression.root.kind else { panic!("{expression:?}") };
    assert_eq!(at.of(text), "+");
    assert_eq!(right.span.of(text), "payload . list [ 0 ].x");
    let NodeKind::Payload(Access { path: Some(path), text: seen }) = &right.kind else { panic!("{right:?}") };
    assert_eq!(seen, "payload.list[0].x");
    assert_eq!(
        path.steps.iter().map(|step| step.span.of(text)).collect::<Vec<_>>(),
        [". list", "[ 0 ]", ".x"]
    );
}

#[test]
fn errors_name_the_place_and_the_way_out() {
    let table = [
        (
            "5 -3",
            "-3",
            "the expression is complete before `-3`: a minus directly before digits belongs to the number: write ` - 3` with blanks on both sides",
        ),
        (
            "payload.i -1",
            "-1",
            "the expression is complete before `-1`: a minus directly before digits belongs to the number: write ` - 1` with blanks on both sides",
        ),
        (
            "-payload.x",
            "-",
            "`-` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: there is no minus sign before a value: write `0 - …` or `… * -1`",
        ),
        (
            "!payload.t",
            "!",
            "`!` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: `!` works only in filters: write `not(…)`",
        ),
        (
            "payload.a AND payload.b",
            "AND",
            "the expression is complete before `AND`: case matters: write `and`",
        ),
        (
            "True",
            "True",
            "`True` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: case matters: write `true`",
        ),
        (
            "substring('a', 1)",
            "substring",
            "`substring` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: there is no function `substring`; did you mean `subString`?",
        ),
        (
            "payload.size",
            ".",
            "the expression is complete before `.`: `size` cannot follow a dot: write `[\"size\"]`",
        ),
        (
            "vars.in",
            "in",
            "`in` stands where the name of a variable: `.name` or `[\"name\"]` is expected: `in` cannot follow a dot: write `[\"in\"]`",
        ),
        (
            "props.x",
            "x",
            "`x` stands where `synapse` or `axis2` is expected: say the scope: `props.synapse.x` or `props.axis2.x`",
        ),
        (
            "params.uriParams.id",
            "uriParams",
            "`uriParams` stands where `queryParams`, `pathParams` or `functionParams` is expected: it is called `pathParams`",
        ),
        (
            "props.synapse.uri.var.id",
            ".",
            "the expression is complete before `.`: a name with dots needs brackets: `[\"uri.var.id\"]`",
        ),
        ("payload.0", ".", "the expression is complete before `.`: an index needs brackets: `[0]`"),
        (
            "payload.@type",
            ".",
            "the expression is complete before `.`: `@type` cannot follow a dot: write `[\"@type\"]`",
        ),
        ("not true", "true", "`true` stands where `(` is expected: `not` is a function: write `not(…)`"),
        ("1e3", "e3", "the expression is complete before `e3`: numbers have no exponent"),
        (
            "payload.i = 5",
            "5",
            "the expression is complete before `5`: `=` is dropped by the runtime: write `==` to compare",
        ),
        (
            "'open",
            "'",
            "`'` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: a string does not end, or holds an escape other than \\b \\t \\n \\f \\r \\\" \\' \\\\ \\/ \\uXXXX",
        ),
        ("(1 + 2", "", "the expression ends where an operator or `)` is expected"),
        (
            "abc",
            "abc",
            "`abc` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: a bare name is no value: write `payload.abc`, `vars.abc` or `'abc'`",
        ),
        (
            "payloda.x",
            "payloda",
            "`payloda` stands where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected: there is no `payloda`; did you mean `payload`?",
        ),
        (
            "headers",
            "",
            "the expression ends where a name: `.name` or `[\"name\"]` is expected: `headers` needs a name: `headers.x` or `headers[\"x\"]`",
        ),
        (
            "payload.a[?(@['b'] == 1)]",
            "[",
            "`[` stands where a piece of a filter (`@.name`, an operator, a value) or `)]` is expected: brackets cannot follow `@` in a filter: write `@.name`",
        ),
        ("", "", "the expression is empty: write a value, such as `payload.name`"),
        (
            "true ? 1 :",
            "",
            "the expression ends where a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis) is expected",
        ),
    ];
    for (text, place, message) in table {
        let error = parse(text).expect_err(text);
        assert_eq!((error.span.of(text), error.message().as_str()), (place, message), "{text}");
    }
}

#[test]
fn edits_of_hints_make_the_text_parse() {
    for text in [
        "5 -3",
        "payload.i -1",
        "-payload.x",
        "!(payload.t)",
        "true AND false",
        "True",
        "toupper('a')",
        "payload.size",
        "vars.in",
        "props.x",
        "params.uriParams.id",
        "props.synapse.uri.var.id",
        "payload.0",
        "payload.@type",
        "payload.i = 5",
        "payloda.x",
        "var.x",
        "props.transport.x",
        "true & false",
    ] {
        let error = parse(text).expect_err(text);
        let edit = error.hint.and_then(|hint| hint.edit).unwrap_or_else(|| panic!("{text}: no edit"));
        let mut fixed = text.to_owned();
        fixed.replace_range(std::ops::Range::from(edit.span), &edit.text);
        assert!(parse(&fixed).is_ok(), "{text} became {fixed}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let nested = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert!(parse(&nested).is_ok());
    for text in [
        format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000)),
        format!("{}1", "true ? 1 : ".repeat(5_000)),
        format!("payload{}", "[payload".repeat(5_000)),
        format!("payload{}", "[(payload".repeat(5_000)),
        format!("payload{}", "[?(payload".repeat(5_000)),
        format!("1{}", " + 1".repeat(5_000)),
        format!("true{}", " and true".repeat(5_000)),
        "not(".repeat(5_000),
    ] {
        let error = parse(&text).expect_err("bounded");
        assert_eq!(error.problem, Problem::TooDeep);
    }
    assert_eq!(parse(&" ".repeat(MAX_LENGTH + 1)).expect_err("bounded").problem, Problem::TooLong);
    // A long path is flat.
    assert!(parse(&format!("payload{}", ".a".repeat(50_000))).is_ok());
}

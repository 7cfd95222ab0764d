//! Expressions and what they give: every operator with every kind, every function, every way to reach a value.

use super::*;

fn context() -> Context {
    let value = serde_json::json!({
        "payload": r#"{"i":5,"d":2.5,"L":3000000000,"nL":-3000000000,"big":12345678901234567890,"s":"abc","t":true,"nul":null,"o":{"a":1,"b":"x"},"arr":[3,1,2],"list":[{"n":1,"v":"x"},{"n":2,"v":"y"}],"k":"s","exp":[1e3,2.50],"m":1e3,"empty":[],"js":"[1]","cash":"$1"}"#,
        "vars": {
            "i": { "type": "int", "value": 10 },
            "L": { "type": "long", "value": 7 },
            "d": { "type": "double", "value": -2.5 },
            "s": { "type": "string", "value": "hello" },
            "b": { "type": "boolean", "value": true },
            "j": { "type": "json", "value": "{\"a\":[1,2],\"n\":5}" },
            "bad": { "type": "json", "value": "not json" },
            "text": { "type": "string", "value": "{\"a\":[7]}" },
            "none": { "type": "string", "value": "" },
            "quote": { "type": "string", "value": "'" },
            "a.b": { "type": "string", "value": "dotted" },
            "map": { "type": "map", "value": {
                "payload": { "type": "json", "value": "{\"x\":[4]}" },
                "plain": { "type": "string", "value": "txt" },
                "xml": { "type": "xml", "value": "<r><v>1</v><v>2</v></r>" },
            } },
            "xml": { "type": "xml", "value": "<r a='1'><v>1</v><v/></r>" },
        },
        "headers": { "N": "42", "Z": "007", "D": "1.50", "S": "text", "ETag": "\"q\"" },
        "syn": { "uri.var.id": "12", "query.param.q": "x", "flag": "true", "p": "prop" },
        "ax": { "HTTP_SC": "404" },
        "func": { "f": "3000000000" },
        "reg": { "a.json": "{\"k\":{\"z\":1}}", "t.txt": { "text": "hi", "properties": { "owner": "me" } } },
        "configs": { "url": "http://x", "n": "5" },
        "time_zone": "+01:00",
        "now": 1_700_000_000_000_i64,
    });
    serde_json::from_value(value).unwrap()
}

/// `kind text`, or the word of the status.
fn show(text: &str, context: &Context) -> String {
    let evaluation = evaluate_text(text, context);
    match evaluation.kind {
        Some(kind) => format!("{kind} {}", evaluation.string),
        None => evaluation.status.word().to_owned(),
    }
}

fn check(table: &[(&str, &str)]) {
    let context = context();
    for (text, expected) in table {
        assert_eq!(show(text, &context), *expected, "{text}");
    }
}

#[test]
fn numbers_add_by_their_kinds() {
    check(&[
        ("1 + 2", "Integer 3"),
        ("2147483647 + 1", "Long 2147483648"),
        ("3000000000 + 1", "Long 3000000001"),
        ("9223372036854775807 + 1", "Long -9223372036854775808"),
        ("0.1 + 0.2", "Double 0.3"),
        ("1 + 1.0", "Double 2.0"),
        ("payload.i + 1", "Integer 6"),
        ("payload.L + 1", "Long 3000000001"),
        ("payload.nL + 1", "Integer 1294967297"),
        ("payload.arr[0] + 1", "Double 4.0"),
        ("vars.L + 1", "Long 8"),
        ("headers.Z + 1", "Integer 8"),
        ("headers.D + 1", "Double 2.5"),
        ("payload.big + 1", "eval_error"),
        ("'a' + 'b'", "String ab"),
        ("'a' + payload.s", "String aabc"),
        ("'a' + 1", "eval_error"),
        ("true + true", "eval_error"),
        ("null + 1", "eval_error"),
        ("payload.o + payload.o", "eval_error"),
        ("array([1,2])[0] + 1", "eval_error"),
        ("float('NaN') + 1", "crash"),
    ]);
}

#[test]
fn numbers_subtract_multiply_divide_and_leave_remainders() {
    check(&[
        ("5 - 3", "Integer 2"),
        ("-2147483648 - 1", "Integer 2147483647"),
        ("3000000000 - 1", "Long 2999999999"),
        ("1.5 - 1", "Double 0.5"),
        ("'a' - 'a'", "eval_error"),
        ("65536 * 65536", "Long 4294967296"),
        ("4.35 * 100", "Double 435.0"),
        ("payload.arr[0] * 1", "Double 3.0"),
        ("7 / 2", "Double 3.5"),
        ("6 / 2", "Integer 3"),
        ("10.0 / 3", "Double 3.3"),
        ("9.99 / 3", "Double 3.33"),
        ("3000000000 / 2", "Double 1.5E9"),
        ("1 / 0", "eval_error"),
        ("1.0 / 0", "eval_error"),
        ("1 % 0", "eval_error"),
        ("-5 % 3", "Integer -2"),
        ("5.5 % 2", "Double 1.5"),
        ("3000000001 % 2", "Long 1"),
        ("true * 2", "eval_error"),
    ]);
}

#[test]
fn equality_is_that_of_printed_forms() {
    check(&[
        ("1 == 1.0", "Boolean false"),
        ("1 == '1'", "Boolean true"),
        ("true == 'true'", "Boolean true"),
        ("2.50 == 2.5", "Boolean true"),
        ("null == null", "Boolean true"),
        ("payload.nul == null", "Boolean true"),
        ("payload.i != null", "Boolean true"),
        ("vars.map == null", "Boolean true"),
        ("payload.arr == '[3,1,2]'", "Boolean true"),
        ("payload.missing == null", "eval_error"),
        ("headers.Z == '007'", "Boolean false"),
        ("vars.quote == 'x'", "crash"),
    ]);
}

#[test]
fn order_and_logic() {
    check(&[
        ("2 > 1", "Boolean true"),
        ("2 >= 2.0", "Boolean true"),
        ("payload.arr[0] < 4", "Boolean true"),
        ("payload.d <= 2.5", "Boolean true"),
        ("now() > 5", "eval_error"),
        ("vars.L > 1", "eval_error"),
        ("'a' < 'b'", "eval_error"),
        ("1 < 2 < 3", "eval_error"),
        ("true and payload.t", "Boolean true"),
        ("false or vars.b", "Boolean true"),
        ("false and true or true", "Boolean false"),
        ("props.synapse.flag and true", "eval_error"),
        ("payload.i > 3 and true", "eval_error"),
        ("(payload.i > 3) && true", "Boolean true"),
        ("(payload.nul == null) or (payload.nul > 1)", "eval_error"),
        ("true ? 1 : payload.missing", "Integer 1"),
        ("null ? 1 : 2", "eval_error"),
        ("'true' ? 1 : 2", "eval_error"),
        ("true ? null : 1", "null"),
    ]);
}

#[test]
fn values_are_reached_from_every_root() {
    check(&[
        ("payload.i", "JsonPrimitive/Long 5"),
        ("payload.d", "JsonPrimitive/Double 2.5"),
        ("payload.m", "JsonPrimitive/Long 1000"),
        ("payload.exp[0]", "JsonPrimitive/LazilyParsedNumber 1e3"),
        ("payload.exp[1]", "JsonPrimitive/LazilyParsedNumber 2.50"),
        ("payload.t", "JsonPrimitive/boolean true"),
        ("payload.nul", "null"),
        ("payload.o", "JsonObject {\"a\":1,\"b\":\"x\"}"),
        ("payload[payload.k]", "JsonPrimitive/string abc"),
        ("payload.arr[payload.o.a]", "JsonPrimitive/LazilyParsedNumber 1"),
        ("payload.arr[payload.arr[1] + 1]", "crash"),
        ("payload.arr[payload.nul]", "crash"),
        ("payload[payload.cash]", "crash"),
        ("payload.arr[0, 2]", "JsonArray [3,2]"),
        ("payload.arr[1:]", "JsonArray [1,2]"),
        ("payload.arr[::2]", "JsonPrimitive/LazilyParsedNumber 2"),
        ("payload.arr[- 1 :]", "JsonArray [2]"),
        ("payload.arr[- payload.s :]", "crash"),
        ("payload.arr[:]", "crash"),
        ("payload.arr[9]", "eval_error"),
        ("payload.s.x", "eval_error"),
        ("payload.list[?(@.n > 1)].v", "JsonArray [\"y\"]"),
        ("payload.list[?(@.v == 'x')].n", "JsonArray [1]"),
        ("payload.list[?(@.v == payload.list[1].v)].n", "JsonArray [2]"),
        ("payload.list[?(@.n == payload.nul)]", "crash"),
        ("payload.list[?(@.v == '$1')]", "crash"),
        ("payload.list[*].n", "JsonArray [1,2]"),
        ("$..n", "JsonArray [1,2]"),
        ("payload.arr.sum()", "Double 6.0"),
        ("payload.arr.length()", "Long 3"),
        ("vars.i", "Integer 10"),
        ("vars.L", "Long 7"),
        ("vars.j.a[1]", "JsonPrimitive/LazilyParsedNumber 2"),
        ("vars.bad", "JsonPrimitive/string not json"),
        ("vars.text.a[0]", "JsonPrimitive/LazilyParsedNumber 7"),
        ("vars.none.a", "crash"),
        ("vars.map", "null"),
        ("vars.map.payload.x[0]", "JsonPrimitive/LazilyParsedNumber 4"),
        ("vars.map['payload'].x", "JsonArray [4]"),
        ("vars.map.plain", "String txt"),
        ("vars.map.plain.x", "eval_error"),
        ("vars.map.none", "eval_error"),
        ("vars.xml.r", "eval_error"),
        ("vars[\"a.b\"]", "String dotted"),
        ("vars['a.b']", "crash"),
        ("vars.\"s\"", "eval_error"),
        ("vars.undefined", "eval_error"),
        ("headers.N", "Integer 42"),
        ("headers['D']", "Double 1.5"),
        ("headers.ETag", "String q"),
        ("headers.none", "eval_error"),
        ("props.synapse.p", "String prop"),
        ("properties.axis2.HTTP_SC", "Integer 404"),
        ("params.pathParams.id", "Integer 12"),
        ("params.queryParams.q", "String x"),
        ("params.functionParams.f", "Long 3000000000"),
        ("configs.url", "String http://x"),
        ("registry('t.txt')", "String hi"),
        ("registry('t.txt').property('owner')", "String me"),
        ("registry('t.txt', 'none')", "eval_error"),
        ("registry('a.json').k.z", "JsonPrimitive/Long 1"),
        ("registry('none')", "eval_error"),
        ("registry(5)", "crash"),
        ("[1, 2.5, true, 'x', [1], 3000000000]", "JsonArray [1,2.5,\"true\",\"x\",\"[1]\",\"3000000000\"]"),
        ("[null]", "crash"),
        ("payload.i=5", "JsonPrimitive/Long 5"),
    ]);
    let outside = Context { func: None, ..context() };
    assert_eq!(show("params.functionParams.f", &outside), "crash");
    assert_eq!(show("payload.i", &Context { payload: None, ..context() }), "eval_error");
    assert_eq!(show("payload.i", &Context { payload: Some("{".to_owned()), ..context() }), "crash");
}

#[test]
fn text_functions() {
    check(&[
        ("length('a\\nb')", "Integer 4"),
        ("length(payload.arr)", "Integer 3"),
        ("length(5)", "eval_error"),
        ("toUpper('ab')", "String AB"),
        ("toUpper(payload.i)", "JsonPrimitive/string 5"),
        ("toLower(headers.N)", "eval_error"),
        ("trim(' a ')", "String a"),
        ("subString('hello', 1, 3)", "String el"),
        ("subString('hello', 9)", "eval_error"),
        ("subString('hello', 1.0)", "eval_error"),
        ("startsWith('abc', 'ab')", "Boolean true"),
        ("endsWith('abc', 'bc')", "Boolean true"),
        ("contains(payload.arr, 'a')", "eval_error"),
        ("contains('abc', 'b')", "Boolean true"),
        ("replace('a.b', '.', '-')", "String a-b"),
        ("split('a,b,,', ',')", "JsonArray [\"a\",\"b\"]"),
        ("split('a.b', '.')", "JsonArray []"),
        ("split('a', '(')", "crash"),
        ("split('a,b', ',')[0]", "JsonArray [\"a\",\"b\"]"),
        ("array(split('a,b', ','))[0]", "JsonPrimitive/string a"),
        ("indexOf('hello', 'l')", "Integer 2"),
        ("indexOf('hello', 'l', 3)", "Integer 3"),
        ("indexOf('hello', '', 9)", "Integer 5"),
        ("charAt('abc', 1)", "String b"),
        ("charAt('abc', 3)", "eval_error"),
        ("length()", "syntax_error"),
        ("length('a', 'b')", "eval_error"),
        ("length('a', 'b', 'c', 'd')", "eval_error"),
        ("length(null)", "eval_error"),
    ]);
}

#[test]
fn number_functions() {
    check(&[
        ("abs(-5)", "Integer 5"),
        ("abs(-2.5)", "Double 2.5"),
        ("abs(vars.L)", "eval_error"),
        ("ceil(2.1)", "Double 3.0"),
        ("floor(2.9)", "Double 2.0"),
        ("round(-2.5)", "Integer -2"),
        ("round(3000000000.4)", "Integer -1294967296"),
        ("round(2.345, 2)", "Double 2.35"),
        ("round(5, 'x')", "Integer 5"),
        ("round(2.5, 0)", "eval_error"),
        ("round(now(), 1)", "Long 1700000000000"),
        ("sqrt(9)", "Double 3.0"),
        ("sqrt(-1)", "Double NaN"),
        ("log(1000)", "Double 3.0"),
        ("log(8, 2)", "Double 3.0"),
        ("pow(2, 3)", "Double 8.0"),
        ("pow('2', 3)", "eval_error"),
    ]);
}

#[test]
fn encodings() {
    check(&[
        ("base64encode('abc')", "String YWJj"),
        ("base64encode('\u{e9}', 'ISO-8859-1')", "String 6Q=="),
        ("base64encode('a', 'nope')", "eval_error"),
        ("base64encode('a', '')", "crash"),
        ("base64decode('YWJj')", "String abc"),
        ("base64decode('5')", "crash"),
        ("urlEncode('a b*~')", "String a%20b%2A%7E"),
        ("urlEncode('a b*', 'utf-8')", "String a+b*"),
        ("urlDecode('a%20b+c')", "String a b c"),
        ("urlDecode('%zz')", "crash"),
        ("base64encode(5)", "eval_error"),
    ]);
}

#[test]
fn kinds_and_conversions() {
    check(&[
        ("isString('a')", "Boolean true"),
        ("isString(headers.N)", "Boolean false"),
        ("isNumber(2.5)", "Boolean true"),
        ("isNumber(now())", "Boolean false"),
        ("isArray(\"[1]\")", "Boolean true"),
        ("isArray('[1]')", "Boolean false"),
        ("isArray(payload.js)", "Boolean false"),
        ("isObject(payload.o)", "Boolean true"),
        ("not(true)", "Boolean false"),
        ("not('true')", "eval_error"),
        ("string(1.50)", "String 1.5"),
        ("string(vars.map)", "eval_error"),
        ("integer('5')", "Integer 5"),
        ("integer('5.7')", "eval_error"),
        ("integer(payload.nL)", "Integer 1294967296"),
        ("float(5)", "Double 5.0"),
        ("float('x')", "eval_error"),
        ("boolean('TRUE')", "Boolean true"),
        ("boolean(1)", "Boolean false"),
        ("object(\"{\\\"a\\\":1}\").a", "JsonPrimitive/Long 1"),
        ("object('{}')", "eval_error"),
        ("array(vars.j.a)[0]", "JsonPrimitive/LazilyParsedNumber 1"),
        ("array(payload.js)", "eval_error"),
        ("exists(payload.i)", "Boolean true"),
        ("exists(payload.missing)", "Boolean false"),
        ("exists(payload.nul)", "Boolean false"),
        ("exists(payload.list[?(@.n == 9)])", "Boolean true"),
        ("exists('vars.x')", "Boolean true"),
        ("exists(vars['x'])", "crash"),
    ]);
}

#[test]
fn dates_and_secrets() {
    check(&[
        ("now()", "Long 1700000000000"),
        ("now(1)", "eval_error"),
        ("formatDateTime(0, 'yyyy-MM-dd HH:mm')", "String 1970-01-01 01:00"),
        ("formatDateTime(0, 'bogus')", "crash"),
        ("formatDateTime('x', 'yyyy')", "eval_error"),
        ("formatDateTime('29/09/1988', 'dd/MM/yyyy', 'yyyy-MM-dd')", "String 1988-09-29"),
        ("formatDateTime('x', 'dd/MM/yyyy', 'yyyy')", "eval_error"),
        ("wso2-vault('a')", "eval_error"),
        ("hashicorp-vault('a', 'b')", "eval_error"),
        ("hashicorp-vault('a')", "eval_error"),
    ]);
}

#[test]
fn xpaths() {
    check(&[
        ("xpath('//v[1]/text()', 'map.xml')", "String 1"),
        ("xpath('//v', 'map.xml')", "String 12"),
        ("xpath('/r/@a', 'xml')", "String "),
        ("xpath('/@a', 'xml')", "String 1"),
        ("xpath('/v[2]', 'xml')", "String <v/>"),
        ("xpath('//v', '')", "eval_error"),
        ("xpath('//v', 'none.x')", "eval_error"),
        ("xpath('//v', 'map.plain')", "eval_error"),
        ("xpath('//v[', 'map.xml')", "eval_error"),
        ("xpath('//x:v')", "crash"),
        ("xpath('$ctx:p')", "String prop"),
        ("xpath('$trp:S')", "String text"),
        ("xpath('$axis2:HTTP_SC')", "String 404"),
        ("xpath('$func:f')", "String 3000000000"),
        ("xpath('$var:s')", "String hello"),
        ("xpath('$url:q')", "String x"),
        ("xpath('$ctx:none')", "String "),
        ("xpath(\"get-property('p')\")", "String prop"),
        ("xpath(\"get-property('transport', 'S')\")", "String text"),
        ("xpath(\"get-property('registry', 't.txt@owner')\")", "String me"),
        ("xpath(\"base64Encode('abc')\")", "String YWJj"),
        ("xpath('count(//list)')", "String 2.0"),
        ("xpath('1 = 1')", "String true"),
        ("toUpper(xpath('$ctx:p'))", "String PROP"),
    ]);
    let object = |text: &str, context: &Context| {
        let evaluation = evaluate_as(&parse(text).unwrap(), context, Mode::Object);
        (evaluation.kind, evaluation.string, evaluation.status)
    };
    let nodes = object("xpath('//v', 'map.xml')", &context());
    assert_eq!(nodes, (Some("List"), "[<v>1</v>, <v>2</v>]".to_owned(), Status::Ok));
    assert_eq!(object("xpath('$ctx:p')", &context()).2, Status::Crash);
    assert_eq!(object("toUpper(xpath('//v', 'map.xml'))", &context()).2, Status::EvalError);
}

#[test]
fn xml_bodies_are_json_to_paths_and_xml_to_xpath() {
    let body = "<order id='7'><item>1</item><item>true</item><note/><name>Ann</name></order>";
    let xml = Context {
        payload: Some(body.to_owned()),
        content_type: Some("application/xml".to_owned()),
        ..context()
    };
    let table = [
        ("payload.order.item[1]", "JsonPrimitive/boolean true"),
        ("payload.order[\"@id\"]", "JsonPrimitive/string 7"),
        ("payload.order.note", "null"),
        ("payload.order.name", "JsonPrimitive/string Ann"),
        ("xpath('//order/@id')", "String 7"),
        ("xpath('$body/order/name')", "String Ann"),
        (
            "payload",
            "OMElement <order id=\"7\"><item>1</item><item>true</item><note/><name>Ann</name></order>",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(show(text, &xml), expected, "{text}");
    }
}

#[test]
fn bodies_are_needed_for_paths_and_for_xpaths_into_them() {
    for (text, expected) in [
        ("payload.a", true),
        ("vars.a[?(@.b == payload.c)]", true),
        ("vars.payload", false),
        ("xpath('//a')", true),
        ("xpath('$ctx:a')", false),
        ("xpath(vars.path)", true),
        ("1 + 1", false),
    ] {
        assert_eq!(is_content_aware(&parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn the_deepest_accepted_expressions_evaluate() {
    let chain = format!("1{}", " + 1".repeat(500));
    assert_eq!(show(&chain, &context()), "Integer 501");
    let nested = format!("{}payload.i{}", "abs(".repeat(60), ")".repeat(60));
    assert_eq!(show(&nested, &context()), "Integer 5");
}

#[test]
fn texts_do_not_grow_without_bound() {
    let quoted = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    assert_eq!(show(&quoted, &context()), "crash");
    let replaced = format!("{}'aaaaaaaa'{}", "replace(".repeat(30), ", 'a', 'aaaaaaaa')".repeat(30));
    assert_eq!(show(&replaced, &context()), "crash");
}

proptest::proptest! {
    /// Whatever is typed ends in one of the five ways.
    #[test]
    fn no_text_panics(text in "[a-z0-9 .$@?:'\"()\\[\\]+*/%<>=!&|,{}#\\\\-]{0,40}") {
        let _ = evaluate_text(&text, &context());
        let _ = crate::xpath::parse(&text);
        let _ = crate::expr::template::scan(&text, crate::expr::template::Rule::Format);
    }

    /// Pieces of the language in any order reach the evaluator more often than letters do.
    #[test]
    fn no_pieces_panic(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "payload", ".arr", ".list", "[0]", "[?(@.n>1)]", "[1:]", "vars", ".i", ".map", " + ", " - ", " * ", " / ", " % ",
        "1", "2.5", "'a'", "\"b\"", "null", "true", "(", ")", "length(", "round(", "xpath(", ",", " == ", " and ", " ? ",
        " : ", "headers.N", "[", "]", "split(", "subString(", "-1", ".sum()", "..n", "array(", "registry('a.json')",
    ]), 0..12)) {
        let _ = evaluate_text(&pieces.concat(), &context());
    }
}

//! Findings on plain expressions, kinds, and what repairs make of them.

use super::*;
use crate::expr::ast::Place;
use crate::expr::parse;
use crate::fix;
use crate::pages::{self, Fence, Verdict};

/// What is found, as `code severity` with the text at the place.
fn found(text: &str, env: &Env) -> Vec<String> {
    check(text, env)
        .iter()
        .map(|one| format!("{} {} `{}`", one.code, one.severity.word(), one.span.of(text)))
        .collect()
}

#[track_caller]
fn finds(text: &str, expected: &[&str]) {
    assert_eq!(found(text, &Env::default()), expected, "{text}");
}

/// The text after the first repair of its first finding.
fn repaired(text: &str, env: &Env) -> Option<String> {
    let finding = check(text, env).into_iter().next()?;
    let edits: Vec<&Edit> = finding.fixes.first()?.edits.iter().collect();
    fix::apply(text, &edits)
}

#[track_caller]
fn repairs(text: &str, expected: &str) {
    assert_eq!(repaired(text, &Env::default()).as_deref(), Some(expected), "{text}");
}

fn kind(text: &str, env: &Env) -> Kind {
    kind_of(&parse(text).expect(text), env)
}

#[test]
fn kinds_follow_the_engine() {
    let env = Env::default();
    let table = [
        ("1", Kind::one(Atom::Int)),
        ("3000000000", Kind::one(Atom::Long)),
        ("2.5", Kind::one(Atom::Double)),
        ("'a' + 'b'", Kind::one(Atom::Text)),
        ("1 + 2", Kind::of(&[Atom::Int, Atom::Long])),
        ("5 - 2", Kind::one(Atom::Int)),
        ("7 / 2", Kind::of(&[Atom::Int, Atom::Double])),
        ("now() - 1", Kind::one(Atom::Long)),
        ("now() / 2", Kind::one(Atom::Double)),
        ("1 + 2.5", Kind::one(Atom::Double)),
        ("1 + 'a'", Kind::NEVER),
        ("payload.a == 1", Kind::one(Atom::Boolean)),
        ("payload.a > 1 ? 1 : 'x'", Kind::of(&[Atom::Int, Atom::Text])),
        ("true ? 1 : 'x'", Kind::one(Atom::Int)),
        ("headers.x", Kind::AUTO),
        ("payload.a", Kind::MEMBER),
        ("payload.a[0]", Kind::ELEMENT),
        ("payload.a[*].b", Kind::ARRAY),
        ("payload.a.sum()", Kind::one(Atom::Double)),
        ("abs(-1)", Kind::one(Atom::Int)),
        ("floor(2.5)", Kind::one(Atom::Double)),
        ("round(2.5)", Kind::one(Atom::Int)),
        ("split('a,b', ',')", Kind::ARRAY),
        ("object(\"{}\")", Kind::OBJECT),
        ("array(payload.a)[0]", Kind::ELEMENT),
        ("length(5)", Kind::NEVER),
        ("toUpper(1, 2)", Kind::NEVER),
        ("[1, 2]", Kind::ARRAY),
        ("[null]", Kind::NEVER),
        ("vars.x", Kind::UNKNOWN),
    ];
    for (text, expected) in table {
        assert_eq!(kind(text, &env), expected, "{text}");
    }
}

#[test]
fn variables_take_exactly_their_type() {
    let table = [
        ("1 + 2", "DOUBLE", Some(Fit::Never)),
        ("1 + 2", "INTEGER", Some(Fit::Sometimes)),
        ("5 - 2", "INTEGER", Some(Fit::Always)),
        ("payload.list[0] + 1", "INTEGER", Some(Fit::Never)),
        ("payload.list[0]", "INTEGER", Some(Fit::Sometimes)),
        ("now()", "INTEGER", Some(Fit::Never)),
        ("now()", "LONG", Some(Fit::Always)),
        ("length(payload.s)", "LONG", Some(Fit::Never)),
        ("payload.a > 1", "BOOLEAN", Some(Fit::Always)),
        ("headers.flag", "BOOLEAN", Some(Fit::Never)),
        ("headers.n", "INTEGER", Some(Fit::Sometimes)),
        ("1 + 'a'", "INTEGER", Some(Fit::Never)),
        ("split(payload.s, ',')", "JSON", Some(Fit::Always)),
        ("'a'", "JSON", Some(Fit::Never)),
        ("'a'", "STRING", Some(Fit::Always)),
        ("1", "XML", Some(Fit::Never)),
        ("vars.x", "INTEGER", Some(Fit::Sometimes)),
        ("1", "NUMBER", None),
    ];
    for (text, declared, expected) in table {
        assert_eq!(Fit::of(kind(text, &Env::default()), declared), expected, "{text} as {declared}");
    }
}

#[test]
fn kinds_are_called_by_names_people_know() {
    assert_eq!(Kind::AUTO.to_string(), "an int, a long, a double or a string");
    assert_eq!(Kind::one(Atom::ElementInt).or(Kind::one(Atom::Int)).to_string(), "an int");
    assert_eq!(Kind::MEMBER.to_string(), "a value of unknown kind");
    assert_eq!(Kind::NEVER.to_string(), "no value");
}

#[test]
fn ordinary_expressions_are_left_alone() {
    for text in [
        "payload.name",
        "payload.first + ' ' + payload.last",
        "payload.total > 100",
        "(payload.a > 1) and (payload.b < 2)",
        "exists(payload.x) ? payload.x : 'none'",
        "vars.resp.payload.items[0].id",
        "headers['Content-Type'] == 'application/json'",
        "params.queryParams.limit > 10",
        "props.synapse.ERROR_MESSAGE + '!'",
        "length(payload.items) > 0",
        "payload.items[?(@.price > vars.limit)]",
        "formatDateTime(now(), \"yyyy-MM-dd'T'HH:mm:ss\")",
        "not(payload.active)",
        "payload.a == true",
        "string(payload.count) + ' items'",
        "registry('gov:/a.json').k.z",
        "payload.flag ? 'y' : 'n'",
        "vars.map.headers[\"Content-Type\"]",
    ] {
        finds(text, &[]);
    }
}

#[test]
fn failures_that_data_decides_are_warnings() {
    finds("'id-' + params.pathParams.id", &["408 warning `params.pathParams.id`"]);
    finds("length(headers.code)", &["444 warning `headers.code`"]);
    // With unknown operands it may even work.
    finds(
        "payload.a == payload.b and payload.c == payload.d",
        &["401 warning `payload.a == payload.b and payload.c == payload.d`"],
    );
    // A literal decides.
    finds("payload.a == 5 and payload.c == 6", &["401 error `payload.a == 5 and payload.c == 6`"]);
}

#[test]
fn what_may_not_run_or_may_fail_is_not_certain() {
    finds("1 + 'a'", &["407 error `1`"]);
    finds("payload.f ? 1 + 'a' : 2", &["407 warning `1`"]);
    finds("exists(1 + 'a')", &["407 warning `1`"]);
}

#[test]
fn unknown_operands_do_not_hide_what_is_certain() {
    finds("payload.x + true", &["409 error `true`"]);
    finds("payload.x > 'm'", &["411 error `'m'`"]);
    finds("payload.x and 5", &["406 error `5`"]);
    finds("payload.created > 1700000000000", &["412 error `1700000000000`"]);
}

#[test]
fn constants_are_evaluated() {
    finds("subString('hello', 9)", &["464 error `subString('hello', 9)`"]);
    finds("payload.a + charAt('abc', 5)", &["464 error `charAt('abc', 5)`"]);
    finds("5 / 0", &["422 error `0`"]);
    finds("integer('5.7')", &["443 error `'5.7'`"]);
}

#[test]
fn dropped_characters_are_all_reported() {
    finds("payload.a € # ;", &["314 warning `€`", "314 warning `#`", "314 warning `;`"]);
    finds("payload.i=5", &["315 warning `=5`"]);
}

#[test]
fn repairs_are_what_was_meant() {
    repairs(
        "a.x > 5 and b.y < 3".replace("a.", "payload.").replace("b.", "vars.").as_str(),
        "(payload.x > 5) and (vars.y < 3)",
    );
    repairs(
        "payload.a == 1 and payload.b == 2 or payload.c == 3",
        "(payload.a == 1) and (payload.b == 2) or (payload.c == 3)",
    );
    repairs("not payload.flag", "not(payload.flag)");
    repairs("!payload.items[0].ok and true", "not(payload.items[0].ok) and true");
    repairs("!exists(vars.x)", "not(exists(vars.x))");
    repairs("payload.a ===5", "payload.a ==5");
    repairs("payload.a & payload.b", "payload.a && payload.b");
    repairs(
        "(payload.a > 1) and (exists(vars.x) and (vars.x > 1))",
        "(payload.a > 1) and (exists(vars.x) ? (vars.x > 1) : false)",
    );
    repairs("$ctx:orderId", "props.synapse.orderId");
    repairs("payload.$ref", "payload[\"$ref\"]");
    repairs("uppercase(payload.s)", "toUpper(payload.s)");
    repairs("payload.a || 'none'", "exists(payload.a) ? payload.a : 'none'");
    repairs("now() - vars.start > 1000", "float(now() - vars.start) > 1000");
    repairs("vars['a b'].c", "vars[\"a b\"].c");
    repairs("array('[\"a\"]')", "array(\"[\\\"a\\\"]\")");
    repairs("payload.a <> 5", "payload.a != 5");
    repairs("payload.list[?(@.a == 1)][0].b", "array(payload.list[?(@.a == 1)])[0].b");
    repairs("formatDateTime(now(), 'YYYY-MM-DD hh:mm')", "formatDateTime(now(), 'yyyy-MM-dd HH:mm')");
    repairs("length(payload.items[0].x", "length(payload.items[0].x)");
}

/// A repair takes its own finding away, and what it leaves parses.
#[test]
fn repairs_of_all_examples_take_the_finding_away() {
    let mut tried = 0;
    for page in pages::all().iter().filter(|page| (300..500).contains(&page.code.0)) {
        let examples = page.examples();
        let bad = examples.iter().filter(|one| one.fence == Fence::Expr && one.verdict == Verdict::Bad);
        for text in bad.flat_map(|one| one.text.lines()) {
            let Some(after) = repaired(text, &Env::default()) else { continue };
            tried += 1;
            let left = check(&after, &Env::default());
            assert!(left.iter().all(|one| one.code != page.code.0), "{text} became {after}: {left:?}");
            assert!(parse(&after).is_ok(), "{text} became {after}");
        }
    }
    assert!(tried > 60, "only {tried} examples have a repair");
}

#[test]
fn surroundings_are_used() {
    let mut env = Env::default();
    env.variables.insert("n".to_owned(), Known::of(Kind::one(Atom::Long)));
    env.variables.insert("id".to_owned(), Known::of(Kind::AUTO));
    env.variables.insert("resp".to_owned(), Known::of(Kind::one(Atom::Map)));
    env.texts.insert((Place::Header, "code".to_owned()), Kind::one(Atom::Text));
    let table: [(&str, &[&str]); 7] = [
        ("vars.n > 1", &["412 error `vars.n`"]),
        ("'x' + vars.n", &["407 error `vars.n`"]),
        ("'x' + vars.id", &["408 warning `vars.id`"]),
        ("vars.resp + 1", &["432 warning `vars.resp`"]),
        ("vars.resp.payload.x + 1", &[]),
        ("vars.other > 1", &[]),
        ("length(headers.code)", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(found(text, &env), expected, "{text}");
    }
    env.all_variables = true;
    assert_eq!(found("vars.ids", &env), ["449 warning `ids`"]);
    assert_eq!(repaired("vars.ids", &env).as_deref(), Some("vars.id"));
    assert_eq!(found("exists(vars.ids)", &env), [""; 0]);
}

#[test]
fn a_known_body_has_known_fields() {
    let body =
        crate::json::parse("{\"n\": 5, \"big\": 3000000000, \"list\": [1, \"a\"], \"o\": {\"name\": \"x\"}}")
            .expect("JSON");
    let env = Env { payload: Shape::of(&body), ..Env::default() };
    let table: [(&str, &[&str]); 8] = [
        ("payload.n + 1", &[]),
        ("'x' + payload.n", &["407 error `payload.n`"]),
        ("payload.big > 1", &["412 error `payload.big`"]),
        ("payload.o.nam", &["455 error `.nam`"]),
        ("payload.list[2]", &["455 error `[2]`"]),
        ("payload.list[1] + 'b'", &[]),
        ("payload.n.x", &["455 error `.x`"]),
        ("exists(payload.missing)", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(found(text, &env), expected, "{text}");
    }
}

/// Garbage is answered quickly and without a crash.
#[test]
fn garbage_is_survived() {
    let many = format!("[{}]", "true,".repeat(20_000) + "1");
    assert_eq!(check(&many, &Env::default()).len(), 100);
    for text in
        ["", "\u{0}", "((((", "]]]]", "${}", "\"", "'\\", "payload[?(", "a-", "€€€", "=", "vars.", "1 ? 2 : "]
    {
        let _ = check(text, &Env::default());
    }
}

//! Placeholders, what is wrong with them, and filled texts.

use super::*;

fn context() -> Context {
    let vars = serde_json::json!({
        "name": { "type": "string", "value": "Ann" },
        "money": { "type": "string", "value": "$5" },
        "xml": { "type": "xml", "value": "<a><b>1</b></a>" },
    });
    let payload =
        r#"{"s":"a \"b\" \\ c","n":1.50,"t":true,"nul":null,"o":{"k":"v","l":[1,2]},"angle":"<&>"}"#;
    serde_json::from_value(serde_json::json!({ "payload": payload, "vars": vars })).unwrap()
}

fn show(text: &str, rule: Rule) -> String {
    let template = scan(text, rule);
    let placeholders = template.placeholders.iter().map(|one| match one.kind {
        PlaceholderKind::Plain(span) => format!("({})", span.of(text)),
        PlaceholderKind::Quoted(span) => format!("\"{}\"", span.of(text)),
        PlaceholderKind::Argument(number) => format!("#{number}"),
    });
    let findings = template.findings.iter().map(|one| format!("{:?}", one.kind));
    placeholders.chain(findings).collect::<Vec<_>>().join(" ")
}

#[test]
fn messages_take_the_shortest_on_a_line() {
    let table = [
        ("Hi ${vars.a} and ${vars.b}!", "(vars.a) (vars.b)"),
        ("$1 and \"${vars.a}\"", "(vars.a)"),
        ("${'}'}", "(') Cut"),
        ("${vars.\na}", "LineBreak"),
        ("${vars.a", "Unclosed"),
        ("${", "Unclosed"),
        ("${}", "Unclosed"),
        ("${}}", "(}) Empty"),
        ("$${a}", "(a)"),
        ("cost $", ""),
        ("${a ${b}", "(a ${b)"),
        ("${a\n${b}", "(b) LineBreak"),
        ("${a ${b\n}", "LineBreak LineBreak"),
        ("${\n}", "LineBreak"),
        ("${\u{e9}} ${x}", "(\u{e9}) (x)"),
    ];
    for (text, expected) in table {
        assert_eq!(show(text, Rule::Message), expected, "{text}");
    }
}

#[test]
fn formats_know_quotes_and_arguments() {
    let table = [
        (
            r#"{"a": "${vars.a}", "b": ${vars.b}, "c": "x ${vars.c}", "d": $12}"#,
            "\"vars.a\" (vars.b) (vars.c) #12",
        ),
        (r#""${a}${b}""#, "(a) (b)"),
        (r#""${a}"${b}""#, "\"a\" (b)"),
        ("${vars.\na}", "(vars.\na) LineBreak"),
        ("${}", "Empty"),
        (r#"{"a": "${'}'}"}"#, "(') Cut"),
        ("é${a}", "(a)"),
    ];
    for (text, expected) in table {
        assert_eq!(show(text, Rule::Format), expected, "{text}");
    }
}

#[test]
fn messages_are_filled_with_printed_forms() {
    let table = [
        (
            "Hi ${vars.name}, ${payload.n} ${payload.o} ${payload.nul}${payload.missing}.",
            "Hi Ann, 1.5 {\"k\":\"v\",\"l\":[1,2]} .",
        ),
        ("no placeholder", "no placeholder"),
        ("${1 + 1}${2}", "22"),
    ];
    for (text, expected) in table {
        assert_eq!(fill_message(text, &context()).as_deref(), Ok(expected), "{text}");
    }
    let at = Span::new(4, 6);
    assert!(matches!(fill_message("x ${1 }${+ 1}", &context()), Err(TemplateError::Syntax { .. })));
    let error = fill_message("x ${-a}", &context()).unwrap_err();
    assert!(matches!(error, TemplateError::Syntax { at: place, .. } if place == at), "{error:?}");
    assert!(matches!(fill_message("${vars['x']}", &context()), Err(TemplateError::Crash { .. })));
}

#[test]
fn formats_are_filled_by_kind_and_target() {
    let arguments = ["first".to_owned()];
    let fill = |text: &str, media| fill_format(text, media, &arguments, &context());
    let json = [
        (r#"{"a": "${payload.s}"}"#, r#"{"a": "a \"b\" \\ c"}"#),
        (r#"{"a": ${payload.s}}"#, r#"{"a": a \"b\" \\ c}"#),
        (r#"{"a": ${payload.n}, "b": "${payload.t}"}"#, r#"{"a": 1.5, "b": "true"}"#),
        (r#"{"a": ${payload.o}}"#, r#"{"a": {"k":"v","l":[1,2]}}"#),
        (r#"{"a": "${payload.o}"}"#, r#"{"a": "{\"k\":\"v\",\"l\":[1,2]}"}"#),
        (r#"{"a": "${payload.missing}", "b": ${payload.nul}}"#, r#"{"a": "", "b": }"#),
        (r#"{"a": ${vars.xml}}"#, r#"{"a": {"a":{"b":1}}}"#),
        (r#"{"a": "$1", "b": "$5", "c": ${vars.name}}"#, r#"{"a": "first", "b": "$5", "c": ${vars.name}}"#),
        (r#"{"a": "${vars.name}"}"#, r#"{"a": "Ann"}"#),
    ];
    for (text, expected) in json {
        assert_eq!(fill(text, Media::Json).as_deref(), Ok(expected), "{text}");
    }
    let xml = [
        ("<a>${payload.angle}</a>", "<pfPadding><a>&lt;&amp;&gt;</a></pfPadding>"),
        ("<a>${payload.o}</a>", "<pfPadding><a><k>v</k><l>1</l><l>2</l></a></pfPadding>"),
        ("<a>${vars.xml}</a>", "<pfPadding><a><a><b>1</b></a></a></pfPadding>"),
    ];
    for (text, expected) in xml {
        assert_eq!(fill(text, Media::Xml).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(fill("${vars.name}: ${payload.angle}", Media::Text).as_deref(), Ok("Ann: <&>"));
    assert!(matches!(fill(r#""${vars.money}""#, Media::Json), Err(TemplateError::Crash { .. })));
}

#[test]
fn long_texts_are_read_in_one_pass() {
    for piece in ["${", "${a", "${\n", "${'}", "$1"] {
        let text = format!("{}\n}}", piece.repeat(200_000));
        for rule in [Rule::Message, Rule::Format] {
            let template = scan(&text, rule);
            assert!(template.placeholders.len() + template.findings.len() > 0 || piece == "$1", "{piece}");
        }
    }
}

//! Which tests hold for which kind, and how each kind prints.

use super::*;

fn number(number: Number) -> Value {
    Value::Json(Json::Number(number))
}

#[test]
fn tests_follow_from_where_a_number_comes_from() {
    let long = |value| number(Number::Long(value));
    let table = [
        (Value::Int(5), "I"),
        (Value::Long(5), "L"),
        (Value::Double(5.0), "D"),
        (long(5), "I"),
        (long(2_147_483_647), "I"),
        (long(2_147_483_648), "L"),
        (long(-3_000_000_000), "I"),
        (number(Number::Double(2.5)), "D"),
        (number(Number::lazy("3")), "ILD"),
        (number(Number::lazy("3000000000")), "LD"),
        (number(Number::lazy("2.5")), "D"),
        (number(Number::lazy("12345678901234567890")), "D"),
        (number(Number::Big("12345678901234567890".to_owned())), ""),
        (number(Number::Int(5)), ""),
        (Value::Text("5".to_owned()), ""),
        (Value::Bool(true), ""),
        (Value::Json(Json::Bool(true)), ""),
    ];
    for (value, expected) in table {
        let holds = [(value.is_int(), 'I'), (value.is_long(), 'L'), (value.is_double(), 'D')];
        let found = holds.iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect::<String>();
        assert_eq!(found, expected, "{value:?}");
    }
}

#[test]
fn printed_forms() {
    let text = |text: &str| Value::Text(text.to_owned());
    let table = [
        (Value::Int(-5), "-5"),
        (Value::Double(2.0), "2.0"),
        (Value::Double(1e7), "1.0E7"),
        (Value::Double(f64::NAN), "NaN"),
        (Value::Double(-0.0), "-0.0"),
        (text("plain"), "plain"),
        (text("\"quoted\""), "quoted"),
        (text("'quoted'"), "quoted"),
        (text("'mixed\""), "'mixed\""),
        (text("''"), ""),
        (Value::Json("'kept'".into()), "'kept'"),
        (number(Number::lazy("1.50")), "1.50"),
        (Value::Nodes(vec!["<a/>".to_owned(), "b".to_owned()]), "[<a/>, b]"),
    ];
    for (value, expected) in table {
        assert_eq!(value.print().as_deref(), Ok(expected), "{value:?}");
    }
    for quote in ["'", "\""] {
        assert!(matches!(text(quote).print(), Err(Failure::Crash(_))), "{quote}");
    }
}

#[test]
fn texts_are_read_as_json_without_their_backslashes() {
    let array = |text: &str| Value::Text(text.to_owned()).as_array().map(|json| json.to_string());
    assert_eq!(array("[1,2]").as_deref(), Some("[1,2]"));
    assert_eq!(array("\"[1,2]\"").as_deref(), Some("[1,2]"));
    assert_eq!(array(r#""[\"a\"]""#).as_deref(), Some(r#"["a"]"#));
    assert_eq!(array("'[1,2]'"), None);
    assert_eq!(array("{}"), None);
    assert_eq!(array("\""), None);
    assert_eq!(Value::Json("[1]".into()).as_array(), None);
    assert!(matches!(Value::Text("\"".to_owned()).as_object(), Err(Failure::Crash(_))));
}

#[test]
fn conversions_cut_as_java_does() {
    assert_eq!(number(Number::Long(-3_000_000_000)).to_int(), 1_294_967_296);
    assert_eq!(number(Number::lazy("2.9")).to_long(), 2);
    assert_eq!(Value::Double(1e30).to_long(), i64::MAX);
    assert_eq!(Value::Double(f64::NAN).to_long(), 0);
}

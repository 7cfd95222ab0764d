//! What each kind of place makes of the forms that people write.

#![allow(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]

use super::*;

/// The reading of a text with these placeholders.
fn template<const N: usize>(ranges: [Range<usize>; N]) -> Reading {
    Reading::Template(ranges.into_iter().collect())
}

#[track_caller]
fn check(place: Place, text: &str, expected: &Reading) {
    assert_eq!(read(place, text), *expected, "{place:?} {text:?}");
}

#[test]
fn a_path_is_an_expression_only_when_it_is_wrapped_exactly() {
    check(Place::Path, "${payload.a}", &Reading::Expression(2..11));
    check(Place::Path, " ${payload.a}", &Reading::XPath(0..13));
    check(Place::Path, "{${payload.a}}", &Reading::XPath(0..14));
    check(Place::Path, "payload.a", &Reading::XPath(0..9));
    check(Place::Path, "json-eval($.a)", &Reading::JsonPath(10..13));
    check(Place::Path, "json-eval($.a) ", &Reading::JsonPath(10..14));
    check(Place::Path, "${", &Reading::XPath(0..2));
}

#[test]
fn a_value_is_evaluated_only_as_a_whole() {
    check(Place::Value, "${payload.a}", &Reading::Literal);
    check(Place::Value, "{${payload.a}}", &Reading::Expression(3..12));
    check(Place::Value, "{json-eval($.a)}", &Reading::JsonPath(11..14));
    check(Place::Value, "{$ctx:a}", &Reading::XPath(1..7));
    check(Place::Value, "{{$ctx:a}}", &Reading::Deferred(2..8));
    check(Place::Value, "a {$ctx:b}", &Reading::Literal);
}

#[test]
fn a_template_has_any_number_of_expressions() {
    check(Place::Template, "a ${b} c ${d}", &template([4..5, 11..12]));
    check(Place::Template, "${a}} ${", &template([2..3]));
    check(Place::Template, "${}} x", &template([2..3]));
    check(Place::Template, "none", &template([]));
}

#[test]
fn literals_and_queries_know_no_expressions() {
    check(Place::Literal, "${payload.a}", &Reading::Literal);
    check(Place::Resolved, "${configs.a}", &Reading::Literal);
    check(Place::Query, "${payload.a}", &Reading::XPath(0..12));
    check(Place::XPath, "{//a}", &Reading::XPath(1..4));
}

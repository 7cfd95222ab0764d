//! Where ids count, and what they become.

use serde_json::json;

use super::*;

fn args(value: Value) -> Args {
    let Value::Object(args) = value else { panic!("{value} is no object") };
    args
}

#[test]
fn ids_are_found_wherever_they_stand_by_themselves() {
    let check = |value: Value, whole: &[&str], within: &[&str]| {
        let names = Names::of(&args(json!({ "x": value.clone() })));
        assert_eq!((names.whole, names.within), (owned(whole), owned(within)), "{value}");
    };
    check(json!("temp_1"), &["temp_1"], &[]);
    check(json!(["temp_2", { "deep": ["temp_1", "temp_2"] }]), &["temp_2", "temp_1"], &[]);
    check(json!({ "temp_3": 1 }), &["temp_3"], &[]);
    check(json!("contacts:temp_1"), &[], &["temp_1"]);
    check(json!("See temp_1, temp_12 and temp_1."), &[], &["temp_1", "temp_12"]);
    check(json!("(temp_4)ütemp_5"), &[], &["temp_4"]);
    for none in
        ["temp_", "temp_x", "my_temp_1", "temp_1a", "temp_1_2", "Temp_1", "temp-1", "temptemp_1", "ütemp_1"]
    {
        check(json!(none), &[], &[]);
    }
    check(json!([1, true, null]), &[], &[]);
}

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn ids_become_what_they_turned_out_to_be() {
    let (text, number) = (json!("T-9"), json!(41));
    let known = BTreeMap::from([("temp_1", &text), ("temp_10", &number)]);
    let before = json!({
        "a": "temp_1", "b": ["temp_10", "contacts:temp_10"], "temp_1": { "c": "temp_2 and temp_1" }, "d": "temp_100", "e": 1,
    });
    let after = json!({
        "a": "T-9", "b": [41, "contacts:41"], "T-9": { "c": "temp_2 and T-9" }, "d": "temp_100", "e": 1,
    });
    assert_eq!(Value::Object(replaced(&args(before), &known)), after);
}

#[test]
fn places_of_an_id() {
    let details =
        json!({ "task": { "id": "temp_1", "note": "temp_1 is new" }, "all": [{ "a/b~c": "temp_1" }] });
    assert_eq!(places(&details, "temp_1"), ["/task/id", "/all/0/a~1b~0c"]);
    assert_eq!(details.pointer("/all/0/a~1b~0c"), Some(&json!("temp_1")));
    assert_eq!(places(&json!("temp_1"), "temp_1"), [""]);
    assert_eq!(places(&details, "temp_2"), Vec::<String>::new());
}

proptest::proptest! {
    /// A text without ids that are known comes back as it was.
    #[test]
    fn nothing_else_is_touched(text in ".{0,40}|(temp_[0-9]{0,2}[ a:_.]?){1,6}") {
        let mut before = Args::new();
        before.insert("x".to_owned(), Value::String(text));
        proptest::prop_assert_eq!(replaced(&before, &BTreeMap::new()), before);
    }

    /// An id is found exactly where it would be replaced.
    #[test]
    fn what_is_found_is_what_is_replaced(text in "((temp_[0-9]{1,2}|[a-c_ :.é]){1,3} ?){1,4}") {
        let mut before = Args::new();
        before.insert("x".to_owned(), Value::String(text));
        let names = Names::of(&before);
        let gone = json!("gone");
        let known: BTreeMap<&str, &Value> = names.all().map(|id| (id, &gone)).collect();
        let after = replaced(&before, &known);
        proptest::prop_assert_eq!(after == before, known.is_empty());
        let left = Names::of(&after);
        proptest::prop_assert!(left.all().next().is_none(), "{:?}", after);
    }
}

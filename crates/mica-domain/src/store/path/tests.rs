use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn what_is_read() {
    let value = json!({
        "items": [{ "id": 1, "tags": ["a", "b"] }, { "id": 2 }, { "id": 3, "tags": ["c"] }],
        "first-name": "Ada",
        "first": "key",
        "a.b": { "\"": true },
    });
    for (path, expected) in [
        ("", Ok(value.clone())),
        ("items[0].id", Ok(json!(1))),
        (".items[-1].id", Ok(json!(3))),
        ("items.first.id", Ok(json!(1))),
        ("items.last.tags[0]", Ok(json!("c"))),
        ("items[*].id", Ok(json!([1, 2, 3]))),
        ("items[*].tags", Ok(json!([["a", "b"], ["c"]]))),
        ("items[*].tags[*]", Ok(json!(["a", "b", "c"]))),
        ("items[*].nothing", Ok(json!([]))),
        ("first-name", Ok(json!("Ada"))),
        ("first", Ok(json!("key"))),
        ("[\"a.b\"].\"\\\"\"", Ok(json!(true))),
        ("items[3]", Err("there is no .items[3]; it is a list of 3")),
        ("items[-4].id", Err("there is no .items[-4]; it is a list of 3")),
        ("items.id", Err("there is no .items.id; it is a list of 3")),
        ("items[0].name", Err("there is no .items[0].name; there is .id, .tags")),
        ("first-name.x", Err("there is no .first-name.x; it is a text")),
        ("first-name[*]", Err("there is no .first-name[*]; it is a text")),
    ] {
        let read = Path::parse(path).unwrap().read(&value).map(Cow::into_owned).map_err(|no| no.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{path}");
    }
}

#[test]
fn mistakes_say_where_they_are() {
    for (path, column, problem) in [
        ("a..b", 2, "a key is expected, not '.'"),
        ("a.", 2, "a key is expected, not the end"),
        ("a b", 1, "\".\" or \"[\" is expected, not ' '"),
        ("ä[x]", 2, "a number, a text or \"*\" is expected"),
        ("a[1", 3, "\"]\" is expected"),
        ("a[1x]", 3, "\"]\" is expected"),
        ("a[99999999999999999999]", 2, "the number is too large"),
        ("a[-]", 2, "a number, a text or \"*\" is expected"),
        ("a[]", 2, "a number, a text or \"*\" is expected"),
        ("a.\"b", 2, "the quotation mark is never closed"),
        ("a.\"b\\n\"", 4, "only \\\" and \\\\ can be escaped"),
        ("1a", 0, "a key is expected, not '1'"),
    ] {
        let misread = Path::parse(path).unwrap_err();
        assert_eq!((misread.column, misread.problem.as_str()), (column, problem), "{path}");
    }
    let long = format!("a{}", ".b".repeat(600));
    assert_eq!(Path::parse(&long).unwrap_err().problem, "it is longer than 1024 bytes");
    assert_eq!(
        Path::parse("a..b").unwrap_err().to_string(),
        "\"a..b\" is not understood at character 3: a key is expected, not '.'"
    );
}

#[test]
fn what_is_written() {
    for (path, before, expected) in [
        ("", json!(1), Ok(json!("new"))),
        ("a.b", json!({}), Ok(json!({ "a": { "b": "new" } }))),
        ("a.b", json!(null), Ok(json!({ "a": { "b": "new" } }))),
        ("a[1]", json!({ "a": [1, 2] }), Ok(json!({ "a": [1, "new"] }))),
        ("a.last.x", json!({ "a": [1, {}] }), Ok(json!({ "a": [1, { "x": "new" }] }))),
        ("a[2]", json!({ "a": [1, 2] }), Err("there is no .a[2]; it is a list of 2")),
        ("a.b[0]", json!({}), Err("there is no .a.b[0]; there is nothing")),
        ("a[*]", json!({ "a": [1] }), Err("there is no .a[*]; it is a list of 1")),
        ("a.b", json!({ "a": 1 }), Err("there is no .a.b; it is a number")),
    ] {
        let mut value = before.clone();
        let written = Path::parse(path).unwrap().write(&mut value, json!("new")).map_err(|no| no.to_string());
        assert_eq!(written.clone().map(|()| value.clone()), expected.map_err(str::to_owned), "{path}");
        if written.is_err() {
            assert_eq!(value, before, "{path}: nothing is changed by what fails");
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        ".{0,8}".prop_map(Step::Key),
        "[a-z_][a-z0-9_-]{0,5}".prop_map(|name| match name.as_str() {
            "first" => Step::First,
            "last" => Step::Last,
            _ => Step::Key(name),
        }),
        any::<i32>().prop_map(|at| Step::At(at.into())),
        Just(Step::First),
        Just(Step::Last),
        Just(Step::Each),
    ]
}

proptest! {
    #[test]
    fn what_is_written_out_is_read_the_same(steps in prop::collection::vec(step(), 0..8)) {
        let path = Path::of(steps);
        prop_assert_eq!(Path::parse(&path.to_string()).unwrap(), path);
    }

    #[test]
    fn anything_parses_or_says_where_it_does_not(text in "\\PC{0,40}|[a-c.\\[\\]*\"\\\\0-9-]{0,30}") {
        match Path::parse(&text) {
            Ok(path) => prop_assert_eq!(Path::parse(&path.to_string()).unwrap(), path),
            Err(misread) => prop_assert!(misread.column <= text.chars().count()),
        }
    }

    /// However often all of a list is asked for, nothing comes back twice.
    #[test]
    fn reading_costs_no_more_than_there_is(each in 1usize..12, width in 1usize..40) {
        let list = json!([vec![json!([1]); width]]);
        let path = Path::of(vec![Step::Each; each]);
        if let Ok(read) = path.read(&list) {
            prop_assert!(read.to_string().len() <= list.to_string().len());
        }
    }
}

//! Shapes that are joined, and examples made from them.

use serde_json::json;

use super::Shape::{Any, Exactly, Null, Number, Object, OneOf, Text, Truth};
use super::*;

#[test]
fn shapes_are_joined() {
    let object = |fields: &[(&str, Shape, bool)]| {
        Object(
            fields
                .iter()
                .map(|(name, shape, is_optional)| Field {
                    name: (*name).to_owned(),
                    shape: shape.clone(),
                    is_optional: *is_optional,
                })
                .collect(),
        )
    };
    for (one, another, expected) in [
        (Text, Text, Text),
        (Text, Any, Text),
        (Text, Null, OneOf(vec![Text, Null])),
        (Null, Text, OneOf(vec![Text, Null])),
        (OneOf(vec![Text, Null]), Number, OneOf(vec![Text, Number, Null])),
        (Truth, OneOf(vec![Text, Null]), OneOf(vec![Truth, Text, Null])),
        (Any.list(), Number.list(), Number.list()),
        (Text.list(), Number.list(), OneOf(vec![Text, Number]).list()),
        (Exactly(vec![json!(1)]), Exactly(vec![json!(2), json!(1)]), Exactly(vec![json!(1), json!(2)])),
        (
            object(&[("a", Text, false), ("b", Text, false)]),
            object(&[("a", Null, false), ("x", Truth, false), ("c", Text, false)]),
            object(&[
                ("a", OneOf(vec![Text, Null]), false),
                ("x", Truth, true),
                ("c", Text, true),
                ("b", Text, true),
            ]),
        ),
        (
            OneOf(vec![object(&[("a", Text, false)]), Null]),
            object(&[("b", Text, false)]),
            OneOf(vec![object(&[("b", Text, true), ("a", Text, true)]), Null]),
        ),
    ] {
        assert_eq!(one.clone().or(another.clone()), expected, "{one:?} or {another:?}");
    }
}

#[test]
fn examples_say_where_they_come_from() {
    let shape = Object(vec![
        Field::new("name", Text),
        Field::optional("tags", Text.list()),
        Field::new("size", OneOf(vec![Number, Null])),
        Field::new("kind", Exactly(vec![json!("b"), json!("c")])),
        Field::new("inner", Object(vec![Field::new("on", Truth), Field::new("all", Any)])),
    ]);
    let expected = json!({ "name": "name", "tags": ["tags"], "size": 1, "kind": "b", "inner": { "on": true, "all": "all" } });
    assert_eq!(example(&shape, "root"), expected);
}

#[test]
fn the_least_that_is_allowed() {
    let shape = Object(vec![
        Field::new("name", Text),
        Field::optional("tags", Text.list()),
        Field::new("size", OneOf(vec![Number, Null])),
        Field::new("inner", Object(vec![Field::new("on", Truth), Field::new("all", Text.list())])),
    ]);
    assert_eq!(
        least(&shape),
        Some(json!({ "name": "name", "size": null, "inner": { "on": true, "all": [] } }))
    );
    assert_eq!(least(&Object(vec![Field::new("name", Text)])), None);
}

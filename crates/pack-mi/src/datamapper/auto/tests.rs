//! Which fields are obvious, which are not, and what is written for them.

use super::super::{Form, read_schema};
use super::*;

fn schema(text: &str, form: Form) -> Schema {
    read_schema(text, form).unwrap().0
}

fn check(input: &str, output: &str, body: &str, left: &[(&str, &str)]) {
    let made = map(&schema(input, Form::Json), &schema(output, Form::Json));
    assert_eq!(made.body, body);
    let found: Vec<(&str, &str)> = made.left.iter().map(|(path, why)| (path.as_str(), *why)).collect();
    assert_eq!(found, left);
}

#[test]
fn names_that_differ_in_writing_only() {
    check(
        r#"{"first_name": "a", "LastName": "b", "age": 3, "e-mail": "x"}"#,
        r#"{"firstName": "a", "last name": "b", "age": "3", "email": "x", "phone": "y"}"#,
        "return {\n    firstName: input.first_name,\n    \"last name\": input.LastName,\n    email: input[\"e-mail\"]\n};",
        &[("age", OTHER), ("phone", NOTHING)],
    );
}

#[test]
fn objects_and_lists_within() {
    check(
        r#"{"order": {"id": 1, "lines": [{"sku": "a", "qty": 2, "tags": ["x"]}]}, "customer": {"name": "b", "city": "c"}}"#,
        r#"{"orderId": 1, "customerName": "b", "customer": {"city": "c", "zip": "1"}, "Lines": [{"SKU": "a", "qty": 2, "tags": ["x"], "price": 1}], "extra": {"a": 1}}"#,
        "return {\n    orderId: input.order.id,\n    customerName: input.customer.name,\n    customer: {\n        city: input.customer.city\n    },\n    Lines: input.order.lines.map((linesItem) => {\n        return {\n            SKU: linesItem.sku,\n            qty: linesItem.qty,\n            tags: linesItem.tags\n        };\n    })\n};",
        &[("customer.zip", NOTHING), ("Lines[].price", NOTHING), ("extra", NOTHING)],
    );
}

#[test]
fn what_may_be_missing_is_asked_for_politely() {
    check(
        r#"[{"a": {"b": "x"}, "c": [{"d": 1}]}, {}]"#,
        r#"[{"ab": "x", "c": [{"d": 1}]}]"#,
        "return input.map((item) => {\n    return {\n        ab: item.a?.b,\n        c: item.c?.map((cItem) => {\n            return {\n                d: cItem.d\n            };\n        })\n    };\n});",
        &[],
    );
}

#[test]
fn what_is_not_sure_is_left() {
    check(
        r#"{"a": {"id": "1"}, "b": {"id": "2"}}"#,
        r#"{"id": "1"}"#,
        "return {};",
        &[("id", "several have that name")],
    );
    check(r#"{"a": 1}"#, r#"[{"a": 1}]"#, "return []", &[("a", "the target is a list, the source is not")]);
}

//! Definitions of both generations, and such as are none.

use serde_json::json;

use super::*;

const PETS: &str = include_str!("pets.json");

#[test]
fn paths_and_methods_are_operations() {
    let api = OpenApi::read(PETS).unwrap();
    assert_eq!((api.name.as_str(), api.context.as_str()), ("PetStoreV2", "/api/v2"));
    let found: Vec<(&str, &str, u16, Option<Value>)> = api
        .operations
        .iter()
        .map(|one| (one.method.as_str(), one.template.as_str(), one.status, one.example.clone()))
        .collect();
    assert_eq!(
        found,
        [
            ("GET", "/pets", 200, Some(json!([{ "id": 1, "name": "Kit & <Kat>" }]))),
            ("POST", "/pets", 201, Some(json!({ "id": 2, "name": "Rex" }))),
            ("GET", "/pets/{pet_id}", 200, Some(json!({ "id": 3, "name": "Tom" }))),
            ("DELETE", "/pets/{pet_id}", 204, None),
            ("HEAD", "/pets/{pet_id}", 200, None),
            ("PUT", "/pets/{pet_id}", 200, Some(json!({ "price": "$1" }))),
            ("PATCH", "/pets/{pet_id}", 200, None),
        ]
    );
    assert_eq!(api.operations[0].parameters, ["query limit (integer)", "header X-Trace (string, required)"]);
    assert_eq!(api.operations[1].parameters, ["body"]);
    assert_eq!(
        api.notes,
        ["TRACE /pets: resources have no such method", "GET /pets/{other}: /pets/{pet_id} is the same path"]
    );
}

#[test]
fn the_older_generation_is_read() {
    let api = OpenApi::read(
        r#"{"swagger":"2.0","info":{"title":"2 orders"},"basePath":"/shop/","paths":{"/orders":{"get":{"parameters":[
        {"name":"q","in":"query","type":"string"}],"responses":{"200":{"examples":{"application/json":{"a":1}}}}}}}}"#,
    )
    .unwrap();
    assert_eq!((api.name.as_str(), api.context.as_str()), ("Api2Orders", "/shop"));
    assert_eq!(api.operations[0].parameters, ["query q (string)"]);
    assert_eq!(api.operations[0].example, Some(json!({ "a": 1 })));
}

#[test]
fn a_context_is_found_or_made() {
    let of = |servers: Value| context(&json!({ "servers": servers }), "Orders");
    for (server, expect) in [
        ("https://a.example/v1/", "/v1"),
        ("/v2", "/v2"),
        ("https://a.example", "/orders"),
        ("https://{host}/x", "/x"),
        ("https://a.example/{version}", "/orders"),
        ("", "/orders"),
    ] {
        assert_eq!(of(json!([{ "url": server }])), expect, "{server}");
    }
    assert_eq!(of(json!([])), "/orders");
}

#[test]
fn what_is_no_definition_is_refused() {
    for (text, expect) in [
        ("openapi: 3.0.0\ninfo: {}", "the definition is not JSON"),
        ("", "the definition is not JSON"),
        ("{}", "this is no OpenAPI definition"),
        ("{\"openapi\":\"3.0.0\",\"paths\":{}}", "the definition has no path"),
        (
            "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"$ref\":\"#/paths/~1a\"}}}",
            "the definition has no path",
        ),
    ] {
        let error = OpenApi::read(text).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{text}: {error}");
    }
}

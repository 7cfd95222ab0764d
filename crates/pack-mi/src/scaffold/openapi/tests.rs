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
fn yaml_says_the_same_as_json() {
    let api = OpenApi::read(
        "# Orders\nopenapi: 3.0.3\ninfo: {title: Pet Store, version: 1.0}\nservers:\n  - url: https://a.example/v1\n\
         components:\n  examples:\n    one: &one {id: 1, name: 'yes', open: true, when: 2026-01-02}\npaths:\n  /pets/{id}:\n    get:\n      \
         summary: >-\n        Gives\n        a pet\n      parameters:\n        - {name: id, in: path, required: true, schema: {type: integer}}\n      \
         responses:\n        200:\n          description: ok\n          content:\n            application/json:\n              example: *one\n",
    )
    .unwrap();
    assert_eq!((api.name.as_str(), api.context.as_str()), ("PetStore", "/v1"));
    let one = &api.operations[0];
    assert_eq!((one.method.as_str(), one.template.as_str(), one.status), ("GET", "/pets/{id}", 200));
    assert_eq!(one.summary, "Gives a pet");
    assert_eq!(one.example, Some(json!({ "id": 1, "name": "yes", "open": true, "when": "2026-01-02" })));
}

#[test]
fn errors_of_yaml_name_the_line() {
    let told: Vec<String> = [
        "openapi: 3.0.0\npaths:\n  /a: [\n",
        "openapi: 3.0.0\ninfo: {title: a\npaths: {}\n",
        "openapi: 3.0.0\n\tpaths: {}\n",
        "openapi: 3.0.0\nopenapi: 3.0.1\n",
    ]
    .iter()
    .map(|text| OpenApi::read(text).unwrap_err().to_string().replace("the definition is not YAML: ", ""))
    .collect();
    assert_eq!(
        told,
        [
            "unclosed bracket '[' at line 3, column 7",
            "while parsing a flow mapping, did not find expected ',' or '}' at line 3, column 6",
            "while scanning a plain scalar, found a tab at line 1, column 10",
            "duplicate mapping key: openapi at line 2, column 1",
        ]
    );
    assert_eq!(OpenApi::read("just words").unwrap_err(), OpenApiError::NotOpenApi);
    // Anchors that would grow without end.
    let mut bomb = "openapi: 3.0.0\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for at in 1..9 {
        let many = vec![format!("*a{}", at - 1); 10].join(",");
        bomb.push_str(&format!("a{at}: &a{at} [{many}]\n"));
    }
    assert!(matches!(OpenApi::read(&bomb), Err(OpenApiError::NotYaml { .. })));
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
    let of = |server: Value| context(&json!({ "servers": [server] }), "Orders");
    for (server, expect) in [
        ("https://a.example/v1/", "/v1"),
        ("/v2", "/v2"),
        ("https://a.example", "/orders"),
        ("https://a.example/", "/orders"),
        ("https://{host}/x", "/x"),
        ("", "/orders"),
    ] {
        assert_eq!(of(json!({ "url": server })), (expect.to_owned(), None), "{server}");
    }
    assert_eq!(context(&json!({ "servers": [] }), "Orders"), ("/orders".to_owned(), None));
    let variables = json!({ "env": { "default": "test" }, "base": { "default": "shop" }, "n": { "default": 2 }, "no": {} });
    for (server, expect, note) in [
        ("https://{env}.x.com/{base}/v1", "/shop/v1", None),
        ("/{base}/v{n}", "/shop/v2", None),
        (
            "https://a.example/{no}/v1",
            "/orders",
            Some(
                "the path of https://a.example/{no}/v1: it has a variable without a default; the API lies under /orders",
            ),
        ),
        ("/a b", "/orders", Some("the path of /a b: a context cannot have it; the API lies under /orders")),
    ] {
        let found = of(json!({ "url": server, "variables": variables }));
        assert_eq!(found, (expect.to_owned(), note.map(str::to_owned)), "{server}");
    }
}

/// The methods and templates of a definition with these paths, and what was left out.
fn resources(paths: &Value) -> (Vec<String>, Vec<String>) {
    let api = OpenApi::read(&json!({ "openapi": "3.0.0", "paths": paths }).to_string()).unwrap();
    let found = api.operations.iter().map(|one| format!("{} {}", one.method, one.template)).collect();
    (found, api.notes)
}

#[test]
fn exact_paths_come_before_open_ones() {
    let (found, notes) = resources(&json!({
        "/{all}": { "get": {} },
        "/pets/{id}": { "get": {} },
        "/pets/{id}.json": { "get": {} },
        "/pets/mine": { "get": {} },
        "/{kind}/mine": { "get": {} },
        "/orders": { "get": {} },
    }));
    assert_eq!(
        found,
        [
            "GET /orders",
            "GET /pets/mine",
            "GET /pets/{id}.json",
            "GET /pets/{id}",
            "GET /{all}",
            "GET /{kind}/mine"
        ]
    );
    assert_eq!(notes, Vec::<String>::new());
}

#[test]
fn paths_of_one_shape_clash_only_in_the_same_method() {
    let (found, notes) = resources(&json!({
        "/s/{a}": { "get": {}, "put": {} },
        "/s/{b}": { "post": {}, "put": {} },
    }));
    assert_eq!(found, ["GET /s/{a}", "PUT /s/{a}", "POST /s/{b}"]);
    assert_eq!(notes, ["PUT /s/{b}: /s/{a} is the same path"]);
}

#[test]
fn an_answer_without_an_example_is_made_from_its_schema() {
    let api = OpenApi::read(
        &json!({ "openapi": "3.0.0", "paths": { "/a": { "get": { "responses": { "200": { "content": {
            "application/json": { "schema": { "type": "array", "items": { "$ref": "#/components/schemas/Pet" } } } } } } } } },
            "components": { "schemas": { "Pet": { "properties": { "name": { "type": "string" }, "kind": { "enum": ["cat"] } } } } }
        })
        .to_string(),
    )
    .unwrap();
    assert_eq!(api.operations[0].example, Some(json!([{ "name": "text", "kind": "cat" }])));
}

#[test]
fn names_and_templates_are_such_as_files_and_requests_have() {
    for (title, expect) in [
        ("Pet Störe API", "PetStoereAPI"),
        ("Pet Sto\u{308}re", "PetStoere"),
        ("Öffis & Straßen", "OeffisStrassen"),
        ("Crème brûlée, señor", "CremeBruleeSenor"),
        ("日本", "Api"),
    ] {
        assert_eq!(artifact_name(title), expect, "{title}");
    }
    for (path, expect) in
        [("/my pets/{pet id}", "/my%20pets/{pet_id}"), ("/a%20b", "/a%20b"), ("/größe", "/gr%C3%B6%C3%9Fe")]
    {
        assert_eq!(template(path), expect, "{path}");
    }
}

#[test]
fn what_is_no_definition_is_refused() {
    for (text, expect) in [
        ("openapi: 3.0.0\ninfo: {}", "the definition has no path"),
        ("", "this is no OpenAPI definition"),
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

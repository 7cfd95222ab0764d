//! Asked by hand, line by line, with mistakes.

use serde_json::json;

use super::stage::Stage;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[test]
fn a_client_that_says_nothing_ends_the_server_well() {
    let stage = Stage::new();
    assert_eq!(stage.talk(&[]).end(), (Some(0), String::new(), String::new()));
}

#[test]
fn the_newer_era_needs_no_handshake_and_the_older_has_one() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    let found = talk.ask("server/discover", json!({}));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["supportedVersions"].as_array().unwrap().last().unwrap(), "2026-07-28");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mica");
    assert_eq!(found["cacheScope"], "public");
    let listed = talk.ask("tools/list", json!({}));
    assert_eq!((&listed["resultType"], &listed["ttlMs"]), (&json!("complete"), &json!(3_600_000)));
    assert_eq!(talk.end().0, Some(0));

    let mut talk = stage.talk(&[]);
    talk.say(INITIALIZE);
    let answer = talk.hear();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let listed = talk.hear();
    assert_eq!(listed["result"]["resultType"], json!(null), "older clients are not sent it");
    assert_eq!(listed["result"]["tools"][0]["name"], "check");
    talk.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(talk.hear()["result"], json!({}));
    assert_eq!(talk.end().0, Some(0));
}

#[test]
fn mistakes_are_answered_and_the_server_goes_on() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    talk.say("");
    for (line, code, id) in [
        ("this is not JSON", -32700, json!(null)),
        ("{\"jsonrpc\":\"2.0\",\"id\":7", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("42", -32600, json!(null)),
        (r#"{"id":8,"method":"tools/list"}"#, -32600, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#, -32602, json!(9)),
    ] {
        talk.say(line);
        let answer = talk.hear();
        assert_eq!(
            (&answer["error"]["code"], answer.get("id")),
            (&json!(code), Some(&id)),
            "{line}: {answer}"
        );
    }
    let unknown = talk.ask("no/such", json!({}));
    assert_eq!(
        (&unknown["code"], &unknown["message"]),
        (&json!(-32601), &json!("Method not found: no/such"))
    );
    assert_eq!(talk.ask("tools/call", json!({ "name": "nope" }))["code"], -32602);
    assert_eq!(talk.ask("tools/list", json!({ "cursor": "nope" }))["code"], -32602);
    assert_eq!(talk.ask("tools/list", json!({}))["tools"][0]["name"], "check");
    let (code, rest, told) = talk.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert_eq!(told.lines().count(), 5, "what could not be read is told: {told}");
}

#[test]
fn a_version_that_nobody_speaks_is_refused_with_those_that_are() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    talk.say(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    );
    let answer = talk.hear();
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["supported"].as_array().unwrap().len(), 5);
}

#[test]
fn what_was_asked_is_answered_also_when_the_client_says_no_more() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    let mut call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "evaluate_expression", "arguments": { "expression": "1 + 1" } },
    });
    call["params"]["_meta"] = super::stage::meta();
    talk.say(&call.to_string());
    let (code, rest, told) = talk.end();
    assert_eq!((code, told.as_str()), (Some(0), ""));
    let answer: serde_json::Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["value"], "2");
}

#[test]
fn arguments_are_held_against_the_schema_in_words() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    for (name, arguments, expect) in [
        (
            "check",
            json!({ "path": "src" }),
            "The arguments do not fit the tool check: unknown field `path`, expected one of `paths`, `text`, `file_name`, `runtime`, \
             `severity`, `standalone`.",
        ),
        ("check", json!({ "paths": ["src"], "text": "<a/>" }), "Give paths or a text, not both."),
        (
            "check",
            json!({ "paths": ["src"], "runtime": "9.9" }),
            "runtime: the language of 9.9.0 is not described; known are 4.1, 4.2, 4.3, 4.4, 4.5, 4.6",
        ),
        ("explain_finding", json!({ "code": "SYN9999" }), ""),
        (
            "search_references",
            json!({ "query": " " }),
            "The query is empty. Give identifiers, operators or words to look for.",
        ),
        ("fix", json!({}), "Give the path of one file, or a text."),
        (
            "fix",
            json!({ "text": "<a/>", "codes": ["nope"] }),
            "nope: there is no such finding; they look like SYN0201",
        ),
    ] {
        let text = talk.refused(name, arguments.clone());
        if expect.is_empty() {
            assert!(text.starts_with("there is no finding \"SYN9999\"; near are "), "{text}");
        } else {
            assert_eq!(text, expect, "{name} {arguments}");
        }
    }
}

#[test]
fn schemas_are_schemas_and_answers_fit_them() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    let tools = talk.ask("tools/list", json!({}))["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    let calls = json!({
        "check": { "paths": ["src"] },
        "evaluate_expression": { "expression": "${payload.a", "payload": "{\"a\":1}" },
        "explain_finding": { "code": "101" },
        "fix": { "path": super::stage::FILE },
        "get_connector_definitions": { "mode": "catalogue" },
        "list_references": {},
        "load_references": { "names": ["synapse-expression-spec:type_coercion", "nope"] },
        "outline": { "path": super::stage::FILE },
        "project_facts": {},
        "project_graph": {},
        "search_references": { "query": "foreach" },
    });
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(jsonschema::meta::is_valid(&tool["inputSchema"]), "{name}");
        let input = jsonschema::draft202012::new(&tool["inputSchema"]).unwrap();
        assert!(input.is_valid(&calls[name]), "{name}: {}", calls[name]);
        let output = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
        let result = talk.call(name, calls[name].clone());
        assert_eq!(result["isError"], false, "{name}: {result}");
        let errors: Vec<String> =
            output.iter_errors(&result["structuredContent"]).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty(), "{name}");
    }
}

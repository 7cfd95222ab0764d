//! What clients should not send.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::Client;

#[test]
fn requests_before_the_beginning_are_refused() {
    let mut client = Client::raw(Options::default());
    assert_eq!(client.request("textDocument/hover", json!({})).unwrap_err()["code"], -32002);
    client.notify("textDocument/didOpen", json!({ "garbage": true }));
    assert!(client.request("initialize", json!({ "capabilities": {} })).is_ok());
    assert_eq!(client.request("initialize", json!({ "capabilities": {} })).unwrap_err()["code"], -32600);
}

#[test]
fn unknown_methods_and_wrong_parameters_are_told() {
    let mut client = Client::start();
    let unknown = client.request("textDocument/moniker", json!({})).unwrap_err();
    assert_eq!(unknown, json!({ "code": -32601, "message": "there is no textDocument/moniker here" }));
    assert_eq!(client.request("textDocument/hover", json!({ "a": 1 })).unwrap_err()["code"], -32602);
    assert_eq!(client.request("textDocument/formatting", json!([])).unwrap_err()["code"], -32602);
    assert_eq!(client.request("workspace/diagnostic", json!(1)).unwrap_err()["code"], -32602);
    let wrong = json!({ "capabilities": {}, "initializationOptions": { "runtime": "new" } });
    let mut client = Client::raw(Options::default());
    assert_eq!(
        client.request("initialize", wrong).unwrap_err()["message"],
        "initializationOptions.runtime: \"new\" is not a version: versions look like 4.4.0"
    );
}

#[test]
fn messages_that_are_none_do_not_end_the_server() {
    let mut client = Client::start();
    client.send_bytes(b"Content-Length: 3\r\n\r\n{{{");
    client.send_bytes(b"nonsense\r\n\r\n");
    client.send_bytes(b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc");
    client.send(&json!([1, 2]));
    client.send(&json!({ "id": 5 }));
    for code in [-32700, -32700, -32700, -32600, -32600] {
        let answer = client.wait(|message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], code);
    }
    assert_eq!(client.request("shutdown", Value::Null), Ok(Value::Null));
}

#[test]
fn documents_that_are_not_open_and_places_that_do_not_exist_are_nothing() {
    let mut client = Client::start();
    client.change("file:///alone/never.xml", 2, json!([{ "text": "<a/>" }]));
    assert_eq!(
        client.wait_for("window/logMessage")["message"],
        "textDocument/didChange: file:///alone/never.xml is not open"
    );
    let uri = "file:///alone/a.xml";
    client.open(uri, "<sequence name='a'/>");
    let beyond = json!({ "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 });
    for method in
        ["hover", "definition", "documentHighlight", "completion", "signatureHelp", "linkedEditingRange"]
    {
        let method = format!("textDocument/{method}");
        let place = json!({ "textDocument": { "uri": uri }, "position": beyond });
        assert!(client.request(&method, place).is_ok(), "{method}");
        let nowhere = json!({ "textDocument": { "uri": "untitled:x" }, "position": beyond });
        assert_eq!(client.request(&method, nowhere), Ok(Value::Null), "{method}");
    }
}

#[test]
fn every_feature_survives_every_place_of_broken_texts() {
    let mut client = Client::start();
    let whole = "<sequence xmlns='http://ws.apache.org/ns/synapse' name='S'><log level=\"full\"><message>${vars.x + len(payload.\u{e4}</message></log><call-template target='T'><with-param name='";
    let mut version = 1;
    let uri = "file:///alone/broken.xml";
    client.open(uri, "");
    for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)).step_by(7) {
        version += 1;
        client.change(uri, version, json!([{ "text": &whole[..end] }]));
        for character in [end / 2, end] {
            let position = json!({ "line": 0, "character": character });
            for method in ["hover", "definition", "completion", "signatureHelp", "documentHighlight"] {
                client.request_at(&format!("textDocument/{method}"), uri, &position, &Value::Null);
            }
        }
        let document = json!({ "textDocument": { "uri": uri } });
        for method in ["documentSymbol", "foldingRange", "semanticTokens/full", "diagnostic"] {
            client.request(&format!("textDocument/{method}"), document.clone()).unwrap();
        }
    }
}

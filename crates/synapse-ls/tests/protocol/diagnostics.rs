//! Diagnostics, sent and asked for.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::{Client, Folder, abilities, uri};
use crate::sequence;

fn codes(items: &Value) -> Vec<(String, Value)> {
    let items = items.as_array().unwrap().iter();
    items.map(|one| (one["code"].as_str().unwrap().to_owned(), one["range"]["start"].clone())).collect()
}

#[test]
fn findings_have_all_that_editors_show() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("<log levle=\"full\"/>"));
    let items = client.published(uri, 1);
    let one = &items[0];
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    let start = sequence("").find("</").unwrap() + "<log ".len();
    assert_eq!(one["range"]["start"], json!({ "line": 0, "character": start }));
    assert_eq!(one["range"]["end"], json!({ "line": 0, "character": start + "levle".len() }));
    assert_eq!((&one["source"], &one["data"]["class"]), (&json!("synapse"), &json!("ignored")));
    assert_eq!(one["tags"], json!([1]));
    assert!(one["code"].as_str().unwrap().starts_with("SYN01"), "{one}");
    assert_eq!(one.get("codeDescription"), None);
}

#[test]
fn pages_are_linked_where_they_are_to_be_had() {
    let options = Options { pages: Some("https://example.org/".to_owned()), ..Options::default() };
    let mut client = Client::with(abilities(), None, options);
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("<log levle=\"full\"/>"));
    let items = client.published(uri, 1);
    let code = items[0]["code"].as_str().unwrap();
    assert_eq!(items[0]["codeDescription"]["href"], format!("https://example.org/{code}.md"));
}

#[test]
fn edits_change_findings_and_every_sending_names_its_version() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    let text = sequence("\n<log/>\n");
    client.open(uri, &text);
    assert_eq!(client.published(uri, 1), json!([]));
    let place = |line: u32, character: u32| json!({ "line": line, "character": character });
    let insert = json!([{ "range": { "start": place(1, 1), "end": place(1, 4) }, "text": "lgo" }]);
    client.change(uri, 2, insert);
    assert_eq!(codes(&client.published(uri, 2)), [("SYN0101".to_owned(), place(1, 1))]);
    let back = json!([{ "range": { "start": place(1, 1), "end": place(1, 4) }, "text": "log" }]);
    client.change(uri, 3, back);
    assert_eq!(client.published(uri, 3), json!([]));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let cleared = client.wait(|message| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"].get("version").is_none()
    });
    assert_eq!(cleared["params"], json!({ "uri": uri, "diagnostics": [] }));
}

#[test]
fn other_xml_has_no_findings() {
    let mut client = Client::start();
    client.open("file:///alone/pom.xml", "<project><modules/></project>");
    assert_eq!(client.published("file:///alone/pom.xml", 1), json!([]));
}

#[test]
fn who_asks_gets_a_report_and_the_same_once() {
    let mut pulls = abilities();
    pulls["textDocument"]["diagnostic"] = json!({});
    let mut client = Client::with(pulls, None, Options::default());
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("<lgo/>"));
    let ask = |previous: Value| json!({ "textDocument": { "uri": uri }, "previousResultId": previous });
    let report = client.request("textDocument/diagnostic", ask(Value::Null)).unwrap();
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"][0]["code"], "SYN0101");
    let id = report["resultId"].clone();
    let again = client.request("textDocument/diagnostic", ask(id.clone())).unwrap();
    assert_eq!(again, json!({ "kind": "unchanged", "resultId": id }));
    client.change(uri, 2, json!([{ "text": sequence("<log/>") }]));
    let better = client.request("textDocument/diagnostic", ask(id)).unwrap();
    assert_eq!((&better["kind"], &better["items"]), (&json!("full"), &json!([])));
}

#[test]
fn the_workspace_is_checked_in_portions() {
    let folder = Folder::new();
    folder.artifact("sequences/Bad.xml", &sequence("<lgo/>").replace("\"S\"", "\"Bad\""));
    let mut client = Client::start_in(folder.root());
    let params = json!({ "previousResultIds": [], "partialResultToken": "p", "workDoneToken": "w" });
    let answer = client.request("workspace/diagnostic", params).unwrap();
    assert_eq!(answer, json!({ "items": [] }));
    let part = client.wait(|message| message["method"] == "$/progress" && message["params"]["token"] == "p");
    let items = part["params"]["value"]["items"].as_array().unwrap();
    let bad: Vec<&Value> =
        items.iter().filter(|item| item["uri"] == folder.uri("sequences/Bad.xml")).collect();
    assert_eq!(bad.len(), 1);
    assert!(codes(&bad[0]["items"]).iter().any(|(code, _)| code == "SYN0101"), "{bad:?}");
    assert_eq!(bad[0]["version"], Value::Null);
    for kind in ["begin", "end"] {
        client
            .wait(|message| message["params"]["token"] == "w" && message["params"]["value"]["kind"] == kind);
    }
    // What the client has is not sent again.
    let previous = json!([{ "uri": bad[0]["uri"], "value": bad[0]["resultId"] }]);
    let answer = client.request("workspace/diagnostic", json!({ "previousResultIds": previous })).unwrap();
    let same = answer["items"].as_array().unwrap().iter().find(|item| item["uri"] == bad[0]["uri"]).unwrap();
    assert_eq!(same["kind"], "unchanged");
}

#[test]
fn buffers_win_over_the_disk_until_they_are_closed() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let audit = folder.uri("sequences/Audit.xml");
    client.open(&audit, &folder.text("sequences/Audit.xml").replace("<log/>", "<lgo/>"));
    assert_eq!(codes(&client.published(&audit, 1))[0].0, "SYN0101");
    // A change on the disk does not matter now.
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": audit, "type": 2 }] }));
    let report =
        client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": audit } })).unwrap();
    assert_eq!(codes(&report["items"])[0].0, "SYN0101");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": audit } }));
    let report =
        client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": audit } })).unwrap();
    assert!(!codes(&report["items"]).iter().any(|(code, _)| code == "SYN0101"), "{report}");
    // And a file that is new on the disk is known once the client says so.
    folder.artifact("sequences/New.xml", &sequence("").replace("\"S\"", "\"New\""));
    let new = uri(&folder.path(&Folder::artifact_path("sequences/New.xml")));
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": new, "type": 1 }] }));
    let found = client.request("workspace/symbol", json!({ "query": "New" })).unwrap();
    assert_eq!(found[0]["name"], "New");
    std::fs::remove_file(folder.path(&Folder::artifact_path("sequences/New.xml"))).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": new, "type": 3 }] }));
    assert_eq!(client.request("workspace/symbol", json!({ "query": "New" })).unwrap(), json!([]));
}

#[test]
fn columns_count_what_was_agreed_on() {
    // A character of four bytes, which are two units of UTF-16.
    let text = sequence("<!--\u{1f600}--><lgo/>");
    let before = text.find("lgo").unwrap();
    for (encodings, expected) in [(json!(["utf-8"]), before), (json!(["utf-16"]), before - 2)] {
        let mut client =
            Client::with(json!({ "general": { "positionEncodings": encodings } }), None, Options::default());
        let uri = "file:///alone/a.xml";
        client.open(uri, &text);
        let items = client.published(uri, 1);
        assert_eq!(items[0]["range"]["start"]["character"], expected, "{encodings}");
    }
}

#[test]
fn findings_of_texts_that_are_gone_are_never_sent() {
    let options = Options { debounce: std::time::Duration::from_secs(4), ..Options::default() };
    let mut client = Client::with(abilities(), None, options);
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("<lgo/>"));
    client.published(uri, 1);
    for version in 2..=6 {
        let steps = if version == 6 { "<log/>" } else { "<lgo/>" };
        client.change(uri, version, json!([{ "text": sequence(steps) }]));
    }
    let next = client.wait_for("textDocument/publishDiagnostics");
    assert_eq!((&next["version"], &next["diagnostics"]), (&json!(6), &json!([])));
}

//! Beginning, end, and what lies between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use synapse_ls::{Ended, Options};

use crate::client::{Client, Folder, abilities, uri};

#[test]
fn it_starts_and_ends_in_order() {
    let mut client = Client::start();
    assert_eq!(client.welcome["serverInfo"]["name"], "mica");
    assert_eq!(client.request("shutdown", Value::Null), Ok(Value::Null));
    let refused = client.request("textDocument/hover", json!({})).unwrap_err();
    assert_eq!(refused["code"], -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), Ended::Exit { in_order: true });
}

#[test]
fn it_ends_when_the_client_goes_without_a_word() {
    let mut client = Client::start();
    client.hang_up();
    assert_eq!(client.ended(), Ended::ClientGone);
    let mut client = Client::start();
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), Ended::Exit { in_order: false });
}

#[test]
fn it_ends_when_the_process_of_the_client_is_gone() {
    let alive = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&alive);
    let is_alive = Arc::new(move |id: u32| id != 42 || asked.load(Ordering::Relaxed));
    let mut client = Client::raw(Options { is_alive: Some(is_alive), ..Options::default() });
    client.request("initialize", json!({ "processId": 42, "capabilities": {} })).unwrap();
    alive.store(false, Ordering::Relaxed);
    assert_eq!(client.ended(), Ended::ClientGone);
}

#[test]
fn columns_are_agreed_on() {
    for (offered, expected) in
        [(json!(["utf-16", "utf-8"]), "utf-8"), (json!(["utf-16"]), "utf-16"), (Value::Null, "utf-16")]
    {
        let abilities = json!({ "general": { "positionEncodings": offered } });
        let client = Client::with(abilities, None, Options::default());
        assert_eq!(client.welcome["capabilities"]["positionEncoding"], expected);
    }
}

#[test]
fn formatting_is_offered_when_there_is_a_formatter() {
    let client = Client::start();
    assert_eq!(client.welcome["capabilities"].get("documentFormattingProvider"), None);
    let formatter: synapse_ls::Formatter = |text, width| text.replace('\t', &" ".repeat(width));
    let options = Options { formatter: Some(formatter), ..Options::default() };
    let mut client = Client::with(abilities(), None, options);
    assert_eq!(client.welcome["capabilities"]["documentFormattingProvider"], true);
    let uri = "file:///alone/a.xml";
    client.open(uri, "<a>\n\t<b/>\n\t<c/>\n</a>\n");
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = client
        .request("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options }))
        .unwrap();
    let range = |from: u32, to: u32| json!({ "start": { "line": from, "character": 0 }, "end": { "line": to, "character": 0 } });
    assert_eq!(edits, json!([{ "range": range(1, 3), "newText": "  <b/>\n  <c/>\n" }]));
}

#[test]
fn files_are_watched_and_projects_are_read_with_progress() {
    let folder = Folder::new();
    let options = Options { debounce: Duration::from_millis(1), ..Options::default() };
    let mut client = Client::with(abilities(), Some(folder.root()), options);
    let registered = client.wait_for("client/registerCapability");
    let watchers = &registered["registrations"][0]["registerOptions"]["watchers"];
    let patterns: Vec<&str> =
        watchers.as_array().unwrap().iter().map(|one| one["globPattern"].as_str().unwrap()).collect();
    assert_eq!(patterns, ["**/*.xml", "**/*.dbs", "**/pom.xml", "**/config.properties"]);
    let token = client.wait_for("window/workDoneProgress/create")["token"].clone();
    let begin = client.wait_for("$/progress");
    assert_eq!((&begin["token"], &begin["value"]["kind"]), (&token, &json!("begin")));
    client.wait(|message| message["params"]["token"] == token && message["params"]["value"]["kind"] == "end");
}

#[test]
fn folders_come_and_go() {
    let (first, second) = (Folder::new(), Folder::new());
    second.artifact(
        "sequences/Extra.xml",
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Extra\"/>",
    );
    let mut client = Client::start_in(first.root());
    let names = |client: &mut Client, query: &str| {
        let found = client.request("workspace/symbol", json!({ "query": query })).unwrap();
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&mut client, "extra"), [""; 0]);
    let folder = json!({ "uri": uri(second.root()), "name": "second" });
    let event = json!({ "event": { "added": [folder], "removed": [] } });
    client.notify("workspace/didChangeWorkspaceFolders", event);
    client.wait_loaded();
    assert_eq!(names(&mut client, "extra"), ["Extra"]);
    let event = json!({ "event": { "added": [], "removed": [folder] } });
    client.notify("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(names(&mut client, "extra"), [""; 0]);
}

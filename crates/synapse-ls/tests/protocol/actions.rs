//! Repairs.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::{Client, abilities};
use crate::sequence;

fn actions(client: &mut Client, uri: &str, only: &Value) -> Value {
    let everything = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let context = if only.is_null() {
        json!({ "diagnostics": [] })
    } else {
        json!({ "diagnostics": [], "only": only })
    };
    let params = json!({ "textDocument": { "uri": uri }, "range": everything, "context": context });
    client.request("textDocument/codeAction", params).unwrap()
}

#[test]
fn every_repair_is_an_action_and_safe_ones_come_first() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("\n<log levle=\"full\"/>\n"));
    let offered = actions(&mut client, uri, &json!(["quickfix"]));
    let place = |line: u32, character: u32| json!({ "line": line, "character": character });
    let first = &offered[0];
    assert_eq!(first["kind"], "quickfix");
    assert_eq!(first["diagnostics"][0]["source"], "synapse");
    assert_eq!(
        first["edit"]["documentChanges"],
        json!([{
            "textDocument": { "uri": uri, "version": 1 },
            "edits": [{ "range": { "start": place(1, 5), "end": place(1, 10) }, "newText": "level" }],
        }])
    );
    assert_eq!(first.get("isPreferred"), None);
    // Elsewhere there is nothing to repair.
    let range = json!({ "start": place(0, 0), "end": place(0, 1) });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [], "only": ["quickfix"] } });
    assert_eq!(client.request("textDocument/codeAction", params).unwrap(), json!([]));
}

const SLIPS: &str = "\n<log level=\"FULL\"/>\n<property name=\"a\" expression=\"{${payload.a}}\"/>\n<log/>\n";
const MENDED: &str = "\n<log level=\"full\"/>\n<property name=\"a\" expression=\"${payload.a}\"/>\n<log/>\n";

/// Applies edits that come from one answer, last first.
fn applied(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for edit in edits.as_array().unwrap().iter().rev() {
        let number = |pointer: &str| edit.pointer(pointer).and_then(Value::as_u64).unwrap() as usize;
        let (from, to) = (number("/range/start/line"), number("/range/end/line"));
        let head = lines[from][..number("/range/start/character")].to_owned();
        let tail = lines[to][number("/range/end/character")..].to_owned();
        let new = format!("{head}{}{tail}", edit["newText"].as_str().unwrap());
        lines.splice(from..=to, new.split('\n').map(str::to_owned));
    }
    lines.join("\n")
}

#[test]
fn all_safe_repairs_are_one_action() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    let text = sequence(SLIPS);
    client.open(uri, &text);
    for only in [json!(["source.fixAll"]), json!(["source"]), json!(["source.fixAll.synapse"])] {
        let offered = actions(&mut client, uri, &only);
        assert_eq!(offered.as_array().unwrap().len(), 1, "{only}");
        assert_eq!(offered[0]["kind"], "source.fixAll.synapse");
        let fixed = applied(&text, &offered[0]["edit"]["documentChanges"][0]["edits"]);
        assert_eq!(fixed, sequence(MENDED));
    }
    assert_eq!(actions(&mut client, uri, &json!(["refactor"])), json!([]));
    let single = actions(&mut client, uri, &json!(["quickfix"]));
    assert_eq!((&single[0]["title"], &single[0]["isPreferred"]), (&json!("Change it to full"), &json!(true)));
}

#[test]
fn the_edit_of_all_repairs_comes_when_the_action_is_chosen() {
    let mut lazy = abilities();
    lazy["textDocument"]["codeAction"]["resolveSupport"] = json!({ "properties": ["edit"] });
    let mut client = Client::with(lazy, None, Options::default());
    let uri = "file:///alone/a.xml";
    let text = sequence(SLIPS);
    client.open(uri, &text);
    let offered = actions(&mut client, uri, &json!(["source.fixAll"]));
    assert_eq!(offered[0].get("edit"), None);
    let chosen = client.request("codeAction/resolve", offered[0].clone()).unwrap();
    let fixed = applied(&text, &chosen["edit"]["documentChanges"][0]["edits"]);
    assert_eq!(fixed, sequence(MENDED));
    client.change(uri, 2, json!([{ "text": sequence("<log/>") }]));
    let late = client.request("codeAction/resolve", offered[0].clone()).unwrap_err();
    assert_eq!(late["message"], "the document has changed: ask for its actions again");
}

#[test]
fn old_clients_get_plain_changes() {
    let plain = json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": {} } } });
    let mut client = Client::with(plain, None, Options::default());
    let uri = "file:///alone/a.xml";
    client.open(uri, &sequence("<lgo/>"));
    let offered = actions(&mut client, uri, &json!(["quickfix"]));
    let edits = &offered[0]["edit"]["changes"][uri];
    assert_eq!(edits[0]["newText"], "log", "{offered}");
}

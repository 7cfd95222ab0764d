//! Definitions, references, highlights and renames.

use serde_json::{Value, json};

use crate::client::{Client, Folder, at, uri};
use crate::sequence;

/// Where a text stands in an artifact: file and range.
fn place(folder: &Folder, path: &str, text: &str, nth: usize) -> Value {
    let source = folder.text(path);
    let offset = source.match_indices(text).nth(nth).unwrap().0;
    let line = source[..offset].matches('\n').count();
    let column = offset - source[..offset].rfind('\n').map_or(0, |at| at + 1);
    let range = json!({
        "start": { "line": line, "character": column },
        "end": { "line": line, "character": column + text.len() },
    });
    json!({ "uri": folder.uri(path), "range": range })
}

/// Opens an artifact and asks something at the n-th occurrence of a text.
fn ask(
    client: &mut Client,
    folder: &Folder,
    method: &str,
    path: &str,
    text: &str,
    nth: usize,
    more: &Value,
) -> Result<Value, Value> {
    let uri = folder.uri(path);
    client.open(&uri, &folder.text(path));
    let mut params = json!({
        "textDocument": { "uri": uri },
        "position": place(folder, path, text, nth)["range"]["start"],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    client.request(method, params)
}

#[test]
fn references_lead_to_definitions_and_back() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let found =
        ask(&mut client, &folder, "textDocument/definition", "sequences/Main.xml", "Audit", 0, &Value::Null);
    assert_eq!(found.unwrap(), json!([place(&folder, "sequences/Audit.xml", "Audit", 0)]));
    let with = json!({ "context": { "includeDeclaration": true } });
    let found =
        ask(&mut client, &folder, "textDocument/references", "sequences/Audit.xml", "Audit", 0, &with);
    assert_eq!(
        found.unwrap(),
        json!([
            place(&folder, "sequences/Audit.xml", "Audit", 0),
            place(&folder, "sequences/Main.xml", "Audit", 0)
        ])
    );
    let without = json!({ "context": { "includeDeclaration": false } });
    let found =
        ask(&mut client, &folder, "textDocument/references", "sequences/Audit.xml", "Audit", 0, &without);
    assert_eq!(found.unwrap(), json!([place(&folder, "sequences/Main.xml", "Audit", 0)]));
}

#[test]
fn registry_keys_lead_to_their_files() {
    let folder = Folder::new();
    folder.artifact("sequences/X.xml", &sequence("<xslt key=\"resources:json/schema.json\"/>"));
    let mut client = Client::start_in(folder.root());
    let found = ask(
        &mut client,
        &folder,
        "textDocument/definition",
        "sequences/X.xml",
        "resources:",
        0,
        &Value::Null,
    );
    let file = uri(&folder.path("src/main/wso2mi/resources/json/schema.json"));
    assert_eq!(found.unwrap()[0]["uri"], file);
}

#[test]
fn parameters_of_templates_are_followed() {
    let folder = Folder::new();
    let call = "<call-template target=\"Notify\"><with-param name=\"kind\" value=\"a\"/></call-template>";
    folder.artifact("sequences/Call.xml", &sequence(call));
    let mut client = Client::start_in(folder.root());
    let definition = place(&folder, "templates/Notify.xml", "kind", 0);
    for (path, nth) in [("sequences/Call.xml", 0), ("templates/Notify.xml", 1)] {
        let found = ask(&mut client, &folder, "textDocument/definition", path, "kind", nth, &Value::Null);
        assert_eq!(found.unwrap(), json!([definition]), "{path}");
    }
    let new = json!({ "newName": "sort" });
    let edit =
        ask(&mut client, &folder, "textDocument/rename", "sequences/Call.xml", "kind", 0, &new).unwrap();
    let changed: Vec<(Value, usize)> = edit["documentChanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["textDocument"]["uri"].clone(), one["edits"].as_array().unwrap().len()))
        .collect();
    assert_eq!(
        changed,
        [(json!(folder.uri("sequences/Call.xml")), 1), (json!(folder.uri("templates/Notify.xml")), 2)]
    );
}

#[test]
fn variables_are_followed_within_the_file() {
    let mut client = Client::start();
    let text = sequence(
        "\n<variable name=\"to|tal\" value=\"1\"/>\n<log><message>${vars.total + 1}</message></log>\n<http.get configKey=\"C\"><responseVariable>total</responseVariable></http.get>\n<property name=\"p\" expression=\"${vars[&quot;total&quot;]}\"/>\n",
    );
    let found = client.ask_at_cursor("textDocument/documentHighlight", &text);
    let lines: Vec<(u64, u64)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["range"]["start"]["line"].as_u64().unwrap(), one["kind"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [(1, 3), (2, 2), (3, 3), (4, 2)]);
    let (clean, position) = at(&text);
    let uri = "file:///alone/v.xml";
    client.open(uri, &clean);
    let prepared = client.request_at("textDocument/prepareRename", uri, &position, &Value::Null);
    assert_eq!(prepared["placeholder"], "total");
    let edit = client.request_at("textDocument/rename", uri, &position, &json!({ "newName": "sum" }));
    assert_eq!(edit["documentChanges"][0]["edits"].as_array().unwrap().len(), 4);
    for (name, reason) in [
        (
            "a b",
            "\"a b\" cannot be written after a dot in an expression: use letters, digits, _ and -, and no word of the language",
        ),
        ("", "a name must not be empty"),
        (
            "payload",
            "\"payload\" cannot be written after a dot in an expression: use letters, digits, _ and -, and no word of the language",
        ),
    ] {
        let params = json!({ "textDocument": { "uri": uri }, "position": position, "newName": name });
        assert_eq!(
            client.request("textDocument/rename", params).unwrap_err(),
            json!({ "code": -32803, "message": reason })
        );
    }
}

#[test]
fn a_renamed_artifact_takes_its_file_along() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let new = json!({ "newName": "Trace" });
    let edit =
        ask(&mut client, &folder, "textDocument/rename", "sequences/Main.xml", "Audit", 0, &new).unwrap();
    let edited = |path: &str, version: Value| {
        let there = place(&folder, path, "Audit", 0);
        json!({
            "textDocument": { "uri": there["uri"], "version": version },
            "edits": [{ "range": there["range"], "newText": "Trace" }],
        })
    };
    assert_eq!(
        edit["documentChanges"],
        json!([
            edited("sequences/Audit.xml", Value::Null),
            edited("sequences/Main.xml", json!(1)),
            { "kind": "rename", "oldUri": folder.uri("sequences/Audit.xml"), "newUri": folder.uri("sequences/Trace.xml") },
        ])
    );
}

#[test]
fn a_connection_is_renamed_where_it_names_itself_too() {
    let folder = Folder::new();
    folder.artifact("sequences/Get.xml", &sequence("<http.get configKey=\"Conn\"/>"));
    let mut client = Client::start_in(folder.root());
    let new = json!({ "newName": "Backend" });
    let edit =
        ask(&mut client, &folder, "textDocument/rename", "sequences/Get.xml", "Conn", 0, &new).unwrap();
    let counts: Vec<usize> = edit["documentChanges"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["edits"].as_array().map(Vec::len))
        .collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn what_cannot_be_renamed_is_refused_with_the_reason() {
    let folder = Folder::new();
    folder.artifact("sequences/main.xml", &sequence("").replace("\"S\"", "\"main\""));
    folder.artifact(
        "sequences/Uses.xml",
        &sequence("<class name=\"org.example.Own\"/><sequence key=\"Nowhere\"/>"),
    );
    folder.artifact(
        "apis/Orders.xml",
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\"><resource/></api>",
    );
    let mut client = Client::start_in(folder.root());
    let mut refused = |path: &str, text: &str| {
        let error =
            ask(&mut client, &folder, "textDocument/prepareRename", path, text, 0, &Value::Null).unwrap_err();
        error["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        refused("sequences/main.xml", "main"),
        "the runtime finds this sequence by its name: main and fault cannot be renamed"
    );
    assert_eq!(refused("sequences/Uses.xml", "Nowhere"), "Nowhere is not defined in this project");
    assert_eq!(
        refused("sequences/Uses.xml", "org.example"),
        "this names a Java class: rename it in its own project"
    );
    assert_eq!(
        refused("apis/Orders.xml", "Orders"),
        "clients and settings outside of the project know this name: change it by hand"
    );
    assert_eq!(
        refused("sequences/main.xml", "<sequence"),
        "nothing here has a name that can be changed: put the cursor on the name of an artifact, a variable or a template's parameter"
    );
    let taken = json!({ "newName": "Main" });
    let error = ask(&mut client, &folder, "textDocument/rename", "sequences/Audit.xml", "Audit", 0, &taken)
        .unwrap_err();
    assert_eq!(error["message"], "Main exists already in this project");
    let slash = json!({ "newName": "a/b" });
    let error = ask(&mut client, &folder, "textDocument/rename", "sequences/Audit.xml", "Audit", 0, &slash)
        .unwrap_err();
    assert_eq!(error["message"], "'/' cannot be in the name of an artifact");
}

//! Projects: where they are found, and what they mean for documents.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::{Client, Folder, abilities};
use crate::sequence;

#[test]
fn a_project_is_found_from_a_document_in_it() {
    let folder = Folder::new();
    let mut client = Client::start();
    let uri = folder.uri("sequences/Main.xml");
    client.open(&uri, &folder.text("sequences/Main.xml"));
    client.wait_loaded();
    let found = client.request("workspace/symbol", json!({ "query": "Audit" })).unwrap();
    assert_eq!(found[0]["name"], "Audit");
}

#[test]
fn projects_below_a_folder_are_found() {
    let folder = Folder::new();
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("group/one/src/main/wso2mi/artifacts/sequences");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("Audit.xml"), folder.text("sequences/Audit.xml")).unwrap();
    let mut client = Client::start_in(outer.path());
    let found = client.request("workspace/symbol", json!({ "query": "" })).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
}

#[test]
fn clients_that_ask_are_told_to_ask_again() {
    let folder = Folder::new();
    let mut pulls = abilities();
    pulls["textDocument"]["diagnostic"] = json!({});
    pulls["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    let mut client = Client::with(pulls, Some(folder.root()), Options::default());
    // Once when the project is read, once when a file changes.
    client.wait_for("workspace/diagnostic/refresh");
    folder.artifact("sequences/New.xml", &sequence(""));
    let uri = folder.uri("sequences/New.xml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    client.wait_for("workspace/diagnostic/refresh");
}

#[test]
fn the_runtime_of_the_project_or_the_client_counts() {
    let folder = Folder::new();
    let old = "<project><properties><project.runtime.version>4.3.0</project.runtime.version></properties></project>";
    folder.write("pom.xml", old);
    let labels = |client: &mut Client| {
        let uri = folder.uri("sequences/S.xml");
        client.open(&uri, &sequence("<log />"));
        let position = json!({ "line": 0, "character": sequence("").find("</").unwrap() + 5 });
        let list = client.request_at("textDocument/completion", &uri, &position, &Value::Null);
        list["items"].as_array().unwrap().len()
    };
    let mut client = Client::start_in(folder.root());
    assert_eq!(labels(&mut client), 7);
    let mut client = Client::raw(Options::default());
    let folders = json!([{ "uri": crate::client::uri(folder.root()), "name": "f" }]);
    let params = json!({
        "capabilities": abilities(),
        "workspaceFolders": folders,
        "initializationOptions": { "runtime": "4.4.0" },
    });
    client.request("initialize", params).unwrap();
    client.notify("initialized", json!({}));
    client.wait_loaded();
    assert_eq!(labels(&mut client), 9);
}

#[test]
fn a_folder_that_is_gone_takes_its_files_along() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let gone = folder.path(&Folder::artifact_path("sequences"));
    std::fs::remove_dir_all(&gone).unwrap();
    let uri = crate::client::uri(&gone);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 3 }] }));
    let found = client.request("workspace/symbol", json!({ "query": "" })).unwrap();
    let names: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Conn", "Notify", "OrdersEP"]);
}

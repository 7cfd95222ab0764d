//! What happens to the build file, and what a model is told.

use mica_agent::Preview;
use serde_json::{Value, json};

use super::*;
use crate::connectors::archive::tests::{ORDERS, zipped};
use crate::connectors::get_definitions::tests::{Desk, call, pom};

const ARTIFACTS: &str = "src/main/wso2mi/artifacts/.keep";

fn desk(runtime: &str) -> (Desk, AddOrRemoveConnector) {
    let desk = Desk::with(&[("pom.xml", pom(runtime).as_bytes()), (ARTIFACTS, b"")]);
    let tool = AddOrRemoveConnector::new(&desk.workspace, None);
    (desk, tool)
}

fn states(details: &Value) -> Vec<(&str, &str)> {
    let items = details["items"].as_array().unwrap();
    items.iter().map(|one| (one["name"].as_str().unwrap(), one["outcome"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn several_are_added_each_with_its_outcome() {
    let (desk, tool) = desk("4.4.0");
    let args = json!({ "action": "add", "connectors": ["http", "kafak", "mi-connector-kafka@3.3.9", "jms"] });
    let preview = tool.preview(args.as_object().unwrap()).await.unwrap();
    let Preview::Diff { title, added, removed, .. } = preview else { panic!("{preview:?}") };
    assert_eq!((title.as_str(), added, removed), ("pom.xml", 26, 0));
    assert_eq!(desk.text("pom.xml"), pom("4.4.0"), "a preview only looks");

    let (text, details) = call(&tool, args).await.unwrap();
    assert_eq!(
        states(&details),
        [("http", "done"), ("kafak", "failed"), ("mi-connector-kafka@3.3.9", "done"), ("jms", "failed")]
    );
    let start = "- http: added org.wso2.integration.connector:mi-connector-http, 0.1.14\n\
         - kafak: no such connector is known; did you mean kafkaTransport, mi-inbound-kafka, kafka inbound? One that is not known can be \
         given as group:artifact:version.\n\
         - mi-connector-kafka@3.3.9: added org.wso2.integration.connector:mi-connector-kafka, 3.3.9\n\
         - jms: this inbound endpoint comes with the runtime: write the artifact, nothing is added\n\
         pom.xml was changed. The build fetches connectors from Maven repositories.\n\nTo use http:\n\
         src/main/wso2mi/artifacts/local-entries/HTTP_CONNECTION.xml:\n```xml\n<localEntry";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.contains("<connectionType>HTTP</connectionType>\n        <name>HTTP_CONNECTION</name>"),
        "{text}"
    );
    let changed = details["files"]["changed"].as_array().unwrap();
    assert_eq!(changed.len(), 1, "the check after a write sees it: {details}");
    let after = desk.text("pom.xml");
    assert_eq!(after.matches("<type>zip</type>").count(), 2);

    let again = json!({ "action": "add", "connectors": ["http@0.1.9"] });
    let (text, details) = call(&tool, again).await.unwrap();
    assert_eq!(
        text,
        "- http@0.1.9: already in the pom.xml with 0.1.14; 0.1.9 is asked for or known: use upgrade\n"
    );
    assert_eq!(states(&details), [("http@0.1.9", "unchanged")]);
    assert_eq!(desk.text("pom.xml"), after);

    let (_, details) =
        call(&tool, json!({ "action": "remove", "connectors": ["kafka", "HTTP"] })).await.unwrap();
    assert_eq!(states(&details), [("kafka", "done"), ("HTTP", "done")]);
    assert_eq!(desk.text("pom.xml"), pom("4.4.0"));
}

#[tokio::test]
async fn versions_are_changed() {
    let (desk, tool) = desk("4.4.0");
    call(&tool, json!({ "action": "add", "connectors": ["http@0.1.9", "com.example:own:1.0"] }))
        .await
        .unwrap();
    let (text, _) =
        call(&tool, json!({ "action": "upgrade", "connectors": ["http", "own@1.1", "file"] })).await.unwrap();
    assert_eq!(
        text,
        "- http: org.wso2.integration.connector:mi-connector-http from 0.1.9 to 0.1.14\n\
         - own@1.1: com.example:own from 1.0 to 1.1\n\
         - file: org.wso2.integration.connector:mi-connector-file is not in the pom.xml: use add\n\
         pom.xml was changed. The build fetches connectors from Maven repositories.\n"
    );
    let (text, _) = call(&tool, json!({ "action": "upgrade", "connectors": ["http"] })).await.unwrap();
    assert_eq!(text, "- http: org.wso2.integration.connector:mi-connector-http has version 0.1.14 already\n");
    let error = call(&tool, json!({ "action": "upgrade", "connectors": ["own"] })).await.unwrap_err();
    assert_eq!(error, "- own: its newest version is not known: say it, own@VERSION\nNothing was changed.");
    assert!(desk.text("pom.xml").contains("<version>1.1</version>"));
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_nothing_is_written() {
    let (desk, tool) = desk("4.3.0");
    desk.put("src/main/wso2mi/resources/connectors/mi-connector-orders-1.2.0.zip", &zipped(ORDERS));
    for (connector, why) in [
        (
            "http",
            "0.1.14 needs runtime 4.4.0 and the project builds for 4.3.0: name an older version, mi-connector-http@VERSION",
        ),
        ("utility", "its Maven coordinates are not in the snapshot: give group:artifact:version"),
        (
            "orders",
            "its archive mi-connector-orders-1.2.0.zip lies in the project already, so the pom.xml need not name it",
        ),
        ("http@<x>", "\"<x>\" is no version"),
        ("a:b:c:d", "coordinates look like group:artifact:version"),
        ("a b:c:1", "coordinates look like group:artifact:version"),
        ("com.example:own", "its newest version is not known: say it, own@VERSION"),
    ] {
        let error = call(&tool, json!({ "action": "add", "connectors": [connector] })).await.unwrap_err();
        assert_eq!(error, format!("- {connector}: {why}\nNothing was changed."));
    }
    assert_eq!(desk.text("pom.xml"), pom("4.3.0"));
    desk.put("pom.xml", b"<project><a></project>");
    let error = call(&tool, json!({ "action": "add", "connectors": ["csv"] })).await.unwrap_err();
    assert!(error.starts_with("pom.xml: pom.xml is not well-formed: "), "{error}");
    assert_eq!(desk.text("pom.xml"), "<project><a></project>");
    let bare = Desk::with(&[]);
    let tool = AddOrRemoveConnector::new(&bare.workspace, None);
    let error = call(&tool, json!({ "action": "add", "connectors": ["csv"] })).await.unwrap_err();
    assert!(error.starts_with("There is no pom.xml"), "{error}");
}

#[tokio::test]
async fn of_several_modules_one_is_named() {
    let modules = "<project><artifactId>all</artifactId><modules><module>a</module><module>b</module></modules></project>";
    let desk = Desk::with(&[
        ("pom.xml", modules.as_bytes()),
        ("a/pom.xml", pom("4.4.0").as_bytes()),
        ("a/src/main/wso2mi/artifacts/.keep", b""),
        ("b/pom.xml", pom("4.4.0").as_bytes()),
        ("b/src/main/wso2mi/artifacts/.keep", b""),
    ]);
    let tool = AddOrRemoveConnector::new(&desk.workspace, None);
    let add = json!({ "action": "add", "connectors": ["csv"] });
    let error = call(&tool, add).await.unwrap_err();
    assert_eq!(error, "The project has several modules: say which in project: a, b. Nothing was changed.");
    let (_, details) =
        call(&tool, json!({ "action": "add", "connectors": ["csv"], "project": "b" })).await.unwrap();
    assert_eq!(states(&details), [("csv", "done")]);
    assert!(desk.text("b/pom.xml").contains("mi-module-csv"));
    assert_eq!(desk.text("a/pom.xml"), pom("4.4.0"));
}

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
         - mi-connector-kafka@3.3.9: added org.wso2.integration.connector:mi-connector-kafka, 3.3.9; 3.3.9 is not among the \
         versions that are known (3.3.11 is): the build says whether it exists\n\
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
    assert_eq!(text, "- http@0.1.9: already in the pom.xml with 0.1.14; 0.1.9 is asked for: use upgrade\n");
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

#[tokio::test]
async fn what_is_newer_than_what_is_known_stays() {
    let (desk, tool) = desk("4.4.0");
    let (text, _) =
        call(&tool, json!({ "action": "add", "connectors": ["http@0.1.99", "file@9.9.9"] })).await.unwrap();
    let start = "- http@0.1.99: added org.wso2.integration.connector:mi-connector-http, 0.1.99; 0.1.99 is not among the \
                 versions that are known (0.1.14 is): the build says whether it exists\n\
                 - file@9.9.9: added org.wso2.integration.connector:mi-connector-file, 9.9.9; 9.9.9 is not among the \
                 versions that are known (6.0.3 is): the build says whether it exists\npom.xml was changed.";
    assert!(text.starts_with(start), "{text}");
    let newer = desk.text("pom.xml");
    for (action, name, said) in [
        (
            "upgrade",
            "http",
            "org.wso2.integration.connector:mi-connector-http stays at 0.1.99, which is newer than what is known (0.1.14); \
             to go back, say the version",
        ),
        (
            "upgrade",
            "org.wso2.integration.connector:mi-connector-http",
            "org.wso2.integration.connector:mi-connector-http stays at 0.1.99, which is newer than what is known (0.1.14); \
             to go back, say the version",
        ),
        ("add", "http", "already in the pom.xml with 0.1.99, which is newer than what is known (0.1.14)"),
    ] {
        let (text, details) = call(&tool, json!({ "action": action, "connectors": [name] })).await.unwrap();
        assert_eq!(text, format!("- {name}: {said}\n"));
        assert_eq!(states(&details), [(name, "unchanged")]);
        assert_eq!(desk.text("pom.xml"), newer);
    }
    let kept = newer
        .replace("<version>0.1.99</version>", "<version>${http.version}</version>")
        .replace("<properties>", "<properties><http.version>0.1.99</http.version>");
    assert!(kept.contains("<http.version>0.1.99</http.version>"), "{kept}");
    desk.put("pom.xml", kept.as_bytes());
    let (_, details) = call(&tool, json!({ "action": "upgrade", "connectors": ["http"] })).await.unwrap();
    assert_eq!(states(&details), [("http", "unchanged")]);
    assert_eq!(desk.text("pom.xml"), kept, "a version in a property counts, too");
    let (text, _) = call(&tool, json!({ "action": "upgrade", "connectors": ["http@0.1.14"] })).await.unwrap();
    let start = "- http@0.1.14: org.wso2.integration.connector:mi-connector-http from 0.1.99 to 0.1.14\n";
    assert!(text.starts_with(start), "a version that is said is taken: {text}");
}

#[tokio::test]
async fn a_name_like_no_other_is_told_in_whole_sentences() {
    let (_desk, tool) = desk("4.4.0");
    let error = call(&tool, json!({ "action": "add", "connectors": ["qqqqqqqqqq"] })).await.unwrap_err();
    assert_eq!(
        error,
        "- qqqqqqqqqq: no such connector is known. One that is not known can be given as group:artifact:version.\n\
         Nothing was changed."
    );
}

#[test]
fn versions_are_compared_by_their_numbers() {
    for (version, than, expect) in [
        ("0.1.99", "0.1.14", true),
        ("0.1.9", "0.1.14", false),
        ("0.1.14", "0.1.14", false),
        ("1.0", "1.0.0", false),
        ("1.0.1", "1.0", true),
        ("2", "1.9.9", true),
        ("1.2.0-SNAPSHOT", "1.1.9", true),
        ("${http.version}", "0.1.14", false),
    ] {
        assert_eq!(is_newer(version, than), expect, "{version} and {than}");
    }
}

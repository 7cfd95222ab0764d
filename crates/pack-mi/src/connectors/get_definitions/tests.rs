//! What a model is told.

#![allow(clippy::disallowed_methods, reason = "tests make the projects that are looked at")]

use std::fs;

use mica_agent::RunId;
use mica_ai::Content;
use mica_ai::id::CallId;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::connectors::archive::tests::{ORDERS, zipped};

/// A project in a workspace.
pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) workspace: Workspace,
}

impl Desk {
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        let desk = Self { folder, workspace };
        for (path, bytes) in files {
            desk.put(path, bytes);
        }
        desk
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}

/// Calls a tool.
pub(crate) async fn call(tool: &dyn Tool, args: Value) -> Result<(String, Value), String> {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let cx = ToolCx::new(RunId::fresh(), CallId::from("call-1"), CancellationToken::new(), |_| {});
    let output = tool.call(args, &cx).await.map_err(|error| error.message)?;
    let texts = output.content.iter().map(|content| match content {
        Content::Text { text } => text.clone(),
        Content::Image(_) => String::new(),
    });
    Ok((texts.collect(), output.details.unwrap_or_default()))
}

pub(crate) fn pom(runtime: &str) -> String {
    format!(
        "<project>\n  <artifactId>shop</artifactId>\n  <properties>\n    \
         <project.runtime.version>{runtime}</project.runtime.version>\n  </properties>\n</project>\n"
    )
}

const ARTIFACTS: &str = "src/main/wso2mi/artifacts/.keep";

#[tokio::test]
async fn an_archive_in_the_project_counts_first() {
    let desk = Desk::with(&[("pom.xml", pom("4.4.0").as_bytes()), (ARTIFACTS, b"")]);
    desk.put("src/main/wso2mi/resources/connectors/mi-connector-orders-1.2.0.zip", &zipped(ORDERS));
    desk.put("src/main/wso2mi/resources/connectors/broken.zip", b"nothing");
    let tool = GetConnectorDefinitions::new(&desk.workspace, None);
    let (text, details) = call(&tool, json!({ "names": ["orders"] })).await.unwrap();
    assert_eq!(
        text,
        "## Shop orders (connector, prefix orders)\nOrders of the shop\n\
         Maven: org.wso2.integration.connector:mi-connector-orders, 1.2.0\n\
         Known from: the archive in the project (mi-connector-orders-1.2.0.zip)\n\
         Connection: a local entry with <orders.init> that has <connectionType> and <name>, named by configKey; \
         connectionType is SHOP\nOperations: find\n\
         Operations by name only (parameters not in the snapshot; put the connector's zip into the project or fetch it): \
         purge\n\n\
         Note: broken.zip is not a zip archive that can be read: invalid Zip archive: Could not find EOCD\n"
    );
    assert_eq!(details["found"], json!(["orders"]));
    let asked = json!({ "names": ["orders"], "mode": "details", "operations": ["fnd", "find"], "connections": ["shop"] });
    let (text, _) = call(&tool, asked).await.unwrap();
    let find = "### orders.find\nFinds an order\nConnection types: SHOP\n\
                - id (required; string or expression): Which order\n\
                - state (one of; one of: open | paid; default open; when (id = 1 and (a = x or a = y))): Its state\n\
                - responseVariable (required; string)\n- trace: For support\nResult:\n- payload (object)\n";
    assert!(text.contains(find), "{text}");
    assert!(
        text.contains("### connection SHOP of orders\nShop\n- connectionType (required): SHOP\n"),
        "{text}"
    );
    assert!(
        text.contains("orders has no operation fnd. Did you mean find? It has init, find, purge.\n"),
        "{text}"
    );
    assert!(
        text.contains("<orders.find configKey=\"ORDERS_CONNECTION\">\n    <id>to be set</id>\n"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_not_known_is_said() {
    let desk = Desk::with(&[("pom.xml", pom("4.3.0").as_bytes()), (ARTIFACTS, b"")]);
    let tool = GetConnectorDefinitions::new(&desk.workspace, None);
    let (text, _) =
        call(&tool, json!({ "names": ["db"], "mode": "details", "operations": ["update"] })).await.unwrap();
    assert!(text.contains("### db.update\nChanges rows\n(parameters not in the snapshot;"), "{text}");
    assert!(
        text.contains("This project builds for 4.3.0, which is older: this version does not fit.\n"),
        "{text}"
    );
    let error = call(&tool, json!({ "names": ["kafak"] })).await.unwrap_err();
    assert!(error.starts_with("No connector \"kafak\" is known. Did you mean kafkaTransport"), "{error}");
    let (text, _) = call(&tool, json!({ "mode": "catalogue" })).await.unwrap();
    assert!(text.contains("- file 6.0.3 [needs runtime 4.4.0]: Reads, writes, moves"), "{text}");
    assert!(text.contains("- jms (inbound, comes with the runtime): Takes messages"), "{text}");
    let (text, _) = call(&tool, json!({ "names": ["http", "nosuchthing"] })).await.unwrap();
    assert!(text.contains("## HTTP (connector, prefix http)"), "{text}");
    assert!(text.ends_with("No connector \"nosuchthing\" is known; mode catalogue lists all.\n"), "{text}");
}

#[tokio::test]
async fn two_names_of_one_connector_are_answered_once() {
    let desk = Desk::with(&[("pom.xml", pom("4.4.0").as_bytes()), (ARTIFACTS, b"")]);
    let tool = GetConnectorDefinitions::new(&desk.workspace, None);
    let names = json!({ "names": ["http", "mi-connector-http", "HTTP Connector", "file"] });
    let (text, details) = call(&tool, names).await.unwrap();
    assert_eq!(text.matches("(connector, prefix http)").count(), 1, "{text}");
    assert_eq!(details["found"], json!(["http", "file"]));
}

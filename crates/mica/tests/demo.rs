//! The demo, as `cargo xtask demo` plays it, so that it cannot rot.

#![cfg(unix)]
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

#[path = "../examples/demo/play.rs"]
mod play;

use mica_testkit::{Scenario, ScriptedServer, Turn};
use play::{Demo, Screen, Wish};

async fn played(wish: Wish, variables: &[(&str, &str)]) -> (String, Result<(), String>) {
    let home = tempfile::tempdir().unwrap();
    let mut environment = vec![("HOME".into(), home.path().into())];
    environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
    let shown = Arc::new(Mutex::new(String::new()));
    let demo = Demo {
        mica: env!("CARGO_BIN_EXE_mica").into(),
        sample: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders-mi"),
        wish,
        keep: false,
        environment,
    };
    let ended = demo.play(Screen::kept(&shown)).await.map_err(|error| error.to_string());
    let shown = shown.lock().unwrap().clone();
    (shown, ended)
}

/// The numbers, ids and times that differ from run to run are left out.
fn steady(shown: &str) -> String {
    let is_id = |word: &str| word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit());
    let line = |line: &str| {
        if line.starts_with("Done in ") {
            return "Done in … s: 1 file changed, and nothing is left running.".to_owned();
        }
        if line.starts_with("No findings in ") {
            return "No findings in … files.".to_owned();
        }
        if line.len() == 36 && line.matches('-').count() == 4 {
            return "…".to_owned();
        }
        line.split(' ').map(|word| if is_id(word) { "…" } else { word }).collect::<Vec<_>>().join(" ")
    };
    shown.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_shows_the_whole_job() {
    let (shown, ended) = played(Wish::default(), &[]).await;
    assert_eq!(ended, Ok(()), "{shown}");
    let shown = steady(&shown);
    assert!(
        shown.contains("\nno model is configured: a scripted model answers. Its words are a script;\n"),
        "{shown}"
    );
    let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("mica: ");
    assert_eq!(shown.lines().find(wide), None, "rows fit on a terminal");
    assert!(!shown.contains('\x1b'), "no colour where nobody watches");
    for expected in [
        "\n~ I need to see how the API answers today, before I add to it.\n",
        "\n● Read file path=src/main/wso2mi/artifacts/apis/OrdersAPI.xml\n",
        "\nmica: file_edit src/main/wso2mi/artifacts/apis/OrdersAPI.xml (+25 -0) needs an approval: ",
        "\n$ mica --show-thinking --continue --yes\n● Edit file path=src/main/wso2mi/artifacts/apis/OrdersAPI.xml …\n\
         ✗ line 26 SYN0401: `and` and `or` bind tighter than comparisons, so this…\n\
         ✗ line 29 SYN0201: \"payload.price * payload.count\" is read as XPath here…\n\
         ! line 33 SYN0502: <send> without an endpoint sends the request back to this…\n",
        "\n● Repair path=src/main/wso2mi/artifacts/apis/OrdersAPI.xml\n\
         ! line 33 SYN0502: <send> without an endpoint sends the request back to this…\n",
        "\n● Repair path=src/main/wso2mi/artifacts/apis/OrdersAPI.xml code=SYN0502\n✓ checked, nothing wrong\n",
        "\n+            <filter xpath=\"${(payload.price > 0) and (payload.count > 0)}\">\n",
        "\n+                              expression=\"${payload.price * payload.count}\"/>\n",
        "\n+                    <property name=\"HTTP_SC\" value=\"400\" scope=\"axis2\"/>\n+                    <respond/>\n",
        "\n$ mica check\nNo findings in ",
        "\n$ mica undo --dry-run\nwould undo run …\n  restore     src/main/wso2mi/artifacts/apis/OrdersAPI.xml\n",
        "\n…     now      6  Add POST /orders: check price and count, answer 201.\n",
        "\n> …  mica      `POST /orders` is there: ",
        "\n$ mica --resume … -p \"And when the store is down?\"\n",
        "\nThen `StoreFault` answers 502, as it does for `GET`: both resources use it.\n",
        "\nDone in … s: 1 file changed, and nothing is left running.\n",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in:\n{shown}");
    }
    // The picture in the README is this demo, with rows left out.
    let readme = include_str!("../../../README.md");
    let picture = readme.split("```text\n$ cargo xtask demo\n").nth(1).unwrap().split("```").next().unwrap();
    let mut rows = shown.lines();
    for row in picture.lines().filter(|row| !row.is_empty() && *row != "[…]") {
        // How many tokens it takes depends on how long the name of the folder is.
        let same =
            |line: &str| line == row || (row.contains(" tokens in (") && line.contains(" tokens in ("));
        assert!(rows.any(same), "the README shows {row:?}, and the demo does not, or not there:\n{shown}");
    }
    assert_eq!(shown.matches("tokens in").count(), 3, "each run says what it took:\n{shown}");
    assert!(shown.matches(", $0.").count() >= 3, "and what it cost:\n{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_model_is_asked_as_mica_would() {
    // It changes nothing at first, and wants to later: the demo takes whatever a model does.
    let write = serde_json::json!({ "path": "notes.md", "content": "StoreFault answers.\n" });
    let scenario = Scenario::new()
        .turn(Turn::new().text("It is there already."))
        .turn(Turn::new().text("I note that.").call("file_write", write));
    let server = ScriptedServer::start(scenario).await.unwrap();
    let url = server.url("/v1");
    let environment = [("MICA_LOCAL_BASE_URL", url.as_str()), ("MICA_MODEL", "my-model")];
    let (shown, ended) = played(Wish::default(), &environment).await;
    assert_eq!(ended, Ok(()), "{shown}");
    assert!(
        shown.contains("\nThe configured model answers, and may cost money: my-model over chat at http"),
        "{shown}"
    );
    assert!(
        shown.contains("\n2. Nothing needed an approval.\n")
            && shown.contains("\n3. What changed in the files.\nnothing\n")
            && shown.contains("\n$ mica undo --dry-run\n")
            && shown.contains("\nI note that.\n")
            && shown.contains(" s: 0 files changed, and nothing is left running.\n"),
        "{shown}"
    );
    assert_eq!(server.captured().len(), 2);

    // An endpoint without a model is told, and nothing is asked there.
    let (shown, ended) = played(Wish::default(), &environment[..1]).await;
    assert_eq!(ended, Ok(()), "{shown}");
    assert!(
        shown.contains(
            "no model is configured: a scripted model answers. There is an endpoint:\n  local (local) at http"
        ),
        "{shown}"
    );
    assert_eq!(server.captured().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_be_asked_is_an_error_and_not_a_script() {
    let (shown, ended) =
        played(Wish { model: Some("nobody/has-this".to_owned()), scripted: false }, &[]).await;
    let error = ended.unwrap_err();
    assert!(error.ends_with("Set up an endpoint (docs/endpoints.md), or use --scripted."), "{error}");
    assert!(!shown.contains("$ mica"), "{shown}");
}

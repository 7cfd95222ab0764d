//! Over HTTP: who may ask, what is refused, and how it ends.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::stage::{Served, Stage, meta};

fn runtime() -> tokio::runtime::Runtime {
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A request of the newer era, with headers that are added or changed.
async fn post(
    url: &str,
    method: &str,
    mut params: Value,
    headers: &[(&str, &str)],
) -> (u16, HeaderMap, String) {
    params["_meta"] = meta();
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut all = HeaderMap::new();
    let mut put = |name: &str, value: &str| {
        all.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    };
    put("content-type", "application/json");
    put("accept", "application/json, text/event-stream");
    put("mcp-protocol-version", "2026-07-28");
    put("mcp-method", method);
    if let Some(name) = name {
        put("mcp-name", &name);
    }
    headers.iter().for_each(|(name, value)| put(name, value));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.post(url).headers(all).body(body).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.text().await.unwrap())
}

#[test]
fn who_may_not_ask_is_refused() {
    let stage = Stage::new();
    let (served, _) = stage.serve(&["--allow-origin", "https://app.example:443"], 1);
    let url = served.url.clone();
    let own = url.trim_end_matches("/mcp").to_owned();
    runtime().block_on(async {
        for (headers, expect) in [
            (vec![], 200),
            (vec![("origin", own.as_str())], 200),
            (vec![("origin", "https://app.example")], 200),
            (vec![("origin", "https://evil.example")], 403),
            (vec![("origin", "null")], 403),
            (vec![("origin", "http://localhost:1")], 403),
            (vec![("host", "evil.example")], 403),
            (vec![("mcp-method", "tools/call")], 400),
            (vec![("mcp-protocol-version", "2025-11-25")], 400),
            (vec![("mcp-protocol-version", "2099-01-01")], 400),
            (vec![("accept", "text/html")], 406),
            (vec![("content-type", "text/plain")], 415),
        ] {
            let (status, _, body) = post(&url, "tools/list", json!({}), &headers).await;
            assert_eq!(status, expect, "{headers:?}: {body}");
        }
        let (status, _, body) = post(&url, "no/such", json!({}), &[]).await;
        assert_eq!(status, 404);
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["code"], -32601);
        let (status, _, body) =
            post(&url, "tools/call", json!({ "name": "check" }), &[("mcp-name", "fix")]).await;
        assert_eq!(status, 400);
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["code"], -32020);
        let large = json!({ "name": "check", "arguments": { "text": "x".repeat(5 << 20) } });
        assert_eq!(post(&url, "tools/call", large, &[]).await.0, 413);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().status().as_u16(), 405);
        assert_eq!(client.get(&own).send().await.unwrap().status().as_u16(), 404);
    });
}

#[test]
fn a_token_is_asked_for_and_printed_once() {
    let stage = Stage::new();
    let (served, said) = stage.serve(&["--generate-token"], 2);
    let token = said[1].strip_prefix("Authorization: Bearer ").unwrap().to_owned();
    assert_eq!(token.len(), 48);
    stage.write("token", "a token that is too short\n");
    let file = stage.path().join("token");
    let ran =
        stage.command(&["--http", "127.0.0.1:0", "--token-file", file.to_str().unwrap()]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    runtime().block_on(async {
        let (status, headers, _) = post(&served.url, "tools/list", json!({}), &[]).await;
        assert_eq!((status, headers["www-authenticate"].to_str().unwrap()), (401, "Bearer realm=\"mica\""));
        let wrong = format!("Bearer {}", "0".repeat(48));
        assert_eq!(post(&served.url, "tools/list", json!({}), &[("authorization", &wrong)]).await.0, 401);
        let right = format!("Bearer {token}");
        assert_eq!(post(&served.url, "tools/list", json!({}), &[("authorization", &right)]).await.0, 200);
    });
}

#[test]
fn other_machines_reach_it_only_on_purpose_and_with_a_token() {
    let stage = Stage::new();
    for (arguments, expect) in [
        (
            &["--http", "0.0.0.0:0"][..],
            "0.0.0.0:0 can be reached from other machines; say --allow-remote if that is meant",
        ),
        (
            &["--http", "0.0.0.0:0", "--allow-remote"][..],
            "with --allow-remote everybody who reaches 0.0.0.0:0 could ask: add --token-file or --generate-token",
        ),
        (
            &["--http", "0.0.0.0:0", "--allow-remote", "--generate-token"][..],
            "0.0.0.0 is every address of this machine: say by which name it is asked, with --allow-host NAME",
        ),
    ] {
        let ran = stage.command(arguments).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((ran.status.code(), told), (Some(2), format!("mica: {expect}\n")));
    }
}

#[test]
fn it_ends_well_when_it_is_told_to() {
    let stage = Stage::new();
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let (mut served, _) = stage.serve(&[], 1);
        let status = runtime().block_on(async { post(&served.url, "tools/list", json!({}), &[]).await.0 });
        assert_eq!(status, 200);
        assert_eq!(end(&mut served, signal), Some(0), "{signal:?}");
    }
}

fn end(served: &mut Served, signal: rustix::process::Signal) -> Option<i32> {
    let id = rustix::process::Pid::from_child(&served.process);
    rustix::process::kill_process(id, signal).unwrap();
    let (told, heard) = std::sync::mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        scope.spawn(move || told.send(served.process.wait().unwrap().code()));
        heard.recv_timeout(Duration::from_secs(100)).unwrap()
    })
}

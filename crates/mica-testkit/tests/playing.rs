//! Server and transport play the same answers, keep what was asked, and fail as they are told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, Method};
use mica_ai::transport::{HttpRequest, Transport};
use mica_ai::{AiError, Dialect};
use mica_testkit::{
    At, Fault, Limits, Reason, Scenario, Script, ScriptedServer, ScriptedTransport, Then, Turn, When, Where,
    refused_address,
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "/openai/v1/responses",
        Dialect::Messages => "/anthropic/v1/messages",
        Dialect::Chat => "/openai/v1/chat/completions",
    }
}

fn body(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::Responses => json!({ "model": "m", "stream": true, "input": text }),
        Dialect::Messages => {
            json!({ "model": "m", "stream": true, "max_tokens": 9, "messages": [{ "role": "user", "content": text }] })
        }
        Dialect::Chat => {
            json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": text }] })
        }
    }
}

/// What came back: a status and body, or how it failed with what had arrived.
#[derive(Debug, PartialEq)]
enum Got {
    Whole(u16, Bytes),
    Cut(Bytes),
    NoHead,
    Stalled(Bytes),
}

async fn in_process(transport: &ScriptedTransport, dialect: Dialect, body: &Value) -> Got {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    let url = format!("https://example.test{}?api-version=preview", path(dialect));
    let request = HttpRequest { method: Method::POST, url, headers, body: body.to_string().into() };
    let response = match transport.send(request).await {
        Ok(response) => response,
        Err(AiError::Network { .. }) => return Got::NoHead,
        Err(other) => panic!("{other}"),
    };
    let (status, mut stream, mut all) = (response.status.as_u16(), response.body, Vec::new());
    loop {
        match timeout(Duration::from_secs(60), stream.next()).await {
            Ok(Some(Ok(bytes))) if bytes.starts_with(b": keep") && all.ends_with(b": keep-alive\n\n") => {
                return Got::Stalled(all.into());
            }
            Ok(Some(Ok(bytes))) => all.extend_from_slice(&bytes),
            Ok(Some(Err(_))) => return Got::Cut(all.into()),
            Ok(None) => return Got::Whole(status, all.into()),
            Err(_) => return Got::Stalled(all.into()),
        }
    }
}

fn client() -> reqwest::Client {
    // Another test of the process may have installed it already; one is as good as the other.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// What comes over a socket. `quiet` is how long nothing may come before it counts as stalled: short where that is what is
/// waited for, and else longer than any machine needs.
async fn over_http(server: &ScriptedServer, dialect: Dialect, body: &Value, quiet: Duration) -> Got {
    static CLIENT: std::sync::LazyLock<reqwest::Client> = std::sync::LazyLock::new(client);
    let sent = CLIENT
        .post(server.url(path(dialect)))
        .header("anthropic-version", "2023-06-01")
        .body(body.to_string())
        .send()
        .await;
    let Ok(response) = sent else { return Got::NoHead };
    let (status, mut stream, mut all) = (response.status().as_u16(), response.bytes_stream(), Vec::new());
    loop {
        match timeout(quiet, stream.next()).await {
            Ok(Some(Ok(bytes))) => all.extend_from_slice(&bytes),
            Ok(Some(Err(_))) => return Got::Cut(all.into()),
            Ok(None) => return Got::Whole(status, all.into()),
            Err(_) => return Got::Stalled(all.into()),
        }
    }
}

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

fn spoilt(fault: Fault) -> Scenario {
    Turn::new().thinking("Hm, größer?").text("Ja 🦀.").fault(fault).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_the_same_in_process_and_over_http() {
    for named in Fault::all() {
        // Time is real here: what only takes long is checked under the paused clock.
        if matches!(
            named.fault,
            Fault::SlowDrip { .. } | Fault::KeepAliveOnly { .. } | Fault::KeepAliveThenStall { .. }
        ) {
            continue;
        }
        for dialect in Dialect::ALL {
            let server = ScriptedServer::start(spoilt(named.fault.clone())).await.unwrap();
            let stalls = matches!(named.fault, Fault::Stall { .. });
            let quiet = if stalls { SHORT } else { LONG };
            let wire = over_http(&server, dialect, &body(dialect, "hello"), quiet).await;
            assert_eq!(matches!(wire, Got::Stalled(_)), stalls, "{} {dialect}", named.name);
            if stalls {
                continue;
            }
            let transport = ScriptedTransport::new(spoilt(named.fault.clone()));
            let process = in_process(&transport, dialect, &body(dialect, "hello")).await;
            assert_eq!(wire, process, "{} {dialect}", named.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn slow_answers_take_their_time_on_the_virtual_clock() {
    let plain = ScriptedTransport::new(Scenario::from(Turn::new().text("Hello")));
    let Got::Whole(200, clean) = in_process(&plain, Dialect::Messages, &body(Dialect::Messages, "x")).await
    else {
        panic!("a clean answer is whole")
    };
    let timed = async |turn: Turn| {
        let began = Instant::now();
        let transport = ScriptedTransport::new(Scenario::from(turn.text("Hello")));
        let got = in_process(&transport, Dialect::Messages, &body(Dialect::Messages, "x")).await;
        assert_eq!(got, Got::Whole(200, clean.clone()));
        began.elapsed()
    };
    let drip = timed(Turn::new().fault(Fault::SlowDrip { tick_ms: 10 })).await;
    assert_eq!(drip, Duration::from_millis(10) * u32::try_from(clean.len()).unwrap());
    assert_eq!(timed(Turn::new().fault(Fault::SlowHead { ms: 500 })).await, Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn keep_alives_are_heard_and_nothing_else() {
    for (fault, events) in [
        (Fault::KeepAliveOnly { every_ms: 1000 }, false),
        (Fault::KeepAliveThenStall { comments: 3, every_ms: 1000 }, true),
    ] {
        let transport = ScriptedTransport::new(spoilt(fault));
        let Got::Stalled(bytes) = in_process(&transport, Dialect::Chat, &body(Dialect::Chat, "x")).await
        else {
            panic!("it never ends")
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains(": keep-alive\n\n"));
        assert_eq!(text.contains("data:"), events);
        assert_eq!(transport.script().abandoned(), 1);
    }
}

#[tokio::test]
async fn requests_are_kept_as_they_came() {
    let server = ScriptedServer::start(Scenario::from(Turn::new().text("x"))).await.unwrap();
    let sent = client()
        .post(server.url("/openai/deployments/gpt/chat/completions?api-version=2024-10-21"))
        .header("api-key", "k")
        .body(body(Dialect::Chat, "hello").to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(sent.headers()["content-type"], "text/event-stream; charset=utf-8");
    let captured = server.captured();
    let [request] = captured.as_slice() else { panic!("{captured:?}") };
    assert_eq!((request.number, request.method.as_str()), (0, "POST"));
    assert_eq!(request.path, "/openai/deployments/gpt/chat/completions");
    assert_eq!(request.query, "api-version=2024-10-21");
    assert_eq!(request.header("api-key"), "k");
    assert_eq!(request.dialect, Some(Dialect::Chat));
    assert_eq!(request.json, body(Dialect::Chat, "hello"));
    assert_eq!(request.body, body(Dialect::Chat, "hello").to_string());
}

#[tokio::test]
async fn a_connection_is_used_again_and_captures_are_bounded() {
    let mut scenario = Scenario::from(Turn::new().text("x"));
    scenario.limits = Limits { captured: 2, body: 1000, connections: 1 };
    let server = ScriptedServer::start(scenario).await.unwrap();
    let client = client();
    for _ in 0..3 {
        let response = client
            .post(server.url("/v1/chat/completions"))
            .body(body(Dialect::Chat, "x").to_string())
            .send()
            .await;
        assert!(response.unwrap().bytes().await.unwrap().ends_with(b"data: [DONE]\n\n"));
    }
    let kept: Vec<usize> = server.captured().iter().map(|request| request.number).collect();
    assert_eq!(kept, [1, 2]);
    drop(client);
    let large = "x".repeat(2000);
    let response = self::client().post(server.url("/v1/messages")).body(large).send().await.unwrap();
    assert_eq!(response.status(), 413);
    assert_eq!(response.json_body().await["error"]["type"], "request_too_large");
}

/// Reads a response's body as JSON.
trait JsonBody {
    async fn json_body(self) -> Value;
}

impl JsonBody for reqwest::Response {
    async fn json_body(self) -> Value {
        serde_json::from_slice(&self.bytes().await.unwrap()).unwrap()
    }
}

#[tokio::test]
async fn unknown_paths_and_missing_keys_are_refused_in_the_vendors_shape() {
    let server = ScriptedServer::start(Scenario::from(Turn::new().text("x")).key("secret")).await.unwrap();
    let get = async |path: &str, key: &str| {
        let response =
            client().post(server.url(path)).header("api-key", key).body("{}").send().await.unwrap();
        (response.status().as_u16(), response.json_body().await)
    };
    let (status, azure) = get("/openai/v1/nothing", "secret").await;
    assert_eq!(
        (status, &azure),
        (404, &json!({ "error": { "code": "404", "message": "Resource not found" } }))
    );
    let (status, openai) = get("/v1/nothing", "secret").await;
    assert_eq!((status, &openai["error"]["message"]), (404, &json!("Invalid URL (POST /v1/nothing)")));
    let (status, claude) = get("/anthropic/v1/nothing", "secret").await;
    assert_eq!((status, &claude["error"]["type"]), (404, &json!("not_found_error")));
    let (status, claude) = get("/anthropic/v1/messages", "wrong").await;
    assert_eq!((status, &claude["error"]["type"]), (401, &json!("authentication_error")));
    let (status, azure) = get("/openai/v1/responses", "wrong").await;
    assert_eq!((status, &azure["error"]["code"]), (401, &json!("401")));
    let (status, body) = get("/openai/v1/responses", "secret").await;
    assert_eq!((status, &body["error"]["param"]), (400, &json!("input")));
}

#[tokio::test]
async fn turns_are_chosen_by_what_was_asked_then_in_order_then_otherwise() {
    let when = When { user_contains: Some("special".into()), ..When::default() };
    let scenario = Scenario::new()
        .turn(Turn::new().text("[first]").repeat(2))
        .turn(Turn::new().text("[special]").when(when))
        .turn(Turn::new().text("[second]"))
        .otherwise(Turn::new().text("[other]"));
    let transport = ScriptedTransport::new(scenario);
    let mut said = Vec::new();
    for text in ["a", "special", "b", "c", "d", "special", "e"] {
        let Got::Whole(200, bytes) = in_process(&transport, Dialect::Chat, &body(Dialect::Chat, text)).await
        else {
            panic!("all are answered")
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let all = ["first", "special", "second", "other"];
        said.extend(all.into_iter().filter(|word| text.contains(&format!("[{word}]"))));
    }
    assert_eq!(said, ["first", "special", "first", "second", "other", "special", "other"]);
    let empty = ScriptedTransport::new(Scenario::new());
    let Got::Whole(400, bytes) = in_process(&empty, Dialect::Chat, &body(Dialect::Chat, "x")).await else {
        panic!("an empty script refuses")
    };
    assert!(String::from_utf8_lossy(&bytes).contains("script_exhausted"));
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed_and_the_server_stops_when_dropped() {
    let server = ScriptedServer::start(spoilt(Fault::Stall { at: At::Middle })).await.unwrap();
    let got = over_http(&server, Dialect::Responses, &body(Dialect::Responses, "x"), SHORT).await;
    assert!(matches!(got, Got::Stalled(_)));
    // The client is gone when `over_http` returns; the server notices by itself.
    let noticed = async {
        while server.script().abandoned() == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), noticed).await.unwrap();
    let address = server.address();
    timeout(Duration::from_secs(60), server.shutdown()).await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    assert!(tokio::net::TcpStream::connect(refused_address().await.unwrap()).await.is_err());
}

#[tokio::test]
async fn a_cut_is_an_error_and_a_clean_end_is_not() {
    for (then, is_cut) in [(Then::Broken, true), (Then::CleanEnd, false)] {
        let fault = Fault::Cut { at: At::Middle, place: Where::Inside, then };
        let server = ScriptedServer::start(spoilt(fault)).await.unwrap();
        let got = over_http(&server, Dialect::Chat, &body(Dialect::Chat, "x"), LONG).await;
        assert_eq!(matches!(got, Got::Cut(_)), is_cut, "{got:?}");
    }
}

/// A Messages request with a long system prompt, marked.
fn long_request(system: &str) -> Value {
    let system = system.repeat(1000);
    let mark = json!({ "type": "ephemeral" });
    json!({
        "model": "m", "max_tokens": 9,
        "system": [{ "type": "text", "text": system, "cache_control": mark }],
        "messages": [{ "role": "user", "content": "hello" }],
    })
}

async fn usage(transport: &ScriptedTransport, request: &Value) -> (u64, u64, u64) {
    let Got::Whole(200, bytes) = in_process(transport, Dialect::Messages, request).await else {
        panic!("it is answered")
    };
    let usage = serde_json::from_slice::<Value>(&bytes).unwrap()["usage"].take();
    let count = |key: &str| usage[key].as_u64().unwrap();
    (count("cache_read_input_tokens"), count("cache_creation_input_tokens"), count("input_tokens"))
}

#[tokio::test(start_paused = true)]
async fn automatic_usage_is_what_the_cache_simulator_says() {
    let transport = ScriptedTransport::new(Scenario::from(Turn::new().text("x")));
    let request = long_request("word ");
    let (read, written, rest) = usage(&transport, &request).await;
    assert_eq!((read, rest), (0, 3));
    assert!(written > 1200, "{written}");
    assert_eq!(usage(&transport, &request).await, (written, 0, 3));
    // The simulator's time is tokio's, and can be moved on.
    tokio::time::advance(Duration::from_secs(200)).await;
    assert_eq!(usage(&transport, &request).await, (written, 0, 3));
    transport.script().skip(Duration::from_secs(301));
    assert_eq!(usage(&transport, &request).await, (0, written, 3));
    let reasons: Vec<Reason> =
        transport.script().cache_reports().into_iter().map(|report| report.reason).collect();
    assert_eq!(reasons, [Reason::FirstRequest, Reason::Hit, Reason::Hit, Reason::Expired]);
}

#[tokio::test(start_paused = true)]
async fn identical_requests_at_once_all_miss() {
    let slow = Turn::new().text("x").pacing(mica_testkit::Pacing { first_ms: 100, ..Default::default() });
    let script = Script::new(Scenario::from(slow));
    let transport = ScriptedTransport::playing(script.clone());
    let request = long_request("word ");
    futures::join!(usage(&transport, &request), usage(&transport, &request));
    usage(&transport, &request).await;
    let reasons: Vec<Reason> = script.cache_reports().into_iter().map(|report| report.reason).collect();
    assert_eq!(reasons, [Reason::FirstRequest, Reason::NotStreaming, Reason::Hit]);
}

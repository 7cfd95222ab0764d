//! A llama.cpp server with a model of 135 million parameters: real tokens at a real pace.
//!
//! What the model says is not predictable, so these tests are about how it is said.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mica_ai::endpoint::Choice;
use mica_ai::request::{OutputFormat, ToolDef};
use mica_ai::{AiError, Catalogue, Dialect, Request, StopReason};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::ask::{self, ask, hear, provider};
use super::process::Peer;
use super::variable;

const SETTINGS: &str = r#"
[[endpoints]]
kind = "local"
base_url = "{peer}"
"#;

/// What is known about the model. A program's user would write the same.
const FACTS: &str = r#"
[model.smollm2]
name = "SmolLM2"
dialect = "chat"
context = 8192
max_output = 1024
structured_output = true
"#;

/// Tokens that fit into the server's window, in the tests that are not about it.
const WINDOW: u32 = 1024;

/// Starts a server, or answers `None` after saying why there is none.
#[allow(clippy::disallowed_methods, reason = "the peer is a process of its own")]
fn start(port: u16, window: u32, slots: u32) -> Option<Peer> {
    let (python, model) = (variable("MICA_PEER_LLAMA_PYTHON")?, variable("MICA_PEER_GGUF")?);
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/llama.py")).arg(model);
    command.args([port.to_string(), window.to_string(), slots.to_string()]);
    Some(Peer::start(command))
}

fn choice(address: &str, dialect: Dialect) -> Choice {
    let catalogue = Catalogue::builtin().with_overrides(FACTS).unwrap();
    ask::choice(&catalogue, &ask::endpoints(SETTINGS, address), "smollm2", dialect)
}

/// A question with a bounded answer, always the same one.
fn request(choice: &Choice, text: &str, max_output: u64) -> Request {
    let mut request = ask::request(choice, text);
    request.max_output = Some(max_output);
    request.temperature = Some(0.0);
    request
}

#[tokio::test]
async fn text_streams_to_its_end_on_every_wire() {
    let Some(server) = start(0, WINDOW, 1) else { return };
    let address = server.address();
    for dialect in Dialect::ALL {
        let choice = choice(&address, dialect);
        let heard =
            ask(&provider(&choice, 1), request(&choice, "Answer with the single word yes.", 64)).await;
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert_eq!(heard.message.stop, StopReason::Stop, "{dialect}");
        assert_eq!(heard.message.blocks.len(), 1, "{dialect}");
        assert!(!heard.message.text().is_empty() && heard.deltas > 1, "{dialect}: {}", heard.deltas);
        let usage = heard.message.usage;
        assert!(usage.input > 0 && (1..64).contains(&usage.output), "{dialect}: {usage:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_cut_at_the_limit() {
    let Some(server) = start(0, WINDOW, 1) else { return };
    let address = server.address();
    for dialect in Dialect::ALL {
        let choice = choice(&address, dialect);
        let heard = ask(&provider(&choice, 1), request(&choice, "Tell a long story.", 4)).await;
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert_eq!(heard.message.usage.output, 4, "{dialect}");
        let expected = match dialect {
            Dialect::Chat | Dialect::Messages => StopReason::Length,
            // llama.cpp calls every response completed, and says nowhere that this one was cut.
            Dialect::Responses => StopReason::Stop,
        };
        assert_eq!(heard.message.stop, expected, "{dialect}");
    }
}

#[tokio::test]
async fn a_schema_holds_the_answer() {
    let Some(server) = start(0, WINDOW, 1) else { return };
    // The other two wires of llama.cpp take a schema and do not enforce it.
    let choice = choice(&server.address(), Dialect::Chat);
    let mut request = request(&choice, "Describe the sky.", 64);
    let schema = json!({
        "type": "object",
        "properties": { "colour": { "enum": ["red", "blue"] }, "clouds": { "type": "boolean" } },
        "required": ["colour", "clouds"],
        "additionalProperties": false,
    });
    request.output = OutputFormat::JsonSchema { name: "sky".into(), schema };
    let heard = ask(&provider(&choice, 1), request).await;
    assert_eq!((heard.kind(), heard.message.stop), (None, StopReason::Stop), "{:?}", heard.error);
    let sky: Value = serde_json::from_str(&heard.message.text()).unwrap();
    assert_eq!(sky.as_object().unwrap().len(), 2, "{sky}");
    assert!(
        ["red", "blue"].contains(&sky["colour"].as_str().unwrap()) && sky["clouds"].is_boolean(),
        "{sky}"
    );
}

#[tokio::test]
async fn cancelling_ends_the_answer_and_keeps_what_was_said() {
    let Some(server) = start(0, WINDOW, 1) else { return };
    let address = server.address();
    for dialect in Dialect::ALL {
        let choice = choice(&address, dialect);
        let cancel = CancellationToken::new();
        let request = request(&choice, "Tell a long story about a mountain.", 900);
        let cancelled = async {
            cancel.cancelled().await;
            Instant::now()
        };
        let provider = provider(&choice, 3);
        let (heard, since) = tokio::join!(hear(&provider, request, &cancel, 5), cancelled);
        let took = since.elapsed();
        assert!(took < Duration::from_secs(20), "{dialect}: {took:?}");
        assert!(matches!(heard.error, Some(AiError::Cancelled)), "{dialect}: {:?}", heard.error);
        assert_eq!(heard.message.stop, StopReason::Aborted, "{dialect}");
        assert!(!heard.message.text().is_empty(), "{dialect}");
    }
}

#[tokio::test]
async fn a_model_that_is_still_loading_is_asked_again() {
    // A free port, because the server says its own only when the model is loaded. A large window takes it a while.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let Some(_server) = start(port, 32768, 4) else { return };
    let open = async {
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), open).await.expect("a server in time");
    let asked = Dialect::ALL.map(|dialect| {
        let choice = choice(&format!("http://127.0.0.1:{port}"), dialect);
        let request = request(&choice, "Answer with the single word yes.", 8);
        async move { (dialect, ask(&provider(&choice, 60), request).await) }
    });
    for (dialect, heard) in futures::future::join_all(asked).await {
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert!(!heard.message.text().is_empty(), "{dialect}");
        assert!(!heard.retried.is_empty(), "{dialect}: the server was loading");
        for error in &heard.retried {
            let AiError::Overloaded { reply, .. } = error else { panic!("{dialect}: {error:?}") };
            assert_eq!((reply.status, reply.message.as_str()), (Some(503), "Loading model"), "{dialect}");
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_with_its_sizes() {
    let Some(server) = start(0, 256, 1) else { return };
    let address = server.address();
    for dialect in Dialect::ALL {
        let choice = choice(&address, dialect);
        let heard = ask(&provider(&choice, 3), request(&choice, &"mica is a mineral. ".repeat(100), 8)).await;
        let Some(AiError::ContextOverflow { limit, sent, .. }) = heard.error else {
            panic!("{dialect}: {:?}", heard.error)
        };
        assert_eq!(limit, Some(256), "{dialect}");
        assert!(sent > Some(256), "{dialect}: {sent:?}");
        assert!(heard.retried.is_empty(), "{dialect}");
    }
}

#[tokio::test]
async fn a_request_with_tools_has_a_well_formed_answer() {
    let Some(server) = start(0, WINDOW, 1) else { return };
    let address = server.address();
    for dialect in Dialect::ALL {
        let choice = choice(&address, dialect);
        let mut request = request(&choice, "What is the weather in Paris?", 8);
        let schema =
            json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
        request.tools = vec![ToolDef {
            name: "get_weather".into(),
            description: "Tells the weather of a city.".into(),
            schema,
            strictness: Default::default(),
        }]
        .into();
        // Whether such a small model calls the tool cannot be told. That its answer is whole, and the sum of its
        // deltas, was checked while reading.
        let heard = ask(&provider(&choice, 1), request).await;
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert!(heard.deltas > 0, "{dialect}");
    }
}

//! aimock: somebody else's idea of the three wires, with answers from `fixtures`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use mica_ai::endpoint::{Choice, Endpoints};
use mica_ai::http::HttpTransport;
use mica_ai::id::MessageId;
use mica_ai::message::{Content, ReasoningField, ResultStatus, Seal, Thinking, ToolResult};
use mica_ai::request::ToolDef;
use mica_ai::transport::{HttpRequest, Transport};
use mica_ai::{AiError, Block, Catalogue, Dialect, Request, StopReason};
use serde_json::{Value, json};

use super::ask::{self, KEY, Recorder, ask, provider, provider_over, request};
use super::process::Peer;
use super::variable;

/// One endpoint of each kind. Claude's own address for `messages`, OpenAI's for the others.
const PLAIN: &str = r#"
[[endpoints]]
kind = "openai"
base_url = "{peer}"
auth = { kind = "api_key", env = "PEER_KEY" }

[[endpoints]]
kind = "anthropic"
base_url = "{peer}"
auth = { kind = "api_key", env = "PEER_KEY" }
"#;

/// The same endpoints with a header: aimock takes its faults from there.
fn with_header(name: &str, value: &str) -> String {
    PLAIN.replace("base_url", &format!("headers = {{ {name} = \"{value}\" }}\nbase_url"))
}

struct Aimock {
    address: String,
    _process: Peer,
}

impl Aimock {
    /// A server of its own for each test, or `None` after saying why there is none.
    #[allow(clippy::disallowed_methods, reason = "the peer is a process of its own")]
    fn start() -> Option<Self> {
        let cli = variable("MICA_PEER_AIMOCK")?;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
        let mut command = Command::new("node");
        command.arg(folder.join("aimock.mjs")).arg(cli).args([
            "--port",
            "0",
            "--chunk-size",
            "8",
            "--strict",
        ]);
        command.arg("--fixtures").arg(folder.join("fixtures")).env("AIMOCK_API_KEYS", KEY);
        let process = Peer::start(command);
        Some(Self { address: process.address(), _process: process })
    }

    fn endpoints(&self, settings: &str) -> Endpoints {
        ask::endpoints(settings, &self.address)
    }

    /// A model of the dialect at its vendor's kind of endpoint.
    fn choice(&self, dialect: Dialect) -> Choice {
        choice(&self.endpoints(PLAIN), dialect)
    }

    /// The requests so far, as aimock keeps them.
    async fn journal(&self) -> Vec<Value> {
        let headers = HeaderMap::from_iter([("x-api-key".parse().unwrap(), HeaderValue::from_static(KEY))]);
        let url = format!("{}/__aimock/journal", self.address);
        let request = HttpRequest { method: Method::GET, url, headers, body: Bytes::new() };
        let response = HttpTransport::new().unwrap().send(request).await.unwrap();
        let body =
            tokio::time::timeout(Duration::from_secs(60), response.read(1 << 20)).await.unwrap().unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}

/// Models that reason, so that aimock lets them.
fn choice(endpoints: &Endpoints, dialect: Dialect) -> Choice {
    let model = if dialect == Dialect::Messages { "claude-sonnet-5" } else { "gpt-5.5" };
    ask::choice(Catalogue::builtin(), endpoints, model, dialect)
}

fn thinking(blocks: &[Block]) -> Vec<&Thinking> {
    blocks
        .iter()
        .filter_map(|block| if let Block::Thinking(thinking) = block { Some(thinking) } else { None })
        .collect()
}

#[tokio::test]
async fn text_arrives_in_pieces_with_its_usage() {
    let Some(aimock) = Aimock::start() else { return };
    for dialect in Dialect::ALL {
        let choice = aimock.choice(dialect);
        let heard = ask(&provider(&choice, 1), request(&choice, "Say hello.")).await;
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert_eq!(heard.message.text(), "Grüße 🦀, and hello to all of you.", "{dialect}");
        // Asked for encrypted reasoning, aimock gives some with every answer of a model that reasons.
        let hidden = usize::from(dialect == Dialect::Responses);
        assert_eq!(heard.message.blocks.len(), 1 + hidden, "{dialect}: {:?}", heard.message.blocks);
        assert!(thinking(&heard.message.blocks).iter().all(|thought| thought.text.is_empty()), "{dialect}");
        assert_eq!(heard.message.stop, StopReason::Stop, "{dialect}");
        assert_eq!((heard.message.usage.input, heard.message.usage.output), (120, 9), "{dialect}");
        assert_eq!(heard.deltas, 5, "{dialect}");
    }
}

#[tokio::test]
async fn thoughts_come_before_the_answer() {
    let Some(aimock) = Aimock::start() else { return };
    for dialect in Dialect::ALL {
        let choice = aimock.choice(dialect);
        let heard = ask(&provider(&choice, 1), request(&choice, "Add two and two.")).await;
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        let thoughts: Vec<&str> = thinking(&heard.message.blocks).iter().map(|it| it.text.as_str()).collect();
        assert_eq!(thoughts, ["Two and two are four."], "{dialect}");
        assert!(matches!(heard.message.blocks[..], [Block::Thinking(_), Block::Text(_)]), "{dialect}");
        assert_eq!((heard.message.text().as_str(), heard.message.stop), ("4", StopReason::Stop), "{dialect}");
    }
}

fn is_encrypted(seal: &Seal) -> bool {
    matches!(seal, Seal::Encrypted(text) if !text.is_empty())
}

fn with_tools(choice: &Choice) -> Request {
    let mut request = request(choice, "Compare the weather.");
    request.tools = vec![ToolDef {
        name: "get_weather".into(),
        description: "Tells the weather.".into(),
        schema: json!({ "type": "object", "properties": { "city": { "type": "string" } } }),
        strictness: Default::default(),
    }]
    .into();
    request
}

#[tokio::test]
async fn parallel_calls_are_answered_and_the_first_turn_is_replayed_with_its_reasoning() {
    let Some(aimock) = Aimock::start() else { return };
    for dialect in Dialect::ALL {
        let choice = aimock.choice(dialect);
        let sent = Recorder::new();
        let (provider, mut request) = (provider_over(sent.clone(), &choice, 1), with_tools(&choice));
        let first = ask(&provider, request.clone()).await;
        assert_eq!(first.kind(), None, "{dialect}: {:?}", first.error);
        let message = first.message;
        assert_eq!(
            (message.text().as_str(), message.stop),
            ("I ask for both.", StopReason::ToolUse),
            "{dialect}"
        );
        let calls: Vec<(&str, &str, Value)> = message
            .calls()
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.parse().unwrap().into()))
            .collect();
        let (paris, rome) =
            (json!({ "city": "Paris", "days": [1, 2] }), json!({ "city": "Rom \"Süd\"", "days": [] }));
        assert_eq!(
            calls,
            [("call_paris", "get_weather", paris), ("call_rome", "get_weather", rome)],
            "{dialect}"
        );
        let seal = match dialect {
            Dialect::Messages => Some(Seal::Signature("signed-by-aimock".into())),
            Dialect::Chat => Some(Seal::Field(ReasoningField::ReasoningContent)),
            // Made anew for every answer.
            Dialect::Responses => thinking(&message.blocks)[0].seal.clone().filter(is_encrypted),
        };
        assert!(seal.is_some(), "{dialect}: {message:?}");
        let thought = Thinking { text: "Both cities are needed.".into(), seal };
        assert_eq!(thinking(&message.blocks), [&thought], "{dialect}");

        request.messages.push(message.clone().into());
        for call in message.calls() {
            let result = ToolResult {
                id: MessageId::fresh(),
                call: call.id.clone(),
                tool: call.name.clone(),
                content: vec![Content::text("sunny")],
                status: ResultStatus::Ok,
            };
            request.messages.push(result.into());
        }
        let second = ask(&provider, request).await;
        assert_eq!(second.kind(), None, "{dialect}: {:?}", second.error);
        assert_eq!(
            (second.message.text().as_str(), second.message.stop),
            ("Rome is warmer.", StopReason::Stop)
        );
        let (sealed, reasoning) = replayed(&sent.last(), dialect);
        assert_eq!(reasoning, "Both cities are needed.", "{dialect}");
        match &thought.seal {
            Some(Seal::Signature(seal) | Seal::Encrypted(seal)) => {
                assert_eq!(sealed, json!(seal), "{dialect}");
            }
            _ => assert_eq!(sealed, Value::Null, "{dialect}"),
        }
        // aimock keeps every request as a chat, which shows that it found both results and whose they are.
        let asked = aimock.journal().await.pop().unwrap();
        let messages = asked["body"]["messages"].as_array().unwrap();
        let results: Vec<_> =
            messages[messages.len() - 2..].iter().map(|it| (&it["tool_call_id"], &it["content"])).collect();
        let sunny = json!("sunny");
        assert_eq!(results, [(&json!("call_paris"), &sunny), (&json!("call_rome"), &sunny)], "{dialect}");
    }
}

/// The seal and the text of the reasoning in a request.
fn replayed(body: &Value, dialect: Dialect) -> (Value, Value) {
    let found = |list: &Value, kind: &str| {
        let items: Vec<&Value> =
            list.as_array().unwrap().iter().filter(|item| item["type"] == kind).collect();
        assert_eq!(items.len(), 1, "{dialect}: {list}");
        items[0].clone()
    };
    match dialect {
        Dialect::Responses => {
            let item = found(&body["input"], "reasoning");
            (item["encrypted_content"].clone(), item["summary"][0]["text"].clone())
        }
        Dialect::Messages => {
            let block = found(&body["messages"][1]["content"], "thinking");
            (block["signature"].clone(), block["thinking"].clone())
        }
        Dialect::Chat => (Value::Null, body["messages"][1]["reasoning_content"].clone()),
    }
}

const AZURE: &str = r#"
[[endpoints]]
name = "today"
kind = "foundry"
base_url = "{peer}/openai/v1"
auth = { kind = "api_key", env = "PEER_KEY" }

[[endpoints]]
name = "older"
kind = "foundry"
base_url = "{peer}/openai/deployments"
api_version = "2024-10-21"
deployments = { "gpt-5.5" = "prod-55" }
auth = { kind = "api_key", env = "PEER_KEY" }
"#;

#[tokio::test]
async fn azures_addresses_are_answered() {
    let Some(aimock) = Aimock::start() else { return };
    let endpoints = aimock.endpoints(AZURE);
    for (name, dialect, path) in [
        ("today/gpt-5.5", Dialect::Responses, "/openai/v1/responses"),
        ("today/gpt-5.5", Dialect::Chat, "/openai/v1/chat/completions"),
        (
            "older/gpt-5.5",
            Dialect::Chat,
            "/openai/deployments/prod-55/chat/completions?api-version=2024-10-21",
        ),
        ("older/gpt-5.5", Dialect::Responses, "/openai/responses?api-version=2024-10-21"),
    ] {
        let choice = ask::choice(Catalogue::builtin(), &endpoints, name, dialect);
        assert_eq!(choice.url(), format!("{}{path}", aimock.address));
        let heard = ask(&provider(&choice, 1), request(&choice, "Say hello.")).await;
        assert_eq!(heard.kind(), None, "{path}: {:?}", heard.error);
        assert_eq!(heard.message.text(), "Grüße 🦀, and hello to all of you.", "{path}");
    }
    // aimock does not know where Claude is on Azure, and says so in words that are understood.
    let choice = ask::choice(Catalogue::builtin(), &endpoints, "today/claude-sonnet-5", Dialect::Messages);
    assert_eq!(choice.url(), format!("{}/anthropic/v1/messages", aimock.address));
    let heard = ask(&provider(&choice, 1), request(&choice, "Say hello.")).await;
    assert_eq!(heard.kind(), Some("not_found"));
}

#[tokio::test]
async fn a_wrong_key_is_told_apart() {
    let Some(aimock) = Aimock::start() else { return };
    let endpoints = aimock.endpoints(&PLAIN.replace("PEER_KEY", "WRONG_KEY"));
    for dialect in Dialect::ALL {
        let choice = choice(&endpoints, dialect);
        let heard = ask(&provider(&choice, 3), request(&choice, "Say hello.")).await;
        assert_eq!((heard.kind(), heard.retried.len()), (Some("auth"), 0), "{dialect}");
    }
}

#[tokio::test]
async fn every_fault_ends_with_one_typed_error() {
    let Some(aimock) = Aimock::start() else { return };
    let hello = "Say hello.";
    for (header, text, expected) in [
        ("x-aimock-chaos-drop", hello, "overloaded"),
        ("x-aimock-chaos-malformed", hello, "protocol"),
        ("x-aimock-chaos-disconnect", hello, "network"),
        ("x-aimock-chaos-ratelimit", hello, "rate_limited"),
        ("x-test-id", "Stop halfway.", "stream_cut"),
        ("x-test-id", "Nobody expects this.", "overloaded"),
    ] {
        let endpoints = aimock.endpoints(&with_header(header, "1"));
        for dialect in Dialect::ALL {
            let choice = choice(&endpoints, dialect);
            let heard = ask(&provider(&choice, 1), request(&choice, text)).await;
            assert_eq!(heard.kind(), Some(expected), "{dialect} {header} {text}: {:?}", heard.error);
            assert_eq!(heard.message.stop, StopReason::Error, "{dialect} {header}");
            // A cut answer keeps what had arrived; the others had not begun.
            let begun = "This answer ends somewhere in its middle, and never says its last word.";
            let partial = heard.message.text();
            assert!(begun.starts_with(&partial), "{dialect} {header}: {partial}");
            assert_eq!(!partial.is_empty(), expected == "stream_cut", "{dialect} {header}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_and_the_request_sent_again() {
    let Some(aimock) = Aimock::start() else { return };
    // All at once, because each waits a second. aimock counts by test id.
    let asked = Dialect::ALL.map(|dialect| {
        let choice = choice(&aimock.endpoints(&with_header("x-test-id", dialect.name())), dialect);
        async move { (dialect, ask(&provider(&choice, 3), request(&choice, "Be busy once.")).await) }
    });
    for (dialect, heard) in futures::future::join_all(asked).await {
        assert_eq!(heard.kind(), None, "{dialect}: {:?}", heard.error);
        assert_eq!(heard.message.text(), "Here I am.", "{dialect}");
        let [AiError::RateLimited { after, reply }] = &heard.retried[..] else {
            panic!("{dialect}: {:?}", heard.retried)
        };
        assert_eq!((*after, reply.status), (Some(Duration::from_secs(1)), Some(429)), "{dialect}");
    }
}

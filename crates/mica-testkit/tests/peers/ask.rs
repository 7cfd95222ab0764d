//! Asks through mica's whole stack, and checks what holds for every answer whatever it says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use mica_ai::auth::DefaultChain;
use mica_ai::connect::Means;
use mica_ai::endpoint::{Choice, Endpoints, Settings};
use mica_ai::http::HttpTransport;
use mica_ai::message::{Block, User};
use mica_ai::retry::RetryPolicy;
use mica_ai::transport::{HttpRequest, HttpResponse, Transport};
use mica_ai::watchdog::ModelClock;
use mica_ai::{AiError, Assistant, Catalogue, Dialect, Provider, Request, StreamEvent};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The key that aimock wants.
pub(crate) const KEY: &str = "peer-key";

/// Endpoints as a person configures them. `{peer}` stands for the peer's address.
pub(crate) fn endpoints(settings: &str, peer: &str) -> Endpoints {
    let key = |name: &str| match name {
        "PEER_KEY" => Some(KEY.to_owned()),
        "WRONG_KEY" => Some("another-key".to_owned()),
        _ => None,
    };
    Settings::parse(&settings.replace("{peer}", peer)).unwrap().resolve(&key).unwrap()
}

/// Where a model is asked on a dialect.
pub(crate) fn choice(catalogue: &Catalogue, endpoints: &Endpoints, name: &str, dialect: Dialect) -> Choice {
    let choice = endpoints.select_as(catalogue, name, dialect).unwrap();
    assert_eq!(choice.dialect, dialect);
    choice
}

/// mica's stack over the real network: signed, watched, and asking again up to `attempts` times. Waits of its own are
/// short and never grow long, so that a peer is asked again soon after it can answer.
pub(crate) fn provider(choice: &Choice, attempts: u32) -> Arc<dyn Provider> {
    provider_over(Arc::new(HttpTransport::new().unwrap()), choice, attempts)
}

/// As [`provider`], over a given transport.
pub(crate) fn provider_over(
    transport: Arc<dyn Transport>,
    choice: &Choice,
    attempts: u32,
) -> Arc<dyn Provider> {
    let retry = RetryPolicy {
        attempts,
        base: Duration::from_millis(20),
        cap: Duration::from_secs(2),
        ..RetryPolicy::default()
    };
    let means = Means {
        transport,
        identity: Arc::new(DefaultChain::new(Vec::new())),
        retry,
        clock: ModelClock::new(Duration::from_secs(30), Some(Duration::from_secs(60))),
    };
    means.provider(choice)
}

/// The real network, keeping the bodies of what was sent over it.
pub(crate) struct Recorder {
    network: HttpTransport,
    bodies: Mutex<Vec<Value>>,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { network: HttpTransport::new().unwrap(), bodies: Mutex::default() })
    }

    /// The body that was sent last.
    pub(crate) fn last(&self) -> Value {
        self.bodies.lock().unwrap().last().cloned().unwrap()
    }
}

#[async_trait]
impl Transport for Recorder {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        self.bodies.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
        self.network.send(request).await
    }
}

pub(crate) fn request(choice: &Choice, text: &str) -> Request {
    let mut request = Request::new(Arc::clone(&choice.model));
    request.messages.push(User::text(text).into());
    request
}

/// An answer, and how it came.
pub(crate) struct Heard {
    pub(crate) message: Assistant,
    pub(crate) error: Option<AiError>,
    /// Why the attempts before the last one failed.
    pub(crate) retried: Vec<AiError>,
    /// How many pieces of text, thought or arguments there were.
    pub(crate) deltas: usize,
}

impl Heard {
    pub(crate) fn kind(&self) -> Option<&'static str> {
        self.error.as_ref().map(AiError::kind)
    }
}

/// Asks, and reads to the end.
pub(crate) async fn ask(provider: &Arc<dyn Provider>, request: Request) -> Heard {
    hear(provider, request, &CancellationToken::new(), usize::MAX).await
}

/// Asks, cancels after that many deltas, and reads to the end. Checks the order of the events, that exactly one
/// outcome comes, last, and that the deltas put together are the message.
pub(crate) async fn hear(
    provider: &Arc<dyn Provider>,
    request: Request,
    cancel: &CancellationToken,
    enough: usize,
) -> Heard {
    let mut stream = provider.stream(Arc::new(request), cancel.clone());
    let (mut folded, mut retried, mut outcome, mut deltas) = (Vec::new(), Vec::new(), None, 0);
    let read = async {
        while let Some(event) = stream.next().await {
            assert!(outcome.is_none(), "{event:?} came after the outcome");
            match event {
                StreamEvent::Done { message } => outcome = Some((*message, None)),
                StreamEvent::Error { partial, error } => outcome = Some((*partial, Some(error))),
                StreamEvent::Retry(retry) => retried.push(retry.error),
                event => {
                    deltas += usize::from(fold(&mut folded, event));
                    if deltas >= enough {
                        cancel.cancel();
                    }
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(90), read).await.expect("an outcome in time");
    let (message, error) = outcome.expect("an outcome");
    assert_eq!(
        folded.iter().map(|open| &open.said).collect::<Vec<_>>(),
        said(&message).iter().collect::<Vec<_>>()
    );
    assert!(error.is_some() || folded.iter().all(|open| open.closed), "a whole answer closes its blocks");
    Heard { message, error, retried, deltas }
}

/// What a block says: its kind (with id and name, for a call) and its text.
type Said = (String, String);

struct Open {
    said: Said,
    closed: bool,
}

/// Adds an event to what was heard. Answers whether it was a delta.
fn fold(blocks: &mut Vec<Open>, event: StreamEvent) -> bool {
    let mut open = |block: usize, kind: String| {
        assert_eq!(block, blocks.len(), "blocks open in order");
        blocks.push(Open { said: (kind, String::new()), closed: false });
        false
    };
    match event {
        StreamEvent::TextStart { block, .. } => open(block, "text".to_owned()),
        StreamEvent::ThinkingStart { block } => open(block, "thinking".to_owned()),
        StreamEvent::CallStart { block, call, tool } => open(block, format!("call {call} {tool}")),
        StreamEvent::TextDelta { block, text: piece }
        | StreamEvent::ThinkingDelta { block, text: piece }
        | StreamEvent::CallDelta { block, json: piece } => {
            assert!(!blocks[block].closed, "block {block} is closed");
            blocks[block].said.1.push_str(&piece);
            true
        }
        StreamEvent::TextEnd { block }
        | StreamEvent::ThinkingEnd { block }
        | StreamEvent::CallEnd { block } => {
            assert!(!blocks[block].closed, "block {block} is closed twice");
            blocks[block].closed = true;
            false
        }
        StreamEvent::Start { .. } | StreamEvent::Usage(_) => false,
        other => panic!("no peer sends {other:?}"),
    }
}

fn said(message: &Assistant) -> Vec<Said> {
    message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => ("text".to_owned(), text.text.clone()),
            Block::Thinking(thinking) => ("thinking".to_owned(), thinking.text.clone()),
            Block::ToolCall(call) => {
                (format!("call {} {}", call.id, call.name), call.arguments.text().to_owned())
            }
            Block::Image(_) => panic!("no peer makes pictures"),
        })
        .collect()
}

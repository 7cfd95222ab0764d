//! mica's client over the scripted model, for the tests of this folder.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mica_ai::auth::{Credential, NoCredential};
use mica_ai::endpoint::{AuthSettings, Endpoint, EndpointSettings, HostKind};
use mica_ai::message::{Content, ResultStatus, User};
use mica_ai::model::{Effort, ReasoningFacts, ReasoningStyle};
use mica_ai::remote::Remote;
use mica_ai::request::ToolDef;
use mica_ai::watchdog::{ModelClock, Watched};
use mica_ai::{Assistant, Dialect, Model, Provider, Request, StreamEvent};
use mica_testkit::{ScriptedTransport, cache};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// mica's client for a dialect, over a scripted transport.
pub fn client(dialect: Dialect, transport: &ScriptedTransport) -> impl Provider + use<> {
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    signed_client(endpoint, dialect, transport, Arc::new(NoCredential))
}

/// The same at a certain endpoint, with a credential.
pub fn signed_client(
    endpoint: Endpoint,
    dialect: Dialect,
    transport: &ScriptedTransport,
    credential: Arc<dyn Credential>,
) -> impl Provider + use<> {
    let transport = Arc::new(transport.clone());
    let remote = Remote::new(Arc::new(endpoint), dialect, credential, transport);
    Watched::new(remote, ModelClock::new(Duration::from_secs(90), None))
}

/// A model of a dialect that thinks, calls tools and caches.
pub fn model(dialect: Dialect) -> Arc<Model> {
    Arc::new(Model {
        reasoning: ReasoningFacts {
            style: match dialect {
                Dialect::Messages => ReasoningStyle::Adaptive,
                Dialect::Responses | Dialect::Chat => ReasoningStyle::Effort,
            },
            levels: vec![Effort::Low, Effort::High],
            min_budget: None,
        },
        cache: cache::usual(dialect),
        ..Model::assumed("m", dialect)
    })
}

/// A question with a long system prompt and a tool.
pub fn request(dialect: Dialect) -> Request {
    let mut request = Request::new(model(dialect));
    request.system = vec!["You answer questions about integrations. ".repeat(200)];
    request.tools = vec![ToolDef {
        name: "read".into(),
        description: "Reads a file.".into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        strictness: Default::default(),
    }]
    .into();
    request.effort = Some(Effort::Low);
    request.messages.push(User::text("What does HelloProxy do?").into());
    request
}

/// The outcome of an answer, and that it is the only one: the error's kind, or none.
pub async fn outcome(provider: &impl Provider, request: Request) -> (Assistant, Option<&'static str>) {
    let events: Vec<StreamEvent> =
        provider.stream(Arc::new(request), CancellationToken::new()).collect().await;
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
    match events.into_iter().last() {
        Some(StreamEvent::Done { message }) => (*message, None),
        Some(StreamEvent::Error { partial, error }) => (*partial, Some(error.kind())),
        other => panic!("{other:?} is last"),
    }
}

/// The question, the model's answer to it, and the results of its calls.
pub fn continued(mut request: Request, answer: Assistant) -> Request {
    let results: Vec<_> =
        answer.calls().map(|call| call.result(vec![Content::text("<proxy/>")], ResultStatus::Ok)).collect();
    request.messages.push(answer.into());
    request.messages.extend(results.into_iter().map(Into::into));
    request
}

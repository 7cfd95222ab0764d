//! mica's own client against every fault on every wire: exactly one outcome, and the expected one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::message::{Content, ResultStatus, ToolResult, User};
use mica_ai::model::{Effort, ReasoningFacts, ReasoningStyle};
use mica_ai::remote::Remote;
use mica_ai::request::{CacheMark, CachePoint, CacheTtl, ToolDef};
use mica_ai::retry::{RetryPolicy, Retrying};
use mica_ai::watchdog::{ModelClock, Watched};
use mica_ai::{Assistant, Dialect, Model, Provider, Request, StopReason, StreamEvent};
use mica_testkit::{Call, Fault, Scenario, ScriptedTransport, Step, Turn, WireOptions, cache};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// mica's client for a dialect, over a scripted transport.
fn client(dialect: Dialect, transport: &ScriptedTransport) -> impl Provider + use<> {
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    let transport = Arc::new(transport.clone());
    let remote = Remote::new(Arc::new(endpoint), dialect, Arc::new(NoCredential), transport);
    Watched::new(remote, ModelClock::new(Duration::from_secs(90), None))
}

fn model(dialect: Dialect) -> Arc<Model> {
    Arc::new(Model {
        id: "m".into(),
        name: "M".into(),
        deployment: "m".into(),
        dialect,
        context: 200_000,
        max_input: None,
        max_output: 4000,
        tools: true,
        images: false,
        structured_output: false,
        reasoning: ReasoningFacts {
            style: match dialect {
                Dialect::Messages => ReasoningStyle::Adaptive,
                Dialect::Responses | Dialect::Chat => ReasoningStyle::Effort,
            },
            levels: vec![Effort::Low, Effort::High],
            min_budget: None,
        },
        rejects: vec![],
        cache: cache::usual(dialect),
        prices: None,
    })
}

fn request(dialect: Dialect) -> Request {
    let mut request = Request::new(model(dialect));
    request.system = vec!["You answer questions about integrations. ".repeat(200)];
    request.tools = vec![ToolDef {
        name: "read".into(),
        description: "Reads a file.".into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        strictness: Default::default(),
    }];
    request.effort = Some(Effort::Low);
    request.messages.push(User::text("What does HelloProxy do?").into());
    request
}

const THINKING: &str = "Look first. Größe?";
const TEXT: &str = "Ich lese die Datei 🦀 zuerst.";

fn turn() -> Turn {
    Turn::new().thinking(THINKING).text(TEXT).step(Step::Interleaved(vec![
        Call::new("read", json!({ "path": "a.xml" })).with_id("call_a"),
        Call::new("read", json!({ "path": "b.xml" })).with_id("call_b"),
    ]))
}

/// The outcome of an answer, and that it is the only one: the error's kind, or none.
async fn outcome(provider: &impl Provider, request: Request) -> (Assistant, Option<&'static str>) {
    let events: Vec<StreamEvent> =
        provider.stream(Arc::new(request), CancellationToken::new()).collect().await;
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
    match events.into_iter().last() {
        Some(StreamEvent::Done { message }) => (*message, None),
        Some(StreamEvent::Error { partial, error }) => (*partial, Some(error.kind())),
        other => panic!("{other:?} is last"),
    }
}

fn check_whole(message: &Assistant, dialect: Dialect) {
    assert_eq!(message.text(), TEXT, "{dialect}");
    let calls: Vec<(&str, &str)> =
        message.calls().map(|call| (call.id.as_str(), call.arguments.text())).collect();
    assert_eq!(calls, [("call_a", "{\"path\":\"a.xml\"}"), ("call_b", "{\"path\":\"b.xml\"}")], "{dialect}");
    assert_eq!(message.stop, StopReason::ToolUse, "{dialect}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_on_every_wire_has_the_expected_outcome() {
    let mut surprises = Vec::new();
    for named in Fault::all() {
        for dialect in Dialect::ALL {
            let transport = ScriptedTransport::new(Scenario::from(turn().fault(named.fault.clone())));
            let (message, error) = outcome(&client(dialect, &transport), request(dialect)).await;
            let expect = named.fault.expect(dialect);
            if !expect.allows(error) {
                surprises.push(format!("{dialect} {}: {error:?}, not {expect:?}", named.name));
            } else if error.is_none() {
                check_whole(&message, dialect);
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn an_event_beyond_the_clients_limit_is_refused() {
    let fault = Fault::HugeEvent { mib: 33 };
    let transport = ScriptedTransport::new(Scenario::from(turn().fault(fault.clone())));
    let (_, error) = outcome(&client(Dialect::Chat, &transport), request(Dialect::Chat)).await;
    assert!(fault.expect(Dialect::Chat).allows(error), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_with_tools_passes_the_providers_checks_and_reads_the_cache() {
    for dialect in Dialect::ALL {
        for late_encrypted in [false, true] {
            let wire = WireOptions { late_encrypted, ..WireOptions::default() };
            let scenario = Scenario::new().turn(turn()).turn(Turn::new().text("Done.")).wire(wire);
            let transport = ScriptedTransport::new(scenario);
            let provider = client(dialect, &transport);
            let mut request = request(dialect);
            let tail = |request: &Request| CacheMark {
                at: CachePoint::Message(request.messages.last().unwrap().id().clone()),
                ttl: CacheTtl::Short,
            };
            request.cache.marks = vec![tail(&request)];
            let (message, error) = outcome(&provider, request.clone()).await;
            assert_eq!(error, None, "{dialect}");
            check_whole(&message, dialect);
            let calls: Vec<_> = message.calls().cloned().collect();
            request.messages.push(message.into());
            for call in calls {
                let result = ToolResult {
                    id: mica_ai::id::MessageId::fresh(),
                    call: call.id,
                    tool: call.name,
                    content: vec![Content::text("<proxy/>")],
                    status: ResultStatus::Ok,
                };
                request.messages.push(result.into());
            }
            request.cache.marks = vec![tail(&request)];
            let (message, error) = outcome(&provider, request).await;
            let last = transport.script().last().unwrap();
            assert_eq!(error, None, "{dialect}: {}", last.json);
            assert_eq!(message.text(), "Done.");
            let report = transport.script().cache_reports().pop().unwrap();
            assert!(message.usage.cache_read > 1024, "{dialect}: {report:?}");
            assert_eq!(message.usage.input, report.input(), "{dialect}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turned_away_request_is_sent_again_after_the_wait_that_was_asked_for() {
    for dialect in Dialect::ALL {
        let busy = Turn::error("azure_429_retry_after_ms".into());
        let transport = ScriptedTransport::new(Scenario::new().turn(busy.repeat(2)).turn(turn()));
        let provider = Retrying::new(Arc::new(client(dialect, &transport)), RetryPolicy::default());
        let began = tokio::time::Instant::now();
        let (message, error) = outcome(&provider, request(dialect)).await;
        assert_eq!(error, None, "{dialect}");
        check_whole(&message, dialect);
        let requests = transport.script().captured();
        assert_eq!(requests.len(), 3);
        assert!(requests.iter().all(|again| again.body == requests[0].body), "a retry sends the same bytes");
        assert!(began.elapsed() >= Duration::from_millis(2500), "{dialect}: {:?}", began.elapsed());
    }
}

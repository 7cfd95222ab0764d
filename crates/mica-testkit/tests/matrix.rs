//! mica's own client against every fault on every wire: exactly one outcome, and the expected one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use mica_ai::request::{CacheMark, CachePoint, CacheTtl};
use mica_ai::retry::{RetryPolicy, Retrying};
use mica_ai::{Assistant, Dialect, Request, StopReason};
use mica_testkit::{Call, Fault, Scenario, ScriptedTransport, Step, Turn, WireOptions};
use serde_json::json;
use support::{client, continued, outcome, request};

const THINKING: &str = "Look first. Größe?";
const TEXT: &str = "Ich lese die Datei 🦀 zuerst.";

fn turn() -> Turn {
    Turn::new().thinking(THINKING).text(TEXT).step(Step::Interleaved(vec![
        Call::new("read", json!({ "path": "a.xml" })).with_id("call_a"),
        Call::new("read", json!({ "path": "b.xml" })).with_id("call_b"),
    ]))
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

/// `outcome` holds it to one terminal event, and that it is the last.
#[tokio::test(start_paused = true)]
async fn promise_1_the_stream_always_ends_once() {
    let mut surprises = Vec::new();
    for named in Fault::all() {
        for dialect in Dialect::ALL {
            let ask = async |scenario: Scenario| {
                let transport = ScriptedTransport::new(scenario);
                let provider = Retrying::new(Arc::new(client(dialect, &transport)), RetryPolicy::default());
                let asked = outcome(&provider, request(dialect)).await;
                (asked, transport.script().requests())
            };
            let faulty = turn().fault(named.fault.clone());
            // A fault that stays: what is told in the end is the fault, or that its wait is too long.
            let expect = named.fault.expect(dialect);
            let ((message, error), requests) = ask(Scenario::new().otherwise(faulty.clone())).await;
            if !expect.allows(error) && error != Some("wait_too_long") {
                surprises.push(format!("{dialect} {} that stays: {error:?}, not {expect:?}", named.name));
            }
            if error.is_none() {
                check_whole(&message, dialect);
            }
            // A fault that goes away: one whole answer when it was asked again, else the same error, once.
            let ((message, error), again) = ask(Scenario::new().turn(faulty).otherwise(turn())).await;
            match error {
                None => check_whole(&message, dialect),
                Some(_) if again == 1 && requests == 1 && expect.allows(error) => {}
                Some("wait_too_long") if again == 1 && requests == 1 => {}
                Some(_) => surprises.push(format!(
                    "{dialect} {} that goes away: {error:?} after {again} requests ({requests} when it stays)",
                    named.name
                )),
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
            request = continued(request, message);
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

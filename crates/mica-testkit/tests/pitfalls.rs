//! What breaks agents on Azure, each with the way it shows there: whole calls, over a wire that checks as strictly
//! as the providers do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue};
use mica_ai::auth::Credential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::retry::{RetryPolicy, Retrying};
use mica_ai::{AiError, Dialect, Message, Provider, StopReason, StreamEvent};
use mica_testkit::{At, Fault, Scenario, ScriptedTransport, StreamError, Turn, WireOptions};
use serde_json::{Value, json};
use support::{client, continued, outcome, request, signed_client};
use tokio_util::sync::CancellationToken;

fn tool_turn() -> Turn {
    Turn::new().thinking("Look first.").call("read", json!({ "path": "a.xml" }))
}

fn input(transport: &ScriptedTransport) -> Vec<Value> {
    transport.script().last().unwrap().json["input"].as_array().unwrap().clone()
}

/// "Item with id 'rs_…' not found": ids of items are looked up on the server, where nothing is stored.
#[tokio::test(start_paused = true)]
async fn reasoning_is_replayed_encrypted_and_without_ids() {
    // Azure leaves the encrypted content out of the item and sends it with the final response only.
    for late_encrypted in [false, true] {
        let wire = WireOptions { late_encrypted, ..WireOptions::default() };
        let scenario = Scenario::new().turn(tool_turn()).turn(Turn::new().text("Done.")).wire(wire);
        let transport = ScriptedTransport::new(scenario);
        let provider = client(Dialect::Responses, &transport);
        let first = request(Dialect::Responses);
        let (answer, error) = outcome(&provider, first.clone()).await;
        assert_eq!(error, None);
        assert_eq!(transport.script().last().unwrap().json["store"], json!(false));
        // The scripted server refuses replayed ids and reasoning without encrypted content, as Azure does.
        let (answer, error) = outcome(&provider, continued(first, answer)).await;
        assert_eq!((answer.text().as_str(), error), ("Done.", None));
        let reasoning = input(&transport).into_iter().find(|item| item["type"] == "reasoning").unwrap();
        assert!(reasoning["encrypted_content"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(input(&transport).iter().all(|item| item.get("id").is_none()));
    }
}

/// A server that does not accept the reasoning gets the conversation without it, once.
#[tokio::test(start_paused = true)]
async fn stale_reasoning_is_left_out_and_the_turn_goes_on() {
    for refusal in ["stale_rs_item_400", "encrypted_not_verified_400"] {
        let scenario = Scenario::new()
            .turn(tool_turn())
            .turn(Turn::error(refusal.into()))
            .turn(Turn::new().text("Done."));
        let transport = ScriptedTransport::new(scenario);
        let provider = client(Dialect::Responses, &transport);
        let first = request(Dialect::Responses);
        let (answer, _) = outcome(&provider, first.clone()).await;
        let events: Vec<StreamEvent> =
            provider.stream(Arc::new(continued(first, answer)), CancellationToken::new()).collect().await;
        let retries: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::Retry(retry) => Some(retry.error.kind()),
                _ => None,
            })
            .collect();
        assert_eq!(retries, ["stale_reasoning"], "{refusal}: the repair is told");
        assert!(matches!(events.last(), Some(StreamEvent::Done { message }) if message.text() == "Done."));
        assert!(input(&transport).iter().all(|item| item["type"] != "reasoning"));
        assert_eq!(transport.script().requests(), 3);
    }
}

/// Encrypted content is bound to the resource and the model: it does not follow a switch of either.
#[tokio::test(start_paused = true)]
async fn reasoning_stays_behind_when_the_deployment_changes() {
    let scenario = Scenario::new().turn(tool_turn()).turn(Turn::new().text("Done."));
    let transport = ScriptedTransport::new(scenario);
    let provider = client(Dialect::Responses, &transport);
    let first = request(Dialect::Responses);
    let (answer, _) = outcome(&provider, first.clone()).await;
    let mut second = continued(first, answer);
    let mut other = (*second.model).clone();
    other.deployment = "another".into();
    second.model = Arc::new(other);
    let (_, error) = outcome(&provider, second).await;
    assert_eq!(error, None);
    let sent = input(&transport);
    assert!(sent.iter().all(|item| item["type"] != "reasoning"), "{sent:?}");
    let words = json!("Look first.\n\n");
    assert!(sent.iter().any(|item| item["content"][0]["text"] == words), "what was thought is kept as words");
}

/// 429 inside a stream that began with 200: no header tells, and no status.
#[tokio::test(start_paused = true)]
async fn a_rate_limit_inside_the_stream_is_retried_before_the_first_words_only() {
    for error in [StreamError::RateLimited, StreamError::FailedRateLimited, StreamError::Overloaded] {
        for dialect in Dialect::ALL {
            let early = Turn::new().text("lost").fault(Fault::InStream { error, at: At::BeforeOutput });
            let late = Turn::new()
                .text("Said before it broke off, and long enough to be in pieces.")
                .fault(Fault::InStream { error, at: At::Middle });
            let transport = ScriptedTransport::new(Scenario::new().turn(early).turn(late));
            let provider = Retrying::new(Arc::new(client(dialect, &transport)), RetryPolicy::default());
            let events: Vec<StreamEvent> =
                provider.stream(Arc::new(request(dialect)), CancellationToken::new()).collect().await;
            let retries = events.iter().filter(|event| matches!(event, StreamEvent::Retry(_))).count();
            let starts = events.iter().filter(|event| matches!(event, StreamEvent::Start { .. })).count();
            assert_eq!((retries, starts), (1, 1), "{dialect} {error:?}");
            let Some(StreamEvent::Error { partial, error: failure }) = events.last() else {
                panic!("{dialect} {error:?}: {:?}", events.last())
            };
            assert!(!partial.text().is_empty() && partial.stop == StopReason::Error, "what was said is kept");
            assert!(matches!(failure, AiError::RateLimited { .. } | AiError::Overloaded { .. }));
            assert_eq!(transport.script().requests(), 2, "after the first words nothing is asked again");
        }
    }
}

/// Without the routing key, hits are a matter of luck.
#[tokio::test(start_paused = true)]
async fn the_cache_key_is_on_every_request_and_routes_it() {
    let transport = ScriptedTransport::new(
        Scenario::new().turn(tool_turn()).turn(Turn::new().text("Done.")).turn(Turn::new().text("Other.")),
    );
    let provider = client(Dialect::Responses, &transport);
    let mut first = request(Dialect::Responses);
    first.cache.key = Some("org:agent:session".into());
    let (answer, _) = outcome(&provider, first.clone()).await;
    let mut second = continued(first, answer);
    let (again, _) = outcome(&provider, second.clone()).await;
    for captured in transport.script().captured() {
        assert_eq!(captured.json["prompt_cache_key"], json!("org:agent:session"));
    }
    second.cache.key = Some("another".into());
    let (elsewhere, _) = outcome(&provider, second).await;
    assert!(again.usage.cache_read > 1024, "{:?}", again.usage);
    assert_eq!(elsewhere.usage.cache_read, 0, "another key is another cache");
}

/// Prompt shields take instructions to an agent for a jailbreak: the person is told which filter struck.
#[tokio::test(start_paused = true)]
async fn a_content_filter_says_what_it_found_and_is_not_retried() {
    let transport =
        ScriptedTransport::new(Scenario::from(Turn::error("content_filter_400".into()).repeat(5)));
    let provider = Retrying::new(Arc::new(client(Dialect::Responses, &transport)), RetryPolicy::default());
    let stream = provider.stream(Arc::new(request(Dialect::Responses)), CancellationToken::new());
    let error = stream.outcome().await.into_result().unwrap_err();
    let AiError::ContentFiltered { categories, .. } = &error else { panic!("{error}") };
    assert!(categories.iter().any(|hit| hit.category == "jailbreak"), "{categories:?}");
    assert!(error.for_user().contains("jailbreak"), "{}", error.for_user());
    assert_eq!(transport.script().requests(), 1);
}

/// A wait of a day has been seen. It is not waited for, and not hidden either.
#[tokio::test(start_paused = true)]
async fn a_wait_of_a_day_fails_at_once() {
    let transport = ScriptedTransport::new(Scenario::from(Turn::error("azure_429_day".into())));
    let provider = Retrying::new(Arc::new(client(Dialect::Responses, &transport)), RetryPolicy::default());
    let began = tokio::time::Instant::now();
    let (_, error) = outcome(&provider, request(Dialect::Responses)).await;
    assert_eq!((error, began.elapsed().as_secs()), (Some("wait_too_long"), 0));
}

/// A credential whose first token has expired.
struct Expiring {
    fetched: AtomicUsize,
}

#[async_trait]
impl Credential for Expiring {
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError> {
        let number = self.fetched.load(Ordering::SeqCst);
        headers.insert("api-key", HeaderValue::from_str(&format!("key-{number}")).unwrap());
        Ok(())
    }

    fn describe(&self) -> String {
        "a test token".to_owned()
    }

    fn hint(&self) -> String {
        "Fetch another.".to_owned()
    }

    async fn rejected(&self) {
        self.fetched.fetch_add(1, Ordering::SeqCst);
    }
}

/// A token that expired during a long tool phase is fetched anew, once; one that stays refused is told with its name.
#[tokio::test(start_paused = true)]
async fn an_expired_token_is_fetched_anew_once() {
    for (accepted, expected) in [("key-1", None), ("key-9", Some("auth"))] {
        let transport =
            ScriptedTransport::new(Scenario::from(Turn::new().text("Hi.").repeat(9)).key(accepted));
        let mut settings = EndpointSettings::new(HostKind::Foundry);
        settings.resource = Some("scripted".into());
        settings.auth = Some(AuthSettings::None {});
        let (endpoint, _) = settings.resolve(&|_| None).unwrap();
        let credential = Arc::new(Expiring { fetched: AtomicUsize::new(0) });
        let provider = signed_client(endpoint, Dialect::Responses, &transport, credential.clone());
        let (_, error) = outcome(&provider, request(Dialect::Responses)).await;
        assert_eq!((error, credential.fetched.load(Ordering::SeqCst)), (expected, 1), "{accepted}");
    }
}

/// Cancelling ends the stream soon, wherever it is, with what had arrived.
#[tokio::test(start_paused = true)]
async fn an_answer_can_be_cancelled_anywhere() {
    let faults = [
        Fault::SlowHead { ms: 60_000 },
        Fault::Stall { at: At::BeforeOutput },
        Fault::Stall { at: At::Middle },
        Fault::KeepAliveOnly { every_ms: 100 },
        Fault::SlowDrip { tick_ms: 1 },
    ];
    for fault in faults {
        for dialect in Dialect::ALL {
            let words = "Words that take their time to arrive. ".repeat(100);
            let turn = Turn::new().text(words).fault(fault.clone());
            let transport = ScriptedTransport::new(Scenario::from(turn));
            let provider = Retrying::new(Arc::new(client(dialect, &transport)), RetryPolicy::default());
            let cancel = CancellationToken::new();
            let stream = provider.stream(Arc::new(request(dialect)), cancel.clone());
            let began = tokio::time::Instant::now();
            let (ended, ()) = tokio::join!(stream.outcome(), async {
                tokio::time::sleep(Duration::from_secs(20)).await;
                cancel.cancel();
            });
            assert_eq!(ended.message().stop, StopReason::Aborted, "{dialect} {fault:?}");
            assert_eq!(began.elapsed().as_secs(), 20, "{dialect} {fault:?}");
            if matches!(fault, Fault::Stall { at: At::Middle } | Fault::SlowDrip { .. }) {
                assert!(!ended.message().text().is_empty(), "{dialect} {fault:?}: what had arrived is kept");
            }
        }
    }
}

/// Every message a run can leave behind is taken by every wire, whoever made it.
#[tokio::test(start_paused = true)]
async fn a_conversation_moves_between_all_wires() {
    for from in Dialect::ALL {
        for to in Dialect::ALL {
            let there = ScriptedTransport::new(Scenario::from(
                Turn::new().thinking("Hm.").text("Looking.").call("read", json!({})).call("read", json!({})),
            ));
            let first = request(from);
            let (answer, error) = outcome(&client(from, &there), first.clone()).await;
            assert_eq!(error, None, "{from}");
            let mut cut = answer.clone();
            cut.id = "cut".into();
            cut.stop = StopReason::Aborted;
            let mut messages = continued(first, answer).messages;
            // The last result was never written, an answer was cut, and the user went on.
            messages.pop();
            messages.push(Message::Assistant(cut));
            messages.push(mica_ai::User::text("Go on.\0").into());
            let here = ScriptedTransport::new(Scenario::from(Turn::new().text("Done.")));
            let mut next = request(to);
            next.messages = messages;
            let (answer, error) = outcome(&client(to, &here), next).await;
            let sent = here.script().last().unwrap().json;
            assert_eq!((answer.text().as_str(), error), ("Done.", None), "{from} to {to}: {sent}");
        }
    }
}

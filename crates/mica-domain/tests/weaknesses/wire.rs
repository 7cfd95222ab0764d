//! What goes to a provider: in the order in which it happened, growing at its end, and never with a call that hangs.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::SignedDuration;
use mica_agent::{Event, EventKind, Listener, Outcome};
use mica_ai::{Dialect, StreamEvent};
use mica_domain::approvals::{CardState, Choice, Person};
use mica_domain::lifecycle::Ending;
use mica_domain::{Copilot, CopilotError, Lifecycle, Rights, Setup, State};
use mica_testkit::{Scenario, ScriptedTransport, Turn, prefix};
use serde_json::{Value, json};

use crate::support::{Desk, noon, remote, says, says_on};

/// The answers of a model in a request, each with what it consists of.
fn answers(dialect: Dialect, body: &Value) -> Vec<String> {
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let kind = |part: &Value| match part["type"].as_str().unwrap_or_default() {
        "function_call" | "tool_use" | "function" => "call",
        "message" | "text" | "output_text" => "text",
        "function_call_output" => "result",
        other => panic!("{other}: {part}"),
    };
    match dialect {
        // A flat list: what belongs together is parted by results.
        Dialect::Responses => {
            let items = all(&body["input"]);
            let own = items.iter().filter(|item| item["role"] != "user" && item["role"] != "system");
            let kinds: Vec<&str> = own.filter(|item| item["role"] != "developer").map(kind).collect();
            let joined = kinds.join(" ");
            joined.split("result").map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
        }
        Dialect::Messages => all(&body["messages"])
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| all(&message["content"]).iter().map(kind).collect::<Vec<_>>().join(" "))
            .collect(),
        Dialect::Chat => all(&body["messages"])
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| {
                let text = message["content"].as_str().is_some_and(|text| !text.is_empty());
                let text = std::iter::repeat_n("text", usize::from(text));
                text.chain(all(&message["tool_calls"]).iter().map(|_| "call")).collect::<Vec<_>>().join(" ")
            })
            .collect(),
    }
}

/// A turn of several steps stays several steps: what was sent before a call is the beginning, byte for byte, of what is sent
/// after it, so that a cache helps inside a turn, too.
#[tokio::test(start_paused = true)]
async fn the_steps_of_a_turn_are_never_folded_into_one() {
    for dialect in Dialect::ALL {
        let scenario = Scenario::new()
            .turn(Turn::new().text("First I look.").call("look", json!({})))
            .turn(Turn::new().call("look", json!({})))
            .turn(Turn::new().text("Once more.").call("look", json!({})))
            .turn(Turn::new().text("Done."))
            .turn(Turn::new().text("Yes."));
        let transport = ScriptedTransport::new(scenario);
        let desk = Desk::default();
        let copilot = Copilot::open(remote(dialect, &transport).in_session(desk.session())).await.unwrap();
        copilot.say(says("Look three times.")).await.unwrap();
        copilot.say(says("Sure?")).await.unwrap();
        let captured = transport.script().captured();
        let bodies: Vec<_> = captured.iter().map(|captured| captured.body.clone()).collect();
        assert_eq!(bodies.len(), 5);
        prefix::grows_at_the_end(dialect, &bodies).unwrap();
        assert_eq!(
            answers(dialect, &captured[4].json),
            ["text call", "call", "text call", "text"],
            "{dialect}: {}",
            captured[4].json
        );
    }
}

/// A lock that can be taken by somebody else.
#[derive(Default)]
struct Lock(Mutex<bool>);

#[async_trait]
impl Lifecycle for Lock {
    fn name(&self) -> &str {
        "lock"
    }
    async fn begin(&self, _: &State) -> Result<Value, String> {
        if *self.0.lock().unwrap() { Err("Bo is editing it.".to_owned()) } else { Ok(Value::Null) }
    }
    async fn end(&self, _: &Value, _: Ending) -> Result<(), String> {
        Ok(())
    }
    async fn release(&self, _: &Value) {}
    async fn undo(&self, _: &Value) -> Result<String, String> {
        Ok(String::new())
    }
}

/// Whatever becomes of a question, the next request is one that a strict provider takes, and the run it belonged to ended
/// once: also when what was said instead could not begin, and when the process ended after that.
#[tokio::test(start_paused = true)]
async fn a_question_never_leaves_a_call_without_a_result() {
    for dialect in Dialect::ALL {
        for way in
            ["rejected", "expired", "abandoned", "abandoned after a restart", "refused", "refused, restart"]
        {
            let mut desk = Desk::default();
            let lock = Arc::new(Lock::default());
            desk.office.lifecycle = Some(Arc::clone(&lock) as _);
            let letter = json!({ "to": "Ann", "text": "Hello." });
            let scenario = Scenario::new()
                .turn(Turn::new().call("look", json!({})).call("letter_send", letter))
                .otherwise(Turn::new().text("All right."));
            let transport = ScriptedTransport::new(scenario);
            let time = Arc::new(Mutex::new(noon()));
            let open = |desk: &Desk| {
                let clock = Arc::clone(&time);
                let clock = Arc::new(move || *clock.lock().unwrap());
                let domain = Arc::new(desk.office.clone());
                let setup = Setup { domain, clock, ..remote(dialect, &transport) };
                Copilot::open(setup.in_session(desk.session()))
            };
            let mut copilot = open(&desk).await.unwrap();
            copilot.say(says_on("ticket", "Write to Ann.")).await.unwrap();
            desk.path = copilot.path();
            let asks = copilot.waiting();
            assert_eq!(asks.len(), 1);
            let outcome = match way {
                "rejected" => {
                    let no = Choice::Reject { reason: "She has left.".to_owned() };
                    let person = Person::new("Eve", Rights::All);
                    let answered = copilot.decide([(asks[0].call.id.clone(), no)], &person).await.unwrap();
                    answered.turned.unwrap().outcome
                }
                "expired" => {
                    *time.lock().unwrap() += SignedDuration::from_hours(30 * 24);
                    copilot.expire().await.unwrap().turned.unwrap().outcome
                }
                "abandoned" => copilot.say(says("Never mind.")).await.unwrap().outcome,
                "abandoned after a restart" => {
                    drop(copilot);
                    copilot = open(&desk).await.unwrap();
                    copilot.say(says("Never mind.")).await.unwrap().outcome
                }
                way => {
                    *lock.0.lock().unwrap() = true;
                    let refused = copilot.say(says_on("ticket", "Note it instead.")).await;
                    assert!(matches!(refused, Err(CopilotError::NotBegun { .. })), "{refused:?}");
                    assert_eq!(
                        copilot.waiting(),
                        asks,
                        "what was to be said did not begin: it is still asked"
                    );
                    let cards = copilot.approvals().cards().unwrap();
                    assert_eq!(cards[0].state, CardState::Pending);
                    if way == "refused, restart" {
                        drop(copilot);
                        copilot = open(&desk).await.unwrap();
                        assert_eq!(copilot.waiting(), asks, "also then");
                    }
                    copilot.say(says("Never mind.")).await.unwrap().outcome
                }
            };
            assert!(matches!(outcome, Outcome::Completed), "{dialect} {way}: {outcome:?}");
            let log = desk.office.log();
            assert!(!log.iter().any(|line| line.starts_with("sent")), "{dialect} {way}: {log:?}");
            let ended: Vec<&str> =
                log.iter().map(String::as_str).filter(|line| line.starts_with("ended")).collect();
            let expected: &[&str] = match way {
                "rejected" | "expired" => &["ended completed"],
                _ => &["ended aborted", "ended completed"],
            };
            assert_eq!(ended, expected, "{dialect} {way}: each run ends once");
            let last = String::from_utf8(transport.script().last().unwrap().body.to_vec()).unwrap();
            let said = match way {
                "rejected" => "The person declined: She has left.",
                "expired" => "nobody answered until",
                _ => "Not run: the person was asked whether it may run, and said something else instead.",
            };
            assert!(last.contains(said), "{dialect} {way}: {last}");
        }
    }
}

/// Collects what is streamed, as one text with marks for calls.
#[derive(Default)]
struct Streamed(Mutex<String>);

#[async_trait]
impl Listener for Streamed {
    async fn event(&self, event: Event) {
        let mut told = self.0.lock().unwrap();
        match event.kind {
            EventKind::Answer { delta: StreamEvent::TextDelta { text, .. }, .. } => told.push_str(&text),
            EventKind::CallStart { tool, .. } => told.push_str(&format!("<{tool}>")),
            _ => {}
        }
    }
}

/// Words and calls are kept in the order in which they were streamed, also where an answer has cards: what people saw is not
/// put together anew at the end.
#[tokio::test(start_paused = true)]
async fn what_was_shown_while_it_came_is_never_rearranged_afterwards() {
    let mut desk = Desk::default();
    let fence = "```mica:anything\n{ \"ids\": [] }\n```";
    let scenario = Scenario::new()
        .turn(Turn::new().text("Before.").call("look", json!({})))
        .turn(Turn::new().text(format!("Between.\n{fence}")).call("look", json!({})))
        .turn(Turn::new().text("After."));
    let (copilot, _) = desk.open(scenario).await;
    let streamed = Arc::new(Streamed::default());
    copilot.agent().listen(Arc::clone(&streamed) as _);
    copilot.say(says("Look.")).await.unwrap();
    assert_eq!(*streamed.0.lock().unwrap(), format!("Before.<look>Between.\n{fence}<look>After."));
    drop(copilot);
    let (copilot, _) = desk.open(Scenario::new()).await;
    let kept = copilot.keeper().unwrap().session().branch().unwrap();
    let said: Vec<String> = kept.messages().map(crate::support::line).collect();
    assert_eq!(
        said[1..],
        [
            "model: Before. look{}".to_owned(),
            "look: seen".to_owned(),
            format!("model: Between.\n{fence} look{{}}"),
            "look: seen".to_owned(),
            "model: After.".to_owned(),
        ]
    );
}

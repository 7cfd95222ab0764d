//! Whatever people say to a question, what goes to a provider next is valid on every wire, and each call has one result.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use mica_agent::{Outcome, Tally};
use mica_ai::Dialect;
use mica_domain::approvals::{Choice, Person};
use mica_domain::{Copilot, CopilotError, Rights, Setup};
use mica_testkit::{Scenario, ScriptedTransport, Turn};
use serde_json::{Value, json};
use support::{Desk, noon, remote, says};

/// Two letters and a look in one answer; then whatever comes is answered.
fn letters() -> Scenario {
    let letter = |to: &str| json!({ "to": to, "text": "Hello." });
    let calls = Turn::new()
        .text("I write to both.")
        .call("letter_send", letter("Ann"))
        .call("look", json!({}))
        .call("letter_send", letter("Bob"));
    Scenario::new().turn(calls).turn(Turn::new().text("All right."))
}

/// What the results of the calls say, in the last request, as text.
fn results(dialect: Dialect, body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        other => all(other).iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("|"),
    };
    let results: Vec<String> = match dialect {
        Dialect::Responses => all(&body["input"])
            .iter()
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| text(&item["output"]))
            .collect(),
        Dialect::Chat => all(&body["messages"])
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| text(&message["content"]))
            .collect(),
        Dialect::Messages => all(&body["messages"])
            .iter()
            .flat_map(|message| all(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| text(&block["content"]))
            .collect(),
    };
    // Wires without a mark for failures say it in words.
    results.iter().map(|text| text.trim_start_matches("The tool call failed:\n").to_owned()).collect()
}

/// What people do about the questions of a run.
#[derive(Debug, Clone, Copy)]
enum Does {
    Reject,
    Abandon,
    Nothing,
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_in_a_valid_conversation() {
    let moved_on = "Not run: the person was asked whether it may run, and said something else instead.";
    for dialect in Dialect::ALL {
        for (does, expected) in [
            (Does::Reject, ["sent to Ann", "seen", "The person declined: He has left."].map(str::to_owned)),
            (Does::Abandon, [moved_on; 3].map(str::to_owned)),
            (Does::Nothing, [EXPIRED, "seen", EXPIRED].map(str::to_owned)),
        ] {
            let desk = Desk::default();
            let transport = ScriptedTransport::new(letters());
            let time = Arc::new(Mutex::new(noon()));
            let clock = Arc::clone(&time);
            let clock = Arc::new(move || -> Timestamp { *clock.lock().unwrap() });
            let office = Arc::new(desk.office.clone());
            let setup = Setup { domain: office, clock, ..remote(dialect, &transport) };
            let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
            copilot.say(says("Write to Ann and Bob.")).await.unwrap();
            let asks = copilot.waiting();
            assert_eq!(asks.len(), 2);
            let person = Person::new("Eve", Rights::All);
            let outcome = match does {
                Does::Reject => {
                    let yes = Choice::Approve { edits: Default::default() };
                    let first = copilot.decide([(asks[0].call.id.clone(), yes)], &person).await.unwrap();
                    assert!(first.turned.is_none(), "one question is open");
                    let no = Choice::Reject { reason: "He has left.".to_owned() };
                    let second = copilot.decide([(asks[1].call.id.clone(), no)], &person).await.unwrap();
                    second.turned.unwrap().outcome
                }
                Does::Abandon => copilot.say(says("Never mind.")).await.unwrap().outcome,
                Does::Nothing => {
                    assert!(copilot.expire().await.unwrap().turned.is_none(), "there is time");
                    *time.lock().unwrap() += SignedDuration::from_hours(8 * 24);
                    copilot.expire().await.unwrap().turned.unwrap().outcome
                }
            };
            // The scripted provider is as strict as true ones: a call without a result would be refused.
            assert!(matches!(outcome, Outcome::Completed), "{dialect} {does:?}: {outcome:?}");
            let last = transport.script().last().unwrap();
            assert_eq!(results(dialect, &last.body), expected, "{dialect} {does:?}");
            let sent = desk.office.log().iter().filter(|line| line.starts_with("sent")).count();
            assert_eq!(sent, usize::from(matches!(does, Does::Reject)));
            let nothing: [(mica_ai::id::CallId, Choice); 0] = [];
            assert!(matches!(copilot.decide(nothing, &person).await, Err(CopilotError::NothingWaits)));
            assert_eq!(
                copilot.shown().await.unwrap().last().unwrap().text.split(" [").next(),
                Some("All right.")
            );
            let Tally { turns, .. } = copilot.agent().with(|cx| cx.tally.clone()).await.unwrap();
            assert_eq!(turns, if matches!(does, Does::Abandon) { 1 } else { 2 });
        }
    }
}

const EXPIRED: &str = "Refused without asking a person: nobody answered until 2027-01-22T08:00:00Z, and the question is closed. \
                       Nothing was done. Things may have changed since: look again before you ask again.";

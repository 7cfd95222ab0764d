//! Ends of a run: judged before each call, and counted through pauses and restarts.

use mica_agent::{Decision, Decisions, Outcome};
use mica_ai::Usage;
use mica_domain::{Copilot, Setup};
use mica_policy::budget::Limits;
use mica_testkit::{Scenario, ScriptedModel, Turn, TurnUsage};
use serde_json::json;

use crate::support::{Desk, says};

fn letter(to: &str) -> Turn {
    Turn::new().call("letter_send", json!({ "to": to, "text": "Hello." }))
}

fn costs(turn: Turn, tokens: u64) -> Turn {
    turn.usage(TurnUsage::Exact(Usage { input: tokens, ..Usage::default() }))
}

/// A limit stops a run before the call that would go beyond it, not after; and a pause, an answer and another process do not
/// begin to count anew. What is left is one answer without tools that says how far it came.
#[tokio::test(start_paused = true)]
async fn a_limit_never_bites_late_nor_forgets_what_was_spent() {
    for (limits, reached) in [
        (Limits { turns: Some(3), ..Limits::NONE }, "turns"),
        (Limits { tokens: Some(2_500), ..Limits::NONE }, "tokens"),
    ] {
        let mut desk = Desk::default();
        // Each process plays one step of the same run: a thousand tokens and one question each.
        let mut waiting = Vec::new();
        for step in 0..4 {
            let closing = costs(Turn::new().text("This is how far I came."), 1_000);
            let turn = if step < 3 { costs(letter(&format!("A{step}")), 1_000) } else { closing };
            let model = ScriptedModel::new(Scenario::new().turn(turn));
            let setup = Setup { limits: limits.clone(), ..desk.setup(&model) };
            let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
            desk.path = copilot.path();
            let turned = match step {
                0 => copilot.say(says("Write to everybody.")).await.unwrap(),
                _ => copilot.answer(Decisions::to(&waiting, [Decision::Allow])).await.unwrap(),
            };
            let request = model.requests()[0].clone();
            let Outcome::Exhausted { limit } = turned.outcome else {
                assert!(step < 3, "{reached}: {:?}", turned.outcome);
                waiting = copilot.waiting();
                continue;
            };
            assert_eq!((step, limit.name.as_str()), (3, reached), "{limit:?}");
            assert_eq!(turned.text.split(" [").next(), Some("This is how far I came."));
            assert_eq!(model.requests().len(), 1, "there is one closing answer");
            assert_eq!(
                request.tool_choice,
                mica_ai::request::ToolChoice::None,
                "and it cannot call anything"
            );
        }
        let sent = desk.office.log().iter().filter(|line| line.starts_with("sent")).count();
        assert_eq!(sent, 3, "{reached}: what was done before stays done");
        assert_eq!(desk.office.log().last().unwrap(), "ended exhausted");
    }
}

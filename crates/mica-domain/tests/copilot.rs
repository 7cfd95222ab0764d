//! A copilot through what a product sees of it: say, be asked, answer, stop the process in between, go on.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use mica_agent::{Decision, Decisions, Outcome};
use mica_domain::runners::{Conversation, Heard, Past, SayError};
use mica_domain::{CopilotError, Origin, Said};
use mica_testkit::{Scenario, Turn};
use serde_json::json;
use support::{Desk, lines, says, says_on};

fn letter(to: &str) -> serde_json::Value {
    json!({ "to": to, "text": "Hello." })
}

#[tokio::test(start_paused = true)]
async fn a_message_is_answered_and_kept() {
    let mut desk = Desk::default();
    let scenario = Scenario::new().turn(Turn::new().call("look", json!({}))).turn(Turn::new().text("Seen."));
    let (copilot, model) = desk.open(scenario).await;
    let turned = copilot.say(says("Look.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    assert_eq!(turned.text, "Seen. [look]", "as people see it");
    assert_eq!(lines(&model.requests()[1]), ["user: Look.", "model: look{}", "look: seen"]);
    assert_eq!(desk.office.log(), ["reset", "result of look", "ended completed"]);
    drop(copilot);

    let (copilot, model) = desk.open(Scenario::new().turn(Turn::new().text("Again."))).await;
    let shown: Vec<String> = copilot.shown().await.unwrap().into_iter().map(|one| one.text).collect();
    assert_eq!(shown, ["Seen. [look]"], "it is kept beside what the model said");
    copilot.say(says("More?")).await.unwrap();
    assert_eq!(
        lines(&model.requests()[0]),
        ["user: Look.", "model: look{}", "look: seen", "model: Seen.", "user: More?"],
        "the model reads its own words"
    );
}

/// The process ends while a person thinks: the same is asked, the answer counts, and what the run took still counts.
#[tokio::test(start_paused = true)]
async fn a_question_survives_the_process() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(Turn::new().call("letter_send", letter("Ann")).call("letter_send", letter("Bob")));
    let (copilot, _) = desk.open(scenario).await;
    let turned = copilot.say(says_on("ticket", "Write to both.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Suspended { .. }));
    let before = copilot.waiting();
    let tally = copilot.agent().with(|cx| cx.tally.clone()).await.unwrap();
    let system = copilot.agent().with(|cx| cx.system.clone()).await.unwrap();
    assert_eq!((before.len(), tally.turns), (2, 1));
    assert_eq!(desk.office.log(), ["reset"], "nothing was done, and the run has not ended");
    drop(copilot);

    let (copilot, model) = desk.open(Scenario::new().turn(Turn::new().text("Ann has it."))).await;
    assert_eq!(copilot.waiting(), before, "the same asks, with the same fingerprints");
    let again = copilot.agent().with(|cx| (cx.tally.clone(), cx.system.clone())).await.unwrap();
    assert_eq!(again, (tally, system), "what the run took, and the page it is on");

    let misfit =
        copilot.answer(serde_json::from_value(json!([{ "call": "x", "answer": "allow" }])).unwrap()).await;
    assert!(matches!(misfit, Err(CopilotError::Misfit { .. })));
    assert_eq!(copilot.waiting(), before, "what does not fit changes nothing");

    let reason = "Bob has left.".to_owned();
    let answers = Decisions::to(&before, [Decision::Allow, Decision::Deny { reason }]);
    let turned = copilot.answer(answers).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    assert_eq!(
        lines(&model.requests()[0])[1..],
        [
            format!("model: letter_send{} letter_send{}", letter("Ann"), letter("Bob")),
            "letter_send: sent to Ann".to_owned(),
            "letter_send: The person declined: Bob has left.".to_owned(),
        ]
    );
    let turns = copilot.agent().with(|cx| cx.tally.turns).await.unwrap();
    assert_eq!(turns, 2, "it is one run");
    assert_eq!(
        desk.office.log(),
        ["reset", "sent Ann: Hello.", "result of letter_send", "ended completed"],
        "one beginning, one effect, one end"
    );
    assert!(copilot.waiting().is_empty());
    assert!(matches!(copilot.answer(Decisions::default()).await, Err(CopilotError::NothingWaits)));
}

/// A person says something else instead of answering, in the same process or in the next one.
#[tokio::test(start_paused = true)]
async fn what_a_person_abandons_is_settled() {
    for restart in [false, true] {
        let mut desk = Desk::default();
        let turns = [
            Turn::new().call("look", json!({})).call("letter_send", letter("Ann")),
            Turn::new().text("All right."),
        ];
        let rest = usize::from(restart);
        let scenario = turns[..2 - rest].iter().cloned().fold(Scenario::new(), Scenario::turn);
        let (mut copilot, mut model) = desk.open(scenario).await;
        copilot.say(says("Write to Ann.")).await.unwrap();
        if restart {
            drop(copilot);
            (copilot, model) = desk.open(Scenario::new().turn(turns[1].clone())).await;
        }
        let news = copilot.notify("It is done.", "job", "1", None).await;
        assert!(matches!(news, Err(CopilotError::Waiting)), "only a person takes a question from a person");
        assert_eq!(copilot.waiting().len(), 1);
        let turned = copilot.say(says("Forget it.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Completed));
        let moved_on = "Not run: the person was asked whether it may run, and said something else instead.";
        assert_eq!(
            lines(model.requests().last().unwrap()),
            [
                "user: Write to Ann.".to_owned(),
                format!("model: look{{}} letter_send{}", letter("Ann")),
                format!("look: {moved_on}"),
                format!("letter_send: {moved_on}"),
                "user: Forget it.".to_owned(),
            ],
            "restart: {restart}"
        );
        assert_eq!(desk.office.log(), ["reset", "ended aborted", "reset", "ended completed"]);
        assert!(copilot.waiting().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn one_run_at_a_time() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(Turn::new().text("One."))
        .turn(Turn::new().text("Two."))
        .pacing(mica_testkit::Pacing { first_ms: 1000, ..Default::default() });
    let (copilot, model) = desk.open(scenario).await;
    let (first, second) = (copilot.clone(), copilot.clone());
    let (busy, one, two) = tokio::join!(
        async {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            copilot.say(says("Now!")).await
        },
        first.say(says("First.")),
        second.say_in_turn(says("Second.")),
    );
    assert!(matches!(busy, Err(CopilotError::Busy)));
    assert_eq!((one.unwrap().text, two.unwrap().text), ("One.".to_owned(), "Two.".to_owned()));
    assert_eq!(lines(&model.requests()[1]), ["user: First.", "model: One.", "user: Second."]);
}

/// Who waited for a run goes away: the run does not.
#[tokio::test(start_paused = true)]
async fn a_run_belongs_to_the_session() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(Turn::new().text("Done."))
        .pacing(mica_testkit::Pacing { first_ms: 1000, ..Default::default() });
    let (copilot, _) = desk.open(scenario).await;
    let impatient = tokio::time::timeout(std::time::Duration::from_millis(10), copilot.say(says("Work.")));
    assert!(impatient.await.is_err());
    assert!(matches!(copilot.say(says("Hello?")).await, Err(CopilotError::Busy)));
    // Whoever has the turn next finds the run ended.
    let end = copilot.say_in_turn(says("And?")).await.unwrap();
    assert!(matches!(end.outcome, Outcome::Failed { .. }), "the script has no answer to this");
    assert_eq!(desk.office.log(), ["reset", "ended completed", "reset", "ended failed"]);
}

#[tokio::test(start_paused = true)]
async fn what_has_a_name_is_said_once() {
    let mut desk = Desk::default();
    let (copilot, _) = desk.open(Scenario::new().turn(Turn::new().text("Hello."))).await;
    let said = |text: &str| Said { source: Some("mail-7".to_owned()), origin: Origin::Thread, ..says(text) };
    copilot.say(said("Hi.")).await.unwrap();
    drop(copilot);
    let (copilot, _) = desk.open(Scenario::new()).await;
    let again = copilot.say(said("Hi.")).await;
    assert!(matches!(again, Err(CopilotError::SaidBefore { name }) if name == "mail-7"));
}

/// What others need who work without a client: what was heard, what was said elsewhere, and going on after a crash.
#[tokio::test(start_paused = true)]
async fn a_conversation_without_a_client() {
    let mut desk = Desk::default();
    let (copilot, model) = desk.open(Scenario::new().turn(Turn::new().call("look", json!({})))).await;
    let session: &dyn Conversation = &copilot;
    let user = |source: &str, text: &str| Past::User { text: text.to_owned(), source: source.to_owned() };
    let own = Past::Assistant { text: "We look into it.".to_owned(), source: "m2".to_owned() };
    session.recall(vec![user("m1", "It is broken."), own.clone()]).await.unwrap();
    session.recall(vec![user("m1", "It is broken."), own]).await.unwrap();
    assert_eq!(session.heard("m0").await.unwrap(), Heard::No);
    let said = Said { source: Some("m3".to_owned()), origin: Origin::Thread, ..says("And now?") };
    // The script has no answer to the results: the run fails, as if the process had ended there.
    let failed = session.say(said.clone()).await.unwrap();
    assert!(matches!(failed.outcome, Outcome::Failed { .. }));
    assert_eq!(
        lines(&model.requests()[1]),
        ["user: It is broken.", "model: We look into it.", "user: And now?", "model: look{}", "look: seen"]
    );
    assert_eq!(session.heard("m3").await.unwrap(), Heard::Unanswered);
    drop(copilot);

    let (copilot, model) = desk.open(Scenario::new().turn(Turn::new().text("It works again."))).await;
    let session: &dyn Conversation = &copilot;
    let again = session.say(said).await;
    assert!(matches!(again, Err(SayError::Heard { source_name }) if source_name == "m3"));
    let turned = session.go_on().await.unwrap();
    assert_eq!(turned.text, "It works again.");
    let sent = lines(&model.requests()[0]);
    assert_eq!(sent[4], "look: seen", "nothing is done again");
    assert!(sent[5].starts_with("user: [Note from the system, not from a person"), "{sent:?}");
    let answered = Heard::Answered { text: "It works again.".to_owned() };
    assert_eq!(session.heard("m3").await.unwrap(), answered);
}

#[tokio::test(start_paused = true)]
async fn what_is_recalled_is_on_record_and_in_the_window_although_whoever_did_it_is_gone() {
    let mut desk = Desk::default();
    let (copilot, model) = desk.open(Scenario::new().otherwise(Turn::new().text("Yes."))).await;
    copilot.say(says("Hello.")).await.unwrap();
    let past = Past::User { text: "It is broken.".to_owned(), source: "m1".to_owned() };
    tokio::select! {
        biased;
        recalled = copilot.recall(vec![past]) => panic!("{recalled:?}"),
        () = std::future::ready(()) => {}
    }
    copilot.idle().await;
    copilot.say(says("And now?")).await.unwrap();
    assert_eq!(
        lines(&model.requests()[1]),
        ["user: Hello.", "model: Yes.", "user: It is broken.", "user: And now?"]
    );
}

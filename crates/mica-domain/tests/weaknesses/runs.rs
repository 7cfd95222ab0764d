//! Runs without a client: steps of workflows, threads with customers, and what is said twice.

use std::sync::Arc;
use std::time::Duration;

use mica_ai::id::Counted;
use mica_domain::runners::{Attended, Clock, StepEnd, ThreadAgent, ThreadSetup, WorkflowStep, run_step};
use mica_domain::{Autonomy, Rights};
use mica_testkit::{Pacing, Scenario, Turn};
use serde_json::json;

use crate::shop::{Mail, Shop};
use crate::support::{Desk, lines, noon, says_on};

fn clock() -> Clock {
    Arc::new(noon)
}

/// A step of a workflow is a run like any other: what its tools gave is there when the model is asked again, behind what it
/// was begun with.
#[tokio::test(start_paused = true)]
async fn a_step_of_a_workflow_never_works_without_what_its_tools_gave() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("look", json!({})))
        .turn(Turn::new().call("letter_send", json!({ "to": "Ann", "text": "Seen." })))
        .turn(Turn::new().text("Written."));
    let shop = Shop::new(scenario);
    let mut step = WorkflowStep::new("run-1", "write", "clerk", Rights::All);
    step.prompt = "Look, then write to Ann.".to_owned();
    let end = run_step(&shop.sessions(), &step, &clock()).await.unwrap();
    assert!(matches!(&end, StepEnd::Done { text, .. } if text.starts_with("Written.")), "{end:?}");
    let asked: Vec<usize> = shop.model.requests().iter().map(|request| request.messages.len()).collect();
    assert_eq!(asked, [1, 3, 5]);
    assert_eq!(
        lines(&shop.model.requests()[2])[1..],
        [
            "model: look{}".to_owned(),
            "look: seen".to_owned(),
            format!("model: letter_send{}", json!({ "to": "Ann", "text": "Seen." })),
            "letter_send: sent to Ann".to_owned(),
        ]
    );
    assert!(shop.desk.office.log().contains(&"sent Ann: Seen.".to_owned()));
}

/// A customer writes while the agent is about to answer, and again the moment after it looked for the last time; whoever is told of such a mail finds the thread held: the mails are
/// answered all the same, once each, without another one having to come.
#[tokio::test(start_paused = true)]
async fn a_message_that_comes_while_another_is_answered_is_never_left_lying() {
    let scenario = Scenario::new()
        .otherwise(Turn::new().text("Here you are."))
        .pacing(Pacing { first_ms: 1_000, ..Pacing::default() });
    let (shop, mail) = (Shop::new(scenario), Mail::default());
    let setup = ThreadSetup { autonomy: Autonomy::default(), ..ThreadSetup::new("clerk", Rights::All) };
    let sessions = Arc::new(shop.sessions());
    let agent = ThreadAgent::new(setup, Arc::new(mail.clone()), sessions, shop.records(), clock());
    mail.comes("m1");
    mail.comes_late("m3", &agent);
    let (first, second) = tokio::join!(agent.attend("t"), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        mail.comes("m2");
        agent.attend("t").await
    });
    assert_eq!(second.unwrap(), Attended::Handed);
    assert_eq!(first.unwrap(), Attended::Done { answers: 3 });
    assert_eq!(mail.replies(), ["m1", "m2", "m3"].map(|id| format!("re {id}: Here you are.")));
    assert_eq!(agent.attend("t").await.unwrap(), Attended::Done { answers: 0 }, "and nothing twice");
    assert_eq!(shop.model.requests().len(), 3);
}

/// A run that is played again with the same answers of the model asks it for the same, byte for byte, and leaves the same
/// conversation: what a recording needs to stand in for a model.
#[tokio::test(start_paused = true)]
async fn the_same_answers_never_make_another_conversation() {
    let play = || async {
        let mut desk = Desk::default();
        let scenario = Scenario::new()
            .turn(Turn::new().call("look", json!({})).call("note_add", json!({ "ticket": "T-1" })))
            .turn(Turn::new().text("Noted."));
        let (copilot, model) = desk.open(scenario).await;
        copilot.say(says_on("ticket", "Look and note.")).await.unwrap();
        let asked: Vec<String> = model
            .requests()
            .iter()
            .map(|request| serde_json::to_string(&request.messages).unwrap())
            .collect();
        let shown = copilot.shown().await.unwrap();
        let said: Vec<String> = shown.iter().map(|one| format!("{} {}", one.message, one.text)).collect();
        (asked, said)
    };
    let one = Box::pin(Counted::default().within(play())).await;
    let two = Box::pin(Counted::default().within(play())).await;
    assert_eq!(one, two);
    assert_eq!(one.0.len(), 2);
}

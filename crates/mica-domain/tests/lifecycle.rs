//! What capabilities take for a run is given back, whatever the run comes to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::{Decision, Decisions, Event, EventKind, Listener, Outcome};
use mica_domain::{Copilot, CopilotError, Ending, Lifecycle, Setup, State};
use mica_policy::budget::Limits;
use mica_testkit::{Pacing, Scenario, ScriptedModel, Turn};
use serde_json::{Value, json};
use support::{Desk, Log, says, says_on};

/// An editor that can be held by one at a time, with a snapshot of what was there before.
#[derive(Default)]
struct Editor {
    log: Log,
    breaks_at: Mutex<&'static str>,
}

impl Editor {
    fn say(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(what.into());
    }

    fn at(&self, point: &str) -> Result<(), String> {
        match *self.breaks_at.lock().unwrap() {
            broken if broken == point => Err(format!("{point} fails")),
            broken if broken == format!("panic in {point}") => panic!("{point} panics"),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Lifecycle for Editor {
    fn name(&self) -> &str {
        "editor"
    }

    async fn begin(&self, state: &State) -> Result<Value, String> {
        self.at("begin")?;
        self.say(format!("locked {}", state.page.as_deref().unwrap_or_default()));
        Ok(json!({ "before": "draft 1" }))
    }

    async fn end(&self, taken: &Value, ending: Ending) -> Result<(), String> {
        self.at("end")?;
        self.say(format!("ended {ending:?} with {}", taken["before"]));
        Ok(())
    }

    async fn release(&self, _: &Value) {
        self.say("released");
    }

    async fn undo(&self, taken: &Value) -> Result<String, String> {
        // Others may go on meanwhile.
        tokio::task::yield_now().await;
        self.say(format!("restored {}", taken["before"]));
        Ok("The draft is as it was.".to_owned())
    }
}

fn desk() -> (Desk, Arc<Editor>) {
    let mut desk = Desk::default();
    let editor = Arc::new(Editor { log: Arc::clone(&desk.office.log), ..Editor::default() });
    desk.office.lifecycle = Some(Arc::clone(&editor) as Arc<dyn Lifecycle>);
    (desk, editor)
}

/// Hears the end of a run.
struct Hears(Log);

#[async_trait]
impl Listener for Hears {
    async fn event(&self, event: Event) {
        if let EventKind::RunEnd { .. } = event.kind {
            self.0.lock().unwrap().push("told".to_owned());
        }
    }
}

/// Everything about the end of a run is done once, in one order, before anybody hears of it; and a way back is offered
/// unless the run completed.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_in_every_way() {
    let text = || Scenario::new().turn(Turn::new().text("Done."));
    let looks = || Scenario::new().turn(Turn::new().call("look", json!({})));
    let cases = [
        ("completed", text(), None, "", None),
        ("exhausted", looks().turn(Turn::new().text("No more.")), Some(1), "", Some(Ending::Exhausted)),
        ("failed", looks(), None, "", Some(Ending::Failed)),
        ("completed", text(), None, "panic in domain", None),
    ];
    for (word, scenario, turns, breaks, offer) in cases {
        let (mut desk, _) = desk();
        desk.office.breaks = breaks == "panic in domain";
        let model = ScriptedModel::new(scenario);
        let hears = Arc::new(Hears(Arc::clone(&desk.office.log)));
        let limits = Limits { turns: turns.or(Some(50)), warning: 0, ..Limits::NONE };
        let setup = Setup { limits, listeners: vec![hears], ..desk.setup(&model) };
        let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
        copilot.say(says_on("ticket", "Go.")).await.unwrap();
        let mut log = desk.office.log();
        log.retain(|line| line != "reset" && line != "result of look");
        let ending = offer.unwrap_or(Ending::Completed);
        assert_eq!(
            log,
            [
                "locked ticket".to_owned(),
                format!("ended {word}"),
                format!("ended {ending:?} with \"draft 1\""),
                "released".to_owned(),
                "told".to_owned(),
            ],
            "{word} {breaks}"
        );
        let offers: Vec<Ending> = copilot.offers().into_iter().map(|offer| offer.ending).collect();
        assert_eq!(offers, offer.into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_does_not_keep_the_lock() {
    for (breaks, expected) in
        [("end", &["locked ticket", "released"][..]), ("panic in end", &["locked ticket", "released"])]
    {
        let (mut desk, editor) = desk();
        *editor.breaks_at.lock().unwrap() = breaks;
        let (copilot, _) = desk.open(Scenario::new().turn(Turn::new().text("Done."))).await;
        let turned = copilot.say(says_on("ticket", "Go.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Completed));
        let mut log = desk.office.log();
        log.retain(|line| line.contains("lock") || line == "released");
        assert_eq!(log, expected, "{breaks}");
    }
    for breaks in ["begin", "panic in begin"] {
        let (mut desk, editor) = desk();
        *editor.breaks_at.lock().unwrap() = breaks;
        let (copilot, model) = desk.open(Scenario::new().turn(Turn::new().text("Done."))).await;
        let refused = copilot.say(says_on("ticket", "Go.")).await;
        assert!(matches!(refused, Err(CopilotError::NotBegun { .. })), "{refused:?}");
        assert!(model.requests().is_empty() && desk.office.log().is_empty(), "nothing was begun");
        // On a page without it nothing is in the way.
        copilot.say(says("Go.")).await.unwrap();
    }
}

/// A suspended run keeps what it took, across a restart; whatever ends it gives it back.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_keeps_its_lock() {
    for abandons in [false, true] {
        let (mut desk, _) = desk();
        let letter = Turn::new().call("letter_send", json!({ "to": "Ann", "text": "Hi." }));
        let (copilot, _) = desk.open(Scenario::new().turn(letter)).await;
        copilot.say(says_on("ticket", "Write.")).await.unwrap();
        drop(copilot);
        let (copilot, _) = desk.open(Scenario::new().turn(Turn::new().text("Done."))).await;
        assert_eq!(desk.office.log(), ["locked ticket", "reset"], "nothing is over");
        if abandons {
            copilot.say(says("Never mind.")).await.unwrap();
        } else {
            let answers = Decisions::to(&copilot.waiting(), [Decision::Deny { reason: "No.".to_owned() }]);
            copilot.answer(answers).await.unwrap();
        }
        let mut log = desk.office.log();
        log.retain(|line| line != "reset");
        let (word, ending) = if abandons { ("aborted", "Aborted") } else { ("completed", "Completed") };
        assert_eq!(
            log[..4],
            [
                "locked ticket".to_owned(),
                format!("ended {word}"),
                format!("ended {ending} with \"draft 1\""),
                "released".to_owned(),
            ]
        );
        assert_eq!(log[4..], if abandons { vec!["ended completed"] } else { Vec::new() });
        assert_eq!(copilot.offers().len(), usize::from(abandons));
    }
}

/// The process dies in a run: the next one that opens the session gives back what was taken, and offers the way back.
#[test]
fn after_a_crash_what_was_taken_is_released() {
    let (mut desk, _) = desk();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let dying = runtime();
    dying.block_on(async {
        let scenario = Scenario::new()
            .turn(Turn::new().text("Never."))
            .pacing(Pacing { first_ms: 3_600_000, ..Pacing::default() });
        let (copilot, model) = desk.open(scenario).await;
        tokio::spawn(async move { copilot.say(says_on("ticket", "Go.")).await });
        while model.requests().is_empty() {
            tokio::task::yield_now().await;
        }
    });
    dying.shutdown_background();
    assert_eq!(desk.office.log(), ["locked ticket", "reset"]);
    runtime().block_on(async {
        let (copilot, _) = desk.open(Scenario::new()).await;
        assert_eq!(desk.office.log()[2..], ["ended Crashed with \"draft 1\"", "released"]);
        let offers = copilot.offers();
        assert_eq!((offers.len(), offers[0].ending), (1, Ending::Crashed));
        assert_eq!(copilot.undo(&offers[0].id).await.unwrap(), "The draft is as it was.");
        assert_eq!(desk.office.log().last().unwrap(), "restored \"draft 1\"");
        assert!(copilot.offers().is_empty());
        assert!(matches!(copilot.undo(&offers[0].id).await, Err(CopilotError::NoUndo { .. })));
        drop(copilot);
        let (copilot, _) = desk.open(Scenario::new()).await;
        assert!(copilot.offers().is_empty(), "also for the next process");
        assert_eq!(desk.office.log().iter().filter(|line| *line == "released").count(), 1);
    });
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_is_taken_back_although_whoever_wanted_it_is_gone() {
    let (mut desk, _) = desk();
    let (copilot, _) = desk.open(Scenario::new().turn(Turn::new().call("look", json!({})))).await;
    copilot.say(says_on("ticket", "Go.")).await.unwrap();
    let offer = copilot.offers().remove(0);
    tokio::select! {
        biased;
        undone = copilot.undo(&offer.id) => panic!("{undone:?}"),
        () = std::future::ready(()) => {}
    }
    copilot.idle().await;
    assert_eq!(copilot.offers(), []);
    let restored = desk.office.log().into_iter().filter(|line| line.starts_with("restored")).count();
    assert_eq!(restored, 1);
}

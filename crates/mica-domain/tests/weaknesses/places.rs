//! Where a session lives: with one writer, and whole after any end of a process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::tool::{Access, Effect};
use mica_agent::{Event, Listener, Outcome, Tool, ToolOutput, TypedTool};
use mica_domain::runners::{Conversation, Heard};
use mica_domain::{Copilot, Origin, Said, Setup};
use mica_session::{Access as SessionAccess, SessionError};
use mica_testkit::{Pacing, Scenario, ScriptedModel, Turn};
use serde_json::json;

use crate::support::{Desk, Nothing, lines, says};

/// Two processes open one session: the second is refused and told by whom it is held, and writes nothing; once the first is
/// gone it goes on with everything that was said.
#[tokio::test(start_paused = true)]
async fn a_second_writer_never_overwrites_the_first() {
    let mut desk = Desk::default();
    let (copilot, _) = desk.open(Scenario::new().otherwise(Turn::new().text("Fine."))).await;
    copilot.say(says("One.")).await.unwrap();
    let path = desk.path.clone().unwrap();
    let second = desk.sessions().open(&path, SessionAccess::Write);
    assert!(matches!(second, Err(SessionError::Locked { .. })), "{second:?}");
    // A reader is no writer: it sees what was said, and is refused when it writes.
    let mut reader = desk.sessions().open(&path, SessionAccess::Read).unwrap();
    assert_eq!(reader.branch().unwrap().messages().count(), 2);
    assert!(reader.rename("mine").is_err());
    copilot.say(says("Two.")).await.unwrap();
    drop(copilot);
    let (copilot, model) = desk.open(Scenario::new().otherwise(Turn::new().text("Fine."))).await;
    copilot.say(says("Three.")).await.unwrap();
    assert_eq!(
        lines(&model.requests()[0]),
        ["user: One.", "model: Fine.", "user: Two.", "model: Fine.", "user: Three."]
    );
}

/// The browser goes away in the middle: the run goes on, what it said is kept, and whoever looks again finds it.
#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_never_ends_a_run() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(Turn::new().call("look", json!({})))
        .turn(Turn::new().text("Seen."))
        .pacing(Pacing { first_ms: 1_000, ..Pacing::default() });
    let (copilot, _) = desk.open(scenario).await;
    let named = Said { source: Some("m1".to_owned()), origin: Origin::Person, ..says("Look.") };
    let gone = tokio::time::timeout(Duration::from_millis(10), copilot.say(named)).await;
    assert!(gone.is_err(), "nobody waits any more");
    while copilot.agent().with(|_| ()).await.is_err() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(copilot);
    let (copilot, _) = desk.open(Scenario::new()).await;
    let session: &dyn Conversation = &copilot;
    assert_eq!(session.heard("m1").await.unwrap(), Heard::Answered { text: "Seen. [look]".to_owned() });
}

/// The process dies while a tool works: what was said until then is there, the model is told that nobody knows what became of
/// the call, and it is not made again.
#[test]
fn a_call_that_a_crash_cut_off_is_never_made_again_nor_taken_for_undone() {
    let mut desk = Desk::default();
    let calls = Arc::new(Mutex::new(0));
    let hangs = |calls: &Arc<Mutex<u32>>| -> Arc<dyn Tool> {
        let calls = Arc::clone(calls);
        Arc::new(
            TypedTool::new("pay", "Pays.", move |_: Nothing, _| {
                *calls.lock().unwrap() += 1;
                async { std::future::pending::<Result<ToolOutput, mica_agent::ToolError>>().await }
            })
            .with(|spec| (spec.access, spec.effect) = (Access::Write, Effect::Unsafe)),
        )
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let dying = runtime();
    dying.block_on(async {
        let turn = Turn::new().text("I pay.").call("pay", json!({}));
        let model = ScriptedModel::new(Scenario::new().turn(turn));
        let setup = Setup { tools: vec![hangs(&calls)], ..desk.setup(&model) };
        let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
        desk.path = copilot.path();
        let named = Said { source: Some("m1".to_owned()), ..says("Pay.") };
        tokio::spawn(async move { copilot.say(named).await });
        while *calls.lock().unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    });
    dying.shutdown_background();
    runtime().block_on(async {
        let model = ScriptedModel::new(Scenario::new().turn(Turn::new().text("I do not know.")));
        let setup = Setup { tools: vec![hangs(&calls)], ..desk.setup(&model) };
        let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
        let session: &dyn Conversation = &copilot;
        assert_eq!(session.heard("m1").await.unwrap(), Heard::Unanswered, "it is known that it broke off");
        copilot.go_on().await.unwrap();
        let told = lines(&model.requests()[0]);
        assert_eq!(told[..2], ["user: Pay.", "model: I pay. pay{}"]);
        assert!(told[2].starts_with("pay: ") && told[2].contains("unknown"), "{told:?}");
        assert_eq!(*calls.lock().unwrap(), 1);
    });
}

/// Remembers the numbers of what it is told.
#[derive(Default)]
struct Numbers(Mutex<Vec<u64>>);

#[async_trait]
impl Listener for Numbers {
    async fn event(&self, event: Event) {
        self.0.lock().unwrap().push(event.seq);
    }
}

/// A client that comes back knows from the first number it hears what it missed, finds that in the session, and sees the
/// same conversation as one that was there all the time.
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_never_misses_anything_unnoticed() {
    let mut desk = Desk::default();
    let (copilot, _) = desk.open(Scenario::new().otherwise(Turn::new().text("Fine."))).await;
    let (all, late) = (Arc::new(Numbers::default()), Arc::new(Numbers::default()));
    copilot.agent().listen(Arc::clone(&all) as _);
    copilot.say(says("One.")).await.unwrap();
    let missed = all.0.lock().unwrap().len();
    let before = copilot.shown().await.unwrap();
    copilot.agent().listen(Arc::clone(&late) as _);
    let turned = copilot.say(says("Two.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    let (all, late) = (all.0.lock().unwrap().clone(), late.0.lock().unwrap().clone());
    let first = all[0];
    assert_eq!(all, (first..first + all.len() as u64).collect::<Vec<_>>(), "numbers have no gaps");
    assert_eq!(late, all[missed..], "and are the same for everybody");
    let after = copilot.shown().await.unwrap();
    assert_eq!(after[..1], before);
    drop(copilot);
    let (copilot, _) = desk.open(Scenario::new()).await;
    assert_eq!(copilot.shown().await.unwrap(), after, "what was missed is in the session");
}

//! What cannot be written or read.

use super::*;

/// Answers in place.
struct There;

#[async_trait]
impl Hooks for There {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_cannot_be_recorded_has_no_effect() {
    // By name.
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    world.records.fails.store(true, Ordering::SeqCst);
    let refused = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap_err();
    assert!(refused.to_string().contains("the disk is full"), "{refused}");
    assert_eq!((world.ledger.log(), copilot.waiting().len()), (Vec::new(), 1));
    world.records.fails.store(false, Ordering::SeqCst);
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    // In place, by whoever sits there.
    for fails in [false, true] {
        let mut world = World::new();
        world.records.fails.store(fails, Ordering::SeqCst);
        let scenario =
            Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
        let mut setup = world.setup(scenario);
        setup.present = Some("omar".to_owned());
        setup.hooks = vec![Arc::new(There)];
        let copilot = world.open(setup).await;
        let turned = copilot.say(says("Do it.")).await.unwrap();
        if fails {
            assert!(matches!(turned.outcome, Outcome::Suspended { .. }), "{:?}", turned.outcome);
            assert_eq!((world.ledger.log(), copilot.waiting().len()), (Vec::new(), 1));
        } else {
            assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
            assert_eq!(world.deeds().await, ["omar approved"]);
        }
    }
}

/// Has so much to say of calls that were left that it is kept in a file of its own.
struct Verbose;

#[async_trait]
impl Hooks for Verbose {
    fn left(&self, _: &ToolCall) -> Option<String> {
        Some("Not run. ".repeat(10_000))
    }
}

/// The store fails behind everybody else who keeps what is said, among them who keeps the questions.
#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_was_not_said_and_the_question_stays() {
    let mut world = World::new();
    let scenario = Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::new(Verbose)];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    world.desk.path = copilot.path();
    let asked = copilot.waiting().remove(0);
    // Where the folder of such files would be.
    let blobs = copilot.path().unwrap().with_extension("blobs");
    std::fs::File::create_new(&blobs).unwrap();
    let turned = copilot.say(says("Never mind.")).await.unwrap();
    assert!(
        matches!(&turned.outcome, Outcome::Failed { error: RunError::Record { .. } }),
        "{:?}",
        turned.outcome
    );
    let states: Vec<CardState> =
        copilot.approvals().cards().unwrap().into_iter().map(|card| card.state).collect();
    assert_eq!(states, [CardState::Superseded, CardState::Pending], "it was taken back, and is asked again");
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked));
    drop(copilot);
    let copilot = world.again().await;
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked), "also for the next process");
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Does not write results, or anything, when it is told not to.
#[derive(Default)]
struct Full {
    results: AtomicBool,
}

#[async_trait]
impl Hooks for Full {
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Message(Message::ToolResult(_)) if self.results.load(Ordering::SeqCst) => {
                Err("the disk is full".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_is_not_asked_about_again_although_its_result_is_lost() {
    let mut world = World::new();
    let full = Arc::new(Full::default());
    let scenario = Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::clone(&full) as _];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    let asked = copilot.waiting().remove(0);
    full.results.store(true, Ordering::SeqCst);
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Failed { .. }));
    full.results.store(false, Ordering::SeqCst);
    assert_eq!(copilot.waiting(), []);
    assert!(copilot.expire().await.unwrap().turned.is_none());
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"], "once");
    copilot.say(says("And?")).await.unwrap();
    let messages = copilot.agent().with(|cx| cx.messages.clone()).await.unwrap();
    assert_eq!(
        support::line(&messages[2]),
        "set: No result: the run ended before this call did. If it had begun, its effect is unknown."
    );
}

/// The store fails later in a run that took the place of one that waited.
#[tokio::test(start_paused = true)]
async fn a_question_does_not_come_back_once_something_else_was_said() {
    let mut world = World::new();
    let full = Arc::new(Full::default());
    let never = json!({ "row": "lumen", "value": "active", "due": "never" });
    let scenario = Scenario::new()
        .turn(Turn::new().call("set", paid()))
        .turn(Turn::new().call("set", never))
        .otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::clone(&full) as _];
    let told = Arc::clone(&full);
    setup.listeners = vec![Arc::new(Then(Box::new(move |kind| {
        if matches!(kind, EventKind::Message { message: Message::ToolResult(_) }) {
            told.results.store(true, Ordering::SeqCst);
        }
    })))];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    let turned = copilot.say(says("Another way.")).await.unwrap();
    assert!(
        matches!(&turned.outcome, Outcome::Failed { error: RunError::Record { .. } }),
        "{:?}",
        turned.outcome
    );
    assert_eq!(copilot.waiting(), []);
    let cards = copilot.approvals().cards().unwrap();
    assert_eq!(cards.into_iter().map(|card| card.state).collect::<Vec<_>>(), [CardState::Superseded]);
}

/// What a later version of the product, or a damaged disk, leaves beside a session.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_beside_a_session_keeps_nobody_out_of_it() {
    for (kind, notices) in [
        ("settled", &[][..]),
        ("model", &["which model this session went on with cannot be read; it goes on with scripted"]),
        ("approvals", &[]),
    ] {
        let mut world = World::new();
        let due = json!({ "row": "lumen", "value": "active", "due": "tomorrow" });
        let copilot = world.asking(due).await;
        let asked = copilot.waiting().remove(0);
        copilot.side().append(kind, json!({ "unheard": "of" })).await.unwrap();
        drop(copilot);
        let copilot = world.again().await;
        assert_eq!(copilot.notices(), notices, "{kind}");
        copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
        assert_eq!(world.ledger.log(), ["lumen = active, due 2027-01-16, by maya"], "{kind}");
    }
}

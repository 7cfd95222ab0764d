//! What a question rests on changes while it waits.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_late_yes_does_not_overwrite_what_a_colleague_changed_meanwhile() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    assert_eq!(preview(&asked), "trial → active by ");
    world.ledger.put("lumen", "paused");
    let refused = copilot.decide([(asked.call.id.clone(), yes())], &person("maya")).await;
    assert_eq!(changed(refused), CHANGES);
    assert_eq!(world.ledger.get("lumen").0, "paused");
    assert_eq!(world.deeds().await, Vec::<String>::new(), "nothing was decided");
    // The question is there again, as things are now.
    let now = copilot.waiting().remove(0);
    assert_eq!((preview(&now), now.changed.len()), ("paused → active by ", 2));
    // Under another name, and for as long as before: nobody who has the old one on their screen answers this one by its name.
    let [old, card] = copilot.approvals().cards().unwrap().try_into().unwrap();
    assert_eq!(
        (&old.preview, &old.shown, &old.state),
        (&asked.preview, &asked.shown, &CardState::Superseded)
    );
    assert_eq!((&card.preview, &card.shown, &card.state), (&now.preview, &now.shown, &CardState::Pending));
    assert_ne!(old.id, card.id);
    assert_eq!(card.expires, old.expires);
    assert_eq!(changed(copilot.decide([(&old, yes())], &person("omar")).await), CHANGES);
    // Who still has the old one before them says yes to that only.
    assert_eq!(changed(copilot.decide([(&asked, yes())], &person("omar")).await), CHANGES);
    let answered = copilot.decide([(&now, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(world.deeds().await, ["maya approved"]);
}

#[tokio::test(start_paused = true)]
async fn a_no_needs_nothing_to_stand() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    world.ledger.put("lumen", "paused");
    let no = Choice::Reject { reason: "wait".to_owned() };
    let answered = copilot.decide([(&asked, no)], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), Vec::<String>::new());
    assert_eq!(world.deeds().await, ["maya rejected: wait"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_shown_as_things_are_whenever_it_is_shown() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    drop(copilot);
    world.ledger.put("lumen", "paused");
    // After a restart.
    let copilot = world.again().await;
    let opened = copilot.waiting().remove(0);
    assert_eq!(
        (preview(&opened), opened.changed.as_slice()),
        ("paused → active by ", &CHANGES.map(str::to_owned)[..])
    );
    assert_eq!(opened.reason, "what it rests on has changed since it was shown; set asks before it runs");
    // To a client that comes.
    world.ledger.put("lumen", "lost");
    let anew = copilot.follow(None).await.unwrap().anew.unwrap();
    assert_eq!(preview(&anew.waiting[0]), "lost → active by ");
    assert_eq!(preview(&copilot.questions().await.unwrap()[0]), "lost → active by ");
    // What nobody here was shown is no yes.
    assert_eq!(changed(copilot.decide([(&asked, yes())], &person("maya")).await).len(), 4);
    drop(copilot);
    let copilot = world.again().await;
    let shown = copilot.waiting();
    assert_eq!(copilot.questions().await.unwrap(), shown, "the same, as long as nothing changes");
    copilot.decide([(shown[0].call.id.clone(), yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

#[tokio::test(start_paused = true)]
async fn a_no_is_not_asked_again_because_something_else_changed() {
    for restarts in [false, true] {
        let mut world = World::new();
        let mut copilot = world.open(world.setup(both())).await;
        copilot.say(says("Do both.")).await.unwrap();
        world.desk.path = copilot.path();
        let asks = copilot.waiting();
        let no = Choice::Reject { reason: "never".to_owned() };
        let said = [(asks[0].call.id.clone(), no), (asks[1].call.id.clone(), yes())];
        copilot.approvals().decide(&asks, said, &person("maya")).await.unwrap();
        world.ledger.put("orion", "paused");
        // Also of what was refused: nobody cares any more.
        world.ledger.put("lumen", "paused");
        let answered = copilot.expire().await.unwrap();
        assert!(matches!(answered.turned.unwrap().outcome, Outcome::Suspended { .. }));
        if restarts {
            drop(copilot);
            copilot = world.again().await;
        }
        let waiting = copilot.waiting();
        let standing = copilot.approvals().standing(&waiting).unwrap();
        assert_eq!(standing.open, [asks[1].call.id.clone()], "{restarts}");
        let states: Vec<CardState> =
            copilot.approvals().cards().unwrap().into_iter().map(|card| card.state).collect();
        let rejected = CardState::Rejected { by: Some("maya".to_owned()), reason: "never".to_owned() };
        assert_eq!(states, [rejected, CardState::Superseded, CardState::Pending]);
        let now = waiting.into_iter().find(|ask| ask.call.id == asks[1].call.id).unwrap();
        let answered = copilot.decide([(&now, yes())], &person("omar")).await.unwrap();
        assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
        assert_eq!(world.ledger.log(), ["orion = active, due , by omar"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_meant_from_here_and_now_is_settled_when_it_is_asked() {
    let due = json!({ "row": "lumen", "value": "active", "due": "tomorrow" });
    let (first, third) = ("2027-01-16", "2027-01-18");
    for (edit, expect) in [(None, first), (Some("tomorrow"), third)] {
        let mut world = World::new();
        let copilot = world.asking(due.clone()).await;
        let asked = copilot.waiting().remove(0);
        assert_eq!(asked.arguments["due"], first, "people see what is meant");
        assert_eq!(preview(&asked), format!("trial → active by {first}"));
        drop(copilot);
        world.ledger.day.store(2, Ordering::SeqCst);
        let copilot = world.again().await;
        assert_eq!(copilot.waiting()[0].shown, asked.shown, "it is the same call days later");
        let edits: Args = edit.map(|due| ("due".to_owned(), json!(due))).into_iter().collect();
        copilot.decide([(&asked, Choice::Approve { edits })], &person("maya")).await.unwrap();
        assert_eq!(world.ledger.log(), [format!("lumen = active, due {expect}, by maya")]);
    }
    // What cannot be settled is told to the model, and nobody is asked.
    let mut world = World::new();
    let never = json!({ "row": "lumen", "value": "active", "due": "never" });
    let scenario = Scenario::new().turn(Turn::new().call("set", never)).otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(scenario)).await;
    let turned = copilot.say(says("Do it.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    let messages = copilot.agent().with(|cx| cx.messages.clone()).await.unwrap();
    assert_eq!(support::line(&messages[2]), "set: never is no day. Say when.");
}

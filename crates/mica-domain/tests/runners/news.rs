//! Background work that ends picks its conversation up again.

use super::*;

const NEWS: &str = "user: Background work that was started in this conversation has news; no person wrote this.\n\
    <task-notification kind=\"count\" ref=\"j1\" status=\"completed\">\n7 things\n</task-notification>\nSay how many.";

/// Nobody is connected, and the process that began the work is gone: the conversation picks up once.
#[tokio::test]
async fn work_that_ends_picks_the_conversation_up_once() {
    let world = World::new();
    let first = world.process([Turn::new().call("stock_count", json!({})), text("It runs.")]);
    let turned = chat(&first.sessions, &opens("chat"), says("Count.")).await.unwrap();
    assert_eq!(turned.text, "It runs.");
    let watches = first.tick().await;
    assert_eq!(watches[0].state, WatchState::Watching);
    drop(first);
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true, "things": 7 }));
    world.pass(60);
    let second = world.process([text("There are 7.")]);
    let watches = second.tick().await;
    assert!(
        matches!(&watches[0].state, WatchState::Delivered { outcome, .. } if outcome == "completed"),
        "{watches:?}"
    );
    let asked = ["user: Count.", "model: stock_count{}", "stock_count: Begun.", "model: It runs.", NEWS];
    assert_eq!(second.asked(), asked);
    drop(second);
    world.pass(600);
    let third = world.process([text("Never said.")]);
    third.tick().await;
    assert_eq!(third.model.requests().len(), 0);
}

/// A person is asked something: the news wait, and the answer is not lost.
#[tokio::test]
async fn news_wait_until_a_person_decided() {
    let world = World::new();
    let both = Turn::new().call("stock_count", json!({}));
    let first = world.process([both, letter("Ann"), text("Ann has it."), text("There are 7.")]);
    let turned = chat(&first.sessions, &opens("chat"), says("Count, and write to Ann.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Suspended { .. }));
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true, "things": 7 }));
    let watches = first.tick().await;
    assert!(watches[0].ready && watches[0].state == WatchState::Watching);
    let copilot = first.sessions.copilot("chat", None).await.unwrap();
    let asks = copilot.waiting();
    copilot.answer(Decisions::to(&asks, [Decision::Allow])).await.unwrap();
    assert_eq!(world.sent(), ["Ann"]);
    world.pass(10);
    let watches = first.tick().await;
    assert!(watches[0].is_over());
    assert_eq!(first.asked().last().unwrap(), NEWS);
}

#[tokio::test]
async fn nobody_is_told_of_a_session_that_is_gone() {
    let world = World::new();
    let first = world.process([Turn::new().call("stock_count", json!({})), text("It runs.")]);
    chat(&first.sessions, &opens("chat"), says("Count.")).await.unwrap();
    drop(first);
    world.files.lock().unwrap().clear();
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true }));
    let second = world.process([]);
    assert!(matches!(&second.tick().await[0].state, WatchState::Gone { reason, .. } if reason == "deleted"));
}

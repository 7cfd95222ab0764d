//! Something else is said while a question waits.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_was_said_before_takes_no_question_from_anybody() {
    let mut world = World::new();
    let scenario = Scenario::new()
        .turn(Turn::new().text("Hello."))
        .turn(Turn::new().call("set", paid()))
        .otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(scenario)).await;
    let named = |text: &str| Said { source: Some("mail-1".to_owned()), ..says(text) };
    copilot.say(named("Hi.")).await.unwrap();
    copilot.say(says("Do it.")).await.unwrap();
    let asked = copilot.waiting();
    let here = Said { surroundings: Some(Surroundings::on("elsewhere")), ..named("Hi.") };
    assert!(matches!(copilot.say(here).await, Err(CopilotError::SaidBefore { .. })));
    assert_eq!(copilot.waiting(), asked);
    assert_eq!(copilot.domain().snapshot().page, None, "and leaves everybody where they are");
    copilot.decide([(&asked[0], yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

#[tokio::test(start_paused = true)]
async fn a_yes_in_a_run_that_was_abandoned_is_taken_back_on_record() {
    let mut world = World::new();
    let copilot = world.open(world.setup(both())).await;
    copilot.say(says("Do both.")).await.unwrap();
    let asked = copilot.waiting().remove(0);
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(answered.decided.open.len(), 1);
    copilot.say(says("Never mind.")).await.unwrap();
    let cards = copilot.approvals().cards().unwrap();
    let states: Vec<CardState> = cards.into_iter().map(|card| card.state).collect();
    assert_eq!(states, [CardState::Superseded, CardState::Superseded]);
    assert_eq!(world.deeds().await, ["maya approved", "nobody abandoned"]);
    assert_eq!(world.ledger.log(), Vec::<String>::new());
}

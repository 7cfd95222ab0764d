//! Suggestions of what could be done.

use super::*;

fn suggestion(id: &str) -> Suggestion {
    Suggestion {
        id: id.to_owned(),
        agent: "clerk".to_owned(),
        rights: Rights::All,
        about: About { bundle: format!("b-{id}"), kind: "next".to_owned(), ..About::default() },
        prompt: "What should be done about this order?".to_owned(),
        reads: 2,
        limits: Default::default(),
    }
}

#[tokio::test]
async fn a_suggestion_looks_a_little_and_captures() {
    let world = World::new();
    let look = |what: u32| Turn::new().call("look", json!({ "what": what }));
    let process = world.process([look(1), look(2), look(3), letter("Ann"), text("Write to Ann.")]);
    let bundles = Bundles::new(world.records());
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    let Suggested::Bundle { bundle, summary, limit: None } = suggested else { panic!("{suggested:?}") };
    assert_eq!((bundle.id(), bundle.actions.len(), summary.as_str()), ("b-s1", 1, "Write to Ann."));
    assert_eq!(world.sent(), [] as [&str; 0]);
    let results: Vec<String> =
        process.asked().into_iter().filter(|line| line.starts_with("look: ")).collect();
    let denied = "look: You looked at 2 things, and no more are allowed. Decide with what you know.";
    assert_eq!(results, ["look: seen", "look: seen", denied]);
    // The same is thought about once.
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    assert!(matches!(&suggested, Suggested::Bundle { bundle, .. } if bundle.id() == "b-s1"), "{suggested:?}");
    assert_eq!(process.model.requests().len(), 5);
}

#[tokio::test]
async fn a_suggestion_may_be_to_do_nothing() {
    let world = World::new();
    let process =
        world.process([Turn::new().call("suggest_nothing", json!({ "reason": "It is paid." })), text("No.")]);
    let bundles = Bundles::new(world.records());
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    assert!(matches!(&suggested, Suggested::Nothing { reason } if reason == "It is paid."), "{suggested:?}");
    assert_eq!(process.model.requests().len(), 1);
}

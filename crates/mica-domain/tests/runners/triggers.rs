//! Triggers: what fires, with whose rights, what it captures, and what it waits for.

use super::*;

struct Staff;

#[async_trait]
impl Agents for Staff {
    async fn agent(&self, _: &str) -> Option<Rights> {
        Some(Rights::of(["letters"]))
    }
    async fn person(&self, person: &str) -> Option<Rights> {
        Some(if person == "ann" { Rights::of(["letters"]) } else { Rights::none() })
    }
}

const TRIGGERS: &str = r#"
[[trigger]]
id = "order"
agent = "clerk"
instructions = "Thank them."
on = { kind = "event", event = "order.placed", filter = [{ field = "total", at_least = 100 }] }

[[trigger]]
id = "named"
agent = "clerk"
instructions = "Do it."
autonomy = { usually = "auto" }
on = { kind = "mention" }

[[trigger]]
id = "written"
agent = "clerk"
instructions = "Answer."
on = { kind = "direct_message" }
"#;

fn dispatcher(process: &Process) -> Dispatcher {
    let known = Known {
        agents: ["clerk".to_owned()].into(),
        tools: Default::default(),
        events: EventKinds::default().with("order.placed", [("total", FieldKind::Number)]),
    };
    let set = TriggerSet::from_toml(TRIGGERS, &known).unwrap();
    let (records, clock) = (process.world.records(), process.world.clock());
    let opening = Arc::new(process.sessions.clone());
    Dispatcher::new("d", set, records, opening, Arc::new(Staff), clock, DispatcherLimits::default())
}

/// What a person would be asked about is captured: nothing is sent, and a bundle waits.
#[tokio::test]
async fn a_trigger_captures_what_a_person_decides_about() {
    let world = World::new();
    let process = world.process([letter("Ann"), text("I would thank Ann.")]);
    let dispatcher = dispatcher(&process);
    let mut order = Happened::new("o1", What::Event { event: "order.placed".to_owned() });
    order.fields.insert("total".to_owned(), json!(120));
    order.subject = Some(Subject::new("order", "o1"));
    dispatcher.happened(&order).await.unwrap();
    dispatcher.tick(world.now()).await.unwrap();
    let fire = dispatcher.fires("order").await.unwrap().remove(0);
    let FireState::Ended { outcome, summary, bundle: Some(bundle), error: None, .. } = fire.state else {
        panic!("{fire:?}")
    };
    assert_eq!(
        (outcome.as_str(), summary.as_str()),
        ("completed", "I would thank Ann.\nProposed, not done: letter_send (to: Ann).")
    );
    assert_eq!(world.sent(), [] as [&str; 0], "nothing was sent");
    let bundle = Bundles::new(world.records()).get(&bundle).await.unwrap();
    let tools: Vec<&str> = bundle.actions.iter().map(|action| action.tool.as_str()).collect();
    assert_eq!(tools, ["letter_send"]);
    assert_eq!(bundle.about.subject, Some(Subject::new("order", "o1")));
    assert_eq!(bundle.about.kind, "order");
}

/// The model fails in the middle: the next try is the same fire, about the same thing, and what was captured is one bundle.
/// Also when another process tries it again.
#[tokio::test]
async fn a_fire_that_is_tried_again_captures_for_the_same() {
    for restarted in [false, true] {
        let world = World::new();
        let mut process = world.process([
            letter("Ann"),
            Turn::error("azure_401".into()),
            letter("Bob"),
            text("I would thank both."),
        ]);
        let mut order = Happened::new("o1", What::Event { event: "order.placed".to_owned() });
        order.fields.insert("total".to_owned(), json!(120));
        order.subject = Some(Subject::new("order", "o1"));
        order.base = Base::version("7");
        dispatcher(&process).happened(&order).await.unwrap();
        dispatcher(&process).tick(world.now()).await.unwrap();
        let fire = dispatcher(&process).fires("order").await.unwrap().remove(0);
        assert!(matches!(fire.state, FireState::Pending { .. }), "{fire:?}");
        if restarted {
            drop(process);
            process = world.process([letter("Bob"), text("I would thank both.")]);
        }
        world.pass(60);
        dispatcher(&process).tick(world.now()).await.unwrap();
        let fire = dispatcher(&process).fires("order").await.unwrap().remove(0);
        let FireState::Ended { outcome, bundle: Some(bundle), error: None, .. } = &fire.state else {
            panic!("{fire:?}")
        };
        assert_eq!((outcome.as_str(), bundle.as_str(), fire.tries), ("completed", "fire/order/o1", 2));
        let all = Bundles::new(world.records()).list().await.unwrap();
        assert_eq!(all.len(), 1, "{restarted}: {all:?}");
        assert_eq!(all[0].proposal(), "Proposed, not done: letter_send (to: Ann); letter_send (to: Bob).");
        assert_eq!(all[0].summary, "I would thank both.");
        let about = &all[0].about;
        assert_eq!(
            (about.subject.as_ref(), &about.base),
            (Some(&Subject::new("order", "o1")), &Base::version("7"))
        );
        assert_eq!((about.kind.as_str(), about.session.as_deref()), ("order", Some("fire/order/o1")));
    }
}

/// An agent that acts for somebody has what both may do: a tool that needs more is not there.
#[tokio::test]
async fn whoever_causes_a_run_lends_it_their_rights() {
    let world = World::new();
    let process = world.process([letter("Ann"), text("Done."), text("I cannot.")]);
    let dispatcher = dispatcher(&process);
    for (id, by) in [("n1", "ann"), ("n2", "bo")] {
        let what = What::Mention { agent: "clerk".to_owned() };
        dispatcher
            .happened(&Happened { invoker: Some(by.to_owned()), ..Happened::new(id, what) })
            .await
            .unwrap();
        dispatcher.tick(world.now()).await.unwrap();
    }
    assert_eq!(world.sent(), ["Ann"]);
    let tools = |number: usize| -> Vec<String> {
        process.model.requests()[number].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert!(tools(0).contains(&"letter_send".to_owned()));
    assert!(!tools(2).contains(&"letter_send".to_owned()), "{:?}", tools(2));
}

/// Somebody writes to an agent whose conversation another process has open: it waits, says why, and is said once that is
/// free, as often as that takes.
#[tokio::test]
async fn what_is_written_waits_while_another_process_has_the_conversation() {
    let world = World::new();
    let first = world.process([text("Hello, Ann.")]);
    let second = world.process([text("I am here.")]);
    let write = async |process: &Process, id: &str, words: &str| {
        let mut happened = Happened::new(id, What::DirectMessage { agent: "clerk".to_owned() });
        happened.words = Some(Words { from: "ann".to_owned(), text: words.to_owned() });
        happened.invoker = Some("ann".to_owned());
        dispatcher(process).happened(&happened).await.unwrap();
    };
    write(&first, "m1", "Hello.").await;
    dispatcher(&first).tick(world.now()).await.unwrap();
    let open = first.sessions.copilot("dm/clerk/ann", None).await.unwrap();
    write(&second, "m2", "Still there?").await;
    for _ in 0..9 {
        dispatcher(&second).tick(world.now()).await.unwrap();
        let fire = dispatcher(&second).fires("written").await.unwrap().remove(1);
        assert!(matches!(fire.state, FireState::Pending { .. }), "{fire:?}");
        let why = "the session dm/clerk/ann is in use: another process has it";
        assert_eq!((fire.waits.unwrap().why.as_str(), fire.tries), (why, 0));
        world.pass(10);
    }
    assert_eq!(second.model.requests().len(), 0);
    drop((open, first));
    dispatcher(&second).tick(world.now()).await.unwrap();
    let fire = dispatcher(&second).fires("written").await.unwrap().remove(1);
    assert!(matches!(&fire.state, FireState::Ended { summary, .. } if summary == "I am here."), "{fire:?}");
    assert_eq!(second.asked(), ["user: Hello.", "model: Hello, Ann.", "user: Still there?"]);
}

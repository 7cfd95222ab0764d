//! Page epochs and references: what a model gets where the user is, and what goes on from where.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::{Decision, Decisions, Event, EventKind, Listener};
use mica_ai::Dialect;
use mica_domain::{Copilot, Profile, Ref, Rights, Said, Setup, Surroundings};
use mica_testkit::{Scenario, ScriptedModel, ScriptedTransport, Turn, When, prefix};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Desk, lines, noon, remote, says, says_on};

/// The changes of the window that were told, and in which order.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Told {
    async fn event(&self, event: Event) {
        if let EventKind::Window { change } = event.kind {
            self.0.lock().unwrap().push(format!("{}: {}", change.kind, change.reason));
        }
    }
}

/// Looks once, then answers.
fn looking() -> Scenario {
    let when = |count| When { tool_results: Some(count), ..When::default() };
    Scenario::new()
        .turn(Turn::new().call("look", json!({})).when(when(0)))
        .turn(Turn::new().text("Seen.").when(when(1)))
}

/// What comes before the conversation in a request: tools and system prompt, as bytes.
fn before(dialect: Dialect, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap();
    let system = match dialect {
        Dialect::Messages => body["system"].clone(),
        Dialect::Responses if body.get("instructions").is_some() => body["instructions"].clone(),
        Dialect::Responses => body["input"][0].clone(),
        Dialect::Chat => body["messages"][0].clone(),
    };
    // Marks move with the tail; what they mark does not.
    let mut text = json!([body["tools"], system]).to_string();
    text.retain(|letter| letter != ' ');
    text
}

const PAGES: [Option<&str>; 4] = [None, Some("ticket"), Some("list"), Some("unknown")];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Promise 4 with pages: within an epoch each request is a byte prefix of the next, also when the process ended in
    /// between; the same page gives the same bytes again, and each change is told with its reason, and nothing else is.
    #[test]
    fn promise_4_within_an_epoch_the_window_only_grows(
        steps in prop::collection::vec((0..PAGES.len(), prop::bool::weighted(0.3)), 1..7)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for dialect in Dialect::ALL {
            runtime.block_on(walk(dialect, &steps));
        }
    }
}

/// Says something on each page; before some of them the process ends and the session is opened again.
async fn walk(dialect: Dialect, steps: &[(usize, bool)]) {
    let transport = ScriptedTransport::new(looking());
    let told = Arc::new(Told::default());
    let mut desk = Desk::default();
    let mut copilot: Option<Copilot> = None;
    let pages: Vec<usize> = steps.iter().map(|(page, _)| *page).collect();
    for (page, restarts) in steps {
        if copilot.is_none() || *restarts {
            drop(copilot.take());
            let mut setup = remote(dialect, &transport);
            setup.listeners.push(Arc::clone(&told) as Arc<dyn Listener>);
            let opened = Copilot::open(setup.in_session(desk.session())).await.unwrap();
            desk.path = opened.path();
            copilot = Some(opened);
        }
        let surroundings = Surroundings { page: PAGES[*page].map(str::to_owned), ..Surroundings::default() };
        let said = Said { surroundings: Some(surroundings), ..says("Look around.") };
        assert_eq!(copilot.as_ref().unwrap().say(said).await.unwrap().text, "Seen. [look]");
    }
    let (copilot, pages) = (copilot.unwrap(), pages.as_slice());
    let bodies: Vec<_> = transport.script().captured().into_iter().map(|captured| captured.body).collect();
    assert_eq!(bodies.len(), 2 * pages.len());
    let mut first_on: [Option<String>; PAGES.len()] = Default::default();
    let mut epoch = 0;
    for at in 0..pages.len() {
        let known = before(dialect, &bodies[2 * at]);
        let first = first_on[pages[at]].get_or_insert_with(|| known.clone());
        assert_eq!(*first, known, "{dialect}: the same page, the same bytes");
        if pages[at] != pages[epoch] {
            epoch = at;
        }
        prefix::grows_at_the_end(dialect, &bodies[2 * epoch..2 * at + 2]).unwrap();
    }
    // Pages without tools of their own have the same bytes: going between them changes nothing and is not told.
    let name = |page: usize| PAGES[page].map_or("no page".to_owned(), |page| format!("the page {page}"));
    let is_ticket = |page: usize| PAGES[page] == Some("ticket");
    let expected: Vec<String> = pages
        .windows(2)
        .filter(|pair| is_ticket(pair[0]) != is_ticket(pair[1]))
        .map(|pair| format!("page: the user went from {} to {}", name(pair[0]), name(pair[1])))
        .collect();
    let changes: Vec<String> =
        told.0.lock().unwrap().iter().filter(|told| !told.starts_with("cache_miss")).cloned().collect();
    assert_eq!(changes, expected, "{dialect}: {pages:?}");
    let tools: Vec<String> =
        copilot.agent().with(|cx| cx.tools.names().map(str::to_owned).collect()).await.unwrap();
    let here: &[&str] = if is_ticket(*pages.last().unwrap()) {
        &["ask_person", "letter_send", "look", "note_add"]
    } else {
        &["ask_person", "letter_send", "look"]
    };
    assert_eq!(tools, here, "an unknown page has what is everywhere, and nothing else");
}

#[tokio::test(start_paused = true)]
async fn what_an_organisation_changes_counts_when_somebody_says_so() {
    let mut desk = Desk::default();
    *desk.office.team.lock().unwrap() = "Blue".to_owned();
    let (copilot, model) = desk.open(looking()).await;
    let told = Arc::new(Told::default());
    copilot.agent().listen(Arc::clone(&told) as Arc<dyn Listener>);
    copilot.say(says("One.")).await.unwrap();
    *desk.office.team.lock().unwrap() = "Red".to_owned();
    copilot.say(says("Two.")).await.unwrap();
    copilot.refresh("the team has another name").await.unwrap();
    copilot.say(says("Three.")).await.unwrap();
    let teams: Vec<String> = model.requests().iter().map(|request| request.system[1].clone()).collect();
    assert_eq!(
        teams,
        ["Blue", "Blue", "Blue", "Blue", "Red", "Red"].map(|team| format!("The team is {team}."))
    );
    assert_eq!(told.0.lock().unwrap()[0], "tools: the team has another name");
}

const NOT_HERE: &str = "note_add: There is no tool \"note_add\". The tools are: ask_person, letter_send, look. Nothing was done.";

/// A call of a page that the user has left is refused with a reason, and the next page's tools are there.
#[tokio::test(start_paused = true)]
async fn a_stale_call_is_refused() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(Turn::new().text("On a ticket."))
        .turn(Turn::new().call("note_add", json!({ "ticket": "T-1" })))
        .turn(Turn::new().text("Not here."));
    let (copilot, model) = desk.open(scenario).await;
    copilot.say(says_on("ticket", "Where am I?")).await.unwrap();
    copilot.say(says_on("list", "Note it.")).await.unwrap();
    assert_eq!(lines(model.requests().last().unwrap()).pop().unwrap(), NOT_HERE);
    assert_eq!(desk.office.log(), ["reset", "ended completed", "reset", "ended completed"]);
}

/// What is told with a message: where the user is, and what they mean.
fn told_with(request: &mica_ai::Request) -> String {
    let mica_ai::Message::User(user) =
        request.messages.iter().rev().find(|message| matches!(message, mica_ai::Message::User(_))).unwrap()
    else {
        panic!()
    };
    let blocks = user.content.iter().filter_map(|content| match content {
        mica_ai::Content::Text { text } if mica_context::section::context_block::is_block(text) => Some(text),
        _ => None,
    });
    blocks.cloned().collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn references_are_told_filled_in_and_not_guessed() {
    // What is in front of the user, what the model calls, and what the product did.
    let noted = |refs: &[Ref], args: Value| {
        let surroundings =
            Surroundings { refs: refs.iter().cloned().collect(), ..Surroundings::on("ticket") };
        async move {
            let mut desk = Desk::default();
            let scenario =
                Scenario::new().turn(Turn::new().call("note_add", args)).turn(Turn::new().text("Done."));
            let (copilot, model) = desk.open(scenario).await;
            copilot.say(Said { surroundings: Some(surroundings), ..says("Note it.") }).await.unwrap();
            let log = desk.office.log();
            (log.into_iter().find(|line| line.starts_with("noted")), told_with(&model.requests()[0]))
        }
    };
    let open = Ref::open("ticket", "T-1").called("Printer");
    let mentioned = Ref::mentioned("ticket", "T-2");
    let (done, told) = noted(std::slice::from_ref(&open), json!({ "text": "x" })).await;
    assert_eq!(done.as_deref(), Some("noted T-1: x"), "it must be there, and the domain knows it");
    assert!(
        told.contains("- ticket T-1: open on the page\n<outside_words") && told.contains("\nT-1: Printer\n"),
        "{told}"
    );
    let (done, told) = noted(&[open.clone(), mentioned.clone()], json!({ "ticket": "", "text": "x" })).await;
    assert_eq!(done.as_deref(), Some("noted T-2: x"), "a mention goes before the page");
    assert!(told.contains("- ticket T-2: mentioned by the user; one other is in sight"), "{told}");
    let (done, _) = noted(&[mentioned], json!({ "ticket": "T-9", "text": "x" })).await;
    assert_eq!(done.as_deref(), Some("noted T-9: x (not T-2)"), "what the model says stays");
    let (done, told) = noted(&[open.clone().dirty()], json!({ "text": "x" })).await;
    assert_eq!(done, None, "what is being edited and not saved is not changed");
    assert!(told.contains("with changes that are not saved"), "{told}");
    let (done, _) = noted(&[Ref::open("record", "R-1")], json!({ "text": "x" })).await;
    assert_eq!(done, None, "of another kind: nothing is filled in, and the schema says what is missing");
    let (_, told) = noted(&[], json!({ "ticket": "T-1" })).await;
    assert!(!told.contains("references"), "{told}");
}

/// Continuations are where the conversation was; fresh messages are where they say they are.
#[tokio::test(start_paused = true)]
async fn statefulness_by_exception() {
    let mut desk = Desk::default();
    let note = || Turn::new().call("note_add", json!({ "text": "n" }));
    let scenario = Scenario::new()
        .turn(note().call("letter_send", json!({ "to": "Ann", "text": "Hi." })))
        .turn(note())
        .turn(Turn::new().text("Noted twice."));
    let (copilot, _) = desk.open(scenario).await;
    let here = Surroundings::on("ticket").with(Ref::open("ticket", "T-1"));
    copilot.say(Said { surroundings: Some(here.clone()), ..says("Note and write.") }).await.unwrap();
    let asks = copilot.waiting();
    drop(copilot);

    // An answer, after a restart, without a word about the page.
    let scenario = Scenario::new().turn(note()).turn(Turn::new().text("Done."));
    let scenario = scenario
        .turn(note())
        .turn(Turn::new().text("I saw it."))
        .turn(note())
        .turn(Turn::new().text("Gone."));
    let (copilot, model) = desk.open(scenario).await;
    copilot.answer(Decisions::to(&asks, [Decision::Allow])).await.unwrap();
    let noted = |log: &[String]| log.iter().filter(|line| *line == "noted T-1: n").count();
    assert_eq!(noted(&desk.office.log()), 2, "tools and references of the page are there");
    // News of a task.
    copilot.notify("The export is done.", "export", "7", Some("task/7".to_owned())).await.unwrap();
    assert_eq!(noted(&desk.office.log()), 3);
    assert_eq!(copilot.domain().snapshot().page.as_deref(), Some("ticket"));
    // A fresh message without a page is nowhere.
    copilot.say(says("And now?")).await.unwrap();
    assert_eq!(noted(&desk.office.log()), 3);
    assert_eq!(copilot.domain().snapshot().page, None);
    assert!(copilot.domain().snapshot().refs.is_empty());
    let names: Vec<String> =
        model.requests().last().unwrap().tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["ask_person", "letter_send", "look"]);
}

/// The page of an answer that says where the user is now counts: what was called elsewhere is refused.
#[tokio::test(start_paused = true)]
async fn a_live_page_always_wins() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .call("note_add", json!({ "ticket": "T-1" }))
                .call("letter_send", json!({ "to": "A", "text": "t" })),
        )
        .turn(Turn::new().text("All right."));
    let (copilot, model) = desk.open(scenario).await;
    copilot.say(says_on("ticket", "Both.")).await.unwrap();
    let answers = Decisions::to(&copilot.waiting(), [Decision::Allow]);
    copilot.answer_at(answers, Some(Surroundings::on("list"))).await.unwrap();
    let said = lines(model.requests().last().unwrap());
    assert_eq!(said[2..], [NOT_HERE, "letter_send: sent to A"]);
}

/// Without a right a tool is not there, and cannot be called either. A page unlocks nothing by itself.
#[tokio::test(start_paused = true)]
async fn rights_filter_tools_in_the_prompt_and_at_the_gate() {
    for (rights, there) in [(Rights::All, true), (Rights::of(["letters"]), true), (Rights::none(), false)] {
        let desk = Desk::default();
        let call = Turn::new().call("letter_send", json!({ "to": "Ann", "text": "Hi." }));
        let model = ScriptedModel::new(Scenario::new().turn(call).turn(Turn::new().text("Done.")));
        let setup = Setup { rights: rights.clone(), ..desk.setup(&model) };
        let copilot = Copilot::open(setup).await.unwrap();
        let turned = copilot.say(says_on("letters", "Write.")).await.unwrap();
        assert_eq!(matches!(turned.outcome, mica_agent::Outcome::Suspended { .. }), there, "{rights:?}");
        assert_eq!(model.requests()[0].tools.iter().any(|tool| tool.name == "letter_send"), there);
        assert_eq!(copilot.summaries(), ["sends letters"], "other tools of it are there");
    }
}

/// Nobody is there: a banner, no tools that ask, and the last words are kept for whoever looks later.
#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_watches_leaves_a_summary() {
    let desk = Desk::default();
    let model = ScriptedModel::new(looking());
    let setup = Setup { profile: Profile::AUTONOMOUS, ..desk.setup(&model) };
    let copilot = Copilot::open(setup.in_session(desk.session())).await.unwrap();
    copilot.say(says("Look after the office.")).await.unwrap();
    let request = &model.requests()[0];
    assert!(request.system[0].contains("# Nobody is watching"), "{:?}", request.system);
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["letter_send", "look"], "nobody can be asked");
    let audits = copilot.audits().unwrap();
    assert_eq!(audits.len(), 1);
    assert_eq!((audits[0].outcome.as_str(), audits[0].summary.as_str()), ("completed", "Seen. [look]"));
    assert_eq!(audits[0].time, noon());
}

//! What a model gets on each page.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mica_domain::profile::{Audience, RunMode, Surface};
use mica_domain::section::OrgView;
use mica_domain::{DomainHooks, Prompt, Surroundings, resolve};

use super::*;
use crate::store::tests::{filled, now};

pub(crate) fn station(store: &crate::Store) -> Station {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    Station::new(store.clone(), "member:maya", Arc::new(now), zone)
}

fn names(desk: &Desk, page: Option<&str>) -> Vec<String> {
    let resolved = resolve(&desk.capabilities(), page, &|_| true).unwrap();
    resolved.tools.iter().map(|tool| tool.spec().name.clone()).collect()
}

#[test]
fn the_tools_of_each_page() {
    let (_folder, store) = filled();
    let desk = Desk::new(station(&store)).unwrap();
    let global = [
        "add_note",
        "bulk_update_records",
        "create_record",
        "create_task",
        "get_record",
        "list_members",
        "list_tasks",
        "plan_create",
        "plan_update_step",
        "search_articles",
        "search_records",
        "set_variable",
        "suggest_replies",
        "update_record",
    ];
    let with = |more: &[&str]| -> Vec<String> {
        let mut all: Vec<String> = global.iter().chain(more).map(|name| (*name).to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(names(&desk, None), with(&[]));
    assert_eq!(names(&desk, Some("records")), with(&[]));
    assert_eq!(names(&desk, Some("nowhere")), with(&[]));
    assert_eq!(
        names(&desk, Some("inbox")),
        with(&["find_threads", "get_thread", "reply_to_thread", "update_thread"])
    );
    assert_eq!(names(&desk, Some("kb")), with(&["edit_article", "get_article", "reindex_articles"]));
    assert_eq!(
        names(&desk, Some("agents")),
        [
            "get_eval_run",
            "get_record",
            "list_members",
            "list_tasks",
            "plan_create",
            "plan_update_step",
            "run_eval_suite",
            "search_articles",
            "search_records",
            "set_agent_prompt",
            "set_variable",
            "suggest_replies"
        ]
    );
}

#[test]
fn the_product_has_these_tools_and_no_others() {
    let (_folder, store) = filled();
    let desk = Desk::new(station(&store)).unwrap();
    let mut all: Vec<String> = desk
        .capabilities()
        .iter()
        .flat_map(|group| &group.tools)
        .map(|tool| tool.spec().name.clone())
        .collect();
    all.sort();
    let expect = [
        "add_note",
        "bulk_update_records",
        "create_record",
        "create_task",
        "edit_article",
        "find_threads",
        "get_article",
        "get_eval_run",
        "get_record",
        "get_thread",
        "list_members",
        "list_tasks",
        "plan_create",
        "plan_update_step",
        "reindex_articles",
        "reply_to_thread",
        "run_eval_suite",
        "search_articles",
        "search_records",
        "set_agent_prompt",
        "set_variable",
        "suggest_replies",
        "update_record",
        "update_thread",
    ];
    assert_eq!((all.len(), all), (24, expect.map(str::to_owned).to_vec()));
}

#[test]
fn no_prompt_names_a_tool_that_is_not_there() {
    let (_folder, store) = filled();
    let desk = Desk::new(station(&store)).unwrap();
    let capabilities = desk.capabilities();
    let all: Vec<String> =
        capabilities.iter().flat_map(|group| &group.tools).map(|tool| tool.spec().name.clone()).collect();
    // On every page, with every tool left out in turn: what is left says nothing untrue.
    for page in std::iter::once(None).chain(Desk::PAGES.iter().copied().map(Some)) {
        for missing in std::iter::once("").chain(all.iter().map(String::as_str)) {
            let resolved = resolve(&capabilities, page, &|spec| spec.name != missing).unwrap();
            for mode in [RunMode::Interactive, RunMode::Autonomous] {
                let profile = Profile { mode, ..Profile::default() };
                let view = OrgView { tools: &resolved.names, profile, rights: &Rights::All };
                Prompt::of(&desk, &resolved, &view).unwrap();
            }
        }
    }
}

#[test]
fn customers_are_shown_nothing_of_the_desk() {
    let (_folder, store) = filled();
    let desk = Desk::new(station(&store).seeing(Sight::Customer)).unwrap();
    for page in [None, Some("inbox"), Some("agents")] {
        assert_eq!(names(&desk, page), ["get_article", "search_articles"], "{page:?}");
    }
    let profile =
        Profile { mode: RunMode::Autonomous, surface: Surface::Thread, audience: Audience::Customer };
    let resolved = resolve(&desk.capabilities(), None, &|_| true).unwrap();
    let view = OrgView { tools: &resolved.names, profile, rights: &Rights::none() };
    let prompt = Prompt::of(&desk, &resolved, &view).unwrap().system().join("\n");
    for hidden in ["Maya", "member:", "Priya", "# The desk"] {
        assert!(!prompt.contains(hidden), "{hidden} is in\n{prompt}");
    }
}

#[test]
fn a_thread_is_filled_in_and_a_record_never_is() {
    let (_folder, store) = filled();
    let desk: Arc<dyn Domain> = Arc::new(Desk::new(station(&store)).unwrap());
    let open = Surroundings::on("inbox")
        .with(mica_domain::refs::Ref::open("thread", "thread:1001"))
        .with(mica_domain::refs::Ref::open("record", "company:initech"));
    let hooks = DomainHooks::new(Arc::clone(&desk), &open);
    let state = hooks.snapshot();
    let filled = |tool: &str| -> Vec<(String, serde_json::Value)> {
        let inputs = desk.capabilities().into_iter().flat_map(|group| group.inputs);
        let inputs: Vec<_> = inputs.filter(|input| input.tool == tool).collect();
        inputs
            .iter()
            .filter_map(|input| Some((input.argument.clone(), desk.prefill(input, &state)?)))
            .collect()
    };
    assert_eq!(filled("reply_to_thread"), [("thread".to_owned(), serde_json::json!("thread:1001"))]);
    assert_eq!(filled("update_record"), []);
}

#[test]
fn every_tool_that_asks_can_be_captured_and_says_what_it_needs() {
    let (_folder, store) = filled();
    let desk = Desk::new(station(&store)).unwrap();
    let acts = Desk::acts();
    for tool in desk.capabilities().iter().flat_map(|group| &group.tools) {
        let spec = tool.spec();
        let act = acts.iter().find(|act| act.tool == spec.name);
        if spec.approval == mica_agent::Approval::Needed {
            let act = act.unwrap();
            assert!(act.mint.is_some() && act.needs.is_some() && act.digest.is_some(), "{}", spec.name);
            for argument in &act.amendable {
                assert!(spec.schema["properties"].get(argument).is_some(), "{}.{argument}", spec.name);
            }
        }
        if spec.access != mica_agent::Access::Read {
            assert_ne!(spec.effect, mica_agent::Effect::Unsafe, "{}", spec.name);
        }
    }
}

#[test]
fn the_cards_that_come_along() {
    let (_folder, store) = filled();
    let kinds = Desk::new(station(&store)).unwrap().cards();
    let cards: Vec<&str> = kinds.cards.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(
        cards,
        ["record-card", "record-list", "thread-list", "task-list", "draft-list", "plan-steps", "table"]
    );
    let things: Vec<&str> = kinds.things.iter().map(|thing| thing.name.as_str()).collect();
    assert_eq!(things, ["record", "thread", "task", "draft", "article", "member"]);
}

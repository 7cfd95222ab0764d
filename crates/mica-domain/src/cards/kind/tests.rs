use mica_context::section::ToolNames;
use serde_json::json;

use super::*;
use crate::cards::fixture;
use crate::cards::probe::Form;

fn names(names: &[&str]) -> ToolNames {
    names.iter().copied().collect()
}

#[test]
fn kinds_are_data() {
    let kinds = fixture::kinds();
    let written = serde_json::to_value(&kinds).unwrap();
    assert_eq!(serde_json::from_value::<Kinds>(written).unwrap(), kinds);
    let built = Kinds::default()
        .thing(Thing::new("task", "title").detail("due").from_tool("list_tasks"))
        .card(Kind::many("task-list", "task", "tasks"))
        .probe(
            Probe::new("task", "id")
                .id_like(Form::Prefix("task_".to_owned()))
                .with("title")
                .keeping("title")
                .keeping("due"),
        );
    assert!(built.ready().is_ok());
}

#[test]
fn mistakes_of_a_product() {
    let thing = || Kinds::default().thing(Thing::new("task", "title"));
    let probe = || Probe::new("task", "id").with("title").keeping("title");
    let data = |schema, example| Kinds::default().card(Kind::data("table", schema, example, ""));
    for (kinds, expected) in [
        (
            Kinds::default().thing(Thing::new("Task", "title")),
            "\"Task\" is no name for a thing: use small letters, digits and \"-\", a letter first",
        ),
        (thing().thing(Thing::new("task", "name")), "there are two things named task"),
        (
            thing().card(Kind::one("t", "task", "")).card(Kind::many("t", "task", "")),
            "there are two cards named t",
        ),
        (thing().card(Kind::one("r", "record", "")), "the card r is about record, which is no thing"),
        (thing().probe(Probe::new("record", "id")), "a probe is about record, which is no thing"),
        (
            thing().probe(Probe::new("task", "id").keeping("title")),
            "the probe for task: everything with an id would be one: say what else must be there",
        ),
        (
            thing().probe(Probe::new("task", "id").with("title")),
            "the probe for task: a snapshot has one field at least and 32 at most",
        ),
        (
            thing().probe(probe().keeping_as("x", "a..b")),
            "the probe for task: \"a..b\" is not understood at character 3: a key is expected, not '.'",
        ),
        (
            Kinds::default().thing(Thing::new("task", "title").detail("due")).probe(probe()),
            "the line of task says due, which no probe for it keeps",
        ),
        (
            data(json!({ "type": "object", "required": ["a"] }), json!({})),
            "the card table: its example does not follow its schema: /a: is required, but missing",
        ),
        (
            data(json!({ "type": 1 }), json!({})),
            "the card table: the schema is not valid at #/type: 1 is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
    ] {
        assert_eq!(kinds.ready().unwrap_err().to_string(), expected);
    }
}

#[test]
fn what_is_offered_follows_the_tools() {
    let kinds = fixture::kinds();
    for (tools, cards, things) in [
        (vec![], vec!["task-list", "table"], vec!["task", "draft"]),
        (
            vec!["get_record"],
            vec!["record-card", "record-list", "task-list", "table"],
            vec!["record", "task", "draft"],
        ),
        (
            vec!["find_threads", "list_drafts"],
            vec!["thread-list", "task-list", "draft-list", "table"],
            vec!["thread", "task", "draft"],
        ),
    ] {
        let tools = names(&tools);
        let offered: Vec<&str> = kinds.offered(&tools).map(|card| card.name.as_str()).collect();
        let linked: Vec<&str> = kinds.linked(&tools).map(|thing| thing.name.as_str()).collect();
        assert_eq!((offered, linked), (cards, things));
    }
    assert_eq!(Kinds::default().catalogue(&names(&["get_record"])), None);
}

#[test]
fn the_catalogue_speaks_of_what_is_offered_only() {
    let text = fixture::kinds().catalogue(&names(&["get_record"])).unwrap();
    let listed: Vec<&str> =
        text.lines().filter(|line| line.starts_with("- ") || line.starts_with("  ")).collect();
    assert_eq!(
        listed,
        [
            "- `mica:record-card`: one record in full",
            "  { \"id\": \"ID\" }",
            "- `mica:record-list`: records that were found",
            "  { \"ids\": [\"ID\", \"ID\"] }",
            "- `mica:task-list`",
            "  { \"ids\": [\"ID\", \"ID\"] }",
            "- `mica:table`: figures to compare",
            "  {\"columns\":[\"Name\"],\"rows\":[[\"ACME\"]]}",
        ]
    );
    assert!(text.ends_with("[its name](mica://THING/ID), where THING is record, task or draft."), "{text}");
    // Nothing that the catalogue shows is a card itself.
    let pieces = crate::cards::Reader::all(fixture::ready(), &text);
    assert!(pieces.iter().all(|piece| matches!(piece, crate::cards::Piece::Text(_))), "{pieces:?}");
}

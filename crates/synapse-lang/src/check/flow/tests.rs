//! Where small flows go.

use super::*;
use crate::syntax::Document;

fn check(steps: &str, expected: &str) {
    let text = format!(
        "<definitions xmlns=\"http://ws.apache.org/ns/synapse\"><sequence name=\"main\">{steps}</sequence>\
         <sequence name=\"Answer\"><respond/></sequence>\
         <sequence name=\"Round\"><sequence key=\"Round\"/></sequence></definitions>"
    );
    let document = Document::parse(text);
    let tree = Tree::of(&document, Model::get());
    let outcome = Flows::new(None).named(&tree, RefKind::Sequence, "main");
    let words = [
        (outcome.goes_on, "on"),
        (outcome.answers, "answers"),
        (outcome.turns, "turns"),
        (outcome.unknown, "unknown"),
    ];
    let said: Vec<&str> = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
    assert_eq!(said.join(" "), expected, "{steps}");
}

#[test]
fn steps_end_flows() {
    check("<log/>", "on");
    check("<log/><respond/>", "answers");
    check("<drop/>", "answers");
    check("<loopback/>", "answers turns");
    check("<throwError/>", "answers");
    check("<send><endpoint key=\"E\"/></send>", "answers turns");
    check("<store messageStore=\"S\"/>", "on answers");
    check("<http.get configKey=\"C\"/>", "on");
    check("<class name=\"a.B\"/>", "on unknown");
}

#[test]
fn branches_end_only_together() {
    check("<filter xpath=\"a\"><then><respond/></then></filter>", "on answers");
    check("<filter xpath=\"a\"><then><respond/></then><else><drop/></else></filter>", "answers");
    check("<filter xpath=\"a\"><respond/></filter>", "on answers");
    check("<switch source=\"a\"><case regex=\"a\"><respond/></case></switch>", "on answers");
    check(
        "<switch source=\"a\"><case regex=\"a\"><respond/></case><default><drop/></default></switch>",
        "answers",
    );
    check("<validate><schema key=\"s\"/><on-fail><respond/></on-fail></validate>", "on answers");
}

#[test]
fn named_sequences_are_followed() {
    check("<sequence key=\"Answer\"/>", "answers");
    check("<filter xpath=\"a\"><then sequence=\"Answer\"/><else><respond/></else></filter>", "answers");
    check("<sequence key=\"Round\"/>", "on unknown");
    check("<sequence key=\"Elsewhere\"/>", "on unknown");
    check("<sequence key=\"{$ctx:x}\"/>", "on unknown");
    check("<clone><target sequence=\"Answer\"/></clone>", "on answers");
    check("<iterate expression=\"a\"><target><sequence><log/></sequence></target></iterate>", "on");
}

#[test]
fn joined_messages_go_on() {
    check("<aggregate><onComplete expression=\"a\"><respond/></onComplete></aggregate>", "on answers");
    check("<conditionalRouter continueAfter=\"true\"/>", "on");
    check("<conditionalRouter/>", "answers unknown");
}

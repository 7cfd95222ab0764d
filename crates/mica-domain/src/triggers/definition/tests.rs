//! Definitions: what can be said, and what is said of mistakes.

use super::*;
use crate::triggers::filter::FieldKind;

fn known() -> Known {
    Known {
        agents: ["triage".to_owned()].into(),
        tools: ["tag_thread".to_owned(), "reply".to_owned()].into(),
        events: EventKinds::default().with("message.received", [("channel", FieldKind::Text)]),
    }
}

const GOOD: &str = r#"
[[trigger]]
id = "nightly"
agent = "triage"
instructions = "Look for threads nobody answered."
owner = "ann"
on = { kind = "schedule", cron = "0 2 * * *", zone = "Europe/Berlin", missed = "once" }

[[trigger]]
id = "inbound"
agent = "triage"
instructions = "Sort it."
at_once = 3
autonomy = { tools = { tag_thread = "auto" } }

[trigger.on]
kind = "event"
event = "message.received"
filter = [{ field = "channel", one_of = ["mail", "chat"] }]

[[trigger]]
id = "chat"
agent = "triage"
instructions = "Answer."
enabled = false
on = { kind = "direct_message" }
"#;

#[test]
fn what_can_be_said() {
    let set = TriggerSet::from_toml(GOOD, &known()).unwrap();
    assert_eq!(set.all().len(), 3);
    let inbound = set.get("inbound").unwrap();
    let expected = Autonomy::all(ApprovalMode::Capture).with("tag_thread", ApprovalMode::Auto);
    assert_eq!((inbound.autonomy(), inbound.profile()), (expected, Profile::AUTONOMOUS));
    let chat = set.get("chat").unwrap();
    assert_eq!(chat.autonomy(), Autonomy::all(ApprovalMode::Pause));
    assert_eq!((chat.profile().mode, chat.enabled), (RunMode::Interactive, false));
    assert!(set.schedule("nightly").is_some() && set.schedule("inbound").is_none());

    let json = serde_json::json!({ "trigger": set.all() }).to_string();
    assert_eq!(TriggerSet::from_json(&json, &known()).unwrap().all(), set.all());
}

#[test]
fn all_mistakes_are_said_at_once() {
    let text = r#"
        [[trigger]]
        id = "a"
        agent = "triag"
        instructions = " "
        on = { kind = "schedule", cron = "0 25 * * *", zone = "Mars" }
        [[trigger]]
        id = "a"
        agent = "triage"
        instructions = "x"
        at_once = 0
        owner = "ann"
        autonomy = { tools = { send = "auto" } }
        on = { kind = "mention" }
        [[trigger]]
        id = "c"
        agent = "triage"
        instructions = "x"
        on = { kind = "event", event = "message.received", filter = [{ field = "chanel", is = "mail" }] }
    "#;
    let problems = TriggerSet::from_toml(text, &known()).unwrap_err().to_string();
    assert_eq!(
        problems,
        "trigger \"a\": there is no agent \"triag\"; there are: triage\n\
         trigger \"a\": it needs instructions: what should the agent do?\n\
         trigger \"a\": zone \"Mars\": there is no such time zone; an example is \"Europe/Berlin\"\n\
         trigger \"a\": another one has the same id\n\
         trigger \"a\": at_once is 0: it would never run; say enabled = false for that\n\
         trigger \"a\": it runs for whoever causes it (mention): it has no owner\n\
         trigger \"a\": there is no tool \"send\"; there are: reply, tag_thread\n\
         trigger \"c\": there is no field \"chanel\"; there are: channel"
    );
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let problem = |text: &str| TriggerSet::from_toml(text, &known()).unwrap_err().to_string();
    let unknown = problem("[[trigger]]\nid = \"a\"\nagnet = \"triage\"\n");
    assert!(unknown.contains("line 3") && unknown.contains("unknown field `agnet`"), "{unknown}");
    let kind =
        problem("[[trigger]]\nid = \"a\"\nagent = \"b\"\ninstructions = \"c\"\non = { kind = \"timer\" }\n");
    assert!(kind.contains("unknown variant `timer`, expected one of `schedule`"), "{kind}");
}

//! Who would have to be asked, and what happens then.

use std::sync::Arc;

use mica_agent::hooks::{Gated, Hooks as _};
use mica_agent::{Access, Approval, Args, Context, ToolSpec, Verdict};
use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use mica_ai::{Dialect, Model};
use mica_testkit::{Scenario, ScriptedModel};
use serde_json::{Value, json};

use super::*;
use crate::act::Act;
use crate::rights::Rights;

fn spec(approval: Approval) -> ToolSpec {
    let mut spec = ToolSpec::new("send", "Sends.", json!({ "type": "object" }));
    (spec.label, spec.approval, spec.access) = ("Send".to_owned(), approval, Access::Write);
    spec
}

fn args(value: Value) -> Args {
    let Value::Object(args) = value else { panic!("{value} is no object") };
    args
}

/// Asks when it is sent; a draft is not asked about. Breaks over numbers.
fn act() -> Act {
    Act::of("send").asking_when(|args| match args.get("mode") {
        Some(Value::String(mode)) => Ok(mode == "send"),
        Some(Value::Number(_)) => panic!("no numbers"),
        Some(_) => Err("mode is no text".to_owned()),
        None => Ok(true),
    })
}

#[test]
fn whoever_cannot_say_asks() {
    let judge = Judge::new([act()], Autonomy::default());
    let check = |value: Value, expect: Option<Option<&str>>| {
        let expect = expect.map_or(Asked::No, |reason| Asked::Yes { reason: reason.map(str::to_owned) });
        assert_eq!(judge.asked(&spec(Approval::NotNeeded), &args(value.clone())), expect, "{value}");
        assert_eq!(judge.asked(&spec(Approval::Needed), &args(value.clone())), expect, "{value}");
    };
    check(json!({ "mode": "draft" }), None);
    check(json!({ "mode": "send" }), Some(None));
    check(json!({}), Some(None));
    check(
        json!({ "mode": [] }),
        Some(Some("Send could not say whether it must be asked about: mode is no text")),
    );
    check(
        json!({ "mode": 1 }),
        Some(Some("Send could not say whether it must be asked about: the check broke")),
    );

    let plain = Judge::new([], Autonomy::default());
    assert_eq!(plain.asked(&spec(Approval::NotNeeded), &Args::new()), Asked::No);
    assert_eq!(plain.asked(&spec(Approval::Needed), &Args::new()), Asked::Yes { reason: None });

    // A draft that is cut off is not a draft.
    let raw = |text: &str| judge.asked_raw(&spec(Approval::Needed), &Arguments::from_text(text));
    assert_eq!(raw(r#"{"mode":"draft"}"#), Asked::No);
    assert!(raw(r#"{"mode":"draft""#).is_yes());
    assert!(
        Judge::new([Act::of("send").asking_when(|args| Ok(!args.is_empty()))], Autonomy::default())
            .asked_raw(&spec(Approval::Needed), &Arguments::from_text("{"))
            .is_yes()
    );
}

async fn verdict(gate: &AutonomyGate, spec: &ToolSpec, value: Value) -> Verdict {
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let context = Context::new(Arc::new(ScriptedModel::new(Scenario::new())), model);
    let call = ToolCall { id: "c".into(), name: spec.name.clone(), arguments: Arguments::from_value(&value) };
    gate.gate(&mut Gated { call: &call, spec, args: args(value) }, &context).await
}

#[tokio::test]
async fn what_happens_by_mode_and_right() {
    let check = async |mode, rights: &[&str], approval, value: Value, expect: &str| {
        let act = act().needing("mail.send");
        let judge = Arc::new(Judge::new([act], Autonomy::all(mode)));
        let gate = AutonomyGate::new(judge, Rights::of(rights.iter().copied()));
        let made = match verdict(&gate, &spec(approval), value.clone()).await {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Allow => "allow".to_owned(),
            Verdict::Ask { reason, .. } => format!("ask: {reason}"),
            Verdict::Deny { reason, .. } => format!("deny: {}", reason.split(". ").next().unwrap()),
            Verdict::Offer { .. } => "offer".to_owned(),
        };
        assert_eq!(made, expect, "{mode:?} {rights:?} {approval:?} {value}");
    };
    use Approval::{Needed, NotNeeded};
    use ApprovalMode::{Auto, Capture, Pause};
    let (send, draft, odd) = (json!({ "mode": "send" }), json!({ "mode": "draft" }), json!({ "mode": 1 }));
    let may = ["mail.send"];
    let broke = "ask: Send could not say whether it must be asked about: the check broke";
    let lacks = "ask: Send needs the right mail.send, which this run does not have";
    let denied = "deny: send needs the right mail.send, which this run does not have";
    for mode in [Pause, Capture, Auto] {
        // Nobody is asked: by the arguments, whatever the specification says.
        check(mode, &may, NotNeeded, draft.clone(), "pass").await;
        check(mode, &may, Needed, draft.clone(), "allow").await;
        check(mode, &[], NotNeeded, draft.clone(), denied).await;
    }
    check(Pause, &may, Needed, send.clone(), "pass").await;
    check(Pause, &may, NotNeeded, send.clone(), "ask: Send asks before it runs with these arguments").await;
    check(Pause, &may, NotNeeded, odd.clone(), broke).await;
    check(Pause, &[], NotNeeded, send.clone(), "ask: Send asks before it runs with these arguments").await;
    check(Auto, &may, Needed, send.clone(), "allow").await;
    check(Auto, &may, Needed, odd.clone(), "allow").await;
    check(Auto, &[], Needed, send.clone(), lacks).await;
    let nowhere = "deny: send needs a person's approval, and nothing here can keep it for them";
    check(Capture, &may, Needed, send.clone(), nowhere).await;
    check(Capture, &may, Needed, odd, nowhere).await;
}

#[test]
fn by_tool_or_as_usual() {
    let autonomy = Autonomy::all(ApprovalMode::Auto).with("send", ApprovalMode::Capture);
    assert_eq!((autonomy.of("send"), autonomy.of("tag")), (ApprovalMode::Capture, ApprovalMode::Auto));
    assert!(autonomy.captures());
    assert!(!Autonomy::default().captures());
    let read: Autonomy =
        serde_json::from_value(json!({ "usually": "pause", "tools": { "tag": "auto" } })).unwrap();
    assert_eq!(read, Autonomy::default().with("tag", ApprovalMode::Auto));
}

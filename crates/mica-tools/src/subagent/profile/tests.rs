//! Which profiles come along, what settings change, and which tools each has.

use serde_json::json;

use super::*;

fn spec(name: &str, access: Access, effect: Effect) -> ToolSpec {
    let mut spec = ToolSpec::new(name, "does it", json!({ "type": "object" }));
    (spec.access, spec.effect) = (access, effect);
    spec
}

fn with(settings: &str) -> Result<Profiles, String> {
    Profiles::with(&settings.parse().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn two_come_along() {
    let profiles = Profiles::builtin().unwrap();
    assert_eq!(profiles.names(), ["explore", "general"]);
    let explore = profiles.get("explore").unwrap();
    assert_eq!((explore.read_only, explore.model.clone(), explore.max_turns), (true, ModelWish::Small, 30));
    assert!(explore.prompt.starts_with("You are a subagent."));
}

#[test]
fn settings_count_value_by_value() {
    let profiles = with(
        "[explore]\nmax_turns = 6\nmodel = \"same\"\n[general]\ndisabled = true\n\
         [docs]\ndescription = \"reads documents\"\nprompt = \"You read.\"\nmodel = \"tiny\"\ntools = [\"file_read\", \"web_*\"]\n",
    );
    let profiles = profiles.unwrap();
    assert_eq!(profiles.names(), ["docs", "explore"]);
    let explore = profiles.get("explore").unwrap();
    assert_eq!((explore.max_turns, &explore.model, explore.read_only), (6, &ModelWish::Same, true));
    let docs = profiles.get("docs").unwrap();
    assert_eq!((docs.max_turns, &docs.model), (30, &ModelWish::Named("tiny".to_owned())));
}

#[test]
fn what_is_wrong_is_said() {
    for (settings, expected) in [
        ("[a]\nprompt = \"\"\n", "the subagent \"a\" cannot be used: missing field `description`"),
        (
            "[explore]\nmax_turns = 0\n",
            "the subagent \"explore\" cannot be used: `max_turns` is 0; it goes from 1 to 200",
        ),
        (
            "[explore]\ntools = \"some\"\n",
            "the subagent \"explore\" cannot be used: \"some\" is neither \"all\" nor a list of names",
        ),
        (
            "explore = 3\n",
            "the subagent \"explore\" cannot be used: write its settings under [subagents.explore]",
        ),
        (
            "[\"a b\"]\ndescription = \"x\"\nprompt = \"\"\n",
            "the subagent \"a b\" cannot be used: a name has small letters, digits, `-` and `_` only",
        ),
    ] {
        assert_eq!(with(settings), Err(expected.to_owned()), "{settings}");
    }
}

#[test]
fn tools_are_those_of_the_profile_and_never_some() {
    let profiles =
        with("[named]\ndescription = \"x\"\nprompt = \"\"\ntools = [\"file_*\", \"create_subagent\"]\n");
    let profiles = profiles.unwrap();
    let has = |profile: &str, name: &str, access, effect| {
        profiles.get(profile).unwrap().allows(&spec(name, access, effect))
    };
    for (name, access, effect, expected) in [
        ("grep", Access::Read, Effect::Pure, [true, true, false]),
        ("file_write", Access::Write, Effect::Idempotent, [false, true, true]),
        ("file_read", Access::Read, Effect::Pure, [true, true, true]),
        ("kill_task", Access::Read, Effect::Idempotent, [false, true, false]),
        ("create_subagent", Access::Write, Effect::Unsafe, [false, false, false]),
        ("ask_user_question", Access::Read, Effect::Pure, [false, false, false]),
        ("exit_plan_mode", Access::Read, Effect::Pure, [false, false, false]),
    ] {
        let got = ["explore", "general", "named"].map(|profile| has(profile, name, access, effect));
        assert_eq!(got, expected, "{name}");
    }
}

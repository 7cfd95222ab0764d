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
        (
            "[docs]\ndescription = \"x\"\nprompt = \"\"\n[Docs]\nmax_turns = 3\n",
            "the subagent \"Docs\" cannot be used: \"docs\" is the same name; write both under one",
        ),
    ] {
        assert_eq!(with(settings), Err(expected.to_owned()), "{settings}");
    }
    let broken = Profiles::layered(Some("[a"), &Table::new()).unwrap_err().to_string();
    assert!(broken.starts_with("the subagent \"of the pack\" cannot be used: "), "{broken}");
}

const PACK: &str = r#"
[explore]
prompt = "You know the pack."
tools = ["file_read"]
max_turns = 20

[fast_lookup]
description = "looks one thing up"
prompt = "Look it up."
max_turns = 6

[mapper]
description = "writes mappings"
prompt = "Write it."
tools = []
max_turns = 1
internal = true
"#;

#[test]
fn a_pack_stands_between_what_comes_along_and_settings() {
    let settings =
        "[explore]\nmax_turns = 12\n[FastLookup]\nmodel = \"small\"\n[Mapper]\nprompt = \"Mine.\"\n";
    let profiles = Profiles::layered(Some(PACK), &settings.parse().unwrap()).unwrap();
    let shown = |profile: &Profile| {
        let layers: Vec<String> = profile.layers.iter().map(Layer::to_string).collect();
        format!("{}: {} {} {}", profile.name, profile.prompt, profile.max_turns, layers.join(" < "))
    };
    let rest: Vec<String> = profiles.all().filter(|it| it.name != "general").map(shown).collect();
    assert_eq!(
        rest,
        [
            "explore: You know the pack. 12 built in < pack < settings",
            "fast_lookup: Look it up. 6 pack < settings",
            "mapper: Mine. 1 pack < settings",
        ]
    );
    // What nobody says of it stays as it came along.
    let explore = profiles.get("explore").unwrap();
    assert_eq!((explore.read_only, &explore.model), (true, &ModelWish::Small));
    assert_eq!(explore.tools, ToolWish::Named(vec!["file_read".to_owned()]));
    assert_eq!(profiles.get("fast_lookup").unwrap().model, ModelWish::Small);
}

#[test]
fn names_are_forgiving() {
    let profiles = Profiles::layered(Some(PACK), &Table::new()).unwrap();
    for (name, expected) in [
        ("fast_lookup", Some("fast_lookup")),
        ("FastLookup", Some("fast_lookup")),
        ("fast-lookup", Some("fast_lookup")),
        ("Explore", Some("explore")),
        ("fast_look", None),
        ("mapper", None),
    ] {
        assert_eq!(profiles.get(name).map(|profile| profile.name.as_str()), expected, "{name}");
    }
}

#[test]
fn what_is_internal_is_not_offered() {
    let profiles = Profiles::layered(Some(PACK), &Table::new()).unwrap();
    assert_eq!(profiles.names(), ["explore", "fast_lookup", "general"]);
    assert_eq!(profiles.internal("Mapper").map(|profile| profile.max_turns), Some(1));
    assert_eq!(profiles.internal("explore"), None);
    let mapper = profiles.internal("mapper").unwrap();
    assert!(!mapper.allows(&spec("file_read", Access::Read, Effect::Pure)));
    // Settings may offer it, and take the others away.
    let settings = "[mapper]\ninternal = false\n[explore]\ndisabled = true\n[general]\ndisabled = true\n\
                    [fast_lookup]\ndisabled = true\n";
    let profiles = Profiles::layered(Some(PACK), &settings.parse().unwrap()).unwrap();
    assert_eq!((profiles.names(), profiles.is_empty()), (vec!["mapper"], false));
    let settings = "[explore]\ndisabled = true\n[general]\ndisabled = true\n[fast_lookup]\ndisabled = true\n";
    let profiles = Profiles::layered(Some(PACK), &settings.parse().unwrap()).unwrap();
    assert!(profiles.is_empty() && profiles.internal("mapper").is_some());
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

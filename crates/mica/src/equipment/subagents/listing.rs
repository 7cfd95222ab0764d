//! The kinds of subagents, for people.

use std::fmt::Write as _;

use mica_tools::subagent::{ModelWish, Profile, Profiles, ToolWish};

/// A line for each: what it is for, what it has, and who says so.
pub fn listing(profiles: &Profiles) -> String {
    let width = profiles.all().map(|profile| profile.name.len()).max().unwrap_or_default();
    let mut out = String::new();
    for profile in profiles.all() {
        let who = if profile.internal { "only tools send it; " } else { "" };
        let _ = writeln!(out, "{:<width$}  {}", profile.name, profile.description);
        let _ = writeln!(out, "{:<width$}  ({who}{})", "", facts(profile));
    }
    if out.is_empty() { "there are no subagents here".to_owned() } else { out.trim_end().to_owned() }
}

fn facts(profile: &Profile) -> String {
    let model = match &profile.model {
        ModelWish::Same => "the same model",
        ModelWish::Small => "the small model",
        ModelWish::Named(name) => name,
    };
    let tools = match &profile.tools {
        ToolWish::All if profile.read_only => "tools that only look".to_owned(),
        ToolWish::All => "all tools".to_owned(),
        ToolWish::Named(names) if names.is_empty() => "no tools".to_owned(),
        ToolWish::Named(names) => names.join(" "),
    };
    let turns = if profile.max_turns == 1 { "turn" } else { "turns" };
    let layers: Vec<String> = profile.layers.iter().map(ToString::to_string).collect();
    format!("{tools}; {model}; {} {turns}; {}", profile.max_turns, layers.join(" < "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_name_only_tools_that_their_profiles_ask_for() {
        let profiles = Profiles::layered(Some(pack_mi::MiPack::PROFILES), &toml::Table::new()).unwrap();
        let names: Vec<&str> = profiles.all().map(|profile| profile.name.as_str()).collect();
        assert_eq!(names, ["compact", "data_mapper", "explore", "general", "synapse_context"]);
        for profile in profiles.all() {
            let named = profile.prompt.split("[[").skip(1).map(|rest| rest.split_once("]]").unwrap().0);
            for name in named {
                let asked =
                    matches!(&profile.tools, ToolWish::Named(names) if names.iter().any(|it| it == name));
                assert!(asked, "{} names {name}", profile.name);
            }
        }
        assert_eq!(profiles.names(), ["explore", "general", "synapse_context"]);
        for name in ["data_mapper", "compact"] {
            let profile = profiles.internal(name).unwrap();
            assert_eq!((&profile.tools, profile.max_turns), (&ToolWish::Named(Vec::new()), 1), "{name}");
        }
    }

    #[test]
    fn each_says_what_it_has_and_whose_it_is() {
        let pack =
            "[map]\ndescription = \"maps\"\nprompt = \"\"\ntools = []\nmax_turns = 1\ninternal = true\n";
        let settings = "[general]\nmodel = \"tiny\"\n[docs]\ndescription = \"reads\"\nprompt = \"\"\ntools = [\"grep\", \"web_*\"]\n\
                        [explore]\ndescription = \"finds\"\n";
        let profiles = Profiles::layered(Some(pack), &settings.parse().unwrap()).unwrap();
        let listed = listing(&profiles);
        let mut lines: Vec<&str> = listed.lines().collect();
        lines[4] = "general";
        assert_eq!(
            lines,
            [
                "docs     reads",
                "         (grep web_*; the same model; 30 turns; settings)",
                "explore  finds",
                "         (tools that only look; the small model; 30 turns; built in < settings)",
                "general",
                "         (all tools; tiny; 40 turns; built in < settings)",
                "map      maps",
                "         (only tools send it; no tools; the same model; 1 turn; pack)",
            ]
        );
    }
}

//! What the model is told, by the tools that are there and by the runtime.

use mica_context::tokens;
use mica_domain::{Profile, StaticView};

use super::*;

const ALL: &[&str] = &[
    "file_read",
    "file_write",
    "file_edit",
    "grep",
    "glob",
    "list_dir",
    "validate_code",
    "apply_code_action",
    "load_context_reference",
    "search_references",
    "get_connector_definitions",
    "add_or_remove_connector",
    "build_project",
    "run_unit_tests",
    "server_management",
    "read_server_logs",
    "shell",
    "todo_write",
];

fn told(names: &[&str], runtime: Option<Version>) -> String {
    let tools = names.iter().copied().collect();
    let view = StaticView { tools: &tools, profile: Profile::default() };
    let org = org(&tools, runtime, &Facts::default(), &Instructions::default());
    let said = statics().iter().filter_map(|one| one.said(&view)).collect::<Vec<_>>();
    let said = said.into_iter().chain(org.iter().filter_map(|one| one.said(&view)));
    said.map(|one| one.text).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_line_about_a_missing_tool_is_not_said() {
    let whole = told(ALL, None);
    assert!(!whole.contains("[[") && !whole.contains("]]"), "marks are for us");
    for name in &ALL[6..16] {
        assert!(whole.contains(&format!("`{name}`")), "{name} is spoken of");
        let others: Vec<&str> = ALL.iter().copied().filter(|other| other != name).collect();
        assert!(!told(&others, None).contains(name), "{name} is not there");
    }
}

#[test]
fn those_who_only_look_are_told_less() {
    let looks = told(&["file_read", "grep", "glob"], None);
    assert!(looks.contains("# Where things are") && !looks.contains("# How to work"), "{looks}");
    assert!(!looks.contains("# Expressions"));
}

#[test]
fn the_guide_switches_with_the_runtime() {
    let has_expressions = |runtime| told(ALL, runtime).contains("# Expressions: `${…}`");
    assert!(has_expressions(None) && has_expressions(Some(Version::new(4, 4, 0))));
    assert!(!has_expressions(Some(Version::new(4, 3, 9))));
    assert!(told(ALL, Some(Version::new(4, 3, 0))).contains("older than 4.4"));
}

#[test]
fn the_prompt_stays_small() {
    let tokens = tokens::of_text(&told(ALL, None));
    println!("the prompt: {tokens} tokens");
    assert!(tokens < 6_000, "{tokens}");
}

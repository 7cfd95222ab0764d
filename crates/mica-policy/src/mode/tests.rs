//! Modes: the whole table, the texts, and the plan folder.

use std::path::PathBuf;

use mica_agent::{Access, Args, Effect, ToolSpec, Verdict};
use serde_json::json;

use super::*;

const ACCESSES: [Access; 3] = [Access::Read, Access::Write, Access::Exclusive];
const EFFECTS: [Effect; 5] =
    [Effect::Pure, Effect::Idempotent, Effect::Keyed, Effect::Transactional, Effect::Unsafe];

fn spec(name: &str, access: Access, effect: Effect) -> ToolSpec {
    ToolSpec { access, effect, ..ToolSpec::new(name, "", json!({})) }
}

fn table() -> ModeTable {
    ModeTable::parse(include_str!("modes.toml")).unwrap()
}

fn folder() -> PlanFolder {
    let normalise = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    PlanFolder::new("/plans/1", normalise).writer("file_write", "path")
}

fn at(path: &str) -> Args {
    Args::from_iter([("path".to_owned(), json!(path))])
}

fn told(mode: Mode, spec: &ToolSpec, args: &Args) -> String {
    match table().judge(mode, spec, args, Some(&folder())) {
        Verdict::Deny { reason, rule } => format!("[{}] {reason}", rule.unwrap()),
        verdict => format!("{verdict:?}"),
    }
}

#[test]
fn the_whole_table() {
    let mut drawn = String::new();
    for mode in Mode::ALL {
        for access in ACCESSES {
            let cells: String = EFFECTS
                .iter()
                .map(|effect| match table().cell(mode, &spec("t", access, *effect)) {
                    Cell::Allow => 'a',
                    Cell::Plan => 'p',
                    Cell::Deny => '.',
                })
                .collect();
            drawn.push_str(&format!("{mode} {access:?} {cells}\n"));
        }
    }
    assert_eq!(
        drawn,
        "ask Read a....\nask Write .....\nask Exclusive .....\n\
         plan Read a....\nplan Write pp..p\nplan Exclusive .....\n\
         edit Read aaaaa\nedit Write aaaaa\nedit Exclusive aaaaa\n"
    );
}

#[test]
fn what_the_model_is_told() {
    let write = spec("file_write", Access::Write, Effect::Idempotent);
    let shell = spec("shell", Access::Exclusive, Effect::Unsafe);
    let read = spec("file_read", Access::Read, Effect::Pure);
    assert_eq!(told(Mode::Ask, &read, &Args::new()), "Pass");
    assert_eq!(
        told(Mode::Ask, &write, &at("a")),
        "[mode: ask] file_write is not available in ask mode: it changes something. Answer with what you can look up, \
         or ask the user to switch to edit mode."
    );
    assert_eq!(
        told(Mode::Plan, &write, &at("/project/a")),
        "[mode: plan] file_write is not available in plan mode: it changes something. Only files below /plans/1 can be \
         written. Put the change into the plan. Once the user has agreed to it and switched to edit mode, it can be \
         made."
    );
    assert_eq!(
        told(Mode::Plan, &shell, &Args::new()),
        "[mode: plan] shell is not available in plan mode: it may change anything. Put the change into the plan. Once \
         the user has agreed to it and switched to edit mode, it can be made."
    );
    assert_eq!(told(Mode::Edit, &shell, &Args::new()), "Pass");
}

#[test]
fn the_plan_folder_is_the_only_way() {
    let holds = |tool: &str, args: &Args| folder().holds(tool, args);
    assert!(holds("file_write", &at("/plans/1/plan.md")));
    for outside in ["/plans/1", "/plans/10/a", "/plans/1/../2/a", "/plans", "plan.md", "", "/"] {
        assert!(!holds("file_write", &at(outside)), "{outside}");
    }
    assert!(!holds("file_edit", &at("/plans/1/plan.md")), "nobody said where it writes");
    assert!(!holds("file_write", &Args::new()));
    assert!(!holds("file_write", &Args::from_iter([("path".to_owned(), json!(["/plans/1/a"]))])));
    let write = spec("file_write", Access::Write, Effect::Idempotent);
    assert_eq!(told(Mode::Plan, &write, &at("/plans/1/a")), "Allow");
    let without = table().judge(Mode::Plan, &write, &at("/plans/1/a"), None);
    assert!(matches!(without, Verdict::Deny { .. }));
}

#[test]
fn exceptions_are_by_mode_and_name_and_the_last_counts() {
    let except = |mode, tools: &str, cell| Exception { mode, tools: tools.parse().unwrap(), cell };
    let table = table()
        .except(except(Mode::Ask, "todo_*", Cell::Allow))
        .except(except(Mode::Ask, "todo_wipe", Cell::Deny))
        .except(except(Mode::Ask, "shell(ls)", Cell::Allow));
    let cell = |mode, name| table.cell(mode, &spec(name, Access::Write, Effect::Pure));
    assert_eq!(cell(Mode::Ask, "todo_write"), Cell::Allow);
    assert_eq!(cell(Mode::Ask, "todo_wipe"), Cell::Deny);
    assert_eq!(cell(Mode::Plan, "todo_write"), Cell::Plan);
    assert_eq!(
        cell(Mode::Ask, "shell"),
        Cell::Deny,
        "an exception for some arguments is no exception for all"
    );
}

#[test]
fn tables_that_cannot_be_read() {
    let whole = include_str!("modes.toml");
    for broken in [
        whole.replace("pure = \"allow\"", "pure = \"maybe\""),
        whole.replace("[ask.exclusive]", "[ask.other]"),
        whole.replacen("unsafe = \"deny\"\n", "", 1),
    ] {
        assert!(ModeTable::parse(&broken).is_err());
    }
}

#[test]
fn names_and_the_switch() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
        assert_eq!(ModeSwitch::new(mode).get(), mode);
    }
    assert_eq!(
        "Edit".parse::<Mode>().unwrap_err().to_string(),
        "there is no mode \"Edit\"; the modes are ask, plan and edit"
    );
    let switch = ModeSwitch::new(Mode::Ask);
    switch.clone().set(Mode::Edit);
    assert_eq!(switch.get(), Mode::Edit);
}

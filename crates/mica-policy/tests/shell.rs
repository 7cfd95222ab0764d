//! The judgement of shell commands, by tables of command lines, by properties, and against bash itself.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "shell/properties.rs"]
mod properties;
#[path = "shell/remembering.rs"]
mod remembering;
#[path = "shell/rules.rs"]
mod rules;
#[path = "shell/splitting.rs"]
mod splitting;
#[path = "shell/tables.rs"]
mod tables;

use std::fmt::Write as _;

use mica_policy::Mode;
use mica_policy::shell::{
    Class, Disk, Judgement, Prefix, Remembered, Scope, ShellFacts, ShellRules, Split, judge, split,
};
use proptest::prelude::*;
use serde::Deserialize;

/// A disk with links and secrets: `link` leads out of the project, `keys` to keys, and only `secret` holds any.
struct Linked;

impl Disk for Linked {
    fn real(&self, path: &str) -> Option<String> {
        let links = [
            ("/home/user/project/link", "/etc"),
            ("/home/user/project/keys", "/home/user/.ssh"),
            ("/home/user/project/readme", "/home/user/project/README.md"),
            ("/tmp/out", "/home/user"),
            ("/dev/fd", "/proc/1234/fd"),
            ("/dev/stdin", "/dev/pts/0"),
        ];
        let (link, target) =
            links.iter().find(|(link, _)| path == *link || path.starts_with(&format!("{link}/")))?;
        Some(format!("{target}{}", &path[link.len()..]))
    }

    fn secrets_below(&self, folder: &str) -> Option<bool> {
        match folder {
            "/home/user/project/clean" => Some(false),
            "/home/user/project/secret" => Some(true),
            _ => None,
        }
    }
}

fn facts() -> ShellFacts<'static> {
    ShellFacts { disk: &Linked, ..ShellFacts::of_project("/home/user/project").with_home("/home/user") }
}

fn rules() -> ShellRules {
    ShellRules::builtin().unwrap()
}

fn judged(command: &str) -> Judgement {
    judge(command, &facts(), &rules(), Mode::Edit)
}

#[derive(Deserialize)]
struct Table {
    #[serde(default = "edit")]
    mode: Mode,
    case: Vec<Case>,
}

fn edit() -> Mode {
    Mode::Edit
}

/// Command lines with the same outcome. `rule` may be left out where it does not matter which one decides.
#[derive(Deserialize)]
struct Case {
    class: Class,
    rule: Option<String>,
    commands: Vec<String>,
}

fn check_table(name: &str, text: &str) -> usize {
    let table: Table = toml::from_str(text).unwrap();
    let (mut wrong, mut count) = (String::new(), 0);
    for case in &table.case {
        for command in &case.commands {
            count += 1;
            let judged = judge(command, &facts(), &rules(), table.mode);
            let rule_fits = case.rule.as_ref().is_none_or(|rule| *rule == judged.rule);
            if judged.class != case.class || !rule_fits {
                let rule = case.rule.as_deref().unwrap_or("any rule");
                let _ = writeln!(
                    wrong,
                    "{command:?}: expected {} by {rule}, found {} by {}: {}",
                    case.class, judged.class, judged.rule, judged.reason
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{wrong}");
    count
}

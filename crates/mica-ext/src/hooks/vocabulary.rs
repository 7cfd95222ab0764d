//! Whose words a hook is spoken to in: names of tools and of their inputs.
//!
//! A hook that was written for another agent reads `tool_name` "Bash" and `tool_input.file_path`. It gets them, and what
//! it answers is translated back. Promise: an input that is translated there and back is the same. What the table does
//! not know stays as it is, both ways.

use std::path::Path;

use mica_agent::Args;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

/// Whose words are spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vocabulary {
    /// This program's own.
    #[default]
    Mica,
    /// Those of Claude Code, which other agents took over.
    Claude,
}

impl Vocabulary {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mica => "mica",
            Self::Claude => "claude",
        }
    }
}

/// A tool in both vocabularies.
struct Row {
    ours: &'static str,
    /// The first one is said; all are understood.
    theirs: &'static [&'static str],
    fields: &'static [(&'static str, &'static str, Kind)],
}

/// How a value is translated.
#[derive(Clone, Copy)]
enum Kind {
    /// Not at all.
    Same,
    /// A path: theirs are absolute.
    Path,
    /// A time: ours in seconds, theirs in milliseconds.
    Time,
    /// One of some words.
    Words(&'static [(&'static str, &'static str)]),
    /// A list of objects.
    List(&'static [(&'static str, &'static str, Kind)]),
}

const EDIT: &[(&str, &str, Kind)] = &[("old", "old_string", Kind::Same), ("new", "new_string", Kind::Same)];
const EDIT_ALL: &[(&str, &str, Kind)] = &[
    ("path", "file_path", Kind::Path),
    ("old", "old_string", Kind::Same),
    ("new", "new_string", Kind::Same),
    ("edits", "edits", Kind::List(EDIT)),
];
const GREP_MODES: &[(&str, &str)] = &[("files", "files_with_matches")];
const TODO: &[(&str, &str, Kind)] = &[("active_form", "activeForm", Kind::Same)];

const TABLE: &[Row] = &[
    Row {
        ours: "shell",
        theirs: &["Bash"],
        fields: &[
            ("timeout_seconds", "timeout", Kind::Time),
            ("background", "run_in_background", Kind::Same),
        ],
    },
    Row { ours: "file_edit", theirs: &["Edit", "MultiEdit"], fields: EDIT_ALL },
    Row { ours: "file_write", theirs: &["Write"], fields: &[("path", "file_path", Kind::Path)] },
    Row { ours: "file_read", theirs: &["Read"], fields: &[("path", "file_path", Kind::Path)] },
    Row {
        ours: "grep",
        theirs: &["Grep"],
        fields: &[
            ("path", "path", Kind::Path),
            ("mode", "output_mode", Kind::Words(GREP_MODES)),
            ("ignore_case", "-i", Kind::Same),
            ("context", "-C", Kind::Same),
            ("limit", "head_limit", Kind::Same),
        ],
    },
    Row { ours: "glob", theirs: &["Glob"], fields: &[("path", "path", Kind::Path)] },
    Row { ours: "list_dir", theirs: &["LS"], fields: &[("path", "path", Kind::Path)] },
    Row { ours: "web_fetch", theirs: &["WebFetch"], fields: &[] },
    Row { ours: "web_search", theirs: &["WebSearch"], fields: &[] },
    Row {
        ours: "create_subagent",
        theirs: &["Task", "Agent"],
        fields: &[("profile", "subagent_type", Kind::Same), ("background", "run_in_background", Kind::Same)],
    },
    Row { ours: "todo_write", theirs: &["TodoWrite"], fields: &[("todos", "todos", Kind::List(TODO))] },
    Row { ours: "ask_user_question", theirs: &["AskUserQuestion"], fields: &[] },
    Row { ours: "enter_plan_mode", theirs: &["EnterPlanMode"], fields: &[] },
    Row { ours: "exit_plan_mode", theirs: &["ExitPlanMode"], fields: &[] },
    Row { ours: "task_output", theirs: &["TaskOutput", "BashOutput"], fields: &[] },
    Row { ours: "kill_task", theirs: &["KillShell", "KillBash", "TaskStop"], fields: &[] },
];

/// What our other tools do, in their words: a guard that looks at everything that is written, or run, looks at these too.
const KIN: &[(&str, &[&str])] = &[
    ("create_data_mapper", WRITES),
    ("generate_data_mapping", WRITES),
    ("apply_code_action", WRITES),
    ("add_or_remove_connector", WRITES),
    ("build_project", RUNS),
    ("run_unit_tests", RUNS),
    ("server_management", RUNS),
];
const WRITES: &[&str] = &["Write", "Edit"];
const RUNS: &[&str] = &["Bash"];

fn row(tool: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.ours == tool)
}

/// Every name that a matcher may call a tool by.
pub fn names(tool: &str) -> Vec<&str> {
    let theirs = row(tool).map_or(&[][..], |row| row.theirs);
    let kin = KIN.iter().find(|(ours, _)| *ours == tool).map_or(&[][..], |(_, kin)| kin);
    std::iter::once(tool).chain(theirs.iter().chain(kin).copied()).collect()
}

/// Our name of a tool, by any of its names.
pub fn ours(tool: &str) -> &str {
    TABLE.iter().find(|row| row.theirs.contains(&tool)).map_or(tool, |row| row.ours)
}

impl Vocabulary {
    /// What a tool is called.
    pub fn tool<'a>(self, tool: &'a str, args: &Args) -> &'a str {
        match (self, row(tool)) {
            (Self::Claude, Some(row)) if row.ours == "file_edit" && args.contains_key("edits") => "MultiEdit",
            (Self::Claude, Some(row)) => row.theirs.first().copied().unwrap_or(tool),
            _ => tool,
        }
    }

    /// An input as it is told.
    pub fn told(self, tool: &str, args: &Args, root: &Path) -> Args {
        match (self, row(tool)) {
            (Self::Claude, Some(row)) => object(args, row.fields, Way::Out(root)),
            _ => args.clone(),
        }
    }

    /// An input as it was answered.
    pub fn meant(self, tool: &str, told: &Args) -> Args {
        match (self, row(tool)) {
            (Self::Claude, Some(row)) => object(told, row.fields, Way::In),
            _ => told.clone(),
        }
    }

    /// What a call came to, as it is told.
    pub fn response(self, tool: &str, told: &Args, text: &str, details: Option<&Value>) -> Value {
        let mut response = Map::new();
        let mut put = |key: &str, value: Value| {
            response.insert(key.to_owned(), value);
        };
        match (self, tool) {
            (Self::Claude, "shell") => {
                put("stdout", text.into());
                put("stderr", "".into());
                put("interrupted", false.into());
                put("isImage", false.into());
            }
            (Self::Claude, "file_write" | "file_edit") => {
                put("filePath", told.get("file_path").cloned().unwrap_or_default());
                put("success", true.into());
                put("content", text.into());
            }
            _ => {
                put("content", text.into());
                if let Some(details) = details {
                    put("details", details.clone());
                }
            }
        }
        Value::Object(response)
    }
}

#[derive(Clone, Copy)]
enum Way<'a> {
    Out(&'a Path),
    In,
}

fn object(from: &Args, fields: &[(&str, &str, Kind)], way: Way<'_>) -> Args {
    from.iter()
        .map(|(key, value)| {
            let field = fields.iter().find(|(ours, theirs, _)| match way {
                Way::Out(_) => ours == key,
                Way::In => theirs == key,
            });
            match (field, way) {
                (None, _) => (key.clone(), value.clone()),
                (Some((_, theirs, kind)), Way::Out(_)) => ((*theirs).to_owned(), one(value, *kind, way)),
                (Some((ours, _, kind)), Way::In) => ((*ours).to_owned(), one(value, *kind, way)),
            }
        })
        .collect()
}

fn one(value: &Value, kind: Kind, way: Way<'_>) -> Value {
    match (kind, value, way) {
        (Kind::Path, Value::String(path), Way::Out(root)) => {
            // A path that the model wrote in full stays what it is.
            Value::String(root.join(path).display().to_string())
        }
        (Kind::Time, Value::Number(time), _) => scaled(time, way).unwrap_or_else(|| value.clone()),
        (Kind::Words(words), Value::String(word), _) => {
            let found = words.iter().find_map(|(ours, theirs)| match way {
                Way::Out(_) => (ours == word).then_some(*theirs),
                Way::In => (theirs == word).then_some(*ours),
            });
            Value::String(found.unwrap_or(word).to_owned())
        }
        (Kind::List(fields), Value::Array(items), _) => items
            .iter()
            .map(|item| match item {
                Value::Object(item) => Value::Object(object(item, fields, way)),
                other => other.clone(),
            })
            .collect(),
        _ => value.clone(),
    }
}

/// Seconds as milliseconds, and milliseconds as seconds, rounded up: half a second is not no time.
fn scaled(time: &Number, way: Way<'_>) -> Option<Value> {
    let time = time.as_u64()?;
    Some(match way {
        Way::Out(_) => time.checked_mul(1000)?.into(),
        Way::In => time.div_ceil(1000).into(),
    })
}

#[cfg(test)]
mod tests;

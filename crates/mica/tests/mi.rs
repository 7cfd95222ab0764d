//! Jobs in Micro Integrator projects, through the real binary: each file in `crates/pack-mi/scenarios` is one.
//!
//! A scenario has a project, one or more runs with what the model says in each turn, what it must have been told before
//! it says it, and what must hold afterwards. `mica check` judges the result, not the script.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mica_testkit::{Call, Scenario, Turn};
use serde::Deserialize;
use serde_json::Value;
use stage::Stage;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    /// What it shows.
    about: String,
    /// The runtime that the project says it is built for; none when absent.
    runtime: Option<String>,
    /// The sample to begin with, instead of an empty project.
    sample: Option<String>,
    /// Files of the project, by path.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Settings of the user.
    #[serde(default)]
    settings: String,
    #[serde(rename = "run")]
    runs: Vec<Run>,
    #[serde(default)]
    after: BTreeMap<String, After>,
    /// What `mica check` must say of the project at the end: errors and warnings; clean when absent.
    #[serde(default)]
    check: Expected,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Run {
    prompt: Option<String>,
    /// Flags of the run, or a whole command when there is no prompt.
    args: Vec<String>,
    exit: i32,
    /// What is printed, on either stream.
    prints: Vec<String>,
    #[serde(rename = "turn")]
    turns: Vec<Said>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Said {
    /// What the request has, that this answers, and the one before it had not.
    sees: Vec<String>,
    /// What it has not.
    lacks: Vec<String>,
    thinks: Option<String>,
    says: Option<String>,
    calls: Vec<Called>,
    /// An error of the provider instead of an answer, by its name in the testkit.
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    tool: String,
    args: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct After {
    has: Vec<String>,
    lacks: Vec<String>,
    gone: bool,
    same: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expected {
    errors: usize,
    warnings: usize,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-mi/scenarios")
}

async fn play(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    let job: Job = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!job.about.is_empty(), "{name} says what it shows");
    let turn = |said: &Said| {
        if let Some(error) = &said.error {
            return Turn::error(error.as_str().into());
        }
        let mut turn = Turn::new();
        turn = said.thinks.iter().fold(turn, Turn::thinking);
        turn = said.says.iter().fold(turn, Turn::text);
        said.calls.iter().fold(turn, |turn, call| {
            turn.step(mica_testkit::Step::Call(Call::new(&call.tool, call.args.clone())))
        })
    };
    let turns = job.runs.iter().flat_map(|run| &run.turns);
    let script = turns.fold(Scenario::new().named(name), |script, said| script.turn(turn(said)));
    let stage = Stage::new(script).await;
    let project = stage.project();
    std::fs::remove_file(project.join("a.txt")).unwrap();
    prepare(&job, &project);
    if !job.settings.is_empty() {
        stage.settings(&job.settings);
    }
    let before = contents(&project);

    for run in &job.runs {
        let mut arguments: Vec<&str> = run.args.iter().map(String::as_str).collect();
        let ran = match &run.prompt {
            Some(prompt) => {
                arguments.extend(["-p", prompt]);
                stage.ask(&arguments).await
            }
            None => stage.mica(&arguments).await,
        };
        let printed = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(run.exit), "{name}: {:?}: {printed}", run.prompt);
        for expected in &run.prints {
            assert!(printed.contains(expected.as_str()), "{name}: {expected:?} is not printed:\n{printed}");
        }
    }
    saw(name, &job, &stage);
    for (path, after) in &job.after {
        let now = std::fs::read_to_string(project.join(path)).ok();
        assert_eq!(now.is_none(), after.gone, "{name}: {path}");
        if after.same {
            assert_eq!(now.as_ref(), before.get(path), "{name}: {path} is as it was");
        }
        let now = now.unwrap_or_default();
        for part in &after.has {
            assert!(now.contains(part.as_str()), "{name}: {path} lacks {part:?}:\n{now}");
        }
        for part in &after.lacks {
            assert!(!now.contains(part.as_str()), "{name}: {path} has {part:?}:\n{now}");
        }
    }
    let checked = stage.mica(&["check", ".", "--format", "json"]).await;
    let report: Value = serde_json::from_str(&checked.out).unwrap();
    let count = |what: &str| report["summary"][what].as_u64().unwrap_or_default();
    let found = (count("errors"), count("warnings"));
    let expected = (job.check.errors as u64, job.check.warnings as u64);
    assert_eq!(found, expected, "{name}: `mica check`: {}", checked.out);
}

fn prepare(job: &Job, project: &Path) {
    if let Some(sample) = &job.sample {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(sample);
        for (path, text) in contents(&from) {
            put(project, &path, &text);
        }
    }
    let version = job.runtime.as_ref().map_or(String::new(), |version| {
        format!("<project.runtime.version>{version}</project.runtime.version>")
    });
    if job.sample.is_none() {
        put(project, "src/main/wso2mi/artifacts/apis/.keep", "");
        put(
            project,
            "pom.xml",
            &format!(
                "<project>\n    <modelVersion>4.0.0</modelVersion>\n    <groupId>com.example</groupId>\n    \
                 <artifactId>sample</artifactId>\n    <version>1.0.0</version>\n    <properties>\n        {version}\n    \
                 </properties>\n</project>\n"
            ),
        );
    }
    for (path, text) in &job.files {
        put(project, path, text);
    }
}

fn put(project: &Path, path: &str, text: &str) {
    let path = project.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The texts below a folder, by path.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(next) = pending.pop() {
        for entry in std::fs::read_dir(&next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, text);
            }
        }
    }
    found
}

/// Each turn was asked for with what it must have seen.
fn saw(name: &str, job: &Job, stage: &Stage) {
    let captured = stage.server.captured();
    let turns: Vec<&Said> = job.runs.iter().flat_map(|run| &run.turns).collect();
    assert_eq!(captured.len(), turns.len(), "{name}: as many requests as there are turns");
    let mut known = 0;
    for (number, (said, request)) in turns.iter().zip(&captured).enumerate() {
        let items = request.json["input"].as_array().or(request.json["messages"].as_array()).unwrap();
        // A new session begins again.
        if items.len() < known || number == 0 {
            known = 0;
        }
        let mut words = String::new();
        if number == 0 {
            strings(&request.json, &mut words);
        }
        items[known..].iter().for_each(|item| strings(item, &mut words));
        known = items.len();
        for expected in &said.sees {
            assert!(
                words.contains(expected.as_str()),
                "{name}, turn {number}: {expected:?} was not told:\n{words}"
            );
        }
        for unexpected in &said.lacks {
            assert!(
                !words.contains(unexpected.as_str()),
                "{name}, turn {number}: {unexpected:?} was told:\n{words}"
            );
        }
    }
}

fn strings(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            words.push_str(text);
            words.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, words)),
        Value::Object(members) => members.values().for_each(|member| strings(member, words)),
        _ => {}
    }
}

macro_rules! jobs {
    ($($name:ident),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            play(stringify!($name)).await;
        })*

        #[test]
        fn every_file_is_played() {
            let mut names: Vec<String> = std::fs::read_dir(folder())
                .unwrap()
                .flatten()
                .map(|entry| entry.file_name().to_str().unwrap().trim_end_matches(".toml").to_owned())
                .collect();
            names.sort();
            let mut listed = vec![$(stringify!($name)),*];
            listed.sort_unstable();
            assert_eq!(names, listed);
        }
    };
}

jobs!(
    invented_mediator,
    uninitialised_variable,
    task_without_message,
    connection_entry,
    registry_resource_without_file,
    redo_of_an_undo,
    undo_after_a_failed_run,
    quota_is_exhausted,
    several_projects,
    instructions_of_the_project,
    broken_xml,
    runtime_unknown,
    secrets_stay_secret,
    rest_api_with_backend,
    trap_send_for_respond,
    trap_text_plus_number,
    trap_missing_scope,
    trap_expression_as_literal,
    looks_it_up,
    precedence,
    reference_needs_a_newer_runtime,
    soap_to_json,
    older_runtime,
    data_service_extension,
    long_grep_is_spilled,
    undo_of_the_whole_run,
    ask_mode_changes_nothing,
    repair_by_name,
    renamed_sequence_is_noticed,
    connector_is_looked_up_and_added,
    connector_removed_and_undone,
    data_mapper,
    data_mapper_undone,
);

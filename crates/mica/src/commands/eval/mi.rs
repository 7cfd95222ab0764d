//! Projects of the Micro Integrator as a product: the program itself works in one, with the model on loopback.
//!
//! Each run is the program as people start it: a process of its own with its own home, whose events are read from its
//! output. So what a case shows is true of what is shipped, and nothing is put together here a second time.

mod telling;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use async_trait::async_trait;
use mica_ai::Dialect;
use mica_eval::confine::below;
use mica_eval::{
    Asked, Came, Ended, Happened, Heard, Holds, Journal, Opening, Product, Said, Stage, StageError, given,
};
use mica_sandbox::{Boundary, Command, Sandbox, Stub};
use mica_testkit::ScriptedServer;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use telling::Telling;

/// What is kept of each stream of the program.
const MOST: usize = 16 << 20;

/// The product.
pub struct Mi;

/// What a project is like at first.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Setup {
    /// The runtime that the project says it is built for; none when absent.
    runtime: Option<String>,
    /// The folder to begin with, instead of an empty project: beside the case, or in `examples` of a folder above it.
    sample: Option<String>,
    /// Files of the project, by path.
    files: BTreeMap<String, String>,
    /// Settings of the user.
    settings: String,
}

/// What comes with a message or a command.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct With {
    args: Vec<String>,
}

#[async_trait]
impl Product for Mi {
    fn name(&self) -> &str {
        "mi"
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Stage>, StageError> {
        let setup: Setup = given("setup", opening.setup)?;
        if !opening.mocks.is_empty() {
            return Err(StageError::new("nothing can stand in for tools here: the program itself runs them"));
        }
        let Some(scenario) = opening.model.scenario() else {
            return Err(StageError::new("this product plays scripted models only"));
        };
        let server = ScriptedServer::start(scenario.clone()).await.map_err(failed)?;
        let stage = Playing {
            project: opening.folder.join("project"),
            home: opening.folder.join("home"),
            server,
            program: std::env::current_exe().map_err(failed)?,
            journal: opening.journal,
            telling: Telling::default(),
        };
        stage.prepare(&setup, &opening.beside)?;
        Ok(Box::new(stage))
    }

    fn always(&self) -> Vec<(String, Holds)> {
        vec![("check".to_owned(), Holds::equal(json!({ "errors": 0, "warnings": 0 })))]
    }
}

struct Playing {
    project: PathBuf,
    home: PathBuf,
    server: ScriptedServer,
    program: PathBuf,
    journal: Journal,
    telling: Telling,
}

/// What the program came to.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn failed(error: impl std::fmt::Display) -> StageError {
    StageError::new(error.to_string())
}

impl Playing {
    fn prepare(&self, setup: &Setup, beside: &Path) -> Result<(), StageError> {
        match &setup.sample {
            Some(sample) => {
                let from = sample_of(beside, sample)?;
                copy(&from, &from, &self.project)?;
            }
            None => {
                let version = setup.runtime.as_ref().map_or(String::new(), |version| {
                    format!("<project.runtime.version>{version}</project.runtime.version>")
                });
                put(&self.project, "src/main/wso2mi/artifacts/apis/.keep", "")?;
                put(
                    &self.project,
                    "pom.xml",
                    &format!(
                        "<project>\n    <modelVersion>4.0.0</modelVersion>\n    <groupId>com.example</groupId>\n    \
                         <artifactId>sample</artifactId>\n    <version>1.0.0</version>\n    <properties>\n        {version}\n    \
                         </properties>\n</project>\n"
                    ),
                )?;
            }
        }
        for (path, text) in &setup.files {
            put(&self.project, path, text)
                .map_err(|error| StageError::new(format!("setup.files: {error}")))?;
        }
        if !setup.settings.is_empty() {
            put(&self.home, "config/config.toml", &setup.settings)?;
        }
        Ok(())
    }

    /// Runs the program in the project, with a home of its own and next to nothing around it.
    #[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
    async fn mica(&self, arguments: &[String]) -> Result<Ran, StageError> {
        let mut variables = BTreeMap::from([("MICA_HOME".to_owned(), self.home.display().to_string())]);
        if let Ok(path) = std::env::var("PATH") {
            variables.insert("PATH".to_owned(), path);
        }
        let boundary = Boundary::open(variables, &std::env::temp_dir());
        let command = Command::new(self.program.display().to_string(), &self.project)
            .arguments(arguments.iter().map(String::as_str));
        let sandbox = Sandbox::unconfined(Stub::this_program());
        let ran = sandbox.run_to_end(command, &boundary, MOST, CancellationToken::new()).await;
        let finished = ran.map_err(failed)?;
        let code = match finished.ended.how {
            mica_sandbox::How::Exited(code) => code,
            other => return Err(StageError::new(format!("the program ended by itself: {other:?}"))),
        };
        Ok(Ran { code, out: finished.output.text(), err: finished.errors.text() })
    }
}

#[async_trait]
impl Stage for Playing {
    async fn say(&mut self, said: Said) -> Result<Came, StageError> {
        if said.page.is_some() || !said.mentions.is_empty() {
            return Err(StageError::new("there are no pages and nothing to point at in a project"));
        }
        let mut arguments = with("with", said.with)?;
        let url = self.server.url("/v1");
        let fixed = ["--output", "stream-json", "--base-url", &url, "--model", "scripted", "-p", &said.text];
        arguments.extend(fixed.iter().map(ToString::to_string));
        let ran = self.mica(&arguments).await?;
        let events: Vec<Value> = ran.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for event in &events {
            self.telling.event(event).into_iter().for_each(|line| self.journal.note(line));
        }
        let Heard { text, ran: calls, tried, asks, usage, notices } = Heard::of(&events);
        let text = format!("{text}\n{}", ran.err);
        let ended = ended(ran.code, &ran.err);
        Ok(Came { ended, text, cards: Vec::new(), ran: calls, tried, asks, usage, notices })
    }

    async fn advanced(&mut self) -> Result<Option<Came>, StageError> {
        Err(StageError::new("time cannot be moved here: the program has its own clock"))
    }

    async fn event(&mut self, name: &str, args: &Map<String, Value>) -> Result<Happened, StageError> {
        if name != "command" {
            return Err(StageError::unknown("event", name, ["command"]));
        }
        let arguments = with("args", args.clone())?;
        let ran = self.mica(&arguments).await?;
        self.journal.note(self.telling.command(&arguments, ran.code, &ran.out, &ran.err));
        let came = Came {
            ended: ended(ran.code, &ran.err),
            text: format!("{}{}", ran.out, ran.err),
            ..Came::default()
        };
        Ok(Happened { value: json!({ "exit": ran.code }), came: Some(came) })
    }

    /// Every run is opened from the disk: there is nothing to drop.
    async fn restart(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    async fn look(&mut self, what: &str) -> Result<Value, StageError> {
        if what != "check" {
            return seen(&self.project, what);
        }
        let arguments = ["check", ".", "--format", "json"].map(str::to_owned);
        let checked = self.mica(&arguments).await?;
        let report: Value = serde_json::from_str(&checked.out).map_err(|error| {
            StageError::new(format!("`mica check`: {error}: {}{}", checked.out, checked.err))
        })?;
        let count = |what: &str| report["summary"][what].as_u64().unwrap_or_default();
        Ok(json!({ "errors": count("errors"), "warnings": count("warnings") }))
    }

    fn requests(&self) -> Option<Vec<Asked>> {
        let captured = self.server.captured();
        let asked = captured.into_iter().map(|request| {
            Asked::on_wire(request.dialect.unwrap_or(Dialect::Responses), request.body.to_vec())
        });
        Some(asked.collect())
    }
}

/// The arguments that a case gives the program. It stays where it is put.
fn with(what: &str, with: Map<String, Value>) -> Result<Vec<String>, StageError> {
    let read: With = given(what, with)?;
    for argument in &read.args {
        let refused = |why: &str| Err(StageError::new(format!("{what}.args: {argument:?} {why}")));
        if argument == "--directory" || argument.starts_with("--directory=") || argument.starts_with("-C") {
            return refused("leads elsewhere: a case stays in its project");
        }
        let value = argument.split_once('=').map_or(argument.as_str(), |(_, value)| value);
        let parts = Path::new(value).components();
        if Path::new(value).is_absolute() || parts.into_iter().any(|part| part == Component::ParentDir) {
            return refused("leads out of the project: name something below it");
        }
    }
    Ok(read.args)
}

/// What a case looks at in its project: the text of a file, the names in a folder, or nothing.
fn seen(project: &Path, what: &str) -> Result<Value, StageError> {
    let path = below(project, what, "the project").map_err(StageError::new)?;
    let told = |error: std::io::Error| StageError::new(format!("{what} cannot be looked at: {error}"));
    let facts = match path.metadata() {
        Ok(facts) => facts,
        // Also where a part of the path is a file.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Value::Null);
        }
        Err(error) => return Err(told(error)),
    };
    if facts.is_dir() {
        let entries = std::fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut names: Vec<String> = entries
            .map_err(told)?
            .iter()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        return Ok(json!(names));
    }
    if !facts.is_file() || facts.len() > MOST as u64 {
        return Err(StageError::new(format!("{what} is no file that could be read as a whole")));
    }
    let bytes = std::fs::read(&path).map_err(told)?;
    Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()))
}

/// How a run ended, by the program's exit code.
fn ended(code: i32, err: &str) -> Ended {
    let outcome = match code {
        0 => "completed",
        3 => "exhausted",
        4 => "suspended",
        130 => "aborted",
        _ => "failed",
    };
    let detail = if outcome == "completed" { String::new() } else { err.trim().to_owned() };
    Ended { outcome: outcome.to_owned(), detail }
}

/// The folder of a sample: beside the case, or in `examples` of a folder above it.
fn sample_of(beside: &Path, sample: &str) -> Result<PathBuf, StageError> {
    let beside = beside.canonicalize().map_err(failed)?;
    let folders =
        std::iter::once(beside.clone()).chain(beside.ancestors().map(|folder| folder.join("examples")));
    for folder in folders {
        let path = below(&folder, sample, "the folder of the case, or of `examples`");
        let path = path.map_err(|problem| StageError::new(format!("setup.sample: {problem}")))?;
        if path.is_dir() {
            return Ok(path);
        }
    }
    Err(StageError::new(format!(
        "there is no sample {sample:?}: neither beside the case nor in `examples` of a folder above it"
    )))
}

/// Copies a sample. What links lead to is copied when it is a file of the same sample; anything else is no sample.
fn copy(root: &Path, from: &Path, to: &Path) -> Result<(), StageError> {
    let about = |path: &Path, why: &str| StageError::new(format!("setup.sample: {} {why}", path.display()));
    std::fs::create_dir_all(to).map_err(|error| about(to, &error.to_string()))?;
    for entry in std::fs::read_dir(from).map_err(|error| about(from, &error.to_string()))? {
        let entry = entry.map_err(failed)?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            copy(root, &from, &to)?;
            continue;
        }
        if kind.is_symlink() {
            let behind = from.canonicalize().and_then(|behind| Ok((behind, root.canonicalize()?)));
            let stays = behind.is_ok_and(|(behind, root)| behind.starts_with(root) && behind.is_file());
            if !stays {
                return Err(about(&from, "is a link that leads out of the sample, or to a folder"));
            }
        } else if !kind.is_file() {
            return Err(about(&from, "is neither a file nor a folder"));
        }
        std::fs::copy(&from, &to).map_err(|error| about(&from, &error.to_string()))?;
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the world of a case is made here, below its own folder")]
fn put(root: &Path, path: &str, text: &str) -> Result<(), StageError> {
    let place = below(root, path, "the project").map_err(StageError::new)?;
    let told = |error: std::io::Error| StageError::new(format!("{path} cannot be written: {error}"));
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    std::fs::write(&place, text).map_err(told)
}

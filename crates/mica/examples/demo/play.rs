//! What the demo does: copies the sample, finds a model, runs the real program step by step, and shows what came of it.
//!
//! Everything happens in a folder of its own, which goes at the end; the scripted model ends with it.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a demo runs programs, copies files and talks to a terminal"
)]

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use mica_ai::Catalogue;
use mica_testkit::{Scenario, ScriptedServer};
use serde_json::Value;
use similar::TextDiff;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is asked, and what is asked next.
const TASK: &str = "Add POST /orders: check price and count, answer 201.";
const NEXT: &str = "And when the store is down?";

/// The model whose prices and cache rules the scripted one has.
const PLAYED: &str = "gpt-5.5";

/// What the caller wants.
#[derive(Debug, Default)]
pub struct Wish {
    /// The model to ask.
    pub model: Option<String>,
    /// The scripted model, whatever is configured.
    pub scripted: bool,
}

/// A demo.
pub struct Demo {
    /// The program.
    pub mica: PathBuf,
    /// The project that it works on a copy of.
    pub sample: PathBuf,
    /// What the caller wants.
    pub wish: Wish,
    /// Whether the folder stays.
    pub keep: bool,
    /// The environment that the program would have outside of the demo. Settings and models are found in it.
    pub environment: Vec<(OsString, OsString)>,
}

/// Where the demo is seen.
pub struct Screen {
    colour: bool,
    /// What was shown, when nobody watches.
    kept: Option<std::sync::Arc<std::sync::Mutex<String>>>,
}

impl Screen {
    /// Standard output.
    #[allow(dead_code, reason = "the test of the demo has a screen of its own")]
    pub fn live(colour: bool) -> Self {
        Self { colour, kept: None }
    }

    /// A text.
    #[allow(dead_code, reason = "the demo itself has a terminal")]
    pub fn kept(text: &std::sync::Arc<std::sync::Mutex<String>>) -> Self {
        Self { colour: false, kept: Some(std::sync::Arc::clone(text)) }
    }

    fn line(&self, text: &str) {
        match &self.kept {
            // A reader that went away is no reason to break off.
            None => drop(writeln!(std::io::stdout(), "{text}")),
            Some(kept) => {
                if let Ok(mut kept) = kept.lock() {
                    kept.push_str(text);
                    kept.push('\n');
                }
            }
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn step(&self, number: usize, text: &str) {
        self.line("");
        self.line(&self.paint("1", &format!("{number}. {text}")));
    }
}

/// Who answers.
enum Answers {
    Script(ScriptedServer),
    Configured { model: Option<String> },
}

impl Demo {
    /// Plays it.
    ///
    /// # Errors
    /// When something does not work as it should: then the demo shows nothing that is true.
    pub async fn play(&self, screen: Screen) -> Result<()> {
        let began = Instant::now();
        if !self.mica.is_file() {
            return Err(format!("{} is not built: run `cargo xtask demo`", self.mica.display()).into());
        }
        let place = tempfile::Builder::new().prefix("mica-demo-").tempdir()?;
        let project = place.path().join("orders-mi");
        copy(&self.sample, &project)?;
        let before = texts(&project)?;

        screen.line(
            &screen.paint("1", "mica adds to a WSO2 Micro Integrator project, and checks what it writes."),
        );
        let mut stage = Stage { demo: self, place: place.path(), project: &project, screen, answers: None };
        let answers = stage.find_model().await?;
        stage.answers = Some(answers);

        stage.screen.step(1, "Ask. It looks around by itself, and stops before it changes a file.");
        let code = stage.mica(&["--show-thinking", "-p", TASK])?;
        if code == 4 {
            stage
                .screen
                .step(2, "Allow it. Every write is checked at once, and the model reads what is wrong.");
            let code = stage.mica(&["--show-thinking", "--continue", "--yes"])?;
            expect(code == 0, "the run that was allowed did not end well")?;
        } else {
            expect(code == 0, "the run did not end well")?;
            stage.screen.step(2, "Nothing needed an approval.");
        }

        stage.screen.step(3, "What changed in the files.");
        let changed = stage.show_changes(&before)?;
        if matches!(stage.answers, Some(Answers::Script(_))) {
            expect(changed == 1, "the scripted model should have changed one file")?;
        }

        stage.screen.step(4, "Is the project in order? This check needs no model.");
        let clean = stage.mica(&["check"])? == 0;
        if matches!(stage.answers, Some(Answers::Script(_))) {
            expect(clean, "the scripted model should have left the project in order")?;
        }

        stage.screen.step(5, "It can be taken back. Without --dry-run, it is.");
        // It ends with another code when nothing changed, and says so.
        stage.mica(&["undo", "--dry-run"])?;

        stage.screen.step(6, "The session: what was said, and done.");
        expect(stage.mica(&["sessions", "list"])? == 0, "the sessions could not be listed")?;
        let id = stage.session()?;
        expect(stage.mica(&["sessions", "tree", &id])? == 0, "the session could not be shown")?;

        stage.screen.step(7, "Go on with it. It knows what was said before.");
        let code = stage.mica(&["--resume", &id, "-p", NEXT])?;
        // A model of one's own may want to do something about it, and waits for a yes.
        let waits = code == 4 && matches!(stage.answers, Some(Answers::Configured { .. }));
        expect(code == 0 || waits, "the session did not go on")?;

        let screen = stage.end().await;
        let seconds = began.elapsed().as_secs_f32();
        screen.line("");
        let files = if changed == 1 { "1 file".to_owned() } else { format!("{changed} files") };
        screen.line(
            &screen.paint(
                "1",
                &format!("Done in {seconds:.1} s: {files} changed, and nothing is left running."),
            ),
        );
        if self.keep {
            screen.line(&format!("The folder is {}.", place.keep().display()));
        }
        screen.line(NEXT_STEPS);
        Ok(())
    }
}

const NEXT_STEPS: &str = "
Try next, in a project of yours:
  cargo install --path crates/mica      puts `mica` on your path
  mica doctor                           what is configured, and what is missing
  mica check                            what is wrong in Synapse files; mica fix
  mica -p \"what does this project do?\"  one run; the answer on standard output
  mica                                  talk; /help lists what you can type
  mica undo                             take back what the last run changed
docs/mi.md says what it knows of Micro Integrator, docs/cli.md has the rest.";

/// A demo under way.
struct Stage<'a> {
    demo: &'a Demo,
    place: &'a Path,
    project: &'a Path,
    screen: Screen,
    answers: Option<Answers>,
}

impl Stage<'_> {
    /// The model that `mica` would ask here, or a scripted one.
    async fn find_model(&self) -> Result<Answers> {
        if self.demo.wish.scripted {
            self.screen
                .line("A scripted model answers, as you asked: its words are a script, all else is real.");
            return self.script().await;
        }
        self.take_settings()?;
        let mut doctor = self.command(&["doctor", "--json"]);
        if let Some(model) = &self.demo.wish.model {
            doctor.args(["--model", model]);
        }
        let found = doctor.output()?;
        let findings: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
        let findings = findings.as_array().cloned().unwrap_or_default();
        let of = |what: &str| findings.iter().find(|finding| finding["what"] == what).cloned();
        let model = of("model").filter(|finding| finding["ok"] == true);
        if let Some(model) = model {
            let found = model["found"].as_str().unwrap_or_default().to_owned();
            self.screen.line(&format!("The configured model answers, and may cost money: {found}"));
            return Ok(Answers::Configured { model: self.demo.wish.model.clone() });
        }
        let why = of("model").or_else(|| of("endpoints")).or_else(|| of("settings"));
        let why = why.and_then(|finding| finding["found"].as_str().map(str::to_owned)).unwrap_or_default();
        if self.demo.wish.model.is_some() {
            return Err(format!("{why}\nSet up an endpoint (docs/endpoints.md), or use --scripted.").into());
        }
        match of("endpoint") {
            None if why.contains("no model endpoint is configured") => {
                self.screen.line("no model is configured: a scripted model answers. Its words are a script;");
                self.screen.line("the program, its tools, its files and its session are real.");
            }
            None => {
                self.screen.line("no model can be asked: a scripted model answers. What is wrong:");
                self.screen.line(&format!("  {why}"));
            }
            Some(endpoint) => {
                let endpoint = endpoint["found"].as_str().unwrap_or_default();
                self.screen.line("no model is configured: a scripted model answers. There is an endpoint:");
                self.screen.line(&format!("  {endpoint}"));
                self.screen.line("`cargo xtask demo --model NAME` asks a model there.");
            }
        }
        self.script().await
    }

    async fn script(&self) -> Result<Answers> {
        let scenario = Scenario::from_toml(include_str!("script.toml"))?;
        let scenario = scenario.model(&Catalogue::builtin().resolve(PLAYED)?.model);
        Ok(Answers::Script(ScriptedServer::start(scenario).await?))
    }

    /// Takes the user's settings into the demo's own home, so that its sessions do not land among theirs.
    fn take_settings(&self) -> Result<()> {
        let paths = self.bare(&["config", "paths"]).output()?;
        let paths = String::from_utf8_lossy(&paths.stdout).into_owned();
        let settings = paths.lines().find_map(|line| line.strip_prefix("settings")).map(str::trim);
        if let Some(settings) = settings.map(Path::new).filter(|settings| settings.is_file()) {
            let folder = self.place.join("home/config");
            std::fs::create_dir_all(&folder)?;
            std::fs::copy(settings, folder.join("config.toml"))?;
        }
        Ok(())
    }

    /// The program in the project, with the demo's home. With a scripted model it sees nothing else of this machine.
    fn command(&self, arguments: &[&str]) -> Command {
        let scripted = matches!(self.answers, Some(Answers::Script(_)));
        let seen = |name: &OsStr| {
            !scripted
                || ["PATH", "TERM", "LANG", "LC_ALL", "SystemRoot", "TMPDIR"]
                    .iter()
                    .any(|known| name == *known)
        };
        let mut command = self.bare(arguments);
        command.env_clear().envs(self.demo.environment.iter().filter(|(name, _)| seen(name)).cloned());
        command.env("MICA_HOME", self.place.join(if scripted { "scripted" } else { "home" }));
        // What goes into a pipe is read in the same width.
        command.env("COLUMNS", "80");
        command
    }

    fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.demo.mica);
        command.env_clear().envs(self.demo.environment.iter().cloned());
        command.current_dir(self.project).args(arguments).stdin(Stdio::null());
        command
    }

    /// Shows a command and runs it. Answers its exit code.
    fn mica(&self, arguments: &[&str]) -> Result<i32> {
        let shown: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        self.screen.line(&self.screen.paint("36", &format!("$ mica {}", shown.join(" "))));
        let mut command = self.command(arguments);
        match &self.answers {
            Some(Answers::Script(server)) => {
                command.args(["--base-url", &server.url("/v1"), "--model", PLAYED, "--dialect", "responses"]);
            }
            Some(Answers::Configured { model: Some(model) }) => {
                command.args(["--model", model]);
            }
            Some(Answers::Configured { model: None }) | None => {}
        }
        let status = match &self.screen.kept {
            None => command.status()?,
            Some(kept) => {
                // One pipe for both, so that what is said stays in its order.
                let (mut reader, writer) = std::io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                let mut child = command.spawn()?;
                // The writing ends that are ours close with the command.
                drop(command);
                let mut said = String::new();
                reader.read_to_string(&mut said)?;
                if let Ok(mut kept) = kept.lock() {
                    kept.push_str(&said);
                }
                child.wait()?
            }
        };
        Ok(status.code().unwrap_or(1))
    }

    /// The id of the session, as short as it can be given.
    fn session(&self) -> Result<String> {
        let listed = self.command(&["sessions", "list", "--format", "json"]).output()?;
        let list: Value = serde_json::from_slice(&listed.stdout)?;
        let id = list[0]["id"].as_str().ok_or("the session was not kept")?;
        Ok(id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned())
    }

    /// Shows how the project differs from the sample. Answers how many files do.
    fn show_changes(&self, before: &[(PathBuf, String)]) -> Result<usize> {
        let after = texts(self.project)?;
        let mut changed = 0;
        for (path, text) in &after {
            let old = before.iter().find(|(known, _)| known == path).map_or("", |(_, text)| text.as_str());
            if old == text {
                continue;
            }
            changed += 1;
            let (from, to) = (format!("a/{}", path.display()), format!("b/{}", path.display()));
            let diff = TextDiff::from_lines(old, text.as_str());
            let diff = diff.unified_diff().context_radius(1).header(&from, &to).to_string();
            for line in diff.lines() {
                let colour = match line.as_bytes().first() {
                    Some(b'+') => "32",
                    Some(b'-') => "31",
                    Some(b'@') => "36",
                    _ => "0",
                };
                self.screen.line(&self.screen.paint(colour, line));
            }
        }
        if changed == 0 {
            self.screen.line("nothing");
        }
        Ok(changed)
    }

    /// Stops the scripted model.
    async fn end(self) -> Screen {
        if let Some(Answers::Script(server)) = self.answers {
            server.shutdown().await;
        }
        self.screen
    }
}

fn expect(holds: bool, otherwise: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// An argument as one would type it.
fn quoted(argument: &str) -> String {
    let plain = argument.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if plain { argument.to_owned() } else { format!("\"{argument}\"") }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// All files below a folder with what they say, sorted by path.
fn texts(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                if path.file_name() != Some(OsStr::new(".git")) {
                    folders.push(path);
                }
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                found.push((path.strip_prefix(folder)?.to_owned(), text));
            }
        }
    }
    found.sort();
    Ok(found)
}

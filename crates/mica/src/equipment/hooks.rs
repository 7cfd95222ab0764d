//! Command hooks of this machine: which files there are, whose they are, and whether they are trusted.
//!
//! Promises: the user's own file counts as trusted; a project's counts only as it is when the user looked, the scripts that
//! it runs among it. A file of the user's that is there and cannot be read closes all calls, and so does a project's that
//! guarded calls when it was trusted, and cannot be read or has changed since: whoever changed it, the guard is not off
//! until the user has looked. A project that was never trusted closes nothing. Nothing is started here.

mod runner;
mod session;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::anyhow;
use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Point, Step};
use mica_agent::{Ask, Context, Decision, Hooks, NoHooks, RunError};
use mica_ai::Message;
use mica_ext::concern::Failure;
use mica_ext::hooks::scripts::{self, Scripts};
use mica_ext::hooks::{CommandHooks, Configured, Hook, HookEvent, Kind as FileKind, Owner, Session, Source};
use mica_ext::{Command, Factory, Origin, Registry, Typed};
use mica_tools::Ground;

use super::{Outfit, Part};
use crate::cli::Form;
use crate::commands::hooks;
use crate::config::project::{self, File, Kind};
use crate::config::{self, Values, trust};
use crate::surroundings::Surroundings;

pub use mica_ext::hooks::End;
pub use runner::Sandboxed;
pub use session::{HookSession, Teller};

/// What a project's hooks are to trust.
pub const HOOKS: Kind = Kind { word: "hooks", does: "runs commands when something happens, in the sandbox" };

/// What they are called among the extensions.
pub const NAME: &str = "hooks";

/// A project's own file.
const FILE: &str = ".mica/hooks.json";
/// The folder beside it whose files are all trusted with it.
const FOLDER: &str = ".mica/hooks";
/// Settings of another agent that hold hooks.
const BORROWED: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
const BORROWED_FOLDER: &str = ".claude/hooks";
/// What is noted of a file that is trusted, when it guards calls.
const GUARDS: &str = "guards calls";
/// What to do about one that is not what was trusted.
const LOOK: &str =
    "look at it with `mica trust --list`, then run `mica trust`, or `mica trust --revoke` to do without it";

/// The hooks that count here.
#[derive(Default)]
pub struct Loaded {
    /// What they come to.
    pub configured: Configured,
    /// The scripts that are trusted with a project's hooks.
    pub watched: Vec<Watched>,
    /// Files that are not used, because nobody trusts them.
    pub untrusted: Vec<PathBuf>,
    /// What is different about files that were trusted, in words: people should know, and nothing is closed for it.
    pub differs: Vec<String>,
}

/// The scripts of a file, as they were when they were trusted.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The file.
    label: String,
    hooks: Vec<Hook>,
    project: PathBuf,
    folder: &'static str,
    scripts: Scripts,
}

impl Watched {
    /// Whether it is about this hook.
    fn is_about(&self, place: &str) -> bool {
        place.starts_with(self.label.as_str())
    }

    /// What changed since, if something did.
    fn changed(&self) -> Option<String> {
        let now = match scripts::find(&self.hooks, &self.project, Path::new(self.folder)) {
            Ok(now) => now,
            Err(problem) => return Some(problem),
        };
        let differs = |path: &&PathBuf| now.get(*path) != self.scripts.get(*path);
        let path = now.keys().chain(self.scripts.keys()).find(differs)?;
        Some(format!(
            "{} has changed since it was trusted; look at it, then run `mica trust`",
            path.display()
        ))
    }
}

impl Loaded {
    /// A file of a project that is not trusted as it is. If it was, the guard that it was is missing now: calls are closed
    /// until the user has looked. One that is gone from `.mica` is only told of: the agent cannot write there, and a person
    /// who removes a file means it.
    fn differs(
        &mut self,
        surroundings: &Surroundings,
        path: &Path,
        kind: FileKind,
        read: &anyhow::Result<Option<Read>>,
    ) {
        let label = path.display().to_string();
        let notes = trust::notes(surroundings, &label);
        if notes.is_empty() {
            return;
        }
        let guarded = notes.iter().any(|note| note == GUARDS);
        let source = Source { label: label.clone(), owner: Owner::Project, kind };
        match read {
            Err(error) if guarded => self.configured.join(Configured::closed(&source, format!("{error:#}; {LOOK}"))),
            Ok(Some(_)) if guarded => {
                let message = format!(
                    "it guarded calls when it was trusted, and it or a script that it runs has changed since; {LOOK}"
                );
                self.configured.join(Configured::closed(&source, message));
            }
            Ok(Some(_)) => self.differs.push(format!(
                "{label}: it or a script that it runs has changed since it was trusted, so its hooks are not run; {LOOK}"
            )),
            Ok(None) if guarded => {
                let what = "it guarded calls when it was trusted, and now it is gone or has no hooks";
                // The agent cannot write `.mica`, but it can write what belongs to other agents.
                if kind == FileKind::Own && !path.exists() {
                    self.differs.push(format!(
                        "{label}: {what}: nothing of it is guarded any more. `mica trust --revoke` if that is meant"
                    ));
                } else {
                    let message = format!("{what}; mend it, or run `mica trust --revoke` to do without it");
                    self.configured.join(Configured::closed(&source, message));
                }
            }
            // What cannot be read is told with what needs trust.
            Err(_) | Ok(None) => {}
        }
    }
}

/// Forgets that a project's hooks were ever trusted. Answers whether they were.
///
/// # Errors
/// When that cannot be kept.
pub fn forget(surroundings: &Surroundings, folder: &Path) -> anyhow::Result<bool> {
    let mut was = false;
    for name in std::iter::once(FILE).chain(BORROWED) {
        was |= trust::forget_all(surroundings, &folder.join(name).display().to_string())?;
    }
    Ok(was)
}

/// A file of a project that was read.
struct Read {
    path: PathBuf,
    text: String,
    configured: Configured,
    scripts: Scripts,
    folder: &'static str,
}

impl Read {
    /// Reads a file of a project, and the scripts that belong to it. `None`: there is none, or it has no hooks.
    fn of(project: &Path, name: &str, kind: FileKind, folder: &'static str) -> anyhow::Result<Option<Self>> {
        let path = project.join(name);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(anyhow!("{} cannot be read: {error}", path.display())),
        };
        let source = Source { label: path.display().to_string(), owner: Owner::Project, kind };
        let configured = Configured::read(&text, &source);
        if configured == Configured::default() {
            return Ok(None);
        }
        let scripts = scripts::find(&configured.hooks, project, Path::new(folder))
            .map_err(|problem| anyhow!("{}: {problem}", path.display()))?;
        Ok(Some(Self { path, text, configured, scripts, folder }))
    }

    /// What is trusted of it: the file, and everything that it runs.
    fn part(&self) -> project::Part {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let scripts = self.scripts.iter().map(|(path, bytes)| (path.display().to_string(), bytes.clone()));
        let files: Vec<File> =
            std::iter::once((name, self.text.clone().into_bytes())).chain(scripts).collect();
        project::Part::folder(HOOKS, &self.path, files).noting(self.configured.guards().then_some(GUARDS))
    }
}

/// The hooks of a project, as far as they need trust.
///
/// # Errors
/// When they cannot be read.
pub fn parts(folder: &Path) -> anyhow::Result<Vec<project::Part>> {
    let read = Read::of(folder, FILE, FileKind::Own, FOLDER)?;
    Ok(read.iter().map(Read::part).collect())
}

/// The hooks in settings of another agent, when the user wants them.
///
/// # Errors
/// When they cannot be read.
pub fn borrowed_parts(surroundings: &Surroundings, folder: &Path) -> anyhow::Result<Vec<project::Part>> {
    if !config::user_wants(surroundings, "hooks.claude") {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for name in BORROWED {
        let read = Read::of(folder, name, FileKind::Borrowed, BORROWED_FOLDER)?;
        parts.extend(read.iter().map(Read::part));
    }
    Ok(parts)
}

/// The user's own file.
pub fn user_file(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("hooks.json")
}

/// The hooks that count here: the user's, and those of the project that are trusted.
pub fn load(surroundings: &Surroundings, values: &Values) -> Loaded {
    let mut loaded = Loaded::default();
    if values.hooks.enabled == Some(false) {
        return loaded;
    }
    let path = user_file(surroundings);
    let source = Source { label: path.display().to_string(), owner: Owner::User, kind: FileKind::Own };
    match std::fs::read_to_string(&path) {
        Ok(text) => loaded.configured.join(Configured::read(&text, &source)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => loaded.configured.join(Configured::unreadable(&source, &error.to_string())),
    }
    let mut files = vec![(FILE, FileKind::Own, FOLDER)];
    if values.hooks.claude == Some(true) {
        files.extend(BORROWED.map(|name| (name, FileKind::Borrowed, BORROWED_FOLDER)));
    }
    if values.hooks.claude.is_none() {
        loaded.differs.extend(BORROWED.iter().filter_map(|name| passed_over(&surroundings.folder, name)));
    }
    for (name, kind, folder) in files {
        let path = surroundings.folder.join(name);
        let read = match Read::of(&surroundings.folder, name, kind, folder) {
            Ok(Some(read)) if read.part().is_trusted(surroundings) => read,
            // The user has looked at it as it is, and does without it.
            Ok(Some(read)) if read.part().state(surroundings) == project::State::Declined => {
                loaded.untrusted.push(read.path);
                continue;
            }
            read => {
                loaded.differs(surroundings, &path, kind, &read);
                loaded.untrusted.extend(read.ok().flatten().map(|read| read.path));
                continue;
            }
        };
        loaded.watched.push(Watched {
            label: read.path.display().to_string(),
            hooks: read.configured.hooks.clone(),
            project: surroundings.folder.clone(),
            folder: read.folder,
            scripts: read.scripts,
        });
        loaded.configured.join(read.configured);
    }
    loaded
}

/// What guards a project for another agent and not here, in words. Whoever said whether they want it knows.
fn passed_over(project: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(project.join(name)).ok()?;
    let source = Source { label: name.to_owned(), owner: Owner::Project, kind: FileKind::Borrowed };
    let hooks = Configured::read(&text, &source).hooks;
    let guards = hooks.iter().filter(|hook| hook.event == HookEvent::PreToolUse).count();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let denies = settings.pointer("/permissions/deny").and_then(serde_json::Value::as_array);
    let denies = denies.is_some_and(|deny| !deny.is_empty());
    let hooks = match guards {
        0 => None,
        1 => Some("1 PreToolUse hook that is not used".to_owned()),
        more => Some(format!("{more} PreToolUse hooks that are not used")),
    };
    let hooks = hooks.map(|hooks| {
        format!("{hooks}: put `claude = true` under `[hooks]` into your settings to use them, `false` to hear no more of it")
    });
    let denies = denies.then(|| "`permissions.deny`, which mica does not read".to_owned());
    let said: Vec<String> = hooks.into_iter().chain(denies).collect();
    (!said.is_empty()).then(|| format!("{name} has {}", said.join("; and ")))
}

/// Puts hooks together: they are read when extensions are loaded, and again when they are loaded anew.
pub(super) fn equip(outfit: &Outfit<'_>, ground: Arc<dyn Ground>) -> (Part, Teller) {
    let Outfit { surroundings, values, flags, mode, keeper, .. } = outfit;
    let folder = surroundings.folder.clone();
    let session = HookSession::new(keeper.cloned(), folder, (*mode).clone(), flags.yes);
    let teller = session.teller();
    let current = Arc::new(Current::default());
    let factory = Loader {
        surroundings: (*surroundings).clone(),
        values: (*values).clone(),
        ground,
        session: Arc::new(session),
        current: Arc::clone(&current),
    };
    let part = Part {
        hooks: vec![current as Arc<dyn Hooks>],
        factories: vec![(Origin::Hook, Arc::new(factory) as Arc<dyn Factory>)],
        ..Part::default()
    };
    (part, teller)
}

/// Reads hooks each time that extensions are loaded.
struct Loader {
    surroundings: Surroundings,
    values: Values,
    ground: Arc<dyn Ground>,
    session: Arc<HookSession>,
    current: Arc<Current>,
}

#[async_trait]
impl Factory for Loader {
    fn name(&self) -> &str {
        NAME
    }

    async fn register(&self, registry: &mut Registry) -> Result<(), Failure> {
        let Loaded { configured, watched, differs, .. } = load(&self.surroundings, &self.values);
        let problems = configured.problems.iter().map(ToString::to_string);
        problems.chain(differs).for_each(|text| self.session.tell(text));
        self.session.teller().loaded(configured.hooks.clone());
        let listing = Listing { surroundings: self.surroundings.clone(), values: self.values.clone() };
        if configured.is_empty() {
            registry.commands.push(Arc::new(listing));
            self.current.set(None);
            return Ok(());
        }
        let runner = Sandboxed::new(Arc::clone(&self.ground), &self.surroundings, &self.values, watched);
        let session = Arc::clone(&self.session) as Arc<dyn Session>;
        let hooks = CommandHooks::new(configured, Arc::new(runner), session);
        *registry = hooks.registry();
        registry.commands.push(Arc::new(listing));
        self.current.set(hooks.hooks());
        Ok(())
    }
}

/// What of the hooks that are loaded now only hooks of a run can do.
#[derive(Default)]
struct Current(RwLock<Option<Arc<dyn Hooks>>>);

impl Current {
    fn set(&self, hooks: Option<Arc<dyn Hooks>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = hooks;
    }

    fn get(&self) -> Option<Arc<dyn Hooks>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Hooks for Current {
    fn says(&self, at: Point) -> bool {
        self.get().is_some_and(|hooks| hooks.says(at))
    }

    fn deadline(&self) -> Duration {
        self.get().map_or(NoHooks.deadline(), |hooks| hooks.deadline())
    }

    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        match self.get() {
            Some(hooks) => hooks.before_turn(cx).await,
            None => Ok((Step::Go, Vec::new())),
        }
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        self.get()?.approve(asks).await
    }

    async fn follow_up(&self) -> Vec<Message> {
        match self.get() {
            Some(hooks) => hooks.follow_up().await,
            None => Vec::new(),
        }
    }
}

/// `/hooks`: the same as `mica hooks list`.
struct Listing {
    surroundings: Surroundings,
    values: Values,
}

#[async_trait]
impl Command for Listing {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "the commands that are hooked to events"
    }

    async fn run(&self, _: &str) -> Result<Typed, Failure> {
        Ok(Typed::Handled(Some(hooks::list(&self.values, &self.surroundings, Form::Text))))
    }
}

#[cfg(test)]
mod tests;

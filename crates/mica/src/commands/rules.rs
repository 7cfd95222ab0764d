//! `mica rules`: what would happen with a shell command, and approvals that were remembered.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use mica_agent::Proposal;
use mica_policy::Mode;
use mica_policy::shell::{Class, Disk, Judgement, Place, Remembered, ShellRules};
use mica_session::{Access, Summary};
use serde_json::json;

use super::sessions;
use crate::approvals::project::{ProjectFile, Row};
use crate::approvals::{name, session};
use crate::cli::{Form, RulesCommand};
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// When a mode is unknown, or a file cannot be read or written.
pub fn run(command: &RulesCommand, mode: Option<&str>, surroundings: &Surroundings) -> Result<String> {
    let mode: Mode = mode.unwrap_or("edit").parse()?;
    let mut rules = tables(&surroundings.config)?;
    for remembered in remembered(surroundings)? {
        rules.remember(remembered);
    }
    match command {
        RulesCommand::List { format } => list(&rules, *format, surroundings),
        RulesCommand::Forget { words, session } => forget(&words.join(" "), session.as_deref(), surroundings),
        RulesCommand::Judge { command: Some(command), format, .. } => {
            let judged = place(surroundings).judge(command, &rules, mode);
            Ok(match format {
                Form::Json => row(command, &judged),
                Form::Text => shown(&judged),
            })
        }
        RulesCommand::Judge { command: None, batch, .. } => {
            let batch = batch.as_deref().context("give a command, or --batch FILE")?;
            judge_all(&read(batch)?, &place(surroundings), &rules, mode)
        }
    }
}

/// The tables that come with the program, and the user's own: every `.toml` file in `rules` of their settings folder.
/// Their examples are checked here, so a table that means something else than its author thinks is an error.
///
/// # Errors
/// A table that cannot be read, or whose examples are judged otherwise.
pub fn tables(config: &Path) -> Result<ShellRules> {
    let folder = config.join("rules");
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", folder.display())),
    };
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    if paths.is_empty() {
        return Ok(ShellRules::builtin()?);
    }
    paths.sort();
    let mut files = Vec::new();
    for path in &paths {
        files.push((path.display().to_string(), read(path)?));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    ShellRules::with_tables(&files)
        .with_context(|| format!("the rules in {} cannot be used", folder.display()))
}

fn read(file: &Path) -> Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

fn judge_all(text: &str, place: &Place, rules: &ShellRules, mode: Mode) -> Result<String> {
    let mut out = String::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let command: String = serde_json::from_str(line).with_context(|| {
            format!("row {} is no JSON string; each row is one command in quotes", index + 1)
        })?;
        out.push_str(&row(&command, &place.judge(&command, rules, mode)));
    }
    Ok(out)
}

fn row(command: &str, judged: &Judgement) -> String {
    let remember = judged.remember.as_ref().map(ToString::to_string);
    let row = json!({
        "command": command,
        "class": judged.class,
        "reason": judged.reason,
        "rule": judged.rule,
        "split": judged.split,
        "parts": judged.parts,
        "effects": judged.effects,
        "remember": remember,
    });
    format!("{row}\n")
}

fn shown(judged: &Judgement) -> String {
    let mut out = format!("{}: {} (rule: {})\n", judged.class, judged.reason, judged.rule);
    if judged.parts.len() > 1 {
        for part in judged.parts.iter().filter(|part| !part.command.is_empty()) {
            let _ = writeln!(out, "  {:<7}  {}  ({})", part.class.to_string(), part.command, part.rule);
        }
    }
    if let Some(prefix) = &judged.remember {
        let _ = writeln!(out, "An approval could be remembered for commands that begin with: {prefix}");
    }
    out
}

fn list(rules: &ShellRules, format: Form, surroundings: &Surroundings) -> Result<String> {
    let known = rules.known();
    let of = |class: Class| -> Vec<&str> {
        known.iter().filter(|(known, _)| *known == class).map(|(_, name)| *name).collect()
    };
    let project = ProjectFile::of(surroundings).read()?;
    let sessions = of_sessions(surroundings);
    if format == Form::Json {
        let rows = |list: &[Proposal]| list.iter().map(Row::from).collect::<Vec<_>>();
        let sessions: Vec<_> = sessions
            .iter()
            .map(|(summary, list)| {
                json!({ "session": summary.id, "title": summary.title(), "remembered": rows(list) })
            })
            .collect();
        let all = json!({
            "remembered": rows(&project), "sessions": sessions,
            "safe": of(Class::Safe), "ask": of(Class::Ask), "blocked": of(Class::Blocked),
        });
        return Ok(format!("{all}\n"));
    }
    let mut out = String::from("Remembered for this project:\n");
    for approval in &project {
        let _ = writeln!(out, "  {}", short(approval));
    }
    if project.is_empty() {
        out.push_str("  nothing\n");
    }
    if !sessions.is_empty() {
        out.push_str("\nRemembered for sessions of this project:\n");
    }
    for (summary, list) in &sessions {
        let _ = writeln!(out, "  {}  {}", summary.id.short(), plain(summary.title()));
        for approval in list {
            let _ = writeln!(out, "    {}", short(approval));
        }
    }
    for (class, title) in [
        (Class::Safe, "Run without asking, unless their options or files say otherwise"),
        (Class::Ask, "Asked about, unless a sub-command or their files say otherwise"),
        (Class::Blocked, "Never run"),
    ] {
        let _ = writeln!(out, "\n{title}:\n  {}", of(class).join(" "));
    }
    out.push_str("\nCommands that are not listed are asked about.\n");
    Ok(out)
}

/// The sessions of this project that have something remembered. One that cannot be read is left out: `mica sessions list`
/// names those.
fn of_sessions(surroundings: &Surroundings) -> Vec<(Summary, Vec<Proposal>)> {
    let sessions = sessions::folder(surroundings);
    let listed = sessions.list(Some(&surroundings.folder)).sessions.into_iter();
    let with = listed.filter_map(|summary| {
        let list = session::of(&sessions.open(&summary.path, Access::Read).ok()?);
        (!list.is_empty()).then_some((summary, list))
    });
    with.collect()
}

/// How an approval is named here, and can be when it is taken back: commands by their first words.
fn short(approval: &Proposal) -> String {
    plain(&Remembered::of(approval).map_or_else(|| name(approval).to_owned(), |it| it.prefix.to_string()))
}

fn forget(words: &str, of: Option<&str>, surroundings: &Surroundings) -> Result<String> {
    let find = |list: Vec<Proposal>| {
        list.into_iter().find(|approval| short(approval) == words || approval.key == words)
    };
    let nothing = |place: &str| {
        format!("nothing is remembered for \"{words}\" in this {place}; `mica rules list` shows what is")
    };
    let approval = match of {
        None => {
            let file = ProjectFile::of(surroundings);
            let approval = find(file.read()?).with_context(|| nothing("project"))?;
            file.forget(&approval)?;
            approval
        }
        Some(id) => {
            let sessions = sessions::folder(surroundings);
            let path = sessions::find::session(&sessions, id)?;
            let mut open = sessions.open(&path, Access::Write)?;
            let approval = find(session::of(&open)).with_context(|| nothing("session"))?;
            session::forget(&mut open, &approval)?;
            approval
        }
    };
    Ok(match Remembered::of(&approval) {
        Some(it) => format!("Commands that begin with \"{}\" are asked about again.\n", it.prefix),
        None => format!("Asked about again: {}.\n", name(&approval)),
    })
}

/// The commands that were remembered for this project.
///
/// # Errors
/// When the file cannot be read.
pub fn remembered(surroundings: &Surroundings) -> Result<Vec<Remembered>> {
    Ok(ProjectFile::of(surroundings).read()?.iter().filter_map(Remembered::of).collect())
}

/// The place where commands of this project would run.
pub fn place(surroundings: &Surroundings) -> Place {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let temp = surroundings.variable("TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
    let root = surroundings.folder.display().to_string();
    let home = surroundings.variable("HOME").map(|home| real(Path::new(&home)));
    Place { cwd: root.clone(), root, temp: vec![real(Path::new(&temp))], home, disk: Arc::new(RealDisk) }
}

/// How many files are looked at in search of secrets. A project with more counts as not looked at.
const MAX_FILES: usize = 20_000;

/// What the disk of this machine says.
struct RealDisk;

impl Disk for RealDisk {
    fn real(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let mut behind = Vec::new();
        for ancestor in path.ancestors() {
            if let Ok(real) = ancestor.canonicalize() {
                let whole = behind.iter().rev().fold(real, |path, name| path.join(name));
                return Some(whole.display().to_string());
            }
            if let Ok(target) = std::fs::read_link(ancestor) {
                // A link that leads nowhere yet: what it names is what counts.
                let start = ancestor.parent().unwrap_or(ancestor).join(target);
                return Some(
                    behind.iter().rev().fold(start, |path, name| path.join(name)).display().to_string(),
                );
            }
            behind.push(ancestor.file_name()?.to_owned());
        }
        None
    }

    fn secrets_below(&self, folder: &str) -> Option<bool> {
        let rules = ShellRules::builtin().ok()?;
        let mut folders = vec![PathBuf::from(folder)];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MAX_FILES {
                    return None;
                }
                let name = entry.file_name();
                if rules.is_secret_name(&name.to_string_lossy()) {
                    return Some(true);
                }
                // Links are not followed: `grep -r` does not either.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
        Some(false)
    }
}

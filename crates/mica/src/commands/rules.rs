//! `mica rules`: what would happen with a shell command, and approvals that were remembered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use mica_policy::Mode;
use mica_policy::shell::{Class, Disk, Judgement, Place, Prefix, Remembered, Scope, ShellRules};
use serde_json::json;

use crate::cli::{Form, RulesCommand};
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// When a mode is unknown, or a file cannot be read or written.
pub fn run(command: &RulesCommand, mode: Option<&str>, surroundings: &Surroundings) -> Result<String> {
    let mode: Mode = mode.unwrap_or("edit").parse()?;
    let mut rules = ShellRules::builtin()?;
    for remembered in remembered(surroundings)? {
        rules.remember(remembered);
    }
    match command {
        RulesCommand::List { format } => Ok(list(&rules, *format)),
        RulesCommand::Forget { prefix } => forget(&prefix.join(" ").parse()?, surroundings),
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

fn list(rules: &ShellRules, format: Form) -> String {
    let known = rules.known();
    let of = |class: Class| -> Vec<&str> {
        known.iter().filter(|(known, _)| *known == class).map(|(_, name)| *name).collect()
    };
    if format == Form::Json {
        let all = json!({
            "remembered": rules.remembered(),
            "safe": of(Class::Safe), "ask": of(Class::Ask), "blocked": of(Class::Blocked),
        });
        return format!("{all}\n");
    }
    let mut out = String::from("Remembered for this project:\n");
    for remembered in rules.remembered() {
        let _ = writeln!(out, "  {}", remembered.prefix);
    }
    if rules.remembered().is_empty() {
        out.push_str("  nothing\n");
    }
    for (class, title) in [
        (Class::Safe, "Run without asking, unless their options or files say otherwise"),
        (Class::Ask, "Asked about, unless a sub-command or their files say otherwise"),
        (Class::Blocked, "Never run"),
    ] {
        let _ = writeln!(out, "\n{title}:\n  {}", of(class).join(" "));
    }
    out.push_str("\nCommands that are not listed are asked about.\n");
    out
}

fn forget(prefix: &Prefix, surroundings: &Surroundings) -> Result<String> {
    let mut all = every(surroundings)?;
    let here = all.entry(project(surroundings)).or_default();
    let before = here.len();
    here.retain(|remembered| remembered.prefix != *prefix);
    if here.len() == before {
        bail!("nothing is remembered for \"{prefix}\" in this project; `mica rules list` shows what is");
    }
    write(surroundings, &all)?;
    Ok(format!("Commands that begin with \"{prefix}\" are asked about again.\n"))
}

/// What was remembered for this project.
///
/// # Errors
/// When the file cannot be read.
pub fn remembered(surroundings: &Surroundings) -> Result<Vec<Remembered>> {
    Ok(every(surroundings)?.remove(&project(surroundings)).unwrap_or_default())
}

/// Remembers an approval for this project.
///
/// # Errors
/// When the file cannot be written.
#[allow(dead_code, reason = "for the tool that runs commands")]
pub fn remember(prefix: Prefix, surroundings: &Surroundings) -> Result<()> {
    let mut all = every(surroundings)?;
    let here = all.entry(project(surroundings)).or_default();
    let remembered = Remembered { prefix, scope: Scope::Project };
    if !here.contains(&remembered) {
        here.push(remembered);
    }
    write(surroundings, &all)
}

type Every = BTreeMap<String, Vec<Remembered>>;

fn file(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("shell-approvals.json")
}

fn project(surroundings: &Surroundings) -> String {
    surroundings.folder.display().to_string()
}

fn every(surroundings: &Surroundings) -> Result<Every> {
    let file = file(surroundings);
    match std::fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text)
            .with_context(|| format!("{} is damaged; mend or delete it", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Every::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

#[allow(clippy::disallowed_methods, reason = "the file of approvals is this module's own")]
fn write(surroundings: &Surroundings, all: &Every) -> Result<()> {
    let file = file(surroundings);
    let text = serde_json::to_string_pretty(all)?;
    std::fs::create_dir_all(&surroundings.config)
        .and_then(|()| std::fs::write(&file, text))
        .with_context(|| format!("{} cannot be written", file.display()))
}

/// The place where commands of this project would run.
pub fn place(surroundings: &Surroundings) -> Place {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let temp = surroundings.variable("TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
    let root = project(surroundings);
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

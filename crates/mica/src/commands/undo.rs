//! `mica undo` and `mica redo`: what would be done, what stands against it, the deed, and what came of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mica_session::undo::{
    Conflict, Done, OnConflict, Plan, Run, ScanLimits, State, Step, Undo, UndoRetention, Way,
};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::cli::{Form, RestoreFlags};
use crate::commands::sessions::list::{age, clip};
use crate::commands::sessions::prune::{bytes, size};
use crate::config::UndoValues;
use crate::exit::Exit;
use crate::surroundings::Surroundings;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Which way.
    pub way: Way,
    /// The run to go back to before.
    pub run: Option<String>,
    /// Only these files.
    pub files: Vec<PathBuf>,
    /// Only say what would be done.
    pub dry_run: bool,
    /// What to do about files that somebody else changed.
    pub on_conflict: OnConflict,
}

impl Asked {
    /// What flags ask for. Files are relative to a folder.
    pub fn from_flags(way: Way, run: Option<&str>, flags: &RestoreFlags, folder: &Path) -> Self {
        let on_conflict = match (flags.force, flags.skip_conflicts) {
            (true, _) => OnConflict::Force,
            (false, true) => OnConflict::Skip,
            (false, false) => OnConflict::Refuse,
        };
        Self {
            way,
            run: run.map(str::to_owned),
            files: flags.file.iter().map(|file| plain(&folder.join(file))).collect(),
            dry_run: flags.dry_run,
            on_conflict,
        }
    }
}

/// A path without `.` and `..`, by its words alone: what it names may be gone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// What came of it.
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub value: Value,
    /// Whether it was done, or would be.
    pub ok: bool,
    /// What was restored, relative to the project.
    pub paths: Vec<PathBuf>,
}

/// The undo store of the folder that is worked in.
///
/// # Errors
/// Settings that are wrong, or a folder that is none.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
pub fn store(values: &UndoValues, surroundings: &Surroundings) -> Result<Undo> {
    let mut limits = ScanLimits::default();
    if let Some(file) = &values.max_file {
        limits.file = bytes(file).context("undo.max_file is wrong")?;
    }
    Ok(Undo::new(&folder(surroundings), &surroundings.folder, Timestamp::now)?.with_limits(limits))
}

/// What the settings say of how much is kept. What is 0 limits nothing.
///
/// # Errors
/// A size that is none.
pub fn retention(values: &UndoValues) -> Result<UndoRetention> {
    let size = values.max_size.as_deref().map(bytes).transpose().context("undo.max_size is wrong")?;
    let days = values.keep_days.filter(|days| *days > 0);
    Ok(UndoRetention {
        older_than: days.map(|days| SignedDuration::from_hours(i64::from(days) * 24)),
        bytes: size.filter(|size| *size > 0),
    })
}

/// Where the undo stores of all projects are.
pub fn folder(surroundings: &Surroundings) -> PathBuf {
    surroundings.data.join("undo")
}

/// Does it, and prints what came of it.
///
/// # Errors
/// Nothing to undo, or files that cannot be read or written.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub fn run(undo: &Undo, asked: &Asked, format: Form) -> Result<Exit> {
    let answer = perform(undo, asked)?;
    match format {
        Form::Json => println!("{}", answer.value),
        Form::Text if answer.ok => print!("{}", answer.text),
        Form::Text => eprint!("mica: {}", answer.text),
    }
    Ok(if answer.ok { Exit::Done } else { Exit::Error })
}

/// Does it.
///
/// # Errors
/// As [`run`]. Conflicts are no error but an answer.
pub fn perform(undo: &Undo, asked: &Asked) -> Result<Answer> {
    let plan = match asked.way {
        Way::Undo => undo.plan_undo(asked.run.as_deref(), &asked.files)?,
        Way::Redo => undo.plan_redo(&asked.files)?,
    };
    let blocked = plan.conflicts.iter().any(|conflict| conflict.blocked);
    let against = match asked.on_conflict {
        OnConflict::Refuse => !plan.conflicts.is_empty(),
        OnConflict::Force => blocked,
        OnConflict::Skip => false,
    };
    if against || asked.dry_run {
        let text = if against { conflicts(undo, &plan) } else { dry(undo, &plan) };
        let value = value(undo, &plan, None);
        return Ok(Answer { text, value, ok: !against, paths: Vec::new() });
    }
    if plan.steps.is_empty() && plan.conflicts.is_empty() && !plan.continues {
        bail!("nothing can be restored: {}", not_kept(&plan));
    }
    let done = undo.carry_out(&plan, asked.on_conflict)?;
    let paths = done.restored.iter().map(|step| step.path.0.clone()).collect();
    Ok(Answer {
        text: done_text(undo, &plan, &done),
        value: value(undo, &plan, Some(&done)),
        ok: true,
        paths,
    })
}

/// The runs that changed files, for people.
///
/// # Errors
/// A log that cannot be read.
pub fn list(undo: &Undo, now: Timestamp, columns: usize) -> Result<String> {
    let runs = undo.runs()?;
    if runs.is_empty() {
        return Ok("no run of this project changed files, or it was too long ago\n".to_owned());
    }
    let mut out =
        format!("{:<8}  {:>6}  {:<8}  {:>5}  {:>8}  run\n", "id", "age", "session", "files", "size");
    for run in runs {
        let session = run.session.as_deref().unwrap_or("-");
        let session = session.get(session.len().saturating_sub(8)..).unwrap_or(session);
        let undone = if run.undone { "(undone) " } else { "" };
        let row = format!(
            "{:<8}  {:>6}  {session:<8}  {:>5}  {:>8}  {undone}{}",
            run.short(),
            age(now, run.time),
            run.changes.len(),
            size(kept(&run)),
            run.words.as_deref().unwrap_or("(no prompt)"),
        );
        let _ = writeln!(out, "{}", clip(&row, columns));
    }
    Ok(out)
}

/// The runs that changed files, for programs.
///
/// # Errors
/// A log that cannot be read.
pub fn rows(undo: &Undo) -> Result<Value> {
    Ok(undo.runs()?.iter().map(row).collect())
}

fn row(run: &Run) -> Value {
    let files = run.changes.iter().map(|change| {
        json!({
            "path": change.path,
            "before": change.before.word(),
            "after": change.after.word(),
            "bytes_before": change.before.size(),
            "bytes_after": change.after.size(),
        })
    });
    json!({
        "run": run.id,
        "session": run.session,
        "words": run.words,
        "time": run.time,
        "undone": run.undone,
        "bytes": kept(run),
        "files": files.collect::<Vec<_>>(),
    })
}

fn kept(run: &Run) -> u64 {
    run.changes.iter().map(|change| change.before.size()).sum()
}

fn value(undo: &Undo, plan: &Plan, done: Option<&Done>) -> Value {
    let step = |step: &Step| json!({ "path": step.path, "does": does(step), "edited_between": step.between, "from": step.from, "to": step.to });
    let conflict = |conflict: &Conflict| {
        json!({
            "path": conflict.step.path,
            "why": why(undo, conflict),
            "blocked": conflict.blocked,
            "left": conflict.left,
            "found": conflict.step.from,
            "to": conflict.step.to,
        })
    };
    let steps: Vec<Value> = done.map_or(&plan.steps, |done| &done.restored).iter().map(step).collect();
    let conflicts: Vec<Value> =
        done.map_or(&plan.conflicts, |done| &done.skipped).iter().map(conflict).collect();
    json!({
        "way": plan.way,
        "done": done.is_some(),
        "continues": plan.continues,
        "runs": plan.runs.iter().map(|run| json!({ "run": run.id, "words": run.words, "time": run.time })).collect::<Vec<_>>(),
        "files": steps,
        "conflicts": conflicts,
        "not_kept": plan.lost.iter().map(|lost| &lost.path).collect::<Vec<_>>(),
        "folders_kept": done.map(|done| &done.folders),
        "not_for_redo": done.map(|done| &done.for_good),
    })
}

fn does(step: &Step) -> &'static str {
    match (&step.from, &step.to) {
        (_, State::Absent) => "remove",
        (State::Folder { .. }, State::Folder { .. }) => "mode",
        (State::Absent, State::Folder { .. }) => "folder",
        (State::Absent, _) => "bring back",
        _ => "restore",
    }
}

/// What somebody else did to a file.
fn why(undo: &Undo, conflict: &Conflict) -> String {
    let (left, found) = (&conflict.left, &conflict.step.from);
    if conflict.blocked {
        return match found {
            State::Folder { .. } => "it is a folder now, with files in it that are not kept".to_owned(),
            _ => "it is nothing that can be kept".to_owned(),
        };
    }
    match (left, found) {
        (_, State::Absent) => "it was deleted since".to_owned(),
        (State::Absent, found) => format!("there is {} now", found.word()),
        (State::File(was), State::File(now)) => {
            if was.hash.is_some() && was.hash == now.hash {
                return "its mode was changed since".to_owned();
            }
            let present = std::fs::read(undo.project().join(conflict.step.path.path())).ok();
            let before = undo.content(left).ok().flatten();
            let texts = before.zip(present).and_then(|(before, now)| {
                Some((String::from_utf8(before).ok()?, String::from_utf8(now).ok()?))
            });
            match texts {
                None => "it was changed since".to_owned(),
                Some((before, now)) => {
                    let diff = TextDiff::from_lines(&before, &now);
                    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
                    format!(
                        "it was edited since: +{} −{} lines",
                        count(ChangeTag::Insert),
                        count(ChangeTag::Delete)
                    )
                }
            }
        }
        (left, found) if left.word() == found.word() => "something is in its way".to_owned(),
        (_, found) => format!("it is {} now", found.word()),
    }
}

fn conflicts(undo: &Undo, plan: &Plan) -> String {
    let count = plan.conflicts.len();
    let files = if count == 1 { "1 file was".to_owned() } else { format!("{count} files were") };
    let mut out = format!("nothing was touched, because {files} changed since by someone else\n");
    for conflict in &plan.conflicts {
        let _ = writeln!(out, "  {}: {}", conflict.step.path, why(undo, conflict));
    }
    if plan.conflicts.iter().any(|conflict| conflict.blocked) {
        out.push_str("move what is in the way elsewhere, or restore the others with --skip-conflicts\n");
    } else {
        let back = if plan.way == Way::Undo { "`mica redo`" } else { "`mica undo`" };
        let _ = writeln!(
            out,
            "--skip-conflicts restores the others, --file FILE only some, --force all: what is there now comes back with {back}"
        );
    }
    out
}

fn dry(undo: &Undo, plan: &Plan) -> String {
    let mut out = format!("would {}\n", heading(plan, "undo", "redo", "finish"));
    steps(&mut out, &plan.steps);
    for conflict in &plan.conflicts {
        let _ = writeln!(out, "  conflict    {}: {}", conflict.step.path, why(undo, conflict));
    }
    if !plan.lost.is_empty() {
        let _ = writeln!(out, "not kept, so not restored: {}", not_kept(plan));
    }
    out
}

fn done_text(undo: &Undo, plan: &Plan, done: &Done) -> String {
    let mut out = format!("{}\n", heading(plan, "undid", "redid", "finished"));
    steps(&mut out, &done.restored);
    for conflict in &done.skipped {
        let _ = writeln!(out, "  left alone  {}: {}", conflict.step.path, why(undo, conflict));
    }
    for folder in &done.folders {
        let _ = writeln!(out, "  stays       {}: something else is in it", folder.display());
    }
    if !plan.lost.is_empty() {
        let _ = writeln!(out, "not kept, so not restored: {}", not_kept(plan));
    }
    for path in &done.for_good {
        let _ = writeln!(out, "too large to be kept, so it does not come back: {}", path.display());
    }
    let back = if plan.way == Way::Undo { "redo" } else { "undo" };
    let _ = writeln!(out, "`mica {back}` takes this back");
    out
}

fn heading(plan: &Plan, undo: &str, redo: &str, finish: &str) -> String {
    if plan.continues {
        return format!("{finish} what was interrupted");
    }
    let verb = if plan.way == Way::Undo { undo } else { redo };
    match &plan.runs[..] {
        [] => format!("{verb} changes of files"),
        [run] => format!("{verb} run {}{}", run.short(), said(run)),
        [first, ..] => format!("{verb} {} runs, from {}{} on", plan.runs.len(), first.short(), said(first)),
    }
}

fn said(run: &Run) -> String {
    run.words.as_deref().map(|words| format!(" ({})", clip(words, 50))).unwrap_or_default()
}

/// Files that are named before the rest is counted.
const NAMED: usize = 40;

fn steps(out: &mut String, steps: &[Step]) {
    for step in steps.iter().take(NAMED) {
        let between = if step.between { "  (with what somebody else changed between runs)" } else { "" };
        let _ = writeln!(out, "  {:<10}  {}{between}", does(step), step.path);
    }
    if steps.len() > NAMED {
        let _ = writeln!(out, "  and {} more", steps.len() - NAMED);
    }
}

fn not_kept(plan: &Plan) -> String {
    let named: Vec<String> = plan
        .lost
        .iter()
        .take(NAMED)
        .map(|lost| match &lost.was {
            State::File(file) => format!("{} ({})", lost.path, size(file.size)),
            _ => lost.path.to_string(),
        })
        .collect();
    let more = plan.lost.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

//! `mica undo` and `mica redo`: what would be done, what stands against it, the deed, and what came of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mica_session::undo::{
    Conflict, Done, Name, OnConflict, Plan, Run, ScanLimits, State, Step, Undo, UndoRetention, Way,
};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::cli::{Form, RestoreFlags};
use crate::commands::sessions::list::{age, clip};
use crate::commands::sessions::prune::{bytes, size};
use crate::config::UndoValues;
use crate::exit::Exit;
use crate::surroundings::Surroundings;

/// Bytes of a file whose edits are counted.
const COUNTED: u64 = 1 << 20;

/// How long edits of all conflicts are counted. After that, the rest is only said to be changed.
const PATIENCE: Duration = Duration::from_millis(500);

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
        let whys = Whys::of(undo, &plan.conflicts);
        let text = if against { conflicts(&whys, &plan) } else { dry(&whys, &plan) };
        let value = value(&whys, &plan, None);
        return Ok(Answer { text, value, ok: !against, paths: Vec::new() });
    }
    if plan.steps.is_empty() && plan.conflicts.is_empty() && !plan.continues {
        bail!("nothing can be restored: {}", not_kept(&plan));
    }
    let done = undo.carry_out(&plan, asked.on_conflict)?;
    let paths = done.restored.iter().map(|step| step.path.0.clone()).collect();
    let whys = Whys::of(undo, &done.skipped);
    Ok(Answer {
        text: done_text(&whys, &plan, &done),
        value: value(&whys, &plan, Some(&done)),
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

fn value(whys: &Whys, plan: &Plan, done: Option<&Done>) -> Value {
    let step = |step: &Step| json!({ "path": step.path, "does": does(step), "edited_between": step.between, "from": step.from, "to": step.to });
    let conflict = |conflict: &Conflict| {
        json!({
            "path": conflict.step.path,
            "why": whys.of_path(&conflict.step.path),
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

/// What somebody else did to files, by path.
struct Whys(HashMap<Name, String>);

impl Whys {
    #[allow(clippy::disallowed_methods, reason = "the binary has the clock")]
    fn of(undo: &Undo, conflicts: &[Conflict]) -> Self {
        let until = Instant::now() + PATIENCE;
        let why = |conflict: &Conflict| (conflict.step.path.clone(), why(undo, conflict, until));
        Self(conflicts.iter().map(why).collect())
    }

    fn of_path(&self, path: &Name) -> &str {
        self.0.get(path).map_or("it was changed since", String::as_str)
    }
}

/// What somebody else did to a file.
fn why(undo: &Undo, conflict: &Conflict, until: Instant) -> String {
    let (left, found) = (&conflict.left, &conflict.step.from);
    if conflict.blocked {
        return match found {
            State::Folder { .. } => "it is a folder now, with files in it that are not kept".to_owned(),
            State::File(_) => {
                "it is too large to be kept, or nobody may read it, so it would be lost".to_owned()
            }
            State::Absent | State::Link { .. } => "what is in its way cannot be kept".to_owned(),
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
            if left.size().max(found.size()) > COUNTED || Instant::now() > until {
                return "it was changed since".to_owned();
            }
            let present = std::fs::read(undo.project().join(conflict.step.path.path())).ok();
            let before = undo.content(left).ok().flatten();
            let texts = before.zip(present).and_then(|(before, now)| {
                Some((String::from_utf8(before).ok()?, String::from_utf8(now).ok()?))
            });
            match texts {
                None => "it was changed since".to_owned(),
                Some((before, now)) => {
                    let diff = TextDiff::configure().deadline(until).diff_lines(&before, &now);
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

fn conflicts(whys: &Whys, plan: &Plan) -> String {
    let count = plan.conflicts.len();
    let files = if count == 1 { "1 file was".to_owned() } else { format!("{count} files were") };
    let mut out = format!("nothing was touched, because {files} changed since by someone else\n");
    for conflict in &plan.conflicts {
        let _ = writeln!(out, "  {}: {}", conflict.step.path, whys.of_path(&conflict.step.path));
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

fn dry(whys: &Whys, plan: &Plan) -> String {
    let mut out = format!("would {}\n", heading(plan, "undo", "redo", "finish"));
    steps(&mut out, &plan.steps);
    for conflict in &plan.conflicts {
        let _ = writeln!(out, "  conflict    {}: {}", conflict.step.path, whys.of_path(&conflict.step.path));
    }
    if !plan.lost.is_empty() {
        let _ = writeln!(out, "not kept, so not restored: {}", not_kept(plan));
    }
    out
}

fn done_text(whys: &Whys, plan: &Plan, done: &Done) -> String {
    let mut out = format!("{}\n", heading(plan, "undid", "redid", "finished"));
    steps(&mut out, &done.restored);
    for conflict in &done.skipped {
        let _ = writeln!(out, "  left alone  {}: {}", conflict.step.path, whys.of_path(&conflict.step.path));
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

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play tools and people")]

    use mica_session::undo::{Announced, ContentHash};

    use super::*;

    /// What is said of a file that a tool made `left`, and somebody else `found`, when so much time is left.
    fn said(left: &str, found: &str, time: Duration) -> String {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap().join("work");
        let (file, run) = (root.join("a"), "run".into());
        std::fs::create_dir(&root).unwrap();
        let undo = Undo::new(&outer.path().join("undo"), &root, Timestamp::now).unwrap();
        let after = ContentHash::of(left.as_bytes());
        undo.changing(Announced { run: &run, call: "c", path: &file, before: None, after }).unwrap();
        std::fs::write(&file, left).unwrap();
        undo.changed("c", &file).unwrap();
        undo.run_ended(&run).unwrap();
        std::fs::write(&file, found).unwrap();
        let plan = undo.plan_undo(None, &[]).unwrap();
        why(&undo, &plan.conflicts[0], Instant::now() + time)
    }

    #[test]
    fn edits_are_counted_as_long_as_that_is_cheap() {
        let many = |word: &str, count: usize| (0..count).map(|n| format!("{word} {n}\n")).collect::<String>();
        assert_eq!(said("a\nb\n", "a\nc\nd\n", PATIENCE), "it was edited since: +2 −1 lines");
        assert_eq!(said("a\n", "b\n", Duration::ZERO), "it was changed since");
        assert_eq!(said("a\n", &many("large", 100_000), PATIENCE), "it was changed since");
        // Nothing in common: looking for the smallest diff would take long.
        let began = Instant::now();
        let said = said(&many("one", 60_000), &many("other", 60_000), PATIENCE);
        assert_eq!(said, "it was edited since: +60000 −60000 lines");
        assert!(began.elapsed() < PATIENCE * 20, "{:?}", began.elapsed());
    }
}

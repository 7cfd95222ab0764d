//! `mica fix`: applies repairs to files.
//!
//! A file is written only when the result is better by the checker's own judgement, as a whole, and only when it is
//! still what was read. Its permissions stay.

mod write;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use similar::TextDiff;
use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::{Code, Diagnostic, Fix, Safety};
use synapse_lang::fix::{Applied, Extent, Repaired, repair};
use synapse_lang::model::Version;
use synapse_lang::pages;
use synapse_lang::syntax::Document;

use super::language::Said;
use crate::cli::language::FixFlags;
use crate::exit::Exit;
use crate::render::findings::{Counts, many};
use crate::render::paint::{Paint, Style, clean};
use crate::sources::{self, Checkable, Checked, Sources, Target, View};
pub use write::replace;

/// What is repaired.
pub struct Wanted {
    /// How much.
    pub extent: Extent,
    /// Only these, when there are any.
    pub codes: Vec<Code>,
}

impl Wanted {
    fn takes(&self, one: &Diagnostic) -> bool {
        self.codes.is_empty() || self.codes.contains(&one.code)
    }

    fn fits(&self, fix: &Fix) -> bool {
        self.extent == Extent::Everything || fix.safety == Safety::Safe
    }

    /// The findings; those that are not wanted lose their repairs, and still count as errors.
    fn only(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for one in &mut found {
            if !self.takes(one) {
                one.fixes.clear();
            }
        }
        found
    }
}

/// What came of one file.
struct Outcome {
    applied: Vec<Applied>,
    refused: Vec<Code>,
    left: Vec<Diagnostic>,
    diff: String,
}

/// Repairs files.
///
/// # Errors
/// When a path does not exist, or a code or the runtime is not known.
pub fn run(flags: &FixFlags, paint: Paint) -> Result<Said> {
    let runtime = sources::runtime(flags.runtime.as_deref())?;
    let wanted = Wanted {
        extent: if flags.everything { Extent::Everything } else { Extent::Safe },
        codes: codes(&flags.code)?,
    };
    let view = if flags.standalone { View::Standalone } else { View::Projects };
    let mut sources = Sources::find(&flags.paths, view)?;
    sources.set_runtime(runtime);
    let mut troubles = std::mem::take(&mut sources.unreadable);
    let mut out = String::new();
    let (mut fixed, mut changed) = (0, 0);
    let mut left = Vec::new();
    let writes = !flags.dry_run && !flags.diff;
    for (at, checked) in sources.check(runtime, &Checkable::Files).into_iter().enumerate() {
        let (checked, target) = match (checked, sources.targets.get(at).cloned()) {
            (Ok(checked), Some(target)) => (checked, target),
            (Err(trouble), _) => {
                troubles.push(trouble);
                continue;
            }
            (Ok(_), None) => continue,
        };
        let able = |one: &Diagnostic| wanted.takes(one) && one.fixes.iter().any(|fix| wanted.fits(fix));
        if !checked.found.iter().any(able) {
            left.extend(checked.found);
            continue;
        }
        match file(&mut sources, &target, &checked, &wanted, runtime, writes) {
            Ok(outcome) => {
                fixed += outcome.applied.len();
                changed += usize::from(!outcome.applied.is_empty());
                if flags.diff {
                    out.push_str(&outcome.diff);
                } else {
                    tell(&mut out, &checked.shown, &outcome, paint);
                }
                left.extend(outcome.left);
            }
            Err(trouble) => {
                troubles.push(format!("{}: {trouble}", checked.shown));
                left.extend(checked.found);
            }
        }
    }
    let mut counts = Counts::default();
    left.iter().for_each(|one| counts.add(one.severity));
    let summary = summary(writes, fixed, changed, &left, &wanted, &counts);
    let exit = if counts.errors > 0 { Exit::Error } else { Exit::Done };
    // A diff is for other programs: what people should know goes beside it.
    let said = if flags.diff {
        Said { out, err: summary, exit }
    } else {
        Said { out: out + &summary, err: String::new(), exit }
    };
    Ok(said.and_troubles(&troubles))
}

/// The codes that were asked for.
///
/// # Errors
/// When there is no such finding.
pub fn codes(names: &[String]) -> Result<Vec<Code>> {
    let mut codes = Vec::new();
    for name in names.iter().flat_map(|names| names.split(',')).map(str::trim) {
        match pages::find(name) {
            Some(page) => codes.push(page.code),
            None => bail!("--code {name}: there is no such finding; `mica explain --list` lists all"),
        }
    }
    Ok(codes)
}

/// Repairs one file.
fn file(
    sources: &mut Sources,
    target: &Target,
    checked: &Checked,
    wanted: &Wanted,
    runtime: Option<Version>,
    writes: bool,
) -> Result<Outcome, String> {
    let bytes = std::fs::read(&target.file).map_err(|error| error.to_string())?;
    if bytes != checked.text.as_bytes() {
        let exact = sources::decode(bytes).exact;
        let why = if exact { "it changed meanwhile" } else { "it is not in UTF-8" };
        return Err(format!("{why}, so it was left alone"));
    }
    let (repaired, left) = mend(sources, target, &checked.text, wanted, runtime)?;
    let Repaired { text, applied, refused } = repaired;
    if writes && text != *checked.text {
        replace(&target.file, checked.text.as_bytes(), text.as_bytes())?;
    }
    let diff = diff(&checked.shown, &checked.text, &text);
    Ok(Outcome { applied, refused, left, diff })
}

/// What a text becomes in its place, and what is left then. Nothing is written.
///
/// # Errors
/// When the place has no project any more.
pub fn mend(
    sources: &mut Sources,
    target: &Target,
    text: &str,
    wanted: &Wanted,
    runtime: Option<Version>,
) -> Result<(Repaired, Vec<Diagnostic>), String> {
    match &target.home {
        Some((at, name)) => {
            let Some(project) = sources.projects.get_mut(*at) else {
                return Err("it has no project".to_owned());
            };
            let project = RefCell::new(project);
            let look = |text: &str| {
                project.borrow_mut().set(name.as_str(), text);
                wanted.only(project.borrow().check_file(name))
            };
            let repaired = repair(text, wanted.extent, look);
            // Files that are repaired later see what this one became.
            project.borrow_mut().set(name.as_str(), repaired.text.as_str());
            let left = project.borrow().check_file(name);
            Ok((repaired, left))
        }
        None => {
            let setting = Setting { runtime, ..Setting::default() };
            let look = |text: &str| check::check(&Document::parse(text), setting);
            let repaired = repair(text, wanted.extent, |text| wanted.only(look(text)));
            let left = look(&repaired.text);
            Ok((repaired, left))
        }
    }
}

/// The change as a unified diff that `git apply` and `patch -p1` take.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new) = if Path::new(path).is_absolute() {
        (path.to_owned(), path.to_owned())
    } else {
        (format!("a/{path}"), format!("b/{path}"))
    };
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(&old, &new).to_string()
}

/// What was done to a file: each repair once, with how often.
fn tell(out: &mut String, path: &str, outcome: &Outcome, paint: Paint) {
    if outcome.applied.is_empty() && outcome.refused.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "{}: {}",
        paint.paint(Style::Bold, &clean(path)),
        many(outcome.applied.len(), "repair")
    );
    let mut done: BTreeMap<(Code, &str), usize> = BTreeMap::new();
    for one in &outcome.applied {
        *done.entry((one.code, one.title.as_str())).or_default() += 1;
    }
    for ((code, title), count) in done {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let _ = writeln!(out, "  {} {code} {}{times}", paint.paint(Style::Green, "+"), clean(title));
    }
    for code in &outcome.refused {
        let _ = writeln!(
            out,
            "  {} {code} was left: its repair does not help, or breaks something else",
            paint.paint(Style::Yellow, "!")
        );
    }
}

fn summary(
    writes: bool,
    fixed: usize,
    changed: usize,
    left: &[Diagnostic],
    wanted: &Wanted,
    counts: &Counts,
) -> String {
    let verb = if writes { "Repaired" } else { "Would repair" };
    let mut out = match fixed {
        0 => "Nothing to repair".to_owned(),
        _ => format!("{verb} {} in {}", many(fixed, "finding"), many(changed, "file")),
    };
    match counts.words() {
        Some(words) => _ = write!(out, "; left: {words}."),
        None => out.push_str("; nothing is left."),
    }
    let more = left.iter().filter(|one| wanted.takes(one) && !one.fixes.is_empty()).count();
    if more > 0 && wanted.extent == Extent::Safe {
        let _ = write!(out, " `mica fix --unsafe` repairs {more} more.");
    }
    out.push('\n');
    out
}

//! `mica eval`: plays cases, says what came of them, and compares it with what came of them before.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mica_eval::finding::{find, is_meant};
use mica_eval::junit::junit;
use mica_eval::report::{in_a_row, visible};
use mica_eval::{Case, Product, Report, Runner, compare, files};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::cli::eval::{EvalFlags, FailOn};
use crate::cli::{Form, RunFlags};
use crate::exit::Exit;
use crate::surroundings::Surroundings;

mod desk;
mod live;
mod mi;
mod scratch;

use scratch::Scratch;

/// The products that cases can be played in.
fn products() -> Vec<Arc<dyn Product>> {
    vec![Arc::new(mi::Mi), Arc::new(desk::Desk)]
}

/// Plays cases.
///
/// # Errors
/// Files that cannot be written.
#[allow(clippy::print_stderr, reason = "a program speaks")]
pub async fn run(flags: &EvalFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let ignored = ignored(run);
    if !ignored.is_empty() {
        let flags = ignored.join(", ");
        return Ok(refused([format!(
            "`mica eval` does not take {flags}: a case says itself how it is played (docs/evals.md)"
        )]));
    }
    let paths: Vec<PathBuf> = flags.paths.iter().map(|path| surroundings.folder.join(path)).collect();
    let cases = match find(&paths) {
        Ok(cases) => cases,
        Err(errors) => {
            return Ok(refused(errors));
        }
    };
    let meant = |case: &Case| flags.filter.is_empty() || flags.filter.iter().any(|word| is_meant(case, word));
    let (cases, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(meant);
    if cases.is_empty() {
        let words = flags.filter.join(" or ");
        return Ok(refused([format!("no case has {words} in its name, tags or sentence")]));
    }
    if flags.list {
        say(&listed(&cases, flags.format));
        return Ok(Exit::Done);
    }
    let mut baseline = match flags.baseline.as_deref().map(|path| read(&surroundings.folder.join(path))) {
        None if flags.fail_on == FailOn::Regressed => {
            return Ok(refused(["--fail-on regressed needs a --baseline to compare with"]));
        }
        None => None,
        Some(Ok(report)) => Some(report),
        Some(Err(error)) => {
            return Ok(refused([format!("{error:#}")]));
        }
    };
    let files = written(flags, surroundings, &cases);
    if !files.is_empty() {
        return Ok(refused(files));
    }
    let scratch = Scratch::new(&std::env::temp_dir())?;
    let runner = Arc::new(Runner {
        products: products(),
        live: Some(Arc::new(live::Configured::new(run, surroundings))),
        play_live: flags.live,
        record: flags.record,
        jobs: flags.jobs.into(),
        deadline: Duration::from_secs(flags.deadline),
        scratch: scratch.path().to_path_buf(),
        journals: flags.journal.as_ref().map(|folder| surroundings.folder.join(folder)),
    });
    let wrong = runner.wrong(&cases);
    if !wrong.is_empty() {
        return Ok(refused(wrong));
    }
    let enough = CancellationToken::new();
    // Kept to the end: who asks twice while something is written that nobody reads goes at once as well.
    let _stopping =
        AbortOnDropHandle::new(tokio::spawn(stopped(enough.clone(), scratch.path().to_path_buf())));
    let report = runner.play_until(&cases, |_| {}, &enough).await;
    let was_stopped = enough.is_cancelled();
    // What the words left out is neither gone nor anything else.
    if let Some(before) = &mut baseline {
        before.cases.retain(|case| others.iter().all(|other| other.name != case.name));
    }
    let comparison = baseline.as_ref().map(|before| compare(before, &report));
    match flags.format {
        Form::Text => {
            say(&report.text());
            if let Some(comparison) = &comparison {
                say(&format!("\nSince the baseline:\n{}", comparison.text()));
            }
        }
        Form::Json => {
            let mut value = serde_json::to_value(&report)?;
            if let Some(comparison) = &comparison {
                value["comparison"] = serde_json::to_value(&comparison.cases)?;
            }
            say(&format!("{value}\n"));
        }
    }
    if let Some(path) = &flags.report {
        files::write(&surroundings.folder.join(path), serde_json::to_string_pretty(&report)?.as_bytes())?;
    }
    if let Some(path) = &flags.junit {
        files::write(&surroundings.folder.join(path), junit(&report)?.as_bytes())?;
    }
    if was_stopped {
        eprintln!("mica: stopped: what was played until then is reported");
        return Ok(Exit::Aborted);
    }
    let failed = match (flags.fail_on, &comparison) {
        (FailOn::Regressed, Some(comparison)) => comparison.has_regressed(),
        _ => !report.is_fine(),
    };
    Ok(if failed { Exit::Error } else { Exit::Done })
}

/// Prints. Who reads only the beginning, as `head` does, is no reason to fail.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Says why nothing is played.
#[allow(clippy::print_stderr, reason = "a program speaks")]
fn refused<T: std::fmt::Display>(problems: impl IntoIterator<Item = T>) -> Exit {
    problems.into_iter().for_each(|problem| eprintln!("mica: {}", visible(&problem.to_string())));
    Exit::Usage
}

/// What is wrong with the files that are to be written. Known before anything is played: what an hour came to would be
/// lost afterwards.
fn written(flags: &EvalFlags, surroundings: &Surroundings, cases: &[Case]) -> Vec<String> {
    let at = |path: &Option<PathBuf>| path.as_ref().map(|path| surroundings.folder.join(path));
    let reports = [("--report", at(&flags.report)), ("--junit", at(&flags.junit))];
    let reports: Vec<(&str, PathBuf)> =
        reports.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect();
    let mut problems = Vec::new();
    for (flag, path) in &reports {
        if let Err(error) = files::prepare(path) {
            problems.push(format!("{flag}: {error}"));
        }
    }
    if let Some(folder) = at(&flags.journal)
        && let Err(error) = files::prepare(&folder.join("a case"))
    {
        problems.push(format!("--journal: {error}"));
    }
    // A report may take the place of the baseline that it was compared with: it is of the same kind.
    let others = [("--report", at(&flags.report)), ("--baseline", at(&flags.baseline))];
    let others = others.into_iter().filter_map(|(flag, path)| Some((flag, path?)));
    let junit = reports.iter().find(|(flag, _)| *flag == "--junit");
    for ((_, junit), (flag, other)) in
        junit.into_iter().flat_map(|junit| others.clone().map(move |other| (junit, other)))
    {
        if files::is_same(junit, &other) {
            let shown = junit.display();
            problems.push(format!("--junit and {flag} are one file, {shown}: one would overwrite the other"));
        }
    }
    for (flag, path) in &reports {
        let is_read = |case: &&Case| {
            let named = [&case.file.model.file, &case.file.judge.cassette].into_iter().flatten();
            let named = named.filter_map(|file| case.file(file).ok());
            std::iter::once(case.path.clone()).chain(named).any(|read| files::is_same(&read, path))
        };
        if let Some(case) = cases.iter().find(is_read) {
            problems.push(format!("{flag}: {} belongs to the case {}", path.display(), case.name));
        }
    }
    problems
}

fn listed(cases: &[Case], format: Form) -> String {
    if format == Form::Json {
        let one = |case: &Case| {
            json!({
                "name": case.name,
                "about": case.file.about,
                "product": case.file.product,
                "tags": case.file.tags,
                "path": case.path,
                "digest": case.digest,
            })
        };
        return format!("{}\n", cases.iter().map(one).collect::<serde_json::Value>());
    }
    let names: Vec<String> = cases.iter().map(|case| in_a_row(&case.name)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let row = |(name, case): (&String, &Case)| format!("{name:wide$}  {}\n", in_a_row(&case.file.about));
    names.iter().zip(cases).map(row).collect()
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let report: Report = serde_json::from_str(&text)
        .with_context(|| format!("{} is no report of `mica eval --report`", path.display()))?;
    anyhow::ensure!(
        report.version == mica_eval::report::VERSION,
        "{} is a report of another version: make it again with --report",
        path.display()
    );
    Ok(report)
}

/// Flags of a run that say something about cases: which model is asked, live or to be recorded, and where they are.
const OF_CASES: &[&str] = &["--model", "--dialect", "--base-url", "--api-key-env", "--directory"];

/// Flags of a run that were given, and that say nothing about cases.
fn ignored(run: &RunFlags) -> Vec<&'static str> {
    let mut given: Vec<&'static str> = run.given().into_iter().map(|given| given.flag).collect();
    given.retain(|flag| !OF_CASES.contains(flag));
    // One that was given several times is said once.
    given.dedup();
    given
}

/// Waits until somebody has enough: at the keyboard, or whoever runs this in the place of somebody. Who asks twice waits
/// for nothing but that the worlds of the cases are taken away.
#[allow(clippy::exit, reason = "who asks twice wants no end that is waited for")]
async fn stopped(enough: CancellationToken, worlds: PathBuf) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut told) = signal(SignalKind::terminate()) else { return };
    for times in 0.. {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = told.recv() => {}
        }
        // Whoever says it again waits for nothing any more, not even for a case that does not stop.
        if times > 0 {
            scratch::remove(&worlds);
            std::process::exit(Exit::Aborted as i32);
        }
        enough.cancel();
    }
}

#[cfg(test)]
mod tests {
    //! What `docs/evals.md` says about products, for their tests.

    use mica_eval::case::Shapes;

    use super::*;

    fn page() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evals.md");
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn coded(text: &str) -> Vec<String> {
        let mut words: Vec<String> = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        words.sort();
        words
    }

    /// What stands as code in a cell of a product's row.
    pub(super) fn cell(product: &str, column: usize) -> Vec<String> {
        let page = page();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{product}` |")));
        let cells: Vec<&str> = row.unwrap_or_else(|| panic!("no row for {product}")).split('|').collect();
        coded(cells.get(column + 1).copied().unwrap_or_default())
    }

    /// Everything that stands as code on the page, word by word.
    pub(super) fn code() -> Vec<String> {
        let words = |text: &String| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
        };
        coded(&page()).iter().flat_map(words).collect()
    }

    /// The keys of a table.
    pub(super) fn keys(shapes: &Shapes, place: &str) -> Vec<String> {
        let found = shapes.all().find(|(known, _)| known == place);
        let (_, shape) = found.unwrap_or_else(|| panic!("nothing at {place:?}"));
        let mut names: Vec<String> = shape.names().iter().map(|name| (*name).to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_case_of_a_project_can_say_is_on_the_page() {
        assert_eq!(cell("mi", 1), keys(&Shapes::of::<mi::Setup>(), ""));
    }
}

//! `mica eval`: plays cases, says what came of them, and compares it with what came of them before.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mica_eval::finding::{find, is_meant};
use mica_eval::junit::junit;
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
        eprintln!(
            "mica: `mica eval` does not take {}: a case says itself how it is played (docs/evals.md)",
            ignored.join(", ")
        );
        return Ok(Exit::Usage);
    }
    let paths: Vec<PathBuf> = flags.paths.iter().map(|path| surroundings.folder.join(path)).collect();
    let cases = match find(&paths) {
        Ok(cases) => cases,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("mica: {error}"));
            return Ok(Exit::Usage);
        }
    };
    let meant = |case: &Case| flags.filter.is_empty() || flags.filter.iter().any(|word| is_meant(case, word));
    let (cases, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(meant);
    if cases.is_empty() {
        eprintln!("mica: no case has {} in its name, tags or sentence", flags.filter.join(" or "));
        return Ok(Exit::Usage);
    }
    if flags.list {
        say(&listed(&cases, flags.format));
        return Ok(Exit::Done);
    }
    let mut baseline = match flags.baseline.as_deref().map(|path| read(&surroundings.folder.join(path))) {
        None if flags.fail_on == FailOn::Regressed => {
            eprintln!("mica: --fail-on regressed needs a --baseline to compare with");
            return Ok(Exit::Usage);
        }
        None => None,
        Some(Ok(report)) => Some(report),
        Some(Err(error)) => {
            eprintln!("mica: {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let scratch = Scratch::new()?;
    let runner = Arc::new(Runner {
        products: products(),
        live: Some(Arc::new(live::Configured::new(run, surroundings))),
        play_live: flags.live,
        record: flags.record,
        jobs: flags.jobs.into(),
        deadline: Duration::from_secs(flags.deadline),
        scratch: scratch.0.clone(),
        journals: flags.journal.as_ref().map(|folder| surroundings.folder.join(folder)),
    });
    let wrong = runner.wrong(&cases);
    if !wrong.is_empty() {
        wrong.iter().for_each(|error| eprintln!("mica: {error}"));
        return Ok(Exit::Usage);
    }
    let enough = CancellationToken::new();
    let stopping = AbortOnDropHandle::new(tokio::spawn(stopped(enough.clone())));
    let report = runner.play_until(&cases, |_| {}, &enough).await;
    // From here on another signal ends the program: nothing is left to be stopped.
    drop(stopping);
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
    if enough.is_cancelled() {
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
    let wide = cases.iter().map(|case| case.name.chars().count()).max().unwrap_or(0);
    cases.iter().map(|case| format!("{:wide$}  {}\n", case.name, case.file.about)).collect()
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

/// Waits until somebody has enough: at the keyboard, or whoever runs this in the place of somebody.
#[allow(clippy::exit, reason = "who asks twice wants no end that is waited for")]
async fn stopped(enough: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut told) = signal(SignalKind::terminate()) else { return };
    for times in 0.. {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = told.recv() => {}
        }
        // Whoever says it again waits for nothing any more, not even for a case that does not stop.
        if times > 0 {
            std::process::exit(Exit::Aborted as i32);
        }
        enough.cancel();
    }
}

/// A folder for the worlds of cases. It goes with the program.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("mica-eval-{}", std::process::id()));
        // What a program of the same number left behind is no part of any case.
        let _ = std::fs::remove_dir_all(&path);
        let mut folder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        // A folder that somebody else put there meanwhile is not used.
        folder.create(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path.canonicalize()?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot go is no reason to fail at the end.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

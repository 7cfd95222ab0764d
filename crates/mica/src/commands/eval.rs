//! `mica eval`: plays cases, says what came of them, and compares it with what came of them before.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mica_eval::finding::{find, is_meant};
use mica_eval::junit::junit;
use mica_eval::{Case, Product, Report, Runner, compare};
use serde_json::json;

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
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub async fn run(flags: &EvalFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let paths: Vec<PathBuf> = flags.paths.iter().map(|path| surroundings.folder.join(path)).collect();
    let cases = match find(&paths) {
        Ok(cases) => cases,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("mica: {error}"));
            return Ok(Exit::Usage);
        }
    };
    let meant = |case: &Case| flags.filter.is_empty() || flags.filter.iter().any(|word| is_meant(case, word));
    let cases: Vec<Case> = cases.into_iter().filter(meant).collect();
    if cases.is_empty() {
        eprintln!("mica: no case has {} in its name, tags or sentence", flags.filter.join(" or "));
        return Ok(Exit::Usage);
    }
    if flags.list {
        print!("{}", listed(&cases, flags.format));
        return Ok(Exit::Done);
    }
    let baseline = match flags.baseline.as_deref().map(|path| read(&surroundings.folder.join(path))) {
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
        jobs: flags.jobs,
        deadline: Duration::from_secs(flags.deadline),
        scratch: scratch.0.clone(),
        journals: flags.journal.as_ref().map(|folder| surroundings.folder.join(folder)),
    });
    let report = runner.play(&cases, |_| {}).await;
    let comparison = baseline.as_ref().map(|before| compare(before, &report));
    match flags.format {
        Form::Text => {
            print!("{}", report.text());
            if let Some(comparison) = &comparison {
                print!("\nSince the baseline:\n{}", comparison.text());
            }
        }
        Form::Json => {
            let mut value = serde_json::to_value(&report)?;
            if let Some(comparison) = &comparison {
                value["comparison"] = serde_json::to_value(&comparison.cases)?;
            }
            println!("{value}");
        }
    }
    if let Some(path) = &flags.report {
        write(&surroundings.folder.join(path), &serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = &flags.junit {
        write(&surroundings.folder.join(path), &junit(&report)?)?;
    }
    let failed = match (flags.fail_on, &comparison) {
        (FailOn::Regressed, Some(comparison)) => comparison.has_regressed(),
        _ => !report.is_fine(),
    };
    Ok(if failed { Exit::Error } else { Exit::Done })
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

#[allow(clippy::disallowed_methods, reason = "the user asks for this file by name")]
fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// A folder for the worlds of cases. It goes with the program.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("mica-eval-{}", std::process::id()));
        // What a program of the same number left behind is no part of any case.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path.canonicalize()?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot go is no reason to fail at the end.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

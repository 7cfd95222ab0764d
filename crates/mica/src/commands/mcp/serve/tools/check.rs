//! `check`: what is wrong with artifacts, as `mica check` finds it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synapse_lang::diagnostic::Severity;

use super::finding::{Finding, MOST, Summary, rows};
use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;
use crate::render::findings::Counts;
use crate::sources::{Checkable, Checked};

/// What to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Files and folders, relative to the root. Left out, and without a text: everything below the roots.
    #[serde(default)]
    paths: Vec<String>,
    /// The text of an artifact that is not saved yet, instead of paths.
    text: Option<String>,
    /// Where that text will be saved: then names of the project around it are known.
    file_name: Option<String>,
    /// The runtime to check for, for example 4.3 or 4.4.0. Left out: what the project says, else the newest.
    runtime: Option<String>,
    /// The least severity that is told; hint when left out.
    severity: Option<Least>,
    /// Look at each file alone, without its project.
    #[serde(default)]
    standalone: bool,
}

/// A severity.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Least {
    Hint,
    Info,
    Warning,
    Error,
}

impl Least {
    const fn severity(self) -> Severity {
        match self {
            Self::Hint => Severity::Hint,
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// Files with findings; clean ones are counted only.
    files: Vec<File>,
    /// Findings that there was no room for.
    left_out: usize,
    /// What could not be read, and why.
    unreadable: Vec<String>,
}

/// What was found in one file.
#[derive(Debug, Serialize, JsonSchema)]
struct File {
    path: String,
    /// api, sequence, proxy, endpoint and so on.
    kind: String,
    findings: Vec<Finding>,
}

/// The tool.
pub fn tool() -> Offered {
    Offered::new(
        "check",
        "Check Synapse artifacts",
        "Checks Synapse artifacts, data services, unit tests and descriptors of WSO2 Micro Integrator: what would not deploy, \
         would fail, would go empty or would be ignored at run time, with names across the files of the project. Give paths \
         of files or folders, or the text of an artifact that you are about to write. Every finding has a code, a place and, \
         where one is known, a repair.",
        run,
    )
}

fn run(site: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    if input.text.is_some() && !input.paths.is_empty() {
        return Err(Refusal::new("Give paths or a text, not both."));
    }
    if input.file_name.is_some() && input.text.is_none() {
        return Err(Refusal::new("file_name goes with a text; for files that are there, give paths."));
    }
    let asked = input.runtime.as_deref().map(|runtime| site.runtime(Some(runtime))).transpose()?.flatten();
    let view = site.view(input.standalone);
    let (mut sources, what) = match &input.text {
        Some(text) => site.text(text, input.file_name.as_deref(), &view)?,
        None => (site.files(&input.paths, &view)?, Checkable::Files),
    };
    sources.set_runtime(asked);
    let mut unreadable = std::mem::take(&mut sources.unreadable);
    let mut checked = Vec::new();
    for one in sources.check(asked, &what) {
        match one {
            Ok(one) => checked.push(one),
            Err(why) => unreadable.push(why),
        }
    }
    if checked.is_empty() && unreadable.is_empty() {
        return Err(Refusal::new("There is nothing to check there: no Synapse artifacts (*.xml, *.dbs)."));
    }
    let least = input.severity.unwrap_or(Least::Hint).severity();
    Ok(told(&checked, least, unreadable))
}

fn told(checked: &[Checked], least: Severity, unreadable: Vec<String>) -> Answer<Output> {
    let mut counts = Counts::default();
    let (mut files, mut left_out, mut room) = (Vec::new(), 0, MOST);
    for one in checked {
        let found: Vec<_> = one.found.iter().filter(|found| found.severity >= least).collect();
        found.iter().for_each(|found| counts.add(found.severity));
        let shown = found.len().min(room);
        left_out += found.len() - shown;
        room -= shown;
        if shown > 0 {
            let findings = Finding::all(&one.text, found.into_iter().take(shown));
            files.push(File { path: one.shown.clone(), kind: one.kind.to_owned(), findings });
        }
    }
    let summary = Summary::of(checked.len(), &counts);
    let all = files.iter().flat_map(|file| file.findings.iter().map(|one| (file.path.as_str(), one)));
    let mut text = rows(all);
    let word = if checked.len() == 1 { "file" } else { "files" };
    text.push_str(&format!("{} {word} checked: {}.", checked.len(), summary.words()));
    for why in &unreadable {
        text.push_str(&format!("\nNot checked: {why}"));
    }
    Answer { text, data: Output { summary, files, left_out, unreadable } }
}

//! `apply_code_action`: makes a repair that a check offers, or all safe ones of a file.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
    typed::schema_of,
};
use mica_tools::arguments::{blocking, read};
use mica_tools::{Change, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use synapse_lang::diagnostic::{Code, Diagnostic, Fix, Safety};
use synapse_lang::fix;
use synapse_lang::text::{Lines, Unit};

use crate::checking::{Checked, Checker};

/// The name models call it by.
pub const NAME: &str = "apply_code_action";

/// Repairs made in one call at most: each is checked anew, and one may bring another up.
const MOST: usize = 200;

/// Which repair.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyArgs {
    /// The file, relative to the workspace.
    path: String,
    /// The finding, as SYN0123. Left out: every safe repair of the file is made.
    code: Option<String>,
    /// The line of the finding, when the file has several of that code.
    line: Option<u32>,
    /// The repair, by its title or the beginning of it, when the finding offers several.
    title: Option<String>,
}

/// Makes repairs.
pub struct ApplyCodeAction {
    workspace: Workspace,
    checker: Checker,
    spec: ToolSpec,
}

impl ApplyCodeAction {
    /// A tool for a workspace.
    #[must_use]
    pub fn new(workspace: &Workspace, checker: &Checker) -> Self {
        let description = "Makes a repair that a check of a Synapse file offers: name the finding by code, and by line when \
                           there are several. Without code, makes all repairs of the file that are marked safe. Quicker and \
                           surer than writing the same change by hand.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ApplyArgs>());
        spec.label = "Repair".to_owned();
        spec.access = Access::Write;
        // Made twice, the finding is gone, and the second call says so.
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), checker: checker.clone(), spec }
    }
}

#[async_trait]
impl Tool for ApplyCodeAction {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.workspace.touched(args.get("path").and_then(|path| path.as_str()))
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: ApplyArgs = read(args.clone()).ok()?;
        let (workspace, checker) = (self.workspace.clone(), self.checker.clone());
        let looking = tokio::task::spawn_blocking(move || match plan(&workspace, &checker, &args) {
            Ok(planned) => workspace.preview(&args.path, &[planned.change]),
            Err(error) => Preview::Fails { reason: error.message },
        });
        looking.await.ok()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ApplyArgs = read(args)?;
        let (workspace, checker) = (self.workspace.clone(), self.checker.clone());
        blocking(cx, move |cx| {
            let planned = plan(&workspace, &checker, &args)?;
            let changed = workspace.change(&[planned.change], cx)?;
            let text = format!("{}: {}.", args.path, planned.titles.join("; "));
            Ok(ToolOutput::text(text).with_details(changed.details))
        })
        .await
    }
}

/// Repairs that can be made, and have not been.
#[derive(Debug)]
struct Planned {
    change: Change,
    titles: Vec<String>,
}

fn plan(workspace: &Workspace, checker: &Checker, args: &ApplyArgs) -> Result<Planned, ToolError> {
    let path = workspace.existing(&args.path)?.path();
    let mut files = checker.files(std::slice::from_ref(&path));
    let Some(file) = files.pop() else {
        return Err(ToolError::new(format!(
            "{} is nothing that is checked, so there is nothing to repair. Nothing was changed.",
            args.path
        )));
    };
    let before = workspace.changeable(&args.path)?.unwrap_or_default();
    if *before != *file.text {
        return Err(ToolError::new(format!(
            "{} is not written in UTF-8, or changed while it was checked. Nothing was changed.",
            args.path
        )));
    }
    let (after, titles) = match &args.code {
        None => every_safe(checker, &file),
        Some(code) => one(&file, code, args),
    }?;
    Ok(Planned { change: Change { path: args.path.clone(), before: Some(before), after }, titles })
}

/// All safe repairs. Those that the result would be worse by are not made.
fn every_safe(checker: &Checker, file: &Checked) -> Result<(String, Vec<String>), ToolError> {
    let look = |text: &str| checker.look(&file.path, text);
    let repaired = fix::repair(&file.text, fix::Extent::Safe, look);
    if repaired.applied.is_empty() {
        let offered: usize = file.found.iter().map(|one| one.fixes.len()).sum();
        let others = match offered {
            0 => String::new(),
            1 => " (1 other is offered; name the finding by code)".to_owned(),
            _ => format!(" ({offered} others are offered; name the finding by code)"),
        };
        return Err(ToolError::new(format!(
            "{} has no repair that is safe without a look{others}. Nothing was changed.",
            file.shown
        )));
    }
    let titles =
        repaired.applied.iter().take(MOST).map(|one| format!("{} {}", one.code, one.title)).collect();
    Ok((repaired.text, titles))
}

fn one(file: &Checked, code: &str, args: &ApplyArgs) -> Result<(String, Vec<String>), ToolError> {
    let nothing = |why: String| ToolError::new(format!("{why} Nothing was changed."));
    let code: Code = code
        .parse()
        .map_err(|_| nothing(format!("{code:?} is no code of a finding; they look like SYN0123.")))?;
    let lines = Lines::of(&file.text);
    let line = |one: &Diagnostic| lines.position(&file.text, one.span.start, Unit::Scalar).line + 1;
    let of_code: Vec<&Diagnostic> = file.found.iter().filter(|one| one.code == code).collect();
    let at =
        |found: &[&Diagnostic]| found.iter().map(|one| line(one).to_string()).collect::<Vec<_>>().join(", ");
    let fitting: Vec<&Diagnostic> =
        of_code.iter().copied().filter(|one| args.line.is_none_or(|wanted| line(one) == wanted)).collect();
    let finding = match (fitting.as_slice(), of_code.as_slice()) {
        ([], []) => return Err(nothing(format!("{} has no finding {code}.", file.shown))),
        ([], some) => return Err(nothing(format!("{code} is at line {}, not there.", at(some)))),
        ([first, rest @ ..], _) if rest.is_empty() || args.line.is_some() => first,
        (several, _) => {
            return Err(nothing(format!("{code} is at lines {}: say which line.", at(several))));
        }
    };
    let fixes = &finding.fixes;
    let titles = || fixes.iter().map(|fix| format!("{:?}", fix.title)).collect::<Vec<_>>().join(", ");
    let starts = |fix: &&Fix| {
        args.title.as_deref().is_some_and(|title| fix.title.to_lowercase().starts_with(&title.to_lowercase()))
    };
    let fix = match (fixes.as_slice(), &args.title) {
        ([], _) => return Err(nothing(format!("{code} has no repair; change the file yourself."))),
        ([only], None) => only,
        // The best one comes first, and a safe one needs no choice.
        ([first, ..], None) if first.safety == Safety::Safe => first,
        (_, None) => {
            return Err(nothing(format!(
                "{code} can be repaired in several ways: title is one of {}.",
                titles()
            )));
        }
        (_, Some(title)) => fixes
            .iter()
            .find(|fix| fix.title == *title)
            .or_else(|| fixes.iter().find(starts))
            .ok_or_else(|| nothing(format!("{code} offers no repair {title:?}, but {}.", titles())))?,
    };
    let edits: Vec<_> = fix.edits.iter().collect();
    let after = fix::apply(&file.text, &edits)
        .ok_or_else(|| nothing(format!("The repair of {code} does not fit the file any more.")))?;
    Ok((after, vec![format!("{code} {}", fix.title)]))
}

#[cfg(test)]
mod tests;

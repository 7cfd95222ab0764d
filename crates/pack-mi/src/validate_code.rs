//! `validate_code`: checks files that were not just written, or the whole project.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of,
};
use mica_tools::arguments::{blocking, read};
use mica_tools::{FileError, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::apply_code_action;
use crate::checking::{Checker, Report};

/// The name models call it by.
pub const NAME: &str = "validate_code";

/// Files with findings that are told in one answer. A project with more is best repaired a few at a time.
const FILES: usize = 25;

/// What to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateArgs {
    /// Files, relative to the workspace. Left out: everything in the project.
    file_paths: Option<Vec<String>>,
}

/// Checks Synapse files.
pub struct ValidateCode {
    workspace: Workspace,
    checker: Checker,
    spec: ToolSpec,
}

impl ValidateCode {
    /// A tool for a workspace.
    #[must_use]
    pub fn new(workspace: &Workspace, checker: &Checker) -> Self {
        let description = "Checks Synapse artifacts, data services, unit tests and descriptors against the project's runtime \
                           version: what would not deploy, would fail or would be ignored, with names across files. Every \
                           write and edit is checked on its own; use this for files you did not just change, or without \
                           file_paths for the whole project before you finish.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ValidateArgs>());
        spec.label = "Check".to_owned();
        spec.access = Access::Read;
        spec.effect = Effect::Pure;
        spec.approval = Approval::NotNeeded;
        Self { workspace: workspace.clone(), checker: checker.clone(), spec }
    }
}

#[async_trait]
impl Tool for ValidateCode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ValidateArgs = read(args)?;
        let (workspace, checker) = (self.workspace.clone(), self.checker.clone());
        blocking(cx, move |_| validate(&workspace, &checker, args)).await
    }
}

fn validate(workspace: &Workspace, checker: &Checker, args: ValidateArgs) -> Result<ToolOutput, ToolError> {
    let mut skipped = Vec::new();
    let mut missing: Vec<FileError> = Vec::new();
    let mut checked = match args.file_paths {
        None => checker.all(),
        Some(names) => {
            let (mut there, mut paths) = (Vec::new(), Vec::new());
            for name in names {
                match workspace.existing(&name) {
                    Ok(place) => {
                        paths.push(place.path());
                        there.push(name);
                    }
                    Err(error) => missing.push(error),
                }
            }
            // With nothing left to check, the first of them is what went wrong.
            if paths.is_empty() && !missing.is_empty() {
                return Err(missing.swap_remove(0).into());
            }
            let checked = checker.files(&paths);
            let is_in = |path| checked.iter().any(|one| one.path == path);
            skipped.extend(
                there.into_iter().zip(paths).filter(|(_, path)| !is_in(path.clone())).map(|(name, _)| name),
            );
            checked
        }
    };
    let all = checked.len();
    let counts = Report { files: &checked, can_apply: true }.counts();
    let checks = Report { files: &checked, can_apply: true }.checks();
    if checked.is_empty() && skipped.is_empty() {
        return Err(ToolError::new(
            "There is no Micro Integrator project here: no src/main/wso2mi and no synapse-config.",
        ));
    }
    // The worst first; what is in order is only counted when there is much of it.
    checked.sort_by_key(|one| std::cmp::Reverse(super::checking::Counts::of(&one.found).errors));
    let clean = checked.iter().filter(|one| one.found.is_empty() && one.broken.is_empty()).count();
    if all > FILES {
        checked.retain(|one| !one.found.is_empty());
    }
    let with_findings = checked.iter().filter(|one| !one.found.is_empty()).count();
    checked.truncate(FILES.max(checked.len() - with_findings));
    let mut text = Report { files: &checked, can_apply: true }.text();
    if all > 1 {
        // Where the clean files are named below, their number says nothing new; where all are clean, one line says it.
        let rest = if all > FILES && clean < all {
            format!("; {clean} have nothing wrong.\n{text}")
        } else if clean < all {
            format!(".\n{text}")
        } else {
            ".".to_owned()
        };
        text = format!("Checked {all} files: {}{rest}", counts.words());
    }
    if with_findings > FILES {
        text.push_str(&format!(
            "\nThere are {} more files with findings; repair these first.",
            with_findings - FILES
        ));
    }
    if !skipped.is_empty() {
        text.push_str(&format!(
            "\nNot checked, because it is nothing the runtime reads: {}.",
            skipped.join(", ")
        ));
    }
    for error in &missing {
        text.push_str(&format!("\nNot checked: {}", error.for_model()));
    }
    if counts.errors + counts.warnings > 0 {
        text.push_str(&format!("\nRepairs can be applied with {}.", apply_code_action::NAME));
    }
    Ok(ToolOutput::text(text.trim().to_owned()).with_details(json!({ "checks": checks })))
}

#[cfg(test)]
mod tests;

//! `glob`: finds files by name.

use std::time::SystemTime;

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{blocking, read};
use crate::error::FileError;
use crate::pattern::Pattern;
use crate::resolve::{Found, Place};
use crate::walk::{self, Scope, Step};
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "glob";

/// Which names, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GlobArgs {
    /// For example `*.rs` (in every folder), `src/**/*.test.ts` or `docs/*`.
    pattern: String,
    /// The folder to search, relative to the workspace. All of it if left out.
    path: Option<String>,
    /// The order of the results: by path, or the newest first.
    sort: Option<Sort>,
    /// Also find hidden files and those that .gitignore excludes.
    all: Option<bool>,
    /// How many results to show.
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Path,
    Modified,
}

/// Finds files by name.
pub struct Glob {
    workspace: Workspace,
    spec: ToolSpec,
}

impl Glob {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace) -> Self {
        let description = format!(
            "Finds files by a pattern of names (*, **, ?, [ab], {{a,b}}). A pattern without a slash is looked for in every \
             folder. Hidden files and those that .gitignore excludes are left out unless all is set. Shows at most {} \
             paths, relative to the workspace.",
            workspace.limits().names
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<GlobArgs>());
        spec.label = "Find files".to_owned();
        Self { workspace: workspace.clone(), spec }
    }
}

#[async_trait]
impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: GlobArgs = read(args)?;
        let workspace = self.workspace.clone();
        blocking(cx, move |cx| find(&workspace, &args, cx)).await
    }
}

fn find(workspace: &Workspace, args: &GlobArgs, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let pattern = Pattern::new(&args.pattern)?;
    let folder = workspace.existing(args.path.as_deref().unwrap_or("."))?;
    if folder.found() != Found::Folder {
        return Err(FileError::NotAFolder { path: folder.shown() }.into());
    }
    let scope = if args.all == Some(true) { Scope::All } else { Scope::Project };
    let limit = args.limit.unwrap_or(workspace.limits().names).min(workspace.limits().names);
    let mut unread = 0;
    let mut found: Vec<Step> = Vec::new();
    let mut cut = false;
    for step in walk::files(&folder, scope, None, &mut unread) {
        if cx.cancel.is_cancelled() {
            cut = true;
            break;
        }
        if pattern.fits(&step.relative) {
            found.push(step);
        }
    }
    if args.sort == Some(Sort::Modified) {
        let changed = |step: &Step| {
            std::fs::symlink_metadata(&step.path)
                .and_then(|facts| facts.modified())
                .unwrap_or(SystemTime::UNIX_EPOCH)
        };
        found.sort_by_cached_key(|step| (std::cmp::Reverse(changed(step)), step.relative.clone()));
    }
    let total = found.len();
    let shown: Vec<String> = found.iter().take(limit).map(|step| step.place(&folder).shown()).collect();
    Ok(ToolOutput::text(told(&shown, total, scope, &folder, unread, cut))
        .with_details(json!({ "files_found": total })))
}

fn told(shown: &[String], total: usize, scope: Scope, folder: &Place, unread: usize, cut: bool) -> String {
    let mut lines = shown.to_vec();
    if total == 0 {
        let hint = match scope {
            Scope::Project => " Hidden and ignored files were left out; set all to find them.",
            Scope::All => "",
        };
        lines.push(format!("[no file in {} fits.{hint}]", folder.shown()));
    } else if shown.len() < total {
        lines.push(format!("[… {} of {total} files are left out …]", total - shown.len()));
    }
    if unread > 0 {
        lines.push(format!("[{unread} folders could not be read]"));
    }
    if cut {
        lines.push("[the search was stopped before it was done]".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;

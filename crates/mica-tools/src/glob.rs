//! `glob`: finds files by name.

use std::path::{Path, PathBuf};
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
use crate::walk::{self, Scope, Secrets};
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
    /// How many results to pass over, to go on where an earlier search ended.
    offset: Option<usize>,
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
    let offset = args.offset.unwrap_or(0);
    let fits = |relative: &Path| pattern.fits(relative);
    let mut found = walk::files(&folder, scope, None, Secrets::Named, &cx.cancel, &fits)?;
    if args.sort == Some(Sort::Modified) {
        let changed = |name: &PathBuf| {
            std::fs::symlink_metadata(walk::below(&folder, name).path())
                .and_then(|facts| facts.modified())
                .unwrap_or(SystemTime::UNIX_EPOCH)
        };
        found.names.sort_by_cached_key(|name| (std::cmp::Reverse(changed(name)), name.clone()));
    }
    let total = found.names.len();
    if offset > 0 && offset >= total {
        return Err(ToolError::new(format!("{total} files fit; offset {offset} is behind the last.")));
    }
    // The walk goes by names. What a link led it to meanwhile is not beneath the folder, and is not told.
    let page = found.names.iter().skip(offset).take(limit).map(|name| walk::below(&folder, name));
    let shown: Vec<String> = page.filter(Place::is_beneath).map(|place| place.shown()).collect();
    let mut lines = shown;
    let next = offset + limit;
    if total == 0 {
        let hint = match scope {
            Scope::Project => " Hidden and ignored files were left out; set all to find them.",
            Scope::All => "",
        };
        lines.push(format!("[no file in {} fits.{hint}]", folder.shown()));
    } else if next < total {
        lines.push(format!("[… {} of {total} files are left out; go on with offset {next} …]", total - next));
    }
    if found.unread > 0 {
        lines.push(format!("[{} folders could not be read]", found.unread));
    }
    if cx.cancel.is_cancelled() {
        lines.push("[the search was stopped before it was done]".to_owned());
    }
    Ok(ToolOutput::text(lines.join("\n")).with_details(json!({ "files_found": total })))
}

#[cfg(test)]
mod tests;

//! `list_dir`: shows what is in one folder.

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{blocking, read};
use crate::list::{Entry, entries};
use crate::resolve::Place;
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "list_dir";

/// Which folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirArgs {
    /// The folder, relative to the workspace. The workspace itself if left out.
    path: Option<String>,
    /// How many names to show.
    limit: Option<usize>,
}

/// Lists folders.
pub struct ListDir {
    workspace: Workspace,
    spec: ToolSpec,
}

impl ListDir {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace) -> Self {
        let description = format!(
            "Lists one folder of the workspace, hidden names too: folders end with a slash, files have their size. Shows \
             at most {} names. Subfolders are not entered.",
            workspace.limits().names
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ListDirArgs>());
        spec.label = "List folder".to_owned();
        Self { workspace: workspace.clone(), spec }
    }
}

#[async_trait]
impl Tool for ListDir {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ListDirArgs = read(args)?;
        let workspace = self.workspace.clone();
        blocking(cx, move |_| {
            let place = workspace.existing(args.path.as_deref().unwrap_or("."))?;
            show(&workspace, &place, args.limit.unwrap_or(workspace.limits().names))
        })
        .await
    }
}

/// The list of a folder.
pub(crate) fn show(workspace: &Workspace, folder: &Place, limit: usize) -> Result<ToolOutput, ToolError> {
    let limit = limit.min(workspace.limits().names);
    let (entries, total) = entries(folder, limit)?;
    let mut shown: Vec<String> = vec![format!("{}/", folder.shown().trim_end_matches('/'))];
    shown.extend(entries.iter().map(Entry::line));
    if total == 0 {
        shown.push("[the folder is empty]".to_owned());
    } else if entries.len() < total {
        shown.push(format!("[… {} of {total} names are left out …]", total - entries.len()));
    }
    Ok(ToolOutput::text(shown.join("\n")).with_details(json!({ "path": folder.path(), "entries": total })))
}

#[cfg(test)]
mod tests;

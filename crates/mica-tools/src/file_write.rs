//! `file_write`: creates a file, or replaces all of one that the model knows.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
    typed::schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{blocking, read};
use crate::diff::diff;
use crate::digest::Digest;
use crate::file_read::{editable, unencodable};
use crate::file_use::FileUse;
use crate::preview::preview;
use crate::resolve::{Found, Place};
use crate::seen::Known;
use crate::store;
use crate::text::{Encoding, Endings, encode, endings};
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "file_write";

/// What to write where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileWriteArgs {
    /// The file, relative to the workspace. Missing folders are made.
    path: String,
    /// All of the new content.
    content: String,
}

/// Writes whole files.
pub struct FileWrite {
    workspace: Workspace,
    spec: ToolSpec,
}

impl FileWrite {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace) -> Self {
        let description = "Creates a file with the given content, or replaces all of an existing one. An existing file \
                           must have been read completely before. To change a part of a file, replace that part instead.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<FileWriteArgs>());
        spec.label = "Write file".to_owned();
        spec.access = Access::Write;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), spec }
    }
}

#[async_trait]
impl Tool for FileWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.workspace.touched(args.get("path").and_then(|path| path.as_str()))
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: FileWriteArgs = read(args.clone()).ok()?;
        let workspace = self.workspace.clone();
        preview(move || {
            let planned = plan(&workspace, &args)?;
            Ok((planned.place.shown(), planned.before, planned.content))
        })
        .await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: FileWriteArgs = read(args)?;
        let workspace = self.workspace.clone();
        blocking(cx, move |cx| write(&workspace, &args, cx)).await
    }
}

/// A file that can be written, and has not been.
struct Planned {
    place: Place,
    /// What is there. `None`: nothing is.
    bytes: Option<Vec<u8>>,
    before: String,
    content: String,
    encoding: Encoding,
}

fn plan(workspace: &Workspace, args: &FileWriteArgs) -> Result<Planned, ToolError> {
    let place = workspace.writable(&args.path)?;
    if place.found() == Found::Nothing {
        let content = args.content.clone();
        return Ok(Planned { place, bytes: None, before: String::new(), content, encoding: Encoding::Utf8 });
    }
    let bytes = place.read(workspace.limits().file_bytes)?;
    // An empty file has nothing to lose, and a call that was made before a crash finds its own work.
    let (before, encoding) = if bytes.is_empty() {
        (String::new(), Encoding::Utf8)
    } else {
        let (before, encoding) = editable(&place, &bytes)?;
        let same = encode(&kept(&before, &args.content), encoding).is_ok_and(|same| same == bytes);
        if !same {
            known(workspace, &place, Digest::of(&bytes))?;
        }
        (before, encoding)
    };
    let content = kept(&before, &args.content);
    Ok(Planned { place, bytes: Some(bytes), before, content, encoding })
}

/// Refuses to replace what the model does not know.
fn known(workspace: &Workspace, place: &Place, now: Digest) -> Result<(), ToolError> {
    let shown = place.shown();
    let reason = match workspace.seen().known(&place.path(), now) {
        Known::Wholly => return Ok(()),
        Known::Never => format!("{shown} exists and was not read in this session"),
        Known::Partly => format!("Only a part of {shown} was read in this session"),
        Known::Stale => format!("{shown} changed since it was read"),
    };
    Err(ToolError::new(format!(
        "{reason}, so it was not replaced. Read all of it first, or replace only the part you know."
    )))
}

/// The new content with what belongs to the file rather than to its words: CRLF stays CRLF, and a last line that was
/// ended stays ended.
fn kept(before: &str, content: &str) -> String {
    let mut content = content.to_owned();
    if before.ends_with('\n') && !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    if endings(before) == Endings::CrLf && endings(&content) != Endings::CrLf {
        content = content.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    content
}

fn write(workspace: &Workspace, args: &FileWriteArgs, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let Planned { place, bytes, before, content, encoding } = plan(workspace, args)?;
    let after = encode(&content, encoding).map_err(|missing| unencodable(&place, missing))?;
    let path = place.path();
    let shown = place.shown();
    if bytes.as_deref() == Some(after.as_slice()) {
        workspace.seen().wrote(&path, Digest::of(&after));
        return Ok(ToolOutput::text(format!("{shown} already has this content; nothing was written.")));
    }
    let created = bytes.is_none();
    store::put(workspace, &place, bytes, &after, cx)?;
    workspace.seen().wrote(&path, Digest::of(&after));
    let change = diff(&shown, &before, &content, workspace.limits().diff_bytes);
    let text = if created {
        format!("Created {shown} ({} lines, {} bytes).", change.added, after.len())
    } else {
        format!("Replaced {shown} (+{} -{} lines).", change.added, change.removed)
    };
    let mut details = json!({
        "path": path,
        "created": created,
        "diff": change.diff,
        "added": change.added,
        "removed": change.removed,
    });
    FileUse::changed(path).tell(&mut details);
    Ok(ToolOutput::text(text).with_details(details))
}

#[cfg(test)]
mod tests;

//! `file_read`: shows a file, or a part of it.
//!
//! Text is shown as it stands, without line numbers unless they are asked for: what the model reads is what it will quote
//! in an edit, and every character that is not in the file is one it may quote by mistake.

use std::fmt::Write;

use async_trait::async_trait;
use base64::Engine;
use mica_agent::{Args, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use mica_ai::message::{Image, ImageSource};
use mica_ai::{Content, Model};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{blocking, read};
use crate::digest::Digest;
use crate::excerpt::{self, Numbers, Wanted};
use crate::file_use::FileUse;
use crate::guard::{Guard, guard};
use crate::kind;
use crate::list_dir;
use crate::resolve::{Found, Place};
use crate::text::{self, Decoded, Encoding, Endings};
use crate::variables;
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "file_read";

/// Whether the model can see images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It can.
    Sees,
    /// It cannot: an image is described by type and size.
    Blind,
}

impl Sight {
    /// That of a model.
    pub fn of(model: &Model) -> Self {
        if model.images { Self::Sees } else { Self::Blind }
    }
}

/// Which part of which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileReadArgs {
    /// The file, relative to the workspace.
    path: String,
    /// First line to show, counted from 1.
    offset: Option<usize>,
    /// How many lines to show.
    limit: Option<usize>,
    /// Put line numbers before the lines. They are not part of the file: leave them out of edits.
    line_numbers: Option<bool>,
}

/// Shows files.
pub struct FileRead {
    workspace: Workspace,
    sight: Sight,
    spec: ToolSpec,
}

impl FileRead {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace, sight: Sight) -> Self {
        let limits = workspace.limits();
        let images = match sight {
            Sight::Sees => " Images (PNG, JPEG, GIF, WebP) are shown as images.",
            Sight::Blind => "",
        };
        let description = format!(
            "Reads a text file of the workspace. Shows at most {} lines or {} bytes; of a longer file it shows the \
             beginning and the end, and says which offset to read on with. Give offset and limit to read a part.{images} \
             A folder is listed.",
            limits.read_lines, limits.read_bytes
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<FileReadArgs>());
        spec.label = "Read file".to_owned();
        Self { workspace: workspace.clone(), sight, spec }
    }
}

#[async_trait]
impl Tool for FileRead {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.workspace.touched(args.get("path").and_then(|path| path.as_str()))
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: FileReadArgs = read(args)?;
        let (workspace, sight) = (self.workspace.clone(), self.sight);
        blocking(cx, move |_| show(&workspace, sight, &args)).await
    }
}

fn show(workspace: &Workspace, sight: Sight, args: &FileReadArgs) -> Result<ToolOutput, ToolError> {
    let place = workspace.existing(&args.path)?;
    if place.found() == Found::Folder {
        return list_dir::show(workspace, &place, workspace.limits().names);
    }
    if args.offset == Some(0) {
        return Err(ToolError::new("offset counts lines from 1; 0 is before the first line."));
    }
    if args.limit == Some(0) {
        return Err(ToolError::new(
            "limit is 0, so there is nothing to show. Leave it out or give a number.",
        ));
    }
    if guard(&place)? == Guard::Variables {
        return variable_names(workspace, &place);
    }
    let bytes = place.read(workspace.limits().file_bytes)?;
    if let Some(media_type) = kind::image(&bytes) {
        return Ok(image(workspace, &place, media_type, &bytes, sight));
    }
    let (text, note) = match text::decode(&bytes) {
        Decoded::Text(decoded) => (decoded.text, decoded.encoding.note().map(str::to_owned)),
        Decoded::Lossy { text, at } => {
            let note = format!(
                "the file is not valid UTF-8 (first at byte {at}); what could not be read is shown as \u{FFFD}, and \
                 edits will refuse it"
            );
            (text, Some(note))
        }
        Decoded::Binary => return Ok(ToolOutput::text(binary(&place, &bytes))),
    };
    let details = |lines: usize| {
        let mut details = json!({ "path": place.path(), "lines": lines, "bytes": bytes.len() });
        FileUse::read(place.path()).tell(&mut details);
        details
    };
    if text.is_empty() {
        workspace.seen().show(&place.path(), Digest::of(&bytes), 0, []);
        return Ok(ToolOutput::text(format!("[{} is empty]", place.shown())).with_details(details(0)));
    }
    let wanted = match (args.offset, args.limit) {
        (None, None) => Wanted::All,
        (offset, limit) => Wanted::From { line: offset.unwrap_or(1), count: limit.unwrap_or(usize::MAX) },
    };
    let numbers = if args.line_numbers == Some(true) { Numbers::Shown } else { Numbers::Hidden };
    let Some(excerpt) = excerpt::take(&text, wanted, numbers, workspace.limits()) else {
        return Err(ToolError::new(format!(
            "{} has {} lines; offset {} is behind the last.",
            place.shown(),
            text::lines(&text).len(),
            args.offset.unwrap_or(1)
        )));
    };
    workspace.seen().show(&place.path(), Digest::of(&bytes), excerpt.total, excerpt.whole);
    let mut shown = excerpt.text;
    let ends = match text::endings(&text) {
        Endings::CrLf => Some("lines end with CRLF, shown as LF; edits keep CRLF"),
        Endings::Mixed => {
            Some("line endings are mixed (LF and CRLF), shown as LF; edits keep those around them")
        }
        Endings::None | Endings::Lf => None,
    };
    for note in note.as_deref().into_iter().chain(ends) {
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "[{note}]");
    }
    Ok(ToolOutput::text(shown).with_details(details(excerpt.total)))
}

/// The names in a list of variables. It does not count as read: nothing of it may be written.
fn variable_names(workspace: &Workspace, place: &Place) -> Result<ToolOutput, ToolError> {
    let limits = workspace.limits();
    let bytes = place.read_unguarded(limits.file_bytes)?;
    let text = match text::decode(&bytes) {
        Decoded::Text(decoded) => decoded.text,
        Decoded::Lossy { .. } | Decoded::Binary => String::new(),
    };
    let found = variables::names(&text);
    let count = found.names.len();
    let variables = if count == 1 { "1 variable".to_owned() } else { format!("{count} variables") };
    let mut shown =
        format!("[{}: {variables}. Names only: values are secrets and are not shown]", place.shown());
    for name in found.names.iter().take(limits.names) {
        let _ = write!(shown, "\n{name}");
    }
    if count > limits.names {
        let _ = write!(shown, "\n[… {} more are left out …]", count - limits.names);
    }
    if let Some(line) = found.unclear {
        let _ = write!(shown, "\n[from line {line} on it is not plain NAME=value, and nothing is shown]");
    }
    let mut details = json!({ "path": place.path(), "names_only": true });
    FileUse::read(place.path()).tell(&mut details);
    Ok(ToolOutput::text(shown).with_details(details))
}

fn image(workspace: &Workspace, place: &Place, media_type: &str, bytes: &[u8], sight: Sight) -> ToolOutput {
    let about = format!("{}: {media_type}, {} bytes", place.shown(), bytes.len());
    let limit = workspace.limits().image_bytes;
    if sight == Sight::Blind {
        return ToolOutput::text(format!("[{about}; this model cannot see images]"));
    }
    if bytes.len() as u64 > limit {
        return ToolOutput::text(format!("[{about}; more than the {limit} bytes that can be shown]"));
    }
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    let image = Image { media_type: media_type.to_owned(), source: ImageSource::Base64(data.into()) };
    let mut details = json!({ "path": place.path(), "bytes": bytes.len() });
    FileUse::read(place.path()).tell(&mut details);
    ToolOutput {
        content: vec![Content::text(format!("[{about}]")), Content::Image(image)],
        details: Some(details),
    }
}

fn binary(place: &Place, bytes: &[u8]) -> String {
    let what = kind::of(bytes).unwrap_or("binary data of an unknown type");
    format!("[{} is {what}, {} bytes. It is not shown: it is no text.]", place.shown(), bytes.len())
}

/// The text of a file that is to be changed, or why it cannot be.
pub(crate) fn editable(place: &Place, bytes: &[u8]) -> Result<(String, Encoding), ToolError> {
    match text::decode(bytes) {
        Decoded::Text(text) => Ok((text.text, text.encoding)),
        Decoded::Lossy { at, .. } => Err(ToolError::new(format!(
            "{} is not valid UTF-8 (first at byte {at}), so changing it as text would damage it. Nothing was written.",
            place.shown()
        ))),
        Decoded::Binary => Err(ToolError::new(format!("{} Nothing was written.", binary(place, bytes)))),
    }
}

#[cfg(test)]
mod tests;

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
use tokio_util::sync::CancellationToken;

use crate::arguments::{blocking, read};
use crate::digest::Digest;
use crate::excerpt::{self, Numbers, Wanted};
use crate::file_use::FileUse;
use crate::guard::{Guard, guard};
use crate::kind;
use crate::list_dir;
use crate::notebook;
use crate::pdf;
use crate::resolve::{Found, Place};
use crate::text::{self, Decoded, Encoding, Endings, NoSuchLetter};
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
    /// Pages of a PDF document: `3`, or `3-7`.
    pages: Option<String>,
    /// Show a notebook as the JSON that it is stored as, to quote it in an edit.
    raw: Option<bool>,
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
             beginning and the end, and says which offset to read on with. Give offset and limit to read a part. Of a PDF \
             it shows the text, of a notebook the cells.{images} A folder is listed.",
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
        blocking(cx, move |cx| show(&workspace, sight, &args, &cx.cancel)).await
    }
}

fn show(
    workspace: &Workspace,
    sight: Sight,
    args: &FileReadArgs,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
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
    if kind::is_pdf(&bytes) {
        return document(workspace, &place, &bytes, args, cancel);
    }
    if args.pages.is_some() {
        return Err(ToolError::new(format!(
            "{} is no PDF document, so it has no pages. Use offset and limit for lines.",
            place.shown()
        )));
    }
    if notebook::is_notebook(&place.relative)
        && args.raw != Some(true)
        && let Some(cells) = notebook::cells(&bytes)
    {
        return derived(workspace, &place, &bytes, &cells, args);
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

/// Text that was made from a file and is not what stands in it. It does not count as seen: it cannot be written back.
fn derived(
    workspace: &Workspace,
    place: &Place,
    bytes: &[u8],
    text: &str,
    args: &FileReadArgs,
) -> Result<ToolOutput, ToolError> {
    let wanted = match (args.offset, args.limit) {
        (None, None) => Wanted::All,
        (offset, limit) => Wanted::From { line: offset.unwrap_or(1), count: limit.unwrap_or(usize::MAX) },
    };
    let numbers = if args.line_numbers == Some(true) { Numbers::Shown } else { Numbers::Hidden };
    let Some(excerpt) = excerpt::take(text, wanted, numbers, workspace.limits()) else {
        let lines = text::lines(text).len();
        let offset = args.offset.unwrap_or(1);
        return Err(ToolError::new(format!(
            "{} is shown as {lines} lines; offset {offset} is behind the last.",
            place.shown()
        )));
    };
    let mut details = json!({ "path": place.path(), "lines": excerpt.total, "bytes": bytes.len() });
    FileUse::read(place.path()).tell(&mut details);
    Ok(ToolOutput::text(excerpt.text).with_details(details))
}

/// The text of a PDF document.
fn document(
    workspace: &Workspace,
    place: &Place,
    bytes: &[u8],
    args: &FileReadArgs,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let shown = place.shown();
    let (first, last) = match &args.pages {
        None => (1, usize::MAX),
        Some(pages) => page_range(pages).ok_or_else(|| {
            ToolError::new(format!("{pages:?} is no range of pages. Write 3, or 3-7; the first page is 1."))
        })?,
    };
    // A little more than is shown: what does not fit is told by its page.
    let bounds = pdf::Bounds { text: workspace.limits().read_bytes, ..pdf::Bounds::default() };
    let read = pdf::read(bytes, first, last, &mut pdf::Budget::new(bounds, cancel));
    let found = match read {
        Ok(found) => found,
        Err(why @ pdf::PdfError::Behind(_)) => return Err(ToolError::new(format!("{shown}: {why}."))),
        Err(why) => {
            let size = bytes.len();
            let told =
                format!("[{shown} is a PDF document, {size} bytes, and its text cannot be read: {why}]");
            return Ok(ToolOutput::text(told));
        }
    };
    let total = found.total;
    let end = found.pages.last().map_or(first, |(number, _)| *number);
    let mut told = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(told, "[{shown}: text of a PDF document, pages {first}-{end} of {total}]");
    for (number, text) in &found.pages {
        let text = if text.is_empty() { "[no text: the page is empty or a picture]" } else { text };
        let _ = writeln!(told, "--- page {number} ---\n{text}");
    }
    let wanted = last.min(total);
    if found.cut {
        let _ = writeln!(
            told,
            "[the text was cut in page {end}; read on with pages {}-{wanted}]",
            (end + 1).min(wanted)
        );
    }
    if found.unknown > 0 {
        let _ = writeln!(
            told,
            "[{} letters are shown as \u{FFFD}: the document does not say what they are]",
            found.unknown
        );
    }
    derived(workspace, place, bytes, &told, args)
}

/// `3` or `3-7`.
fn page_range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first >= 1 && first <= last).then_some((first, last))
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

/// Why a text cannot be written in the encoding of its file.
pub(crate) fn unencodable(place: &Place, missing: NoSuchLetter) -> ToolError {
    ToolError::new(format!(
        "{} is written in an encoding without this letter: {missing}. Use other letters, or ask the user to convert the \
         file to UTF-8. Nothing was written.",
        place.shown()
    ))
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

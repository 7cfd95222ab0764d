//! `file_edit`: replaces text in a file that the model quotes.
//!
//! All edits of a call are found in the file as it is, and then made together or not at all. A quotation proves that the
//! model knows what it replaces, so the file need not have been read before.

use std::fmt::Write;

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
use crate::matching::{Count, MANY, NotFound, Replacement, Tolerance, find};
use crate::nearest::nearest;
use crate::notebook;
use crate::preview::preview;
use crate::resolve::{Found, Place};
use crate::seen::Known;
use crate::store;
use crate::text::{Encoding, encode, lines};
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "file_edit";

/// Places of an ambiguous quotation that are listed at most.
const PLACES: usize = 10;
/// Bytes of the diff that the model is shown when its quotation was not exact.
const SHOWN: usize = 2_000;

/// One replacement, or several at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileEditArgs {
    /// The file, relative to the workspace.
    path: String,
    /// Text of the file, quoted exactly, with enough lines around it to be unique.
    old: Option<String>,
    /// What to put in its place. Empty to delete.
    new: Option<String>,
    /// Replace every occurrence instead of the only one.
    replace_all: Option<bool>,
    /// Several replacements at once, instead of old and new. Each quotes the file as it is now; they must not overlap.
    /// All are made, or none.
    edits: Option<Vec<Edit>>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// Text of the file, quoted exactly.
    old: String,
    /// What to put in its place. Empty to delete.
    new: String,
    /// Replace every occurrence instead of the only one.
    replace_all: Option<bool>,
}

/// Edits files.
pub struct FileEdit {
    workspace: Workspace,
    spec: ToolSpec,
}

impl FileEdit {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace) -> Self {
        let description = "Replaces text in a file: old is quoted exactly as it stands there and must occur once (or set \
                           replace_all); new takes its place. Give edits for several replacements at once. When nothing \
                           is found, the answer shows the nearest text of the file.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<FileEditArgs>());
        spec.label = "Edit file".to_owned();
        spec.access = Access::Write;
        // Made twice, an edit whose new text has the old one in it would be a different one.
        spec.effect = Effect::Unsafe;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), spec }
    }
}

#[async_trait]
impl Tool for FileEdit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.workspace.touched(args.get("path").and_then(|path| path.as_str()))
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: FileEditArgs = read(args.clone()).ok()?;
        let workspace = self.workspace.clone();
        preview(move || {
            let planned = plan(&workspace, args)?;
            Ok((planned.place.shown(), planned.before, planned.made.text))
        })
        .await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: FileEditArgs = read(args)?;
        let workspace = self.workspace.clone();
        blocking(cx, move |cx| edit(&workspace, args, cx)).await
    }
}

/// An edit that can be made, and has not been.
struct Planned {
    place: Place,
    bytes: Vec<u8>,
    before: String,
    encoding: Encoding,
    made: Made,
}

fn plan(workspace: &Workspace, args: FileEditArgs) -> Result<Planned, ToolError> {
    let place = workspace.writable(&args.path)?;
    if place.found() == Found::Nothing {
        workspace.existing(&args.path)?;
    }
    let edits = asked(args)?;
    let bytes = place.read(workspace.limits().file_bytes)?;
    let (before, encoding) = editable(&place, &bytes)?;
    let made = make(&place.shown(), &before, &edits).map_err(ToolError::new)?;
    if notebook::is_notebook(&place.relative) && notebook::breaks(&before, &made.text) {
        return Err(ToolError::new(format!(
            "{} is a notebook, and would not be valid JSON after this edit. Quote whole lines of its JSON, with their \
             quotes and commas (read it with raw). Nothing was changed.",
            place.shown()
        )));
    }
    Ok(Planned { place, bytes, before, encoding, made })
}

fn edit(workspace: &Workspace, args: FileEditArgs, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let Planned { place, bytes, before: text, encoding, made } = plan(workspace, args)?;
    let shown = place.shown();
    let after = encode(&made.text, encoding).map_err(|missing| unencodable(&place, missing))?;
    let (path, was, is) = (place.path(), Digest::of(&bytes), Digest::of(&after));
    let stale = workspace.seen().known(&path, was) == Known::Stale;
    store::put(workspace, &place, Some(bytes), &after, cx)?;
    workspace.seen().edited(&path, was, is);

    let change = diff(&shown, &text, &made.text, workspace.limits().diff_bytes);
    let places = if made.places == 1 { "1 place".to_owned() } else { format!("{} places", made.places) };
    let mut told = format!("Edited {shown} in {places} (+{} -{} lines).", change.added, change.removed);
    // Writing to a string cannot fail.
    if stale {
        told.push_str(" The file had changed since you read it.");
    }
    if let Some(note) = made.tolerance.note() {
        let _ = write!(told, " The quotation was not exact: {note}.");
    }
    if made.tolerance > Tolerance::LineEndings {
        let short = diff(&shown, &text, &made.text, SHOWN);
        let _ = write!(told, " What changed:\n{}", short.diff);
    }
    let mut details = json!({
        "path": path,
        "diff": change.diff,
        "added": change.added,
        "removed": change.removed,
        "exact": made.tolerance == Tolerance::Exact,
    });
    FileUse::changed(path).tell(&mut details);
    Ok(ToolOutput::text(told).with_details(details))
}

/// The edits of a call, in either form.
fn asked(args: FileEditArgs) -> Result<Vec<Edit>, ToolError> {
    let edits = match (args.old, args.new, args.edits) {
        (Some(old), Some(new), None) => vec![Edit { old, new, replace_all: args.replace_all }],
        (None, None, Some(edits)) if !edits.is_empty() => edits,
        _ => {
            return Err(ToolError::new(
                "Give either old and new, or a list of edits that is not empty. Nothing was changed.",
            ));
        }
    };
    if edits.iter().any(|edit| edit.old.is_empty()) {
        return Err(ToolError::new(
            "old is empty. Quote the text to replace; to create or fill a file, write all of it. Nothing was changed.",
        ));
    }
    if edits.iter().any(|edit| edit.old == edit.new) {
        return Err(ToolError::new(
            "old and new are the same, so there is nothing to do. Nothing was changed.",
        ));
    }
    Ok(edits)
}

/// A text with its edits made.
#[derive(Debug)]
struct Made {
    text: String,
    places: usize,
    /// The most that any edit needed.
    tolerance: Tolerance,
}

/// Makes all edits on a text, or none: then it says what to do instead.
fn make(shown: &str, text: &str, edits: &[Edit]) -> Result<Made, String> {
    let mut all: Vec<(usize, Replacement)> = Vec::new();
    let mut tolerance = Tolerance::Exact;
    for (index, edit) in edits.iter().enumerate() {
        let count = if edit.replace_all == Some(true) { Count::All } else { Count::One };
        match find(text, &edit.old, &edit.new, count) {
            Ok((needed, found)) => {
                tolerance = tolerance.max(needed);
                all.extend(found.into_iter().map(|replacement| (index, replacement)));
            }
            Err(not_found) => {
                let which = if edits.len() > 1 {
                    format!("Edit {} of {}: ", index + 1, edits.len())
                } else {
                    String::new()
                };
                return Err(format!("{which}{}", explain(shown, text, &edit.old, &not_found)));
            }
        }
    }
    all.sort_by_key(|(_, replacement)| (replacement.range.start, replacement.range.end));
    for pair in all.windows(2) {
        let ((one, first), (other, second)) = (&pair[0], &pair[1]);
        if second.range.start < first.range.end || first.range == second.range {
            return Err(format!(
                "Edits {} and {} overlap near line {}. Join them into one. Nothing was changed.",
                one.min(other) + 1,
                one.max(other) + 1,
                line_of(text, second.range.start)
            ));
        }
    }
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (_, replacement) in &all {
        result.push_str(&text[done..replacement.range.start]);
        result.push_str(&replacement.new);
        done = replacement.range.end;
    }
    result.push_str(&text[done..]);
    if result == text {
        return Err(format!("{shown} already is as the edit would make it. Nothing was changed."));
    }
    Ok(Made { text: result, places: all.len(), tolerance })
}

fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn explain(shown: &str, text: &str, old: &str, why: &NotFound) -> String {
    match why {
        NotFound::Ambiguous(places) => {
            let all = lines(text);
            let least = if places.len() >= MANY { "at least " } else { "" };
            let mut told = format!(
                "old occurs {least}{} times in {shown}. Quote more lines around the one you mean, or set replace_all. Nothing \
                 was changed. It begins on:",
                places.len()
            );
            for at in places.iter().take(PLACES) {
                let line = line_of(text, *at);
                let around: Vec<&str> = all[line.saturating_sub(2)..(line + 1).min(all.len())]
                    .iter()
                    .map(|line| line.of(text))
                    .collect();
                // Writing to a string cannot fail.
                let _ = write!(told, "\nline {line}:\n{}", around.join("\n"));
            }
            if places.len() > PLACES {
                let _ = write!(told, "\n[… {} more are left out …]", places.len() - PLACES);
            }
            told
        }
        NotFound::Inexact(places) => {
            let shown_lines: Vec<String> =
                places.iter().take(PLACES).map(|at| line_of(text, *at).to_string()).collect();
            format!(
                "old is not in {shown} exactly, only nearly, and in {} places (line {}). Quote it exactly to replace all of \
                 them. Nothing was changed.",
                places.len(),
                shown_lines.join(", ")
            )
        }
        NotFound::Absent if numbered(old) => format!(
            "old was not found in {shown}: it begins its lines with line numbers, which are not part of the file. Leave \
             them out. Nothing was changed."
        ),
        NotFound::Absent => match nearest(text, old) {
            Some(near) => format!(
                "old was not found in {shown}. Nothing was changed. The nearest text is at lines {}-{} (- is what you \
                 quoted, + is what the file has):\n{}",
                near.first, near.last, near.diff
            ),
            None => format!(
                "old was not found in {shown}, and nothing in it is similar. Nothing was changed. Read the file again."
            ),
        },
    }
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// The ranges of the old text that were replaced, in order.
    pub places: Vec<std::ops::Range<usize>>,
    /// Whether what was quoted stood there exactly.
    pub exact: bool,
}

/// Replaces a quotation in a text, by the rules of the tool: the only place that it is in, or `all` of them.
///
/// # Errors
/// Why it cannot be done and what to do instead, for the model.
pub fn edited(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, String> {
    if old.is_empty() {
        return Err("old is empty. Quote the text to replace.".to_owned());
    }
    let edit = Edit { old: old.to_owned(), new: new.to_owned(), replace_all: Some(all) };
    let count = if all { Count::All } else { Count::One };
    let found = find(text, old, new, count).map_err(|why| explain("the text", text, old, &why))?.1;
    let made = make("the text", text, std::slice::from_ref(&edit))?;
    let mut places: Vec<_> = found.into_iter().map(|replacement| replacement.range).collect();
    places.sort_by_key(|range| range.start);
    Ok(Edited { text: made.text, places, exact: made.tolerance == Tolerance::Exact })
}

/// Whether every line begins with a number and a tab, as when lines were quoted together with their numbers.
fn numbered(old: &str) -> bool {
    let number = |line: &str| {
        line.split_once('\t').is_some_and(|(number, _)| number.trim_start().parse::<usize>().is_ok())
    };
    lines(old).into_iter().all(|line| number(line.of(old)))
}

#[cfg(test)]
mod tests;

//! `grep`: finds lines by what is in them.

use std::fs::File;
use std::io::{self, Read};

use async_trait::async_trait;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::{blocking, read};
use crate::error::FileError;
use crate::file_use::FileUse;
use crate::pattern::Pattern;
use crate::resolve::{Found, Place};
use crate::text::floor;
use crate::walk::{self, Scope};
use crate::workspace::Workspace;

/// The name models call it by.
pub const NAME: &str = "grep";

/// Context lines of one match at most.
const CONTEXT: usize = 20;
/// Matches that are counted at most. Beyond this, a number helps nobody.
const COUNTED: u64 = 10_000;
/// Memory of one search: longer lines than this are not searched.
const MEMORY: usize = 64 << 20;

/// What to find, and where.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArgs {
    /// A regular expression (Rust syntax: no look-around, no back-references).
    pattern: String,
    /// The file or folder to search, relative to the workspace. All of it if left out.
    path: Option<String>,
    /// Only files whose names fit, for example `*.rs` or `src/**/*.ts`.
    glob: Option<String>,
    /// Only files of a type, for example `rust`, `ts`, `xml`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// What to show: the lines (default), the files, or a count for each file.
    mode: Option<Mode>,
    /// Lines to show before and after each match.
    context: Option<usize>,
    /// Do not distinguish upper and lower case.
    ignore_case: Option<bool>,
    /// Take the pattern as plain text.
    literal: Option<bool>,
    /// Let a match span several lines.
    multiline: Option<bool>,
    /// Also search hidden files and those that .gitignore excludes.
    all: Option<bool>,
    /// How many matches (or files) to show.
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

/// Searches files.
pub struct Grep {
    workspace: Workspace,
    spec: ToolSpec,
}

impl Grep {
    /// A tool for a workspace.
    pub fn new(workspace: &Workspace) -> Self {
        let description = format!(
            "Searches the files of the workspace for a regular expression. Shows matching lines with their numbers under \
             each file, or only files or counts (mode). Binary files, hidden files and those that .gitignore excludes \
             are left out (set all for the latter two). Shows at most {} matches and says how many more there are.",
            workspace.limits().matches
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<GrepArgs>());
        spec.label = "Search files".to_owned();
        Self { workspace: workspace.clone(), spec }
    }
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: GrepArgs = read(args)?;
        let workspace = self.workspace.clone();
        blocking(cx, move |cx| search(&workspace, &args, &cx.cancel)).await
    }
}

fn search(
    workspace: &Workspace,
    args: &GrepArgs,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let matcher = matcher(args)?;
    let filter = args.glob.as_deref().map(Pattern::new).transpose()?;
    let types = args.kind.as_deref().map(walk::types).transpose()?;
    let place = workspace.existing(args.path.as_deref().unwrap_or("."))?;
    let mode = args.mode.unwrap_or_default();
    let limits = workspace.limits();
    let limit = args.limit.unwrap_or(limits.matches).clamp(1, limits.matches.max(1));
    let mut searcher = searcher(args, mode);
    let mut hunt = Hunt {
        matcher: &matcher,
        cancel,
        mode,
        limit,
        line_bytes: limits.match_bytes,
        room: limits.search_bytes,
        shown: String::new(),
        files: Vec::new(),
        matches: 0,
        shown_matches: 0,
        files_with: 0,
        unread: 0,
        binary: 0,
        ended: None,
    };
    match place.found() {
        Found::File => hunt.file(&mut searcher, &place),
        Found::Folder => {
            let scope = if args.all == Some(true) { Scope::All } else { Scope::Project };
            let mut unread = 0;
            for step in walk::files(&place, scope, types, &mut unread) {
                if filter.as_ref().is_some_and(|filter| !filter.fits(&step.relative)) {
                    continue;
                }
                hunt.file(&mut searcher, &step.place(&place));
                if hunt.is_over() {
                    break;
                }
            }
            hunt.unread += unread;
        }
        Found::Other(found) => return Err(FileError::NotAFile { path: place.shown(), found }.into()),
        Found::Nothing => return Err(FileError::Missing { path: place.shown(), near: Vec::new() }.into()),
    }
    Ok(hunt.output(&place))
}

fn matcher(args: &GrepArgs) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.ignore_case == Some(true)).fixed_strings(args.literal == Some(true));
    if args.multiline == Some(true) {
        builder.multi_line(true).dot_matches_new_line(false);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&args.pattern).map_err(|error| {
        ToolError::new(format!(
            "The pattern is not a regular expression of this tool: {error}. Set literal to search for plain text, or \
             multiline if it has line ends in it. Look-around and back-references are not supported."
        ))
    })
}

fn searcher(args: &GrepArgs, mode: Mode) -> Searcher {
    let context = if mode == Mode::Content { args.context.unwrap_or(0).min(CONTEXT) } else { 0 };
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .multi_line(args.multiline == Some(true))
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MEMORY))
        .build()
}

/// A search under way.
struct Hunt<'a> {
    matcher: &'a RegexMatcher,
    cancel: &'a CancellationToken,
    mode: Mode,
    limit: usize,
    line_bytes: usize,
    /// Bytes that may still be shown.
    room: usize,
    shown: String,
    /// Files that lines were shown of.
    files: Vec<std::path::PathBuf>,
    matches: u64,
    shown_matches: usize,
    files_with: usize,
    unread: usize,
    binary: usize,
    ended: Option<&'static str>,
}

impl Hunt<'_> {
    fn is_over(&mut self) -> bool {
        if self.cancel.is_cancelled() {
            self.ended = Some("the search was stopped before it was done");
        } else if self.matches >= COUNTED {
            self.ended = Some("there are more; the search ended here");
        }
        self.ended.is_some()
    }

    fn file(&mut self, searcher: &mut Searcher, place: &Place) {
        let Ok(file) = place.open() else {
            self.unread += 1;
            return;
        };
        let mut page = Page { hunt: self, text: String::new(), matches: 0, shown: 0, binary: false };
        let reader = Stoppable { file, cancel: page.hunt.cancel };
        let matcher = page.hunt.matcher;
        let searched = searcher.search_reader(matcher, reader, &mut page);
        let Page { text, matches, shown, binary, .. } = page;
        if binary {
            // What looked like lines before the first NUL is not text.
            self.binary += 1;
            return;
        }
        if searched.is_err() && !self.cancel.is_cancelled() {
            self.unread += 1;
        }
        if matches == 0 {
            return;
        }
        self.matches += matches;
        self.files_with += 1;
        let path = place.shown();
        let entry = match self.mode {
            Mode::Content if shown == 0 => return,
            Mode::Content if self.shown.is_empty() => format!("{path}\n{text}"),
            Mode::Content => format!("\n{path}\n{text}"),
            Mode::Files => format!("{path}\n"),
            Mode::Count => format!("{path}: {matches}\n"),
        };
        let lists = self.mode != Mode::Content;
        if lists && (self.shown_matches >= self.limit || entry.len() > self.room) {
            return;
        }
        self.shown_matches += if lists { 1 } else { shown };
        self.room = self.room.saturating_sub(entry.len());
        self.shown.push_str(&entry);
        if self.mode == Mode::Content {
            self.files.push(place.path());
        }
    }

    fn output(self, place: &Place) -> ToolOutput {
        let mut text = self.shown;
        let mut notes = Vec::new();
        let plural =
            |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let matches = plural(self.matches, "match", "matches");
        let files = plural(self.files_with as u64, "file", "files");
        match self.mode {
            _ if self.matches == 0 => notes.push(format!("no matches in {}", place.shown())),
            Mode::Content if (self.shown_matches as u64) < self.matches => notes.push(format!(
                "{} of {matches} in {files} are shown; narrow the pattern, the path or the glob to see the others",
                self.shown_matches
            )),
            Mode::Files | Mode::Count if self.shown_matches < self.files_with => {
                notes.push(format!("{} of {files} are shown", self.shown_matches));
            }
            Mode::Files => notes.push(files),
            _ => notes.push(format!("{matches} in {files}")),
        }
        if self.binary > 0 {
            let files = plural(self.binary as u64, "binary file was", "binary files were");
            notes.push(format!("{files} skipped"));
        }
        if self.unread > 0 {
            notes.push(format!("{} could not be searched", plural(self.unread as u64, "file", "files")));
        }
        notes.extend(self.ended.map(str::to_owned));
        text.push_str(&format!("[{}]", notes.join("; ")));
        let mut details = json!({ "matches": self.matches, "files_found": self.files_with });
        // Lines that were shown are a part of a file that was read.
        FileUse { read: self.files, changed: Vec::new() }.tell(&mut details);
        ToolOutput::text(text).with_details(details)
    }
}

/// The matches of one file.
struct Page<'a, 'b> {
    hunt: &'a Hunt<'b>,
    text: String,
    matches: u64,
    shown: usize,
    binary: bool,
}

impl Page<'_, '_> {
    fn is_full(&self) -> bool {
        self.hunt.shown_matches + self.shown >= self.hunt.limit || self.text.len() >= self.hunt.room
    }

    fn rows(&mut self, first: Option<u64>, bytes: &[u8], mark: char) {
        let text = String::from_utf8_lossy(bytes);
        for (index, line) in text.lines().enumerate() {
            let number = first.unwrap_or(0) + index as u64;
            let clipped = self.clip(line);
            self.text.push_str(&format!("{number}{mark}{clipped}\n"));
        }
    }

    /// The part of a long line that matches.
    fn clip(&self, line: &str) -> String {
        let most = self.hunt.line_bytes;
        if line.len() <= most {
            return line.to_owned();
        }
        let at = self.hunt.matcher.find(line.as_bytes()).ok().flatten().map_or(0, |found| found.start());
        let from = floor(line, at.saturating_sub(most / 4));
        let to = floor(line, from + most);
        let before = if from > 0 { format!("[… {from} bytes …]") } else { String::new() };
        let after =
            if to < line.len() { format!("[… {} bytes …]", line.len() - to) } else { String::new() };
        format!("{before}{}{after}", &line[from..to])
    }
}

impl Sink for Page<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let full = self.is_full();
        self.matches += 1;
        match self.hunt.mode {
            Mode::Files => return Ok(false),
            Mode::Content if !full => {
                self.rows(found.line_number(), found.bytes(), ':');
                self.shown += 1;
            }
            Mode::Content | Mode::Count => {}
        }
        Ok(self.hunt.matches + self.matches < COUNTED && !self.hunt.cancel.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        // What follows the last match that is shown belongs to it; what precedes the next one does not.
        let full = self.is_full() && *context.kind() == SinkContextKind::Before;
        if self.hunt.mode == Mode::Content && !full && self.matches == self.shown as u64 {
            self.rows(context.line_number(), context.bytes(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.hunt.mode == Mode::Content && !self.is_full() {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A file that reads as broken once the call is stopped: a file without matches is never asked otherwise.
struct Stoppable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests;

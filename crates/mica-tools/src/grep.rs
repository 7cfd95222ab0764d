//! `grep`: finds lines by what is in them.
//!
//! Files are found and counted side by side (`walk`, `grep/count`), and what is shown is then read once more from the few
//! files it is in. So the answer is in the order of paths, and the same for the same question, however many cores there are.

mod count;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
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
use crate::walk::{self, Scope, Secrets};
use crate::workspace::Workspace;
use count::Count;

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
    /// How many matches (or files) to pass over, to go on where an earlier search ended.
    offset: Option<usize>,
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
             are left out (set all for the latter two), and so are files that hold secrets. Shows at most {} matches, says \
             how many there are, and goes on from offset.",
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
    place.may_read()?;
    let mode = args.mode.unwrap_or_default();
    let limits = workspace.limits();
    let limit = args.limit.unwrap_or(limits.matches).clamp(1, limits.matches.max(1));
    let offset = args.offset.unwrap_or(0);
    let most = COUNTED.saturating_add(offset as u64);
    let hunt = Hunt { matcher: &matcher, cancel, args, mode, most };
    let (folder, found) = match place.found() {
        Found::File => (place.clone(), walk::Files { names: vec![PathBuf::new()], ..walk::Files::default() }),
        Found::Folder => {
            let scope = if args.all == Some(true) { Scope::All } else { Scope::Project };
            let fits = |relative: &Path| filter.as_ref().is_none_or(|filter| filter.fits(relative));
            (place.clone(), walk::files(&place, scope, types, Secrets::LeftOut, cancel, &fits)?)
        }
        Found::Other(found) => return Err(FileError::NotAFile { path: place.shown(), found }.into()),
        Found::Nothing => return Err(FileError::Missing { path: place.shown(), near: Vec::new() }.into()),
    };
    let counted = count::count(&hunt, &folder, &found.names);
    let mut told = Told {
        hunt: &hunt,
        limit,
        offset,
        line_bytes: limits.match_bytes,
        room: limits.search_bytes,
        shown: String::new(),
        files: Vec::new(),
        passed: 0,
        shown_matches: 0,
        left: Left { unread: found.unread, secret: found.secret, ..Left::default() },
        matches: 0,
        files_with: 0,
        ended: None,
    };
    let mut searcher = searcher(args, mode, Rows::Shown);
    for (name, count) in found.names.iter().zip(&counted) {
        let file = walk::below(&folder, name);
        told.file(&mut searcher, &file, *count);
        if told.matches >= most {
            told.ended = Some("there are more; the search ended here");
            break;
        }
    }
    if cancel.is_cancelled() {
        told.ended = Some("the search was stopped before it was done");
    }
    Ok(told.output(&place))
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

/// What a search of a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Lines that are shown.
    Shown,
    /// A number.
    Counted,
}

fn searcher(args: &GrepArgs, mode: Mode, rows: Rows) -> Searcher {
    let shows = mode == Mode::Content && rows == Rows::Shown;
    let context = if shows { args.context.unwrap_or(0).min(CONTEXT) } else { 0 };
    SearcherBuilder::new()
        .line_number(shows)
        .before_context(context)
        .after_context(context)
        .multi_line(args.multiline == Some(true))
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MEMORY))
        .build()
}

/// What is looked for.
struct Hunt<'a> {
    matcher: &'a RegexMatcher,
    cancel: &'a CancellationToken,
    args: &'a GrepArgs,
    mode: Mode,
    /// Matches that are counted at most.
    most: u64,
}

/// Files that were not searched.
#[derive(Debug, Clone, Copy, Default)]
struct Left {
    unread: usize,
    binary: usize,
    secret: usize,
}

/// What is told of what was found, in the order of paths.
struct Told<'a> {
    hunt: &'a Hunt<'a>,
    limit: usize,
    /// Matches (or files) that were shown by earlier calls.
    offset: usize,
    line_bytes: usize,
    /// Bytes that may still be shown.
    room: usize,
    shown: String,
    /// Files that lines were shown of.
    files: Vec<PathBuf>,
    /// Matches (or files) that were passed over.
    passed: usize,
    shown_matches: usize,
    matches: u64,
    files_with: usize,
    left: Left,
    ended: Option<&'static str>,
}

impl Told<'_> {
    fn file(&mut self, searcher: &mut Searcher, place: &Place, count: Count) {
        let found = match count {
            Count::Matches(0) | Count::Stopped => return,
            Count::Matches(found) => found,
            Count::Binary => {
                self.left.binary += 1;
                return;
            }
            Count::Unread => {
                self.left.unread += 1;
                return;
            }
        };
        self.matches += found;
        self.files_with += 1;
        let path = place.shown();
        let line = match self.hunt.mode {
            Mode::Content => return self.rows(searcher, place, &path, found),
            Mode::Files => format!("{path}\n"),
            Mode::Count => format!("{path}: {found}\n"),
        };
        if self.passed < self.offset {
            self.passed += 1;
        } else if self.shown_matches < self.limit && line.len() <= self.room {
            self.shown_matches += 1;
            self.room -= line.len();
            self.shown.push_str(&line);
        } else {
            // What comes later and would fit must wait for the next call too.
            self.room = 0;
        }
    }

    /// Shows the lines of a file, once it is known that there are some to show.
    fn rows(&mut self, searcher: &mut Searcher, place: &Place, path: &str, found: u64) {
        let found = usize::try_from(found).unwrap_or(usize::MAX);
        let skip = (self.offset - self.passed).min(found);
        self.passed += skip;
        if skip == found || self.shown_matches >= self.limit || self.room == 0 {
            return;
        }
        let Ok(file) = place.open() else { return };
        let mut page = Page { told: self, text: String::new(), matches: 0, skip, shown: 0 };
        let reader = Stoppable { file, cancel: page.told.hunt.cancel };
        let matcher = page.told.hunt.matcher;
        // It was searched before without an error; what is shown until one now is true.
        let _ = searcher.search_reader(matcher, reader, &mut page);
        let Page { text, shown, .. } = page;
        if shown == 0 {
            return;
        }
        let gap = if self.shown.is_empty() { "" } else { "\n" };
        let entry = format!("{gap}{path}\n{text}");
        self.shown_matches += shown;
        // Matches that did not fit end the page: otherwise the next call would not know where to go on.
        let all = shown + skip >= found;
        self.room = if all { self.room.saturating_sub(entry.len()) } else { 0 };
        self.shown.push_str(&entry);
        self.files.push(place.path());
    }

    fn output(self, place: &Place) -> ToolOutput {
        let mut text = self.shown;
        let mut notes = Vec::new();
        let plural =
            |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let matches = plural(self.matches, "match", "matches");
        let files = plural(self.files_with as u64, "file", "files");
        let lists = self.hunt.mode != Mode::Content;
        let all = if lists { self.files_with as u64 } else { self.matches };
        let next = self.offset + self.shown_matches;
        if self.matches == 0 {
            notes.push(format!("no matches in {}", place.shown()));
        } else if self.offset as u64 >= all {
            let of = if lists { &files } else { &matches };
            notes.push(format!("offset {} is behind the last of {of}", self.offset));
        } else if (next as u64) < all || self.offset > 0 {
            let of = if lists { files } else { format!("{matches} in {files}") };
            let go_on = if (next as u64) < all {
                format!("; go on with offset {next}, or narrow the pattern, the path or the glob")
            } else {
                String::new()
            };
            let first =
                if self.offset > 0 { format!("{}-{next}", self.offset + 1) } else { next.to_string() };
            notes.push(format!("{first} of {of} are shown{go_on}"));
        } else if self.hunt.mode == Mode::Files {
            notes.push(files);
        } else {
            notes.push(format!("{matches} in {files}"));
        }
        if self.left.binary > 0 {
            let files = plural(self.left.binary as u64, "binary file was", "binary files were");
            notes.push(format!("{files} skipped"));
        }
        if self.left.unread > 0 {
            notes.push(format!("{} could not be searched", plural(self.left.unread as u64, "file", "files")));
        }
        if self.left.secret > 0 {
            let places = plural(self.left.secret as u64, "place", "places");
            let were = if self.left.secret == 1 { "was" } else { "were" };
            notes.push(format!("{places} with secrets {were} not searched"));
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
    told: &'a Told<'b>,
    text: String,
    matches: usize,
    /// Matches that an earlier call has shown.
    skip: usize,
    shown: usize,
}

impl Page<'_, '_> {
    fn is_full(&self) -> bool {
        self.told.shown_matches + self.shown >= self.told.limit || self.text.len() >= self.told.room
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
        let most = self.told.line_bytes;
        if line.len() <= most {
            return line.to_owned();
        }
        let found = self.told.hunt.matcher.find(line.as_bytes()).ok().flatten();
        let at = found.map_or(0, |found| found.start());
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
        self.matches += 1;
        if self.matches <= self.skip {
            return Ok(true);
        }
        if self.is_full() {
            return Ok(false);
        }
        self.rows(found.line_number(), found.bytes(), ':');
        self.shown += 1;
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        // What follows the last match that is shown belongs to it; what precedes the next one does not.
        let before = *context.kind() == SinkContextKind::Before;
        let belongs = if before { self.matches >= self.skip && !self.is_full() } else { self.shown > 0 };
        if belongs {
            self.rows(context.line_number(), context.bytes(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.shown > 0 && !self.is_full() {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        Ok(false)
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

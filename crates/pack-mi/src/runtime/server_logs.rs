//! `read_server_logs`: what the server logged, folded, counted, and with places in the project.

mod digest;
mod entry;
mod requests;
mod tail;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use grep_matcher::Matcher as _;
use mica_agent::typed::schema_of;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Runtime;
use super::arguments::{read, shortened};
use super::contained;
use super::source::Sources;

pub(super) use digest::{Deployment, deployments};
pub(super) use entry::{Artifact, Entry, Level, entries};
pub(super) use tail::from_offset;
use tail::tail;

/// The name models call it by.
pub(super) const NAME: &str = "read_server_logs";
/// Where a server has its logs.
pub(super) const FOLDER: &str = "repository/logs";
/// Lines that can be asked for.
const MOST_LINES: usize = 10_000;
/// Frames that can be asked for.
const MOST_FRAMES: usize = 15;
/// Bytes of a line that are shown raw.
const LINE: usize = 2_000;
/// Bytes of a pattern.
const PATTERN: usize = 200;

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogArgs {
    /// Which log.
    #[serde(default)]
    log_file: LogFile,
    /// Lines of the end to read.
    tail_lines: Option<usize>,
    /// Only entries with this text, or with what fits /regular expression/ (/…/i ignores case).
    grep_pattern: Option<String>,
    /// Only entries that are about this artifact.
    artifact_name: Option<String>,
    /// summary (the default): grouped, counted, with places in the project. raw: the lines as they are.
    #[serde(default)]
    parse_mode: ParseMode,
    /// Frames of the project's own code to show of each error.
    max_stack_frames: Option<usize>,
}

/// A log of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LogFile {
    /// Errors only.
    #[default]
    Errors,
    /// Everything.
    Main,
    /// Requests that came in.
    Http,
    /// What services log.
    Service,
    /// How messages went through.
    Correlation,
}

impl LogFile {
    /// The name of the file, and the lines that are read when nobody says how many.
    fn file(self) -> (&'static str, usize) {
        match self {
            Self::Errors => ("wso2error.log", 300),
            Self::Main => ("wso2carbon.log", 500),
            Self::Http => ("http_access.log", 100),
            Self::Service => ("wso2-mi-service.log", 100),
            Self::Correlation => ("correlation.log", 100),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ParseMode {
    #[default]
    Summary,
    Raw,
}

/// Reads logs.
pub struct ReadServerLogs {
    spec: ToolSpec,
    runtime: Runtime,
}

impl ReadServerLogs {
    /// The tool.
    pub fn new(runtime: &Runtime) -> Self {
        let description = "Reads the end of a log of the Micro Integrator: what failed, how often, with its cause and with the \
                           place in the project's files that it comes from; what was deployed and what was not. Use it after \
                           a deployment, and when a request fails. log_file main has everything, errors only errors, http the \
                           requests. parse_mode raw shows the lines as they are.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<LogArgs>());
        spec.label = "Read server logs".to_owned();
        Self { spec, runtime: runtime.clone() }
    }
}

#[async_trait]
impl Tool for ReadServerLogs {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: LogArgs = read(args)?;
        let runtime = self.runtime.clone();
        let cancel = cx.cancel.clone();
        let working = tokio::task::spawn_blocking(move || {
            if cancel.is_cancelled() {
                return Err(ToolError::new("The call was stopped before it began."));
            }
            told(&runtime, &args)
        });
        working.await.unwrap_or_else(|error| Err(ToolError::new(format!("The tool broke: {error}."))))
    }
}

/// Which entries are wanted.
struct Wanted {
    pattern: Option<grep_regex::RegexMatcher>,
    artifact: Option<String>,
}

impl Wanted {
    fn new(args: &LogArgs) -> Result<Self, ToolError> {
        let pattern = match args.grep_pattern.as_deref().filter(|pattern| !pattern.is_empty()) {
            None => None,
            Some(pattern) => Some(matcher(pattern)?),
        };
        let artifact = args.artifact_name.clone().filter(|name| !name.is_empty());
        Ok(Self { pattern, artifact })
    }

    fn wants(&self, text: &str) -> bool {
        let fits = |pattern: &grep_regex::RegexMatcher| pattern.is_match(text.as_bytes()).unwrap_or(false);
        self.pattern.as_ref().is_none_or(fits)
            && self.artifact.as_ref().is_none_or(|name| text.contains(name.as_str()))
    }
}

/// A text to look for, or `/expression/flags`. It is looked for in time that grows with the text only, whatever it says.
fn matcher(pattern: &str) -> Result<grep_regex::RegexMatcher, ToolError> {
    let pattern = pattern.get(..pattern.floor_char_boundary(PATTERN)).unwrap_or(pattern);
    let mut builder = grep_regex::RegexMatcherBuilder::new();
    let expression = pattern.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let built = match expression {
        Some((expression, flags)) if flags.chars().all(|flag| "gimsu".contains(flag)) => {
            builder.case_insensitive(flags.contains('i')).build(expression)
        }
        _ => builder.fixed_strings(true).build(pattern),
    };
    built.map_err(|error| {
        ToolError::new(format!(
            "grep_pattern cannot be read: {error}. Without slashes around it, it is a plain text."
        ))
    })
}

/// Opens a log of the server in a folder. It has to be a file there: the server writes that folder, and a link in it could
/// lead to anything that the user can read.
pub(super) fn open(home: &Path, name: &str) -> io::Result<File> {
    contained::open(home, &Path::new(FOLDER).join(name))
}

fn told(runtime: &Runtime, args: &LogArgs) -> Result<ToolOutput, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    let folder = home.join(FOLDER);
    if !folder.is_dir() {
        return Err(ToolError::new(format!(
            "There is no folder {}: the server has not run yet, or mi.runtime names another folder.",
            folder.display()
        )));
    }
    let (name, usual) = args.log_file.file();
    let path = folder.join(name);
    if path.symlink_metadata().is_err() {
        return Err(ToolError::new(format!(
            "There is no {name} in {}. There are: {}",
            folder.display(),
            names(&folder)
        )));
    }
    let lines = args.tail_lines.unwrap_or(usual).clamp(1, MOST_LINES);
    let tail = open(&home, name)
        .and_then(|file| tail(file, lines))
        .map_err(|error| ToolError::new(format!("{} cannot be read: {error}.", path.display())))?;
    let wanted = Wanted::new(args)?;
    let text = if args.parse_mode == ParseMode::Raw {
        raw(&tail.text, &wanted)
    } else if args.log_file == LogFile::Http {
        requests::digest(tail.text.lines().filter(|line| wanted.wants(line)))
    } else if args.log_file == LogFile::Correlation {
        raw(&tail.text, &wanted)
    } else {
        let frames = args.max_stack_frames.unwrap_or(3).min(MOST_FRAMES);
        let entries: Vec<Entry> =
            entries(&tail.text).into_iter().filter(|entry| wanted.wants(&digest::searched(entry))).collect();
        let sources = Sources::read(&runtime.project());
        digest::digest(&entries, sources.as_ref(), frames)
    };
    let text = if text.is_empty() { "[nothing that was asked for]".to_owned() } else { text };
    let below = runtime.relative_to().map(|words| format!("[{words}]\n")).unwrap_or_default();
    let text = format!("{text}\n{below}[{}: {}]", path.display(), tail.words());
    Ok(ToolOutput::text(text).with_details(json!({ "log": path, "lines": tail.lines })))
}

fn raw(text: &str, wanted: &Wanted) -> String {
    let lines = text.lines().filter(|line| wanted.wants(line));
    lines.map(|line| shortened(line, LINE)).collect::<Vec<_>>().join("\n")
}

/// The logs that are there, the newest first.
pub(super) fn names(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return "none".to_owned() };
    let mut logs: Vec<(std::time::SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let facts = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            path.extension().is_some_and(|found| found == "log").then_some((facts.modified().ok()?, path))
        })
        .collect();
    logs.sort_by(|one, two| two.cmp(one));
    let names: Vec<String> = logs
        .iter()
        .take(5)
        .filter_map(|(_, path)| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

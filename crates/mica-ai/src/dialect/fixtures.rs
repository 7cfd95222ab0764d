//! Tests a dialect's mapper with recorded answers, one folder per dialect.
//!
//! `NAME.sse` is the body of a response, byte for byte; it may begin with `: comment` lines that say what it shows.
//! `NAME.expect` is what comes of it: one JSON line per event, the last one the outcome. Every answer is decoded
//! twice, whole and byte by byte, and must come to the same. `UPDATE_FIXTURES=1` writes the expectations anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::decode::Decoder;
use crate::event::StreamEvent;
use crate::id::MessageId;
use crate::message::{Assistant, Dialect, Origin, StopReason};
use crate::model::Model;
use crate::stream::Outcome;

/// Checks every answer in a folder, given relative to the crate's own.
///
/// # Panics
/// When an answer does not come to what is expected of it; all that differ are told.
pub(crate) fn check_folder(dialect: Dialect, folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    #[allow(clippy::disallowed_methods, reason = "a switch for the person who runs the tests")]
    let update = std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1");
    let answers = files(&folder, "sse");
    assert!(!answers.is_empty(), "no fixtures in {}", folder.display());
    for expect in files(&folder, "expect") {
        assert!(expect.with_extension("sse").exists(), "{} expects nothing's answer", expect.display());
    }
    let mut failures = Vec::new();
    for answer in answers {
        let bytes = fs::read(&answer).expect("a readable fixture");
        let whole = play(dialect, [bytes.as_slice()]);
        if let Some(difference) = difference(&whole, &play(dialect, bytes.chunks(1))) {
            failures.push(format!("{}: byte by byte it differs\n{difference}", answer.display()));
        }
        let path = answer.with_extension("expect");
        if update {
            #[allow(clippy::disallowed_methods, reason = "a test keeps its own expectations")]
            fs::write(&path, whole.join("\n") + "\n").expect("a writable fixture");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let expected: Vec<String> = expected.lines().map(str::to_owned).collect();
        if let Some(difference) = difference(&expected, &whole) {
            failures.push(format!("{}\n{difference}", answer.display()));
        }
    }
    assert!(failures.is_empty(), "UPDATE_FIXTURES=1 accepts what is new:\n\n{}", failures.join("\n\n"));
}

/// The lines an answer comes to, when its bytes arrive in these pieces and the connection then ends in good order.
pub(crate) fn play<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let origin = Origin { dialect, provider: "fixture".to_owned(), model: "fixture-model".to_owned() };
    let message = Assistant::empty(MessageId::from("answer"), origin);
    let mut decoder = Decoder::new(dialect, message, Arc::new(Model::assumed("fixture-model", dialect)));
    let mut events = Vec::new();
    for piece in pieces {
        let ended = decoder.push(piece);
        events.append(decoder.events());
        if ended {
            break;
        }
    }
    let terminal = match decoder.finish(None, &mut events) {
        Outcome::Done(message) => StreamEvent::Done { message: Box::new(message) },
        Outcome::Failed { mut partial, error } => {
            // As a stream does it: whatever the answer said of its ending, it failed.
            partial.stop = StopReason::Error;
            StreamEvent::Error { partial: Box::new(partial), error }
        }
    };
    events.push(terminal);
    events.iter().map(|event| serde_json::to_string(event).expect("events serialise")).collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a readable fixture folder")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    found
}

/// Where two lists of lines part, for people.
fn difference(expected: &[String], found: &[String]) -> Option<String> {
    let line = (0..expected.len().max(found.len())).find(|line| expected.get(*line) != found.get(*line))?;
    let show = |lines: &[String]| lines.get(line).cloned().unwrap_or_else(|| "(no such line)".to_owned());
    Some(format!("  line {}\n  expected {}\n  found    {}", line + 1, show(expected), show(found)))
}

//! Room for sources that are nested deeply.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::ScriptError;
use crate::slots::Slot;

/// Bytes of stack for each level of nesting. A level can be one sign (`!!!!x`), and costs what a few functions that call
/// each other keep on the stack: the tests read sources that are nothing but levels.
const FOR_EACH_LEVEL: usize = 12 << 10;

/// What a thread of a program has anyway.
const LEAST: usize = 2 << 20;

/// The most that is asked for. It is reserved and not used, unless the source is as deep as it is long.
const MOST: usize = 4 << 30;

/// Levels that a source may have.
const LEVELS: usize = MOST / FOR_EACH_LEVEL;

/// How long reading a source may take. A usual one takes a few milliseconds; the compiler's work grows with the square of
/// the depth, and it cannot be stopped, so one that takes longer is left to itself.
const TIME: Duration = Duration::from_secs(2);

/// Works on a source with as much stack as it may need, for as long as it may take.
pub(crate) fn enough<T: Send + 'static>(
    source: &str,
    work: impl FnOnce(&str) -> Result<T, ScriptError> + Send + 'static,
) -> Result<T, ScriptError> {
    let levels = levels(source);
    if levels > LEVELS {
        return Err(ScriptError::TooLarge { what: "nesting of the source", bytes: levels, limit: LEVELS });
    }
    let stack = (levels * FOR_EACH_LEVEL).max(LEAST);
    let (source, slot) = (source.to_owned(), Slot::take()?);
    let (done, answer) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("script-reader".to_owned())
        .stack_size(stack)
        // Nobody may be waiting any more.
        .spawn(move || {
            let _slot = slot;
            drop(done.send(work(&source)));
        })
        .map_err(|error| ScriptError::Ended { reason: format!("no thread to read the source: {error}") })?;
    answer.recv_timeout(TIME).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(ScriptError::TimedOut { after: TIME, frames: Vec::new() }),
        RecvTimeoutError::Disconnected => {
            Err(ScriptError::Ended { reason: "the compiler broke on this source".to_owned() })
        }
    })
}

/// No fewer levels than the tree of a source can have: each takes a word, a number or a sign at least.
fn levels(source: &str) -> usize {
    let mut in_word = false;
    let begins = source.bytes().filter(|byte| {
        let word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let begins = if word { !in_word } else { !byte.is_ascii_whitespace() };
        in_word = word;
        begins
    });
    begins.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs_are_counted() {
        assert_eq!(levels("a.b.c;\nd = 1;"), 10);
        assert_eq!(levels("!!!!a"), 5);
        assert_eq!(levels("größe $1 _"), 3);
    }
}

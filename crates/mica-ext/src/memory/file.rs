//! A file of notes: a heading for each section, a line for each note. Whatever else people write there stays as it is.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Section;
use super::error::MemoryError;

/// What a file may have: it is sent with every request.
pub(super) const BYTES: usize = 16 << 10;
/// Lines of a file.
pub(super) const LINES: usize = 200;
/// Bytes that are read at all.
const READ: u64 = 1 << 20;
/// Lines that are shown of a difference.
const SHOWN: usize = 40;

/// How long another program is waited for: two seconds, where a change takes a hundredth of one.
const TRIES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// Makes names of temporary files differ within the process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// The text of a file; `None` when there is none.
pub(super) fn read(path: &Path, within: Option<&Path>) -> Result<Option<String>, MemoryError> {
    let failed = |source| MemoryError::Io { path: path.to_owned(), doing: "read", source };
    let unusable = |reason: String| MemoryError::Unusable { path: path.to_owned(), reason };
    let facts = match fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if let Some(within) = within {
        let (real, within) = (path.canonicalize().map_err(failed)?, within.canonicalize().map_err(failed)?);
        if !real.starts_with(within) {
            return Err(MemoryError::Outside { path: path.to_owned() });
        }
    }
    if !facts.is_file() {
        return Err(unusable("it is no file".to_owned()));
    }
    if facts.len() > READ {
        return Err(unusable(format!("it has {} bytes; {BYTES} are the most", facts.len())));
    }
    let text = String::from_utf8(fs::read(path).map_err(failed)?)
        .map_err(|_| unusable("it is no text".to_owned()))?;
    if text.contains('\0') {
        return Err(unusable("it is no text".to_owned()));
    }
    Ok(Some(text))
}

/// Keeps other programs of this kind from writing in the same folder, for as long as it is held.
pub(super) fn hold(path: &Path) -> Result<File, MemoryError> {
    let failed = |source| MemoryError::Io { path: path.to_owned(), doing: "written", source };
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let folder = File::open(folder).map_err(failed)?;
    for _ in 0..TRIES {
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(PAUSE),
            // Some file systems know no locks; what another program wrote is then noticed before it is replaced.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(folder),
        }
    }
    Err(MemoryError::Busy { path: path.to_owned() })
}

/// Puts a new text in the place of the one that was read. `Ok(false)`: somebody else was quicker.
pub(super) fn swap(path: &Path, before: Option<&str>, after: &str) -> Result<bool, MemoryError> {
    let failed = |doing| move |source| MemoryError::Io { path: path.to_owned(), doing, source };
    // A user may keep the file elsewhere and link to it; the link stays.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = format!(".memory-{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let temporary = folder.join(name);
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).open(&temporary)?;
        file.write_all(after.as_bytes())?;
        if let Ok(facts) = fs::metadata(&path) {
            file.set_permissions(facts.permissions())?;
        }
        file.sync_all()
    })();
    let same = || match fs::read(&path) {
        Ok(now) => before.is_some_and(|before| before.as_bytes() == now),
        Err(error) => error.kind() == ErrorKind::NotFound && before.is_none(),
    };
    let swapped = match written {
        Err(error) => Err(failed("written")(error)),
        Ok(()) if !same() => Ok(false),
        Ok(()) => fs::rename(&temporary, &path).map(|()| true).map_err(failed("replaced")),
    };
    if !matches!(swapped, Ok(true)) {
        // It may be gone already; then there is nothing left to clean up.
        let _ = fs::remove_file(&temporary);
    }
    swapped
}

/// A text with one note more: at the end of its section, which is made when it is not there.
pub(super) fn added(text: &str, section: Section, words: &str) -> Result<String, MemoryError> {
    let same = plain(words);
    if let Some(line) = text.lines().find(|line| note(line).is_some_and(|note| plain(note) == same)) {
        return Err(MemoryError::Known { line: line.trim().to_owned() });
    }
    let line = format!("- {words}");
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let heading = format!("## {}", section.heading());
    let found = lines
        .iter()
        .position(|line| title(line).is_some_and(|title| title.eq_ignore_ascii_case(section.heading())));
    match found {
        Some(at) => {
            let end = lines
                .iter()
                .skip(at + 1)
                .position(|line| title(line).is_some())
                .map_or(lines.len(), |end| at + 1 + end);
            let last = lines.iter().take(end).skip(at + 1).rposition(|line| !line.trim().is_empty());
            lines.insert(last.map_or(at + 1, |last| at + 2 + last), &line);
        }
        None => {
            if lines.is_empty() {
                lines.push("# Memory");
            }
            lines.extend(["", heading.as_str(), line.as_str()]);
        }
    }
    let text = format!("{}\n", lines.join("\n"));
    let (bytes, count) = (text.len(), text.lines().count());
    if bytes > BYTES || count > LINES {
        let has = format!("it would have {bytes} bytes in {count} lines");
        return Err(MemoryError::Full { has, most: format!("{BYTES} bytes and {LINES} lines") });
    }
    Ok(text)
}

/// A text without the note that has these words, and the note's line: the one that says just this, or the only one that has it
/// in it.
pub(super) fn without(text: &str, words: &str) -> Result<(String, String), MemoryError> {
    let wanted = plain(words.trim().trim_start_matches(['-', '*', '+']));
    let missing = || MemoryError::Missing { words: words.trim().to_owned() };
    if wanted.is_empty() {
        return Err(missing());
    }
    let notes: Vec<(usize, String)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at, plain(note(line)?)))).collect();
    let exact: Vec<usize> = notes.iter().filter(|(_, note)| *note == wanted).map(|(at, _)| *at).collect();
    let fits = match exact.as_slice() {
        [] => notes.iter().filter(|(_, note)| note.contains(&wanted)).map(|(at, _)| *at).collect(),
        _ => exact,
    };
    let line = |at: usize| text.lines().nth(at).unwrap_or_default().trim().to_owned();
    let gone = match fits.as_slice() {
        [] => return Err(missing()),
        [one] => *one,
        several => {
            return Err(MemoryError::Several { lines: several.iter().take(5).map(|at| line(*at)).collect() });
        }
    };
    let rest: String =
        text.split_inclusive('\n').enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| line).collect();
    Ok((rest, line(gone)))
}

/// What of a file goes into a prompt: all of it, or as many lines as there is room for.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (at, line) in text.trim().lines().enumerate() {
        if at >= LINES || out.len() + line.len() >= BYTES {
            out.push_str("[The rest is left out: there is too much of it.]");
            return out;
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.trim_end().to_owned()
}

/// Whether a text is longer than what goes into a prompt.
pub(super) fn is_cut(text: &str) -> bool {
    text.trim().len() > BYTES || text.trim().lines().count() > LINES
}

/// What a file may have, in words.
pub(super) fn most() -> String {
    format!("{BYTES} bytes or {LINES} lines")
}

/// The lines that came and those that went.
pub(super) fn difference(before: Option<&str>, after: Option<&str>) -> (Vec<String>, Vec<String>) {
    let lines = |text: Option<&str>| -> Vec<String> {
        let lines = text.unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && title(line).is_none()).map(str::to_owned).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).take(SHOWN).cloned().collect()
    };
    (only(&after, &before), only(&before, &after))
}

/// The words of a line that is a note.
fn note(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim)
}

/// The words of a heading.
fn title(line: &str) -> Option<&str> {
    line.starts_with('#').then(|| line.trim_start_matches('#').trim()).filter(|title| !title.is_empty())
}

/// Words without what makes no difference: case, blanks, what ends a sentence.
fn plain(words: &str) -> String {
    let words = words.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['.', '!', ';', ',']).to_owned()
}

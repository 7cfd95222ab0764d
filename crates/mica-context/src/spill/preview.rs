//! What the model reads of a result that is too large: its head and its tail, and where the rest is.

use std::path::Path;

use mica_agent::shorten::fences;

const OPEN: &str = "<spilled path=\"";
const CLOSE: &str = "</spilled>";

/// The preview of a result that is in a file.
pub(super) fn spilled(text: &str, path: &Path, limit: usize) -> String {
    format!(
        "{OPEN}{}\" bytes=\"{}\">\nThe result is too large to show at once. All of it is in the file at the path above: \
         read the part you need, or search in it.\n\n{}\n{CLOSE}",
        path.display(),
        text.len(),
        ends(text, limit)
    )
}

/// A result that is in no file: what fits, and why there is no more.
pub(super) fn shortened(text: &str, limit: usize, why: &str) -> String {
    format!(
        "[The result has {} bytes, of which the beginning and the end are shown: {why}]\n{}",
        text.len(),
        ends(text, limit)
    )
}

/// The path in a preview.
pub fn path_in(text: &str) -> Option<&str> {
    let (path, _) = text.strip_prefix(OPEN)?.split_once("\" bytes=\"")?;
    text.ends_with(CLOSE).then_some(path)
}

/// The beginning and the end of a text, cut at lines where there are some near.
fn ends(text: &str, limit: usize) -> String {
    let half = limit / 2;
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(half))..).unwrap_or_default();
    let head = head.rfind('\n').filter(|at| *at > half / 2).and_then(|at| head.get(..at)).unwrap_or(head);
    let tail = tail.find('\n').filter(|at| *at < half / 2).and_then(|at| tail.get(at + 1..)).unwrap_or(tail);
    let left_out = text.len().saturating_sub(head.len() + tail.len());
    let (close, open) = fences(head, tail);
    format!("{head}{close}\n[… {left_out} bytes are left out here …]\n{open}{tail}")
}

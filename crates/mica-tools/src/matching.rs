//! Finds where a text that a model quoted stands in a file, and what to put there.
//!
//! Models quote nearly right: with other line ends, without trailing blanks, with another indentation, with plain quotes
//! for typographic ones. Each of these is tried in this order, and only when everything stricter found nothing. Whatever matched, the answer is a range of the
//! ORIGINAL text: nothing outside of it changes, and nothing is normalised on the way.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::{Line, lines};

/// How a quotation may differ from the file. In the order they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tolerance {
    /// Not at all.
    Exact,
    /// In how lines end.
    LineEndings,
    /// In blanks at the ends of whole lines.
    TrailingBlanks,
    /// In how whole lines are indented. The replacement is indented as the file is.
    Indentation,
    /// In the form of quotes, dashes and blanks: `"` for `“`. Those that the new text leaves alone stay as they are.
    Signs,
}

impl Tolerance {
    /// What to tell about it.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEndings => Some("line endings differed"),
            Self::TrailingBlanks => Some("blanks at line ends differed"),
            Self::Indentation => Some("indentation differed, and the new text was indented like the file"),
            Self::Signs => Some("quotes, dashes or blanks were written differently"),
        }
    }
}

/// A range of the file, and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

/// Places of an ambiguous quotation that are counted. More make no difference to anybody.
pub(crate) const MANY: usize = 1_000;

/// How many places are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    All,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// The quotation is nowhere.
    Absent,
    /// It is in several places: where each begins.
    Ambiguous(Vec<usize>),
    /// All places are meant, and none is quoted exactly: where what is nearly the same begins. One such place can be shown
    /// to whoever quoted it; of many, nobody would see which one is not what was meant.
    Inexact(Vec<usize>),
}

/// Finds the place, or all of them.
pub(crate) fn find(
    text: &str,
    old: &str,
    new: &str,
    count: Count,
) -> Result<(Tolerance, Vec<Replacement>), NotFound> {
    type Level = fn(&str, &str, Count) -> Vec<Range<usize>>;
    let levels: [(Tolerance, Level); 5] = [
        (Tolerance::Exact, exact),
        (Tolerance::LineEndings, ignoring_line_endings),
        (Tolerance::TrailingBlanks, |text, old, _| blocks(text, old, str::trim_end)),
        (Tolerance::Indentation, |text, old, _| blocks(text, old, str::trim)),
        (Tolerance::Signs, ignoring_signs),
    ];
    for (tolerance, level) in levels {
        let found = level(text, old, count);
        let chosen = match count {
            _ if found.is_empty() => continue,
            Count::One if found.len() > 1 => {
                return Err(NotFound::Ambiguous(found.into_iter().map(|range| range.start).collect()));
            }
            Count::One => found,
            Count::All if tolerance > Tolerance::LineEndings && found.len() > 1 => {
                return Err(NotFound::Inexact(found.into_iter().map(|range| range.start).collect()));
            }
            Count::All => apart(found),
        };
        let fitted: Option<Vec<Replacement>> =
            chosen.into_iter().map(|range| fit(text, range, old, new, tolerance)).collect();
        return fitted.map(|all| (tolerance, all)).ok_or(NotFound::Absent);
    }
    Err(NotFound::Absent)
}

/// When one is meant, every place up to [`MANY`], overlapping ones too: a quotation that overlaps itself does not say which
/// place it means. When all are meant, those that do not overlap.
fn exact(text: &str, old: &str, count: Count) -> Vec<Range<usize>> {
    let finder = memchr::memmem::Finder::new(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
        let range = from + at..from + at + old.len();
        from = range.start + 1;
        if splits_line_end(text, range.start) || splits_line_end(text, range.end) {
            continue;
        }
        if count == Count::All {
            from = range.end;
        }
        found.push(range);
        if count == Count::One && found.len() == MANY {
            break;
        }
    }
    found
}

/// Whether a cut would fall between `\r` and `\n`, and leave half a line end behind.
fn splits_line_end(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    at > 0 && bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n')
}

fn ignoring_line_endings(text: &str, old: &str, count: Count) -> Vec<Range<usize>> {
    if !text.contains("\r\n") && !old.contains("\r\n") {
        return Vec::new();
    }
    let (plain, wanted) = (text.replace("\r\n", "\n"), old.replace("\r\n", "\n"));
    // Where, in the plain text, a `\n` stands for two bytes of the original.
    let doubled: Vec<usize> =
        text.match_indices("\r\n").enumerate().map(|(earlier, (at, _))| at - earlier).collect();
    let original = |at: usize| at + doubled.partition_point(|doubled| *doubled < at);
    exact(&plain, &wanted, count)
        .into_iter()
        .map(|range| original(range.start)..original(range.end))
        .collect()
}

/// The plain sign that people type for another one.
fn plain_sign(sign: char) -> Option<char> {
    match sign {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => Some('\''),
        '\u{201C}'..='\u{201F}' | '\u{2033}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{A0}' | '\u{2007}' | '\u{2009}' | '\u{202F}' => Some(' '),
        _ => None,
    }
}

/// The signs of a text one by one, a line end being one: how each is compared, and how it is written.
fn signs(text: &str) -> impl Iterator<Item = (char, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        let (sign, behind) = rest.split_at(length);
        rest = behind;
        Some((if length == 2 && first == '\r' { '\n' } else { plain_sign(first).unwrap_or(first) }, sign))
    })
}

fn ignoring_signs(text: &str, old: &str, _: Count) -> Vec<Range<usize>> {
    let special = |text: &str| text.chars().any(|sign| plain_sign(sign).is_some());
    if !special(text) && !special(old) {
        return Vec::new();
    }
    let wanted: String = signs(old).map(|(plain, _)| plain).collect();
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    let mut plain = String::with_capacity(text.len());
    // Where, in the plain text, a sign stands for a longer one, and how many bytes are missing up to there.
    let mut longer: Vec<(usize, usize)> = Vec::new();
    let mut missing = 0;
    for (sign, written) in signs(text) {
        if written.len() > sign.len_utf8() {
            missing += written.len() - sign.len_utf8();
            longer.push((plain.len(), missing));
        }
        plain.push(sign);
    }
    let original = |at: usize| {
        let before = longer.partition_point(|(place, _)| *place < at);
        at + before.checked_sub(1).and_then(|last| longer.get(last)).map_or(0, |(_, missing)| *missing)
    };
    exact(&plain, &wanted, Count::One)
        .into_iter()
        .map(|range| original(range.start)..original(range.end))
        .collect()
}

/// The new text, with what it has in common with the old one, at its beginning and its end, written as the file has it.
fn kept_signs(place: &str, old: &str, new: &str, ended: impl Fn(&str) -> String) -> String {
    let (place, old, new): (Vec<_>, Vec<_>, Vec<_>) =
        (signs(place).collect(), signs(old).collect(), signs(new).collect());
    let same = |pair: &(&(char, &str), &(char, &str))| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old.iter().skip(head).rev().zip(new.iter().skip(head).rev()).take_while(same).count();
    let written = |signs: &[(char, &str)]| signs.iter().map(|(_, written)| *written).collect::<String>();
    let middle = written(new.get(head..new.len() - tail).unwrap_or_default());
    let (head, tail) = (place.get(..head), place.get(place.len().saturating_sub(tail)..));
    format!("{}{}{}", written(head.unwrap_or_default()), ended(&middle), written(tail.unwrap_or_default()))
}

/// Blocks of whole lines that are the same once each line is trimmed.
fn blocks(text: &str, old: &str, trim: fn(&str) -> &str) -> Vec<Range<usize>> {
    let wanted: Vec<&str> = lines(old).into_iter().map(|line| trim(line.of(old))).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let all = lines(text);
    let trimmed: Vec<&str> = all.iter().map(|line| trim(line.of(text))).collect();
    trimmed
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(first, _)| {
            let last = all[first + wanted.len() - 1];
            all[first].start..if old.ends_with('\n') { last.next } else { last.end }
        })
        .collect()
}

/// Those that do not overlap, from the beginning on.
fn apart(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut free = 0;
    found
        .into_iter()
        .filter(|range| {
            let fits = range.start >= free;
            if fits {
                free = range.end;
            }
            fits
        })
        .collect()
}

/// The new text as it fits the place. `None`: it cannot be made to fit.
fn fit(text: &str, range: Range<usize>, old: &str, new: &str, tolerance: Tolerance) -> Option<Replacement> {
    let place = &text[range.clone()];
    let ended = |new: &str| if ends_crlf(text, &range) { crlf(new) } else { new.replace("\r\n", "\n") };
    let new = match tolerance {
        // A CRLF that came with an exact quotation was meant. A plain line end is that of the place.
        Tolerance::Exact if new.contains("\r\n") => new.to_owned(),
        Tolerance::Exact | Tolerance::LineEndings | Tolerance::TrailingBlanks => ended(new),
        Tolerance::Indentation => ended(&indented(place, old, new)?),
        Tolerance::Signs => return Some(Replacement { new: kept_signs(place, old, new, ended), range }),
    };
    // The quotation ended with a line end that the file's last line does not have.
    let unended = tolerance > Tolerance::LineEndings && old.ends_with('\n') && !place.ends_with('\n');
    let stripped = || new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n')).map(str::to_owned);
    let new = unended.then(stripped).flatten().unwrap_or(new);
    Some(Replacement { range, new })
}

fn crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Whether lines end with CRLF at a place: its own first one, or else that of the line it is in, or else the one before.
fn ends_crlf(text: &str, range: &Range<usize>) -> bool {
    let own = text[range.start..].find('\n').map(|at| range.start + at);
    let end = own.or_else(|| text[..range.start].rfind('\n'));
    end.is_some_and(|at| text[..at].ends_with('\r'))
}

/// The new text, indented as the place is where the old text was indented otherwise. `None`: no rule fits all lines.
fn indented(place: &str, old: &str, new: &str) -> Option<String> {
    let rule = Indents::between(old, place)?;
    let mut result = String::with_capacity(new.len());
    for line in lines(new) {
        let content = line.of(new);
        let bare = content.trim_start();
        if !bare.is_empty() {
            result.push_str(&rule.apply(&content[..content.len() - bare.len()])?);
            result.push_str(bare);
        }
        result.push_str(&new[line.end..line.next]);
    }
    Some(result)
}

/// How one indentation becomes another.
enum Indents {
    /// The file has this in front of every line.
    Added(String),
    /// The quotation has.
    Removed(String),
    /// Something else, such as tabs for blanks: only what was seen is known.
    Table(HashMap<String, String>),
}

impl Indents {
    fn between(old: &str, place: &str) -> Option<Self> {
        let indents = |text: &str| -> Vec<String> {
            let bare = |line: &Line| !line.of(text).trim().is_empty();
            lines(text).into_iter().filter(bare).map(|line| indent(line.of(text)).to_owned()).collect()
        };
        let pairs: Vec<(String, String)> = indents(old).into_iter().zip(indents(place)).collect();
        let (first_old, first_file) = pairs.first()?;
        if let Some(added) = first_file.strip_suffix(first_old.as_str())
            && pairs.iter().all(|(old, file)| file.strip_prefix(added) == Some(old.as_str()))
        {
            return Some(Self::Added(added.to_owned()));
        }
        if let Some(removed) = first_old.strip_suffix(first_file.as_str())
            && pairs.iter().all(|(old, file)| old.strip_prefix(removed) == Some(file.as_str()))
        {
            return Some(Self::Removed(removed.to_owned()));
        }
        let mut table = HashMap::new();
        for (old, file) in pairs {
            if table.insert(old, file.clone()).is_some_and(|other| other != file) {
                return None;
            }
        }
        Some(Self::Table(table))
    }

    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Self::Added(added) => Some(format!("{added}{indent}")),
            Self::Removed(removed) => indent.strip_prefix(removed.as_str()).map(str::to_owned),
            Self::Table(table) => table.get(indent).cloned(),
        }
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

#[cfg(test)]
mod tests;

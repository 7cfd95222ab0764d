//! The part of a file that looks most like a quotation that is not in it.

use std::collections::{HashMap, HashSet};

use similar::{ChangeTag, TextDiff};

use crate::text::{floor, lines};

/// Lines of a quotation that are compared at most.
const LINES: usize = 200;
/// Bytes of the comparison that are shown at most.
const SHOWN: usize = 2_000;
/// How much two lines must have in common to be worth showing, out of 1.
const ALIKE: f32 = 0.5;

/// A part that looks like the quotation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// Its first line, counted from 1.
    pub(crate) first: usize,
    /// Its last line.
    pub(crate) last: usize,
    /// Line by line: `-` is what was quoted, `+` is what the file has.
    pub(crate) diff: String,
}

/// Finds it. `None`: nothing looks like it.
pub(crate) fn nearest(text: &str, old: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = lines(old).into_iter().take(LINES).map(|line| line.of(old)).collect();
    let all = lines(text);
    let content: Vec<&str> = all.iter().map(|line| line.of(text)).collect();
    let first = by_votes(&content, &wanted).or_else(|| by_likeness(&content, &wanted))?;
    let last = (first + wanted.len()).min(content.len());
    let part: String = content[first..last].iter().flat_map(|line| [line, "\n"]).collect();
    let quoted: String = wanted.iter().flat_map(|line| [line, "\n"]).collect();
    let mut diff = String::new();
    for change in TextDiff::from_lines(&quoted, &part).iter_all_changes() {
        diff.push(match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        });
        diff.push_str(change.value());
    }
    if diff.len() > SHOWN {
        diff.truncate(floor(&diff, SHOWN));
        diff.push_str("\n[… the rest is left out …]\n");
    }
    Some(Nearest { first: first + 1, last, diff })
}

/// Lines that are the same but for blanks vote for where the quotation would begin, long lines with more weight.
fn by_votes(content: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.trim().len() > 2) {
        places.entry(line.trim()).or_default().push(index);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in content.iter().enumerate() {
        for index in places.get(line.trim()).into_iter().flatten() {
            *votes.entry(at.saturating_sub(*index)).or_default() += line.trim().len();
        }
    }
    // Among equals the first, so that the answer is always the same.
    votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// The line that has the most pairs of letters in common with the longest line of the quotation.
fn by_likeness(content: &[&str], wanted: &[&str]) -> Option<usize> {
    let (index, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let pairs = |line: &str| -> HashSet<(char, char)> {
        let letters: Vec<char> = line.trim().chars().take(500).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let target = pairs(longest);
    let alike = |line: &str| {
        let other = pairs(line);
        let common = target.intersection(&other).count() as f32;
        2.0 * common / (target.len() + other.len()).max(1) as f32
    };
    let mut best: Option<(f32, usize)> = None;
    for (at, line) in content.iter().enumerate() {
        let score = alike(line);
        if score >= ALIKE && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, at));
        }
    }
    best.map(|(_, at)| at.saturating_sub(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_meant() {
        let text = "fn one() {\n    a();\n}\n\nfn two() {\n    bee();\n    c();\n}\n";
        let near = nearest(text, "fn two() {\n    b();\n    c();\n}").unwrap();
        assert_eq!((near.first, near.last), (5, 8));
        assert_eq!(near.diff, " fn two() {\n-    b();\n+    bee();\n     c();\n }\n");
        let near = nearest(text, "fn too() {").unwrap();
        assert_eq!((near.first, near.last), (5, 5));
        assert_eq!(nearest(text, "something else entirely"), None);
        assert_eq!(nearest("", "x"), None);
    }
}

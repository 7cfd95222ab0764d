//! The boundary around words that others wrote: it says whose they are, and nothing inside can end it.
//!
//! Promise: in what is within, no element of this name begins or ends, however it is written: in any case, with spaces or
//! letters that nobody sees in between, with brackets and letters that only look alike. Everything else stays as it is.

/// Letters behind a bracket in which the name of an element begins. One that is further away is nobody's boundary.
const NEAR: usize = 64;

/// A text with the boundary around it.
pub fn fenced(element: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let mut out = format!("<{element}");
    for (name, value) in attributes {
        out.push_str(&format!(" {name}=\"{}\"", attribute(value)));
    }
    out.push_str(">\n");
    out.push_str(&inner(&[element], text.trim_matches('\n')));
    out.push_str(&format!("\n</{element}>"));
    out
}

/// A text in which no boundary of these elements begins or ends.
pub fn inner(elements: &[&str], text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if is_bracket(letter) && begins(elements, letters.as_str()) {
            out.push_str("&lt;");
        } else {
            out.push(letter);
        }
    }
    out
}

/// Whether one of the elements is named right behind a bracket.
fn begins(elements: &[&str], behind: &str) -> bool {
    let near = behind.chars().filter(|letter| !is_unseen(*letter)).take(NEAR).map(plain);
    let name: String =
        near.skip_while(|letter| matches!(letter, '<' | '/' | '\\') || letter.is_whitespace()).collect();
    elements
        .iter()
        .any(|element| name.get(..element.len()).is_some_and(|start| start.eq_ignore_ascii_case(element)))
}

fn is_bracket(letter: char) -> bool {
    plain(letter) == '<'
}

/// What a letter looks like: full-width forms of the plain ones, and other brackets and slashes.
fn plain(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xff01 + 0x21).unwrap_or(letter),
        '\u{fe64}' | '\u{2039}' | '\u{27e8}' | '\u{2329}' | '\u{3008}' | '\u{276e}' | '\u{1438}'
        | '\u{02c2}' => '<',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{fe4d}'..='\u{fe4f}' => '_',
        letter => letter,
    }
}

/// Letters that take no room: marks of direction, joiners, selectors, controls.
fn is_unseen(letter: char) -> bool {
    (letter.is_control() && !letter.is_whitespace())
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// A value that stays in its quotes.
fn attribute(value: &str) -> String {
    let kept = |letter| match letter {
        '"' => '\'',
        '<' | '>' => ' ',
        letter if char::is_control(letter) => ' ',
        letter => letter,
    };
    value.chars().map(kept).collect()
}

#[cfg(test)]
mod tests;

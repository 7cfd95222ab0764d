//! Rows that fit a narrow terminal: broken between words, so that ids and commands can still be read and copied.
//!
//! Promise: no letter is lost or added but breaks and spaces. What fits stays as it is; a word that is longer than a row is
//! left whole.

use unicode_width::UnicodeWidthChar as _;

/// How much further in the rows are that go on with a line.
const HANGING: usize = 2;

/// A text whose rows have no more than so many columns, where words allow it. Colours take none.
pub fn folded(text: &str, columns: usize) -> String {
    text.split_inclusive('\n').map(|line| folded_line(line, columns)).collect()
}

fn folded_line(line: &str, columns: usize) -> String {
    let body = line.strip_suffix('\n').unwrap_or(line);
    if width(body) <= columns {
        return line.to_owned();
    }
    let indent = body.chars().take_while(|letter| *letter == ' ').count();
    // A row that is hardly there is no row.
    let hanging = " ".repeat((indent + HANGING).min(columns / 2));
    let (mut out, mut used, mut is_begun) = (String::with_capacity(line.len()), 0, false);
    for word in body.split_inclusive(' ') {
        let (wide, bare) = (width(word), width(word.trim_end_matches(' ')));
        if is_begun && bare > 0 && used + bare > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&hanging);
            used = hanging.len();
        }
        out.push_str(word);
        used += wide;
        is_begun |= bare > 0;
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push_str(line.get(body.len()..).unwrap_or_default());
    out
}

/// Columns of a text. What sets colours takes none.
fn width(text: &str) -> usize {
    let (mut columns, mut inside) = (0, false);
    for letter in text.chars() {
        match (inside, letter) {
            (false, '\x1b') => inside = true,
            (true, 'm') => inside = false,
            (true, _) => {}
            (false, letter) => columns += letter.width().unwrap_or_default(),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words() {
        for (text, columns, expect) in [
            ("fits\n", 10, "fits\n"),
            ("one two three four\n", 10, "one two\n  three\n  four\n"),
            ("  deep in the row\n", 12, "  deep in\n    the row\n"),
            (
                "* fire/quiet-thread/x@thread:1027 waits\n",
                20,
                "*\n  fire/quiet-thread/x@thread:1027\n  waits\n",
            ),
            ("\x1b[1mone two\x1b[0m three\n", 7, "\x1b[1mone two\x1b[0m\n  three\n"),
            ("箱箱 箱箱 箱", 9, "箱箱 箱箱\n  箱"),
            ("a\n\nlong line here\n", 9, "a\n\nlong line\n  here\n"),
        ] {
            assert_eq!(folded(text, columns), expect, "{text:?}");
        }
    }
}

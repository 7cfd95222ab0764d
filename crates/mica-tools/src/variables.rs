//! The names of the variables in a file such as `.env`. Never a value, nor a part of one.

/// What a list of variables may be told of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variables {
    /// In the order of the file.
    pub(crate) names: Vec<String>,
    /// The first line that is no assignment. What follows may be a part of a value, so nothing of it is told.
    pub(crate) unclear: Option<usize>,
}

/// Names that are longer are none.
const LONGEST: usize = 128;

/// Reads the names.
pub(crate) fn names(text: &str) -> Variables {
    let mut found = Variables { names: Vec::new(), unclear: None };
    let mut open: Option<char> = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(quote) = open {
            if closes(line, quote) {
                open = None;
            }
            continue;
        }
        let line = line.trim_start_matches('\u{FEFF}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let plain = line.strip_prefix("export ").map_or(line, str::trim_start);
        // `abc==` is the end of something encoded, not an assignment.
        let is_assignment =
            |(name, value): &(&str, &str)| is_name(name.trim_end()) && !value.starts_with('=');
        let Some((name, value)) = plain.split_once('=').filter(is_assignment) else {
            found.unclear = Some(index + 1);
            return found;
        };
        found.names.push(name.trim_end().to_owned());
        let value = value.trim_start();
        if value.starts_with("-----BEGIN") {
            // A key without quotes around it goes on below, and its lines may look like assignments.
            found.unclear = Some(index + 2);
            return found;
        }
        open = value
            .chars()
            .next()
            .filter(|quote| ['"', '\'', '`'].contains(quote))
            .filter(|quote| !closes(value.get(1..).unwrap_or(""), *quote));
    }
    found
}

/// The assignments of a file, with their values without the quotes around them. For those who keep values from being told;
/// what cannot be read as an assignment is left out.
pub(crate) fn assignments(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open: Option<char> = None;
    for line in text.lines() {
        if let Some(quote) = open {
            if let Some((_, value)) = found.last_mut() {
                value.push('\n');
                value.push_str(line);
                if closes(line, quote) {
                    open = None;
                    value.truncate(value.trim_end().trim_end_matches(quote).len());
                }
            }
            continue;
        }
        let line = line.trim_start_matches('\u{FEFF}').trim();
        let plain = line.strip_prefix("export ").map_or(line, str::trim_start);
        let Some((name, value)) = plain.split_once('=').filter(|(name, _)| is_name(name.trim_end())) else {
            continue;
        };
        let value = value.trim();
        let quote = value.chars().next().filter(|quote| ['"', '\'', '`'].contains(quote));
        let inside = quote.map_or(value, |quote| value.get(1..).unwrap_or_default().trim_end_matches(quote));
        found.push((name.trim_end().to_owned(), inside.to_owned()));
        open = quote.filter(|quote| !closes(value.get(1..).unwrap_or(""), *quote));
    }
    found
}

/// Letters, digits and `_`, as variables are named. What is written otherwise may be half of a value.
fn is_name(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
}

/// Whether a quote ends in a line. A backslash hides the letter behind it, except in single quotes.
fn closes(line: &str, quote: char) -> bool {
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' && quote != '\'' {
            letters.next();
        } else if letter == quote {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str], unclear: Option<usize>) {
        let found = names(text);
        assert_eq!(found.names, expected, "{text}");
        assert_eq!(found.unclear, unclear, "{text}");
    }

    #[test]
    fn names_and_nothing_else() {
        check("A=1\n# B=2\n\nexport C = 'x y'\r\nD=\n", &["A", "C", "D"], None);
        check("\u{FEFF}A=1", &["A"], None);
        check("KEY=\"-----BEGIN\nabc=def\nsecret\\\"=1\n-----END\"\nB=2", &["KEY", "B"], None);
        check("KEY='a\\'\nB=2", &["KEY", "B"], None);
        check("A=1\nKEY=-----BEGIN\nMIIabc==\nB=2\n", &["A", "KEY"], Some(3));
        check("A=1\nMIIabc==\nB=2\n", &["A"], Some(2));
        check("A=1\nabc/def+x=\nB=2", &["A"], Some(2));
        check("just a token", &[], Some(1));
        check("A=\"never closed\nB=2\nC=3", &["A"], None);
        check(&format!("{}=1", "x".repeat(200)), &[], Some(1));
    }
}

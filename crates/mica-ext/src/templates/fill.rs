//! Puts what was typed into a template.
//!
//! | placeholder | becomes |
//! |---|---|
//! | `$1`, `$2`, `${3}` … | that word, or nothing |
//! | `${1:-words}` | that word, or these when there is none |
//! | `$@` | all words, with blanks between them |
//! | `$ARGUMENTS` | all that was typed, quotes and all |
//! | `${@:N}`, `${@:N:L}` | the words from the Nth on, or L of them |
//! | `\$` | a dollar |
//!
//! Everything else stays as it is.

use crate::concern::Failure;

/// Bytes of what comes out at most.
const LONGEST: usize = 256 << 10;

/// What was typed, as words: parted by blanks, except between quotes; a backslash takes the next quote or blank as it is.
pub fn words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = typed.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\')
                if letters.peek().is_some_and(|next| matches!(next, '"' | '\'' | '\\' | ' ')) =>
            {
                word.get_or_insert_default().extend(letters.next());
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// A template with what was typed in it. What has no place is added at the end: nothing that a person typed is lost.
///
/// # Errors
/// In words, when it becomes too long.
pub fn filled(template: &str, typed: &str) -> Result<String, Failure> {
    let typed = typed.trim();
    let words = words(typed);
    let mut out = String::with_capacity(template.len() + typed.len());
    let mut has_place = false;
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('\\') {
            out.push_str(before);
            out.push('$');
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        out.push_str(before);
        match placeholder(from, typed, &words) {
            Some((text, length)) => {
                has_place = true;
                out.push_str(&text);
                rest = from.get(length..).unwrap_or_default();
            }
            None => {
                out.push('$');
                rest = from.get(1..).unwrap_or_default();
            }
        }
        if out.len() > LONGEST {
            return Err(format!("the prompt would have more than {LONGEST} bytes"));
        }
    }
    out.push_str(rest);
    if !has_place && !typed.is_empty() {
        out.push_str("\n\n");
        out.push_str(typed);
    }
    Ok(out)
}

/// What the placeholder at the beginning of a text stands for, and how long it is.
fn placeholder(text: &str, typed: &str, words: &[String]) -> Option<(String, usize)> {
    let after = text.strip_prefix('$')?;
    if let Some(inside) = after.strip_prefix('{') {
        let (inside, _) = inside.split_once('}')?;
        return Some((in_braces(inside, typed, words)?, inside.len() + 3));
    }
    if after.starts_with('@') {
        return Some((words.join(" "), 2));
    }
    if let Some(behind) = after.strip_prefix("ARGUMENTS") {
        let is_longer = behind.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        return (!is_longer).then(|| (typed.to_owned(), "$ARGUMENTS".len()));
    }
    let digits = after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = number(after.get(..digits)?)?;
    Some((word(words, number).to_owned(), digits + 1))
}

fn in_braces(inside: &str, typed: &str, words: &[String]) -> Option<String> {
    if let Some((name, default)) = inside.split_once(":-") {
        let value = in_braces(name, typed, words)?;
        return Some(if value.is_empty() { default.to_owned() } else { value });
    }
    if inside == "ARGUMENTS" {
        return Some(typed.to_owned());
    }
    let Some(range) = inside.strip_prefix('@') else { return Some(word(words, number(inside)?).to_owned()) };
    if range.is_empty() {
        return Some(words.join(" "));
    }
    let range = range.strip_prefix(':')?;
    let (first, length) = match range.split_once(':') {
        None => (number(range)?, usize::MAX),
        Some((first, length)) => (number(first)?, length.trim().parse().ok()?),
    };
    let from: Vec<&str> = words.iter().skip(first - 1).take(length).map(String::as_str).collect();
    Some(from.join(" "))
}

/// A number from one on.
fn number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number > 0)
}

fn word(words: &[String], number: usize) -> &str {
    words.get(number - 1).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_blanks_and_kept_by_quotes() {
        for (typed, expect) in [
            ("", vec![]),
            ("a  b\tc", vec!["a", "b", "c"]),
            ("\"a b\" 'c \"d\"' e\"f g\"h", vec!["a b", "c \"d\"", "ef gh"]),
            (r#"a\ b "c\"d" 'e\f' \g "" x"#, vec!["a b", "c\"d", r"e\f", r"\g", "", "x"]),
            ("it's", vec!["its"]),
            ("grün 日本", vec!["grün", "日本"]),
        ] {
            assert_eq!(words(typed), expect, "{typed:?}");
        }
    }

    #[test]
    fn placeholders_become_what_was_typed() {
        for (template, typed, expect) in [
            ("$1 and ${2}, not $3.", "one \"two too\"", "one and two too, not ."),
            ("$@ | $ARGUMENTS", "a \"b c\"", "a b c | a \"b c\""),
            ("${@:2} | ${@:2:1} | ${@:9}", "a b c", "b c | b | "),
            ("${1:-main} ${2:-x y} ${@:3:-none} ${ARGUMENTS:-all}", "", "main x y none all"),
            ("${1:-main}", "dev", "dev"),
            ("$10 $1", "1 2 3 4 5 6 7 8 9 ten", "ten 1"),
            (r"\$1 costs $ 5, $0 $x ${y} ${ $", "a", "$1 costs $ 5, $0 $x ${y} ${ $\n\na"),
            // What is put in is not looked at again.
            ("$1 $2", "'$2' '${@:1}'", "$2 ${@:1}"),
            ("$ARGUMENTSX $ARGUMENTS.", "a", "$ARGUMENTSX a."),
            ("No place.", "more words", "No place.\n\nmore words"),
            ("No place.", "  ", "No place."),
            ("${@:0} ${@:a} ${0}", "a", "${@:0} ${@:a} ${0}\n\na"),
            ("$99999999999999999999", "a", "$99999999999999999999\n\na"),
        ] {
            assert_eq!(filled(template, typed).as_deref(), Ok(expect), "{template:?} {typed:?}");
        }
    }

    #[test]
    fn what_becomes_too_long_is_refused() {
        let typed = "x".repeat(100_000);
        assert_eq!(
            filled("$@ $@ $@", &typed),
            Err("the prompt would have more than 262144 bytes".to_owned())
        );
    }
}

//! Rust source without its comments and the insides of its strings.
//!
//! Promise: every line of the answer is the same line of the source, with what is not code left out. It is not a
//! lexer: source that does not compile gives some answer and no error.

/// The code of a Rust source.
pub(crate) fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| string(rest, &code)).or_else(|| character(rest));
        if let Some(length) = skipped {
            code.extend(rest[..length].chars().filter(|&c| c == '\n'));
            // So that what stood on both sides does not become one word.
            code.push(' ');
            rest = &rest[length..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

/// The length of the comment that the text begins with. Block comments nest.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(text.len())
}

/// The length of the string that the text begins with, plain or raw. `before` is the code so far: a raw string's
/// `r` is not the end of a name.
fn string(text: &str, before: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix('"') {
        return Some(1 + end_of_quoted(inside, '"'));
    }
    let inside_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_byte_or_c = before.ends_with(['b', 'c'])
        && !before[..before.len() - 1].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let after = text.strip_prefix('r').filter(|_| !inside_name || is_byte_or_c)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inside = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let opening = text.len() - inside.len();
    Some(inside.find(&close).map_or(text.len(), |end| opening + end + close.len()))
}

/// The length of the character that the text begins with. A lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(1 + end_of_quoted(inside, '\''));
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| 2 + first.len_utf8())
}

/// Where quoted text ends, the closing quote included.
fn end_of_quoted(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    inside.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let code = code_only(source);
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{source}");
        assert_eq!(code.matches('\n').count(), source.matches('\n').count(), "lines of {source}");
    }

    #[test]
    fn comments_go() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("a /* never\nclosed", "a");
        check("a / b", "a / b");
    }

    #[test]
    fn strings_go() {
        check(r#"a("b // c", d)"#, "a( , d)");
        check(r#"a("\"b", d)"#, "a( , d)");
        check("a(\"b\nc\", d)", "a( , d)");
        check(r###"a(r#"b "c" // d"#, e)"###, "a( , e)");
        check(r##"a(br"b", cr"c", e)"##, "a(b , c , e)");
        check(r#"for"a""#, "for");
    }

    #[test]
    fn characters_go_and_lifetimes_stay() {
        check(r#"a('"', 'b', '\'', '\u{1f}', 'ß')"#, "a( , , , , )");
        check("fn f<'a>(x: &'a str) // c", "fn f<'a>(x: &'a str)");
        check("'outer: loop {}", "'outer: loop {}");
    }
}

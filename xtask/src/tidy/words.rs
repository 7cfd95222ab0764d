//! No macro that marks unfinished work or debugging. Clippy denies them too, but only in code that it compiles.

use super::Finding;
use super::rust_code::code_only;

const MACROS: &[(&str, &str)] = &[
    ("todo", "write what is missing, or return an error"),
    ("unimplemented", "write what is missing, or return an error"),
    ("dbg", "remove it, or use `tracing`"),
];

/// Finds the macros in code; comments and strings may speak of them.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in code_only(text).lines().enumerate() {
        for (name, advice) in MACROS {
            if calls(line, name) {
                findings.push(Finding::new(path, index + 1, format!("`{name}!` in code: {advice}")));
            }
        }
    }
    findings
}

/// Whether a line calls a macro of this very name.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && line[at + name.len()..].starts_with('!')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_macro_is_found_in_code() {
        for (name, _) in MACROS {
            let text = format!("fn main() {{\n    std::{name}!();\n}}\n");
            assert_eq!(check("a.rs", &text).iter().map(|f| f.line).collect::<Vec<_>>(), [2], "{name}");
        }
    }

    #[test]
    fn comments_strings_and_other_names_are_fine() {
        for (name, _) in MACROS {
            for text in [
                format!("// {name}!()"),
                format!("/* a /* b */ {name}!() */"),
                format!("let x = \"{name}!\";"),
                format!("my_{name}!()"),
                format!("{name}_list!()"),
                format!("let {name} = 1;"),
            ] {
                assert_eq!(check("a.rs", &text), [], "{text}");
            }
            assert_eq!(check("a.md", &format!("{name}!()")), []);
        }
    }
}

//! Long Rust files get a warning: one concept per file reads best below 400 lines, and a longer file has a reason.

use super::Finding;

const LIMIT: usize = 700;

/// Finds long Rust files.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !path.ends_with(".rs") || lines <= LIMIT {
        return Vec::new();
    }
    vec![Finding::warning(path, 1, format!("{lines} lines: consider a file for each concept"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Weight;

    #[test]
    fn a_long_rust_file_is_a_warning() {
        let findings = check("a.rs", &"x\n".repeat(LIMIT + 1));
        assert_eq!(findings.iter().map(|finding| finding.weight).collect::<Vec<_>>(), [Weight::Warning]);
    }

    #[test]
    fn others_are_fine() {
        assert_eq!(check("a.rs", &"x\n".repeat(LIMIT)), []);
        assert_eq!(check("a.toml", &"x\n".repeat(LIMIT + 1)), []);
    }
}

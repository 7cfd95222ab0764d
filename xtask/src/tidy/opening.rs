//! Every Rust file opens with `//!`: what it is for, and what it promises.

use super::Finding;

/// How far down the opening may be: below a shebang or a licence line, not below code.
const WITHIN: usize = 5;

/// Finds Rust files without an opening.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") || text.lines().take(WITHIN).any(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![Finding::new(
        path,
        1,
        "no `//!` in the first five lines: say what the file is for and what it promises",
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_an_opening_is_fine() {
        assert_eq!(check("a.rs", "//! Does one thing.\n"), []);
        assert_eq!(check("a.rs", "#!/x\n// One.\n\n\n//! Does one thing.\n"), []);
    }

    #[test]
    fn a_file_without_one_is_found() {
        assert_eq!(check("a.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(check("a.rs", "").len(), 1);
        assert_eq!(check("a.rs", "// One.\n").len(), 1);
        assert_eq!(check("a.rs", "\n\n\n\n\n//! Too late.\n").len(), 1);
    }

    #[test]
    fn other_files_need_none() {
        assert_eq!(check("a.md", "text\n"), []);
    }
}

//! File name patterns, as models write them.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use mica_agent::ToolError;

/// A pattern of paths. One without a slash is of names, in every folder.
pub(crate) struct Pattern {
    matcher: GlobMatcher,
    names: bool,
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, ToolError> {
        let bad = |why: &str| ToolError::new(format!("{text:?} is not a usable pattern: {why}."));
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        if text.starts_with('/') || text.split('/').any(|step| step == "..") {
            return Err(bad(
                "it must be relative to the folder that is searched, without `..`; use path for the folder",
            ));
        }
        let plain = text.strip_prefix("./").unwrap_or(text);
        let built = GlobBuilder::new(plain).literal_separator(true).backslash_escape(true).build();
        let glob = built.map_err(|error| bad(&error.kind().to_string()))?;
        Ok(Self { matcher: glob.compile_matcher(), names: !plain.contains('/') })
    }

    /// Whether a path, relative to the folder that is searched, fits.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        match path.file_name() {
            Some(name) if self.names => self.matcher.is_match(name),
            _ => self.matcher.is_match(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths() {
        for (pattern, path, fits) in [
            ("*.rs", "src/a/b.rs", true),
            ("*.rs", "b.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("**/*.{ts,tsx}", "web/a.tsx", true),
            ("./a.txt", "a.txt", true),
            ("[ab].txt", "b.txt", true),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().fits(Path::new(path)), fits, "{pattern} {path}");
        }
        for bad in ["", "/etc/*", "../*", "a/../b", "[a", "{a"] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
    }
}

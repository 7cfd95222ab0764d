//! What an extension says of itself: in a comment at the top of a file, or in `extension.json` beside `index.ts`.
//!
//! ```ts
//! // @mica-extension {"description": "Shows the branch.", "permissions": ["exec:git"]}
//! export default (api) => { … };
//! ```
//!
//! The comment comes before any code; other comments may be around it. `/* @mica-extension { … } */` may have several
//! lines. An extension without one needs nothing.

use serde::Deserialize;

use super::permission::Permission;

/// What introduces a manifest.
const MARK: &str = "@mica-extension";

/// What an extension says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    /// What it does, in a line.
    pub description: String,
    /// What it may do, once the user grants it.
    pub permissions: Vec<Permission>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// In words.
    pub fn parse(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| format!("its manifest cannot be read: {error}"))
    }

    /// The manifest in the comments at the top of a source. `None`: there is none.
    ///
    /// # Errors
    /// In words.
    pub fn of_source(source: &str) -> Result<Option<Self>, String> {
        let mut rest = source.trim_start_matches('\u{feff}');
        if rest.starts_with("#!") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        loop {
            rest = rest.trim_start();
            let comment = if let Some(line) = rest.strip_prefix("//") {
                let (line, after) = line.split_once('\n').unwrap_or((line, ""));
                rest = after;
                line
            } else if let Some(block) = rest.strip_prefix("/*") {
                let Some((block, after)) = block.split_once("*/") else { return Ok(None) };
                rest = after;
                block
            } else {
                return Ok(None);
            };
            if let Some(json) =
                comment.trim_start_matches(['*', '/', ' ', '\t', '\r', '\n']).strip_prefix(MARK)
            {
                // Comments of several lines often have a star at each.
                let lines = json.lines().map(|line| line.trim_start().trim_start_matches('*'));
                return Self::parse(&lines.collect::<Vec<_>>().join("\n")).map(Some);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_found_at_the_top_only() {
        let git = Manifest { description: "Git.".to_owned(), permissions: vec!["exec:git".parse().unwrap()] };
        let json = r#"{"description": "Git.", "permissions": ["exec:git"]}"#;
        for (source, expected) in [
            (format!("// @mica-extension {json}\nexport default 1;"), Some(git.clone())),
            (
                format!(
                    "\u{feff}#!/usr/bin/env mica\n// Mine.\n\n/** Also mine. */\n//@mica-extension {json}"
                ),
                Some(git.clone()),
            ),
            (
                format!("/*\n * @mica-extension\n * {}\n */\nlet a;", json.replace(", ", ",\n * ")),
                Some(git.clone()),
            ),
            (format!("let a;\n// @mica-extension {json}"), None),
            (format!("const text = `// @mica-extension {json}`;"), None),
            ("// nothing".to_owned(), None),
            ("/* open".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(Manifest::of_source(&source), Ok(expected), "{source}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (json, expected) in [
            (
                r#"{"permission": []}"#,
                "its manifest cannot be read: unknown field `permission`, expected `description` or `permissions` at \
                 line 1 column 13",
            ),
            (
                r#"{"permissions": ["root"]}"#,
                "its manifest cannot be read: there is no permission \"root\"; there is: exec, exec:PROGRAM, fetch, \
                 fetch:HOST, storage, messages, agent at line 1 column 24",
            ),
            ("", "its manifest cannot be read: EOF while parsing a value at line 1 column 0"),
        ] {
            let told = Manifest::of_source(&format!("// @mica-extension {json}\n")).unwrap_err();
            assert_eq!(told, expected);
        }
    }
}

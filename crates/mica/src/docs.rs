//! The pages about mica itself, in the program: people read them with `mica docs`, models with a tool.

use std::sync::Arc;

use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_domain::{Capability, Page};
use serde::Deserialize;
use serde_json::json;

macro_rules! pages {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../../docs/", $name, ".md")))),*] };
}

macro_rules! examples {
    ($($name:literal)*) => {
        &[$((concat!("extensions/", $name), include_str!(concat!("../../../examples/extensions/", $name)))),*]
    };
}

/// The pages for those who use mica.
const PAGES: &[(&str, &str)] = pages! {
    "approvals" "cards" "check" "cli" "connectors" "context" "context-store" "data-mapper" "desk" "domain-guide"
    "editors" "endpoints" "evals" "extensions" "hooks" "knowledge" "mcp" "mcp-server" "memory" "mi" "models"
    "modes-and-limits" "new" "rpc" "runners" "runtime" "sandbox" "sessions" "shell" "skills" "subagents" "tools"
    "triggers" "undo" "web"
};

/// Extensions to begin from.
const EXAMPLES: &[(&str, &str)] = examples! {
    "audit-log.ts" "custom-tool.ts" "git-checkpoint.ts" "guardrails.ts" "input-alias.ts" "protected-paths.ts"
    "status-line.ts"
};

/// The name of the tool.
pub const NAME: &str = "mica_docs";

/// What can be read, by name, and what it is about.
pub fn list() -> Vec<(&'static str, &'static str)> {
    all().map(|(name, text)| (name, about(text))).collect()
}

/// What can be read, for people.
pub fn listing() -> String {
    let width = list().iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    list().into_iter().map(|(name, about)| format!("{name:<width$}  {about}\n")).collect()
}

/// A page.
///
/// # Errors
/// In words, with the pages that there are.
pub fn page(name: &str) -> Result<&'static str, String> {
    let wanted = name.trim().trim_start_matches("docs/").trim_end_matches(".md");
    let found = all().find(|(known, _)| known.eq_ignore_ascii_case(wanted));
    found.map(|(_, text)| text).ok_or_else(|| {
        let names: Vec<&str> = all().map(|(name, _)| name).collect();
        format!("there is no page {name:?}; the pages are {}", names.join(", "))
    })
}

fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let types = [("extensions/mica.d.ts", mica_ext::script::API_TYPES)];
    PAGES.iter().copied().chain(types).chain(EXAMPLES.iter().copied())
}

/// The first words of a text: the title of a page, the first comment of a source.
fn about(text: &str) -> &str {
    let line =
        text.lines().map(|line| line.trim_start_matches(['#', '/', '*', ' '])).find(|line| !line.is_empty());
    line.unwrap_or_default()
}

/// What reads them for a model. It is sent with every request: alone, it is smaller than what deferring takes.
pub fn capability() -> Capability {
    let reads = "reads the pages about mica itself";
    Capability::new(Page::Global, reads, vec![Arc::new(MicaDocs::default())])
}

/// Which page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocsArgs {
    page: Option<String>,
}

/// Reads the pages about mica itself.
struct MicaDocs {
    spec: ToolSpec,
}

impl Default for MicaDocs {
    fn default() -> Self {
        let description = "Reads the pages about mica, the program that you run in: settings, modes, sessions. To change what \
                           mica does (a guardrail, a tool, a command), read \"extensions\" and write such a file.";
        let page = "The page, such as \"extensions\". Without it, all pages are listed.";
        let schema = json!({
            "type": "object",
            "properties": { "page": { "type": "string", "description": page } },
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new(NAME, description, schema);
        spec.label = "Read mica's pages".to_owned();
        spec.access = Access::Read;
        spec.effect = Effect::Pure;
        spec.approval = Approval::NotNeeded;
        Self { spec }
    }
}

#[async_trait::async_trait]
impl Tool for MicaDocs {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: DocsArgs = serde_json::from_value(serde_json::Value::Object(args))
            .map_err(|error| ToolError::new(format!("The arguments do not fit: {error}.")))?;
        let text = match args.page {
            Some(name) => page(&name).map_err(ToolError::new)?.to_owned(),
            None => list().into_iter().map(|(name, about)| format!("{name}: {about}\n")).collect(),
        };
        Ok(ToolOutput::text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_for_users_is_in_the_program() {
        let others = ["ARCHITECTURE", "glossary", "testkit"];
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut missing = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(name) = name.strip_suffix(".md")
                && !others.contains(&name)
                && page(name).is_err()
            {
                missing.push(name.to_owned());
            }
        }
        assert_eq!(missing, Vec::<String>::new(), "add them to PAGES");
    }

    #[test]
    fn a_page_is_found_as_people_write_its_name() {
        assert_eq!(about(page("docs/Sandbox.md").unwrap()), "The sandbox");
        let unknown = page("nope").unwrap_err();
        assert!(
            unknown.starts_with("there is no page \"nope\"; the pages are approvals, cards, "),
            "{unknown}"
        );
    }
}

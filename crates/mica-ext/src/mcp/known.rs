//! What was seen of a server: its tools, its prompts, how it speaks. Kept on disk, so that the next session knows it without
//! a start.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use mica_session::{Readers, Worth, replace_file};
use rmcp::model::{Prompt, ServerPeerInfo, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::{ServerConfig, digest};
use super::schema;
use super::words::{clean, line};

/// Tools of one server. More would be no help to anybody.
const TOOLS: usize = 256;
/// Prompts of one server.
const PROMPTS: usize = 64;
/// Characters of a description.
const DESCRIPTION: usize = 2_048;
/// Characters of what a server says about itself.
const INSTRUCTIONS: usize = 1_500;
/// What has another shape is read anew.
const SHAPE: u32 = 1;

/// What was seen of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    shape: u32,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// What the server calls itself, and its version.
    pub server: Option<String>,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// Its tools, by name.
    pub tools: Vec<KnownTool>,
    /// Its prompts, by name.
    pub prompts: Vec<KnownPrompt>,
    /// Whether it has resources to read.
    pub resources: bool,
    /// Tools that are not listed because there are too many.
    pub left_out: usize,
}

/// A tool of a server, with what it says made fit for models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownTool {
    /// Its own name.
    pub name: String,
    /// What it is called for people.
    pub title: Option<String>,
    /// What it says it does.
    pub description: String,
    /// What it takes.
    pub schema: Value,
    /// Whether it says that it only looks. Nobody holds it to that.
    pub read_only: bool,
    /// Names all that the server said of it, before anything was made fit. Another one is another tool.
    pub digest: String,
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownPrompt {
    /// Its own name.
    pub name: String,
    /// What it says it is for.
    pub description: String,
    /// What it takes, and whether it must be there.
    pub arguments: Vec<(String, bool)>,
}

impl Known {
    /// What a server said of itself, without its tools.
    pub(super) fn of(info: &ServerPeerInfo) -> Self {
        let name =
            |server: &rmcp::model::Implementation| line(&format!("{} {}", server.name, server.version), 100);
        Self {
            shape: SHAPE,
            protocol: info.protocol_version.to_string(),
            server: info.server_info.as_ref().map(name),
            instructions: info.instructions.as_deref().map(|text| clean(text, INSTRUCTIONS)),
            resources: info.capabilities.resources.is_some(),
            ..Self::default()
        }
    }

    /// With these tools, of which those count that are used.
    pub(super) fn with_tools(mut self, tools: Vec<Tool>, config: &ServerConfig) -> Self {
        let by_name: BTreeMap<String, Tool> = tools
            .into_iter()
            .map(|tool| (tool.name.to_string(), tool))
            .filter(|(name, _)| config.uses(name) && !name.is_empty() && name.len() <= 256)
            .collect();
        self.left_out = by_name.len().saturating_sub(TOOLS);
        self.tools = by_name.into_values().take(TOOLS).map(|tool| known(&tool)).collect();
        self
    }

    /// With these prompts.
    pub(super) fn with_prompts(mut self, prompts: Vec<Prompt>) -> Self {
        let by_name: BTreeMap<String, Prompt> =
            prompts.into_iter().map(|prompt| (prompt.name.clone(), prompt)).collect();
        let known = |prompt: Prompt| KnownPrompt {
            name: prompt.name,
            description: line(
                prompt.description.as_deref().or(prompt.title.as_deref()).unwrap_or_default(),
                200,
            ),
            arguments: prompt
                .arguments
                .unwrap_or_default()
                .into_iter()
                .map(|argument| (argument.name, argument.required.unwrap_or(false)))
                .collect(),
        };
        self.prompts = by_name.into_values().take(PROMPTS).map(known).collect();
        self
    }

    /// Whether it was agreed on by a handshake, as before 2026-07-28.
    pub fn is_of_the_first_era(&self) -> bool {
        self.protocol.as_str() < "2026-07-28"
    }

    /// A tool by its own name.
    pub fn tool(&self, name: &str) -> Option<&KnownTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// What is other than it was before, in words. `None` when nothing is.
    pub(super) fn since(&self, before: &Known) -> Option<String> {
        let names = |tools: Vec<&KnownTool>| {
            tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let new = names(self.tools.iter().filter(|tool| before.tool(&tool.name).is_none()).collect());
        let gone = names(before.tools.iter().filter(|tool| self.tool(&tool.name).is_none()).collect());
        let is_other =
            |tool: &&KnownTool| before.tool(&tool.name).is_some_and(|old| old.digest != tool.digest);
        let other = names(self.tools.iter().filter(is_other).collect());
        let parts = [("new", new), ("gone", gone), ("described otherwise", other)];
        let told: Vec<String> = parts
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what}: {names}"))
            .collect();
        (!told.is_empty()).then(|| line(&told.join("; "), 1_000))
    }
}

fn known(tool: &Tool) -> KnownTool {
    let said = serde_json::to_string(tool).unwrap_or_default();
    let (schema, note) = schema::cleaned(&tool.schema_as_json_value());
    let title =
        tool.annotations.as_ref().and_then(|hints| hints.title.clone()).or_else(|| tool.title.clone());
    let mut description =
        clean(tool.description.as_deref().or(title.as_deref()).unwrap_or_default(), DESCRIPTION);
    if description.is_empty() {
        description = format!("The tool {}, which says nothing about itself.", line(&tool.name, 80));
    }
    if let Some(note) = note {
        description = format!("{description} {note}");
    }
    KnownTool {
        name: tool.name.to_string(),
        title: title.map(|title| line(&title, 80)),
        description,
        schema,
        read_only: tool.annotations.as_ref().and_then(|hints| hints.read_only_hint).unwrap_or(false),
        digest: digest(&[&said]),
    }
}

/// Where it is kept.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// In a folder.
    pub fn new(data: &std::path::Path) -> Self {
        Self { folder: data.join("known") }
    }

    fn path(&self, config: &ServerConfig) -> PathBuf {
        let digest: String = config.digest.chars().take(16).collect();
        self.folder.join(format!("{}-{digest}.json", config.tag))
    }

    /// What is known of a server that is written down so. What cannot be read is not known.
    pub fn load(&self, config: &ServerConfig) -> Option<Known> {
        let text = fs::read_to_string(self.path(config)).ok()?;
        serde_json::from_str::<Known>(&text).ok().filter(|known| known.shape == SHAPE)
    }

    /// Keeps it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, config: &ServerConfig, known: &Known) -> std::io::Result<()> {
        self.write(&self.path(config), &serde_json::to_string(known)?)
    }

    /// What tools that run unasked were when they were first seen of a server that is written down so, by their names.
    pub(super) fn vouched(&self, config: &ServerConfig) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.path(config).with_extension("vouched.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Keeps that.
    pub(super) fn vouch(
        &self,
        config: &ServerConfig,
        tools: &BTreeMap<String, String>,
    ) -> std::io::Result<()> {
        self.write(&self.path(config).with_extension("vouched.json"), &serde_json::to_string(tools)?)
    }

    fn write(&self, path: &std::path::Path, text: &str) -> std::io::Result<()> {
        // It can be asked for again.
        replace_file(path, text.as_bytes(), Worth::Cache, Readers::Owner)
    }

    /// Forgets it.
    pub fn forget(&self, config: &ServerConfig) {
        let _ = fs::remove_file(self.path(config));
        let _ = fs::remove_file(self.path(config).with_extension("vouched.json"));
    }
}

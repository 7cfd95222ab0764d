//! Where the files of a data mapper are, how the project's descriptor names what the build makes of them, and how a
//! mediator does.

use std::borrow::Cow;
use std::path::Path;

use mica_agent::ToolError;
use synapse_lang::model::Version;
use synapse_lang::syntax::{Document, escape_attribute, escape_text};

use super::{Kind, Schema};

/// Since when resources have a folder of their own, outside of the registry.
const RESOURCES: Version = Version::new(4, 4, 0);

/// The name of the sample that a mapping is tried on.
pub(crate) const SAMPLE: &str = "sample-input.json";

/// The name of the helpers.
pub(crate) const UTILS: &str = "dm-utils.ts";

/// What an entry has when no other tells it.
const GROUP: &str = "com.microintegrator.projects";

/// The places of one data mapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The folder of the project, relative to the workspace; empty, or with a slash at its end.
    project: String,
    name: String,
    is_old: bool,
}

impl Layout {
    /// For a mapper of a project. Without a version, the project is taken to be a new one.
    pub(crate) fn new(
        workspace: &Path,
        root: &Path,
        version: Option<Version>,
        name: &str,
    ) -> Result<Self, ToolError> {
        let mut letters = name.chars();
        let fine = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if !fine || name.len() > 100 || name == "dm-utils" {
            return Err(ToolError::new(format!(
                "{name:?} cannot be the name of a data mapper: it begins with a letter and has letters, digits, - and _ \
                 only. Nothing was written."
            )));
        }
        let inside = root.strip_prefix(workspace).map_err(|_| {
            ToolError::new(format!(
                "The project is in {}, outside of what may be written. Work in that folder.",
                root.display()
            ))
        })?;
        let project = match inside.to_str() {
            Some("") => String::new(),
            Some(path) => format!("{path}/"),
            None => return Err(ToolError::new("The path of the project is no text. Nothing was written.")),
        };
        let is_old = version.is_some_and(|version| version < RESOURCES);
        Ok(Self { project, name: name.to_owned(), is_old })
    }

    fn resources(&self) -> String {
        format!("{}src/main/wso2mi/resources/", self.project)
    }

    /// The folder that all data mappers are in.
    pub(crate) fn all(&self) -> String {
        let below = if self.is_old { "registry/gov/datamapper" } else { "datamapper" };
        format!("{}{below}", self.resources())
    }

    /// Where data mappers of a project can be, new and old.
    pub(crate) const FOLDERS: [&str; 2] =
        ["src/main/wso2mi/resources/datamapper", "src/main/wso2mi/resources/registry/gov/datamapper"];

    /// A file of the mapper.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.all(), self.name)
    }

    /// The file of the mapping.
    pub(crate) fn script(&self) -> String {
        self.file(&format!("{}.ts", self.name))
    }

    /// The descriptor of the project's resources.
    pub(crate) fn descriptor(&self) -> String {
        let below = if self.is_old { "registry/" } else { "" };
        format!("{}{below}artifact.xml", self.resources())
    }

    /// What the build makes, with its media type.
    fn made(&self) -> [(String, &'static str); 3] {
        let name = &self.name;
        [
            (format!("{name}.dmc"), "application/datamapper"),
            (format!("{name}_inputSchema.json"), "application/json"),
            (format!("{name}_outputSchema.json"), "application/json"),
        ]
    }

    /// The mediator that uses the mapper.
    pub(crate) fn mediator(&self, input: Kind, output: Kind) -> String {
        let scheme = if self.is_old { "gov" } else { "resources" };
        let [config, from, to] = self.made().map(|(file, _)| {
            escape_attribute(&format!("{scheme}:/datamapper/{}/{file}", self.name), '"').into_owned()
        });
        format!(
            "<datamapper config=\"{config}\" inputSchema=\"{from}\" inputType=\"{}\" outputSchema=\"{to}\" outputType=\"{}\"/>",
            input.name(),
            output.name()
        )
    }

    /// The descriptor with entries for what the build makes. Those that are there stay as they are.
    pub(crate) fn described(&self, before: Option<&str>) -> Result<String, ToolError> {
        let Some(before) = before.filter(|text| !text.trim().is_empty()) else {
            let entries = self.entries(&[], GROUP, "1.0.0");
            return Ok(format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<artifacts>\n{entries}</artifacts>\n"
            ));
        };
        let refused = |why: &str| {
            ToolError::new(format!(
                "{} {why}, so the data mapper cannot be added to it. Nothing was written.",
                self.descriptor()
            ))
        };
        let document = Document::parse(before);
        if let Some(problem) = document.problems().first() {
            return Err(refused(&format!("is broken ({problem})")));
        }
        let root = document.root().filter(|root| root.local() == "artifacts");
        let root = root.ok_or_else(|| refused("has no <artifacts> at its root"))?;
        let names: Vec<String> =
            root.elements().filter_map(|one| one.value("name").map(Cow::into_owned)).collect();
        let like = |attribute: &str, usual: &str| {
            let told = root.elements().find_map(|one| one.value(attribute));
            told.map_or_else(|| usual.to_owned(), Cow::into_owned)
        };
        let entries = self.entries(&names, &like("groupId", GROUP), &like("version", "1.0.0"));
        let span = root.span();
        let (start, end) = (span.start as usize, span.end as usize);
        Ok(match root.close_span() {
            Some(close) => {
                let at = close.start as usize;
                let line = before.get(..at).unwrap_or_default();
                let kept = line.trim_end();
                let rest = before.get(at..).unwrap_or_default();
                format!("{kept}\n{entries}{rest}")
            }
            // `<artifacts/>`
            None => format!(
                "{}<artifacts>\n{entries}</artifacts>{}",
                before.get(..start).unwrap_or_default(),
                before.get(end..).unwrap_or_default()
            ),
        })
    }

    fn entries(&self, there: &[String], group: &str, version: &str) -> String {
        let below = if self.is_old { "registry/gov/datamapper" } else { "datamapper" };
        let home = if self.is_old { "datamapper" } else { "mi-resources/datamapper" };
        let mut text = String::new();
        for (file, media) in self.made() {
            let name = format!("resources_{below}_{}_{file}", self.name).replace(['/', '.', '-'], "_");
            if there.contains(&name) {
                continue;
            }
            text += &format!(
                "    <artifact name=\"{name}\" groupId=\"{}\" version=\"{}\" type=\"registry/resource\" \
                 serverRole=\"EnterpriseIntegrator\">\n        <item>\n            <file>{}</file>\n            \
                 <path>/_system/governance/{home}/{}</path>\n            <mediaType>{media}</mediaType>\n            \
                 <properties/>\n        </item>\n    </artifact>\n",
                escape_attribute(group, '"'),
                escape_attribute(version, '"'),
                escape_text(&file),
                escape_text(&self.name),
            );
        }
        text
    }

    /// What the model is told to write where the mapping is used.
    pub(crate) fn usage(&self, input: &Schema, output: &Schema) -> String {
        format!("Use it with:\n{}", self.mediator(input.kind, output.kind))
    }
}

#[cfg(test)]
mod tests;

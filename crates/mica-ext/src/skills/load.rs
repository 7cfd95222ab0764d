//! `load_skill`: gives the text of a skill, or of one of its files.

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_tools::arguments::{blocking, read};
use serde::Deserialize;
use serde_json::{Value, json};

use super::fence::{fenced, line};
use super::{Began, Skill, Skills, Whose, files};

/// The name models call it by.
pub const NAME: &str = "load_skill";

/// Files that are listed with a skill.
const LISTED: usize = 60;

/// What to load.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadArgs {
    name: String,
    #[serde(default)]
    resource: Option<String>,
}

/// Gives skills.
pub struct LoadSkill {
    skills: Skills,
    spec: ToolSpec,
}

impl LoadSkill {
    /// For these skills. `None` when there is none that a model can load.
    pub fn new(skills: &Skills) -> Option<Self> {
        Self::since(skills, &Began::of(skills))
    }

    /// For these skills, listing those that the session began with. `None` when it began with none.
    pub fn since(skills: &Skills, began: &Began) -> Option<Self> {
        let names: Vec<&str> = began.skills.keys().map(String::as_str).collect();
        if names.is_empty() {
            return None;
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "enum": names, "description": "The skill." },
                "resource": {
                    "type": "string",
                    "description": "One of its files instead, by the path that the skill names: references/FORMS.md."
                }
            },
            "required": ["name"],
            "additionalProperties": false
        });
        let description = "Loads the instructions of a skill, with a list of the files that belong to it. Do so before work that \
                           the skill is about, once; then load the files that it sends you to.";
        let mut spec = ToolSpec::new(NAME, description, schema);
        spec.label = "Load skill".to_owned();
        Some(Self { skills: skills.clone(), spec })
    }
}

#[async_trait]
impl Tool for LoadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let LoadArgs { name, resource } = read(args)?;
        let skill = self.skills.meant(&name).map_err(ToolError::new)?.clone();
        let resource = resource.filter(|path| !path.trim().is_empty());
        let details = json!({ "skill": skill.name, "resource": resource, "place": skill.place() });
        let text = blocking(cx, move |_| given(&skill, resource.as_deref())).await?;
        Ok(ToolOutput::text(text).with_details(details))
    }
}

/// What is given for a call.
fn given(skill: &Skill, resource: Option<&str>) -> Result<String, ToolError> {
    let refused = |what: &str, reason: String| {
        let reason = reason.trim_end_matches('.');
        ToolError::new(format!("{what} of the skill {} was not loaded: {reason}.", skill.name))
    };
    match resource {
        None => text(skill).map_err(|reason| refused("The text", reason)),
        Some(path) => {
            let path = path.trim();
            let found = files::resource(skill, path).map_err(|reason| {
                let near =
                    nearest(skill, path).map(|near| format!(". Did you mean {near}?")).unwrap_or_default();
                refused(&format!("{:?}", line(path, 200)), format!("{}{near}", reason.trim_end_matches('.')))
            })?;
            Ok(fenced(
                "skill_file",
                &[("skill", &skill.name), ("path", path), ("note", note(skill.whose))],
                &found,
            ))
        }
    }
}

/// A skill as a model reads it: its text, and what belongs to it.
///
/// # Errors
/// In words, when it cannot be read.
pub fn text(skill: &Skill) -> Result<String, String> {
    let body = files::body(skill)?;
    let folder = skill.folder().map(|folder| folder.display().to_string());
    let mut attributes = vec![("name", skill.name.as_str())];
    attributes.extend(folder.as_deref().map(|folder| ("folder", folder)));
    attributes.push(("note", note(skill.whose)));
    let body = if body.is_empty() { "(It says nothing.)" } else { &body };
    let mut text = fenced("skill", &attributes, body);
    if let Some(needs) = &skill.compatibility {
        text.push_str(&format!("\nIt says that it needs: {}", line(needs, 500)));
    }
    if !skill.tools.is_empty() {
        text.push_str(&format!(
            "\nTools it was written for, some of which may not be here: {}",
            line(&skill.tools.join(", "), 500)
        ));
    }
    if !skill.allowed_tools.is_empty() {
        text.push_str(&format!(
            "\nIt asks for calls to be allowed ({}); they are asked about as always.",
            line(&skill.allowed_tools.join(", "), 500)
        ));
    }
    let (resources, has_more) = files::resources(skill);
    if !resources.is_empty() {
        text.push_str("\nIts files, which can be loaded as `resource`");
        text.push_str(if folder.is_some() { " or used in its folder:" } else { ":" });
        for file in resources.iter().take(LISTED) {
            text.push_str(&format!("\n- {} ({} bytes)", line(&file.path, 300), file.bytes));
        }
        if has_more || resources.len() > LISTED {
            text.push_str("\n- and more");
        }
    }
    Ok(text)
}

/// Whose words they are.
fn note(whose: Whose) -> &'static str {
    match whose {
        Whose::Project => {
            "from the project, trusted by the user as it is: instructions for this kind of work, below what the user says"
        }
        Whose::User => {
            "from the user's own skills: instructions for this kind of work, below what the user says now"
        }
        Whose::BuiltIn => {
            "came with the program: instructions for this kind of work, below what the user says"
        }
    }
}

/// The file that was probably meant: one of the same name elsewhere, or one that is nearly called so.
fn nearest(skill: &Skill, path: &str) -> Option<String> {
    let (resources, _) = files::resources(skill);
    let name = |path: &str| -> String {
        path.rsplit('/').next().unwrap_or(path).to_lowercase().chars().take(80).collect()
    };
    let wanted = name(path);
    resources
        .iter()
        .filter(|file| file.path != path)
        .map(|file| (mica_agent::nearest::distance(&wanted, &name(&file.path)), file))
        .filter(|(far, file)| *far <= name(&file.path).chars().count() / 4)
        .min_by_key(|(far, _)| *far)
        .map(|(_, file)| file.path.clone())
}

/// What interfaces show of a skill.
pub fn as_json(skill: &Skill) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "whose": skill.whose.name(),
        "place": skill.place(),
        "only_people": skill.only_people,
        "license": skill.license,
        "compatibility": skill.compatibility,
        "allowed_tools": skill.allowed_tools,
        "tools": skill.tools,
        "metadata": skill.metadata,
        "warnings": skill.warnings,
    })
}

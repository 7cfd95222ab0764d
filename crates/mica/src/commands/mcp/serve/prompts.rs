//! The prompts: pieces of work that people start by name. Their texts are files beside this one.

use rmcp::model::{
    ContentBlock, ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    ResourceContents, Role,
};
use serde_json::{Value, json};

use super::site::Site;
use crate::sources;

/// A prompt: its name, title, what it is for, its arguments (name, what it is, whether it is needed), its text.
struct Form {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [(&'static str, &'static str, bool)],
    text: &'static str,
}

/// What a path is when nobody says.
const EVERYTHING: &str = "all of it";
/// Bytes of a file that is put into a prompt, at most.
const LARGEST: usize = 256 << 10;

const FORMS: [Form; 3] = [
    Form {
        name: "explain-artifact",
        title: "Explain an artifact",
        description: "What an artifact does, step by step, with what it needs and what can go wrong.",
        arguments: &[("file", "The artifact, relative to the root", true)],
        text: include_str!("prompts/explain-artifact.md"),
    },
    Form {
        name: "migrate-expressions",
        title: "Migrate to Synapse expressions",
        description: "Replaces XPath, JSONPath and property functions by Synapse expressions, each one evaluated before and after.",
        arguments: &[("path", "A file or a folder, relative to the root; everything when left out", false)],
        text: include_str!("prompts/migrate-expressions.md"),
    },
    Form {
        name: "review-project",
        title: "Review the project",
        description: "What is wrong or risky in a Micro Integrator project, the worst first, with repairs.",
        arguments: &[("path", "A file or a folder, relative to the root; everything when left out", false)],
        text: include_str!("prompts/review-project.md"),
    },
];

/// All prompts, by name.
pub fn all() -> Vec<Prompt> {
    let made = FORMS.iter().map(|form| {
        let arguments = form.arguments.iter().map(|(name, description, required)| {
            PromptArgument::new(*name).with_description(*description).with_required(*required)
        });
        Prompt::new(form.name, Some(form.description), Some(arguments.collect())).with_title(form.title)
    });
    made.collect()
}

/// Makes a prompt.
///
/// # Errors
/// When an argument does not fit.
pub fn get(site: &Site, name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let form = FORMS
        .iter()
        .find(|form| form.name == name)
        .ok_or_else(|| ErrorData::invalid_params(format!("Unknown prompt: {name}"), None))?;
    if let Some(other) = given.keys().find(|key| !form.arguments.iter().any(|(name, ..)| name == key)) {
        return Err(ErrorData::invalid_params(
            format!("The prompt {name} takes no argument {other:?}"),
            None,
        ));
    }
    let mut text = form.text.trim().to_owned();
    let mut file = None;
    for (argument, _, _) in form.arguments {
        let value = match given.get(*argument) {
            None | Some(Value::Null) => None,
            Some(Value::String(value)) if value.trim().is_empty() => None,
            Some(Value::String(value)) => Some(value.as_str()),
            Some(_) => {
                return Err(ErrorData::invalid_params(format!("The argument {argument} is a text"), None));
            }
        };
        let shown = match value {
            None if *argument == "file" => {
                return Err(ErrorData::invalid_params("The argument file names an artifact", None));
            }
            None => EVERYTHING.to_owned(),
            Some(path) => {
                let place = site.place(path).map_err(|refusal| {
                    ErrorData::invalid_params(refusal.to_string(), Some(json!({ "path": path })))
                })?;
                if *argument == "file" {
                    file = Some(place.clone());
                }
                site.shown(&place)
            }
        };
        text = text.replace(&format!("{{{argument}}}"), &shown);
    }
    let mut messages = vec![PromptMessage::new_text(Role::User, text)];
    if let Some(file) = file {
        let shown = site.shown(&file);
        let bad = |why: String| ErrorData::invalid_params(format!("{shown}: {why}"), None);
        if file.is_dir() {
            return Err(bad("that is a folder; name a file".to_owned()));
        }
        let content = sources::read(&file).map_err(bad)?.text;
        if content.len() > LARGEST {
            return Err(ErrorData::invalid_params(
                format!("{shown} has {} bytes; at most {LARGEST} are put into a prompt", content.len()),
                None,
            ));
        }
        let uri = format!("file://{}", file.display());
        let resource = ResourceContents::text(&*content, uri).with_mime_type("application/xml");
        messages.push(PromptMessage::new(Role::User, ContentBlock::resource(resource)));
    }
    let mut result = GetPromptResult::new(messages);
    result.description = Some(form.description.to_owned());
    Ok(result)
}

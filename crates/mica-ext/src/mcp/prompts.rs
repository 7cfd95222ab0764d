//! Prompts of servers, as commands: `/mcp:server:prompt name=value …`.

use async_trait::async_trait;
use rmcp::model::{ClientRequest, ContentBlock, GetPromptRequest, GetPromptRequestParams, ServerResult};
use serde_json::{Map, Value};

use super::calls::{Asker, ask};
use super::known::KnownPrompt;
use super::server::Server;
use super::words::{clean, fenced};
use crate::concern::{Command, Failure, Typed};

/// Characters of what a prompt comes to.
const TEXT: usize = 100_000;

/// A prompt of a server.
pub struct PromptCommand {
    server: Server,
    prompt: KnownPrompt,
    name: String,
    description: String,
}

impl PromptCommand {
    /// A prompt that is known.
    pub fn new(server: &Server, prompt: KnownPrompt) -> Self {
        let takes: Vec<String> = prompt
            .arguments
            .iter()
            .map(|(name, required)| if *required { format!("{name}=…") } else { format!("[{name}=…]") })
            .collect();
        let description = format!("{} {}", prompt.description, takes.join(" "));
        Self {
            name: format!("mcp:{}:{}", server.config().tag, prompt.name),
            description: description.trim().to_owned(),
            server: server.clone(),
            prompt,
        }
    }

    /// What was typed, by the names of what the prompt takes.
    fn arguments(&self, typed: &str) -> Result<Map<String, Value>, Failure> {
        let mut out = Map::new();
        let mut plain = Vec::new();
        for word in words(typed) {
            match word
                .split_once('=')
                .filter(|(name, _)| self.prompt.arguments.iter().any(|(known, _)| known == name))
            {
                Some((name, value)) => drop(out.insert(name.to_owned(), Value::String(value.to_owned()))),
                None => plain.push(word),
            }
        }
        // Without names, they are meant in their order; the last one takes the rest.
        let open: Vec<&String> = self
            .prompt
            .arguments
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !out.contains_key(*name))
            .collect();
        let mut rest = plain.into_iter();
        for (at, name) in open.iter().enumerate() {
            let value = if at + 1 == open.len() {
                rest.by_ref().collect::<Vec<_>>().join(" ")
            } else {
                rest.next().unwrap_or_default()
            };
            if !value.is_empty() {
                out.insert((*name).clone(), Value::String(value));
            }
        }
        if let Some(word) = rest.next() {
            return Err(format!("/{} takes nothing like {word:?}", self.name));
        }
        let missing =
            self.prompt.arguments.iter().find(|(name, required)| *required && !out.contains_key(name));
        match missing {
            Some((name, _)) => Err(format!("/{} needs {name}=…; it takes {}", self.name, self.description)),
            None => Ok(out),
        }
    }
}

/// Words; those in quotes stay together.
fn words(text: &str) -> Vec<String> {
    let (mut out, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                any = true;
            }
            (None, letter) if letter.is_whitespace() => {
                if any || !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                }
                any = false;
            }
            (_, letter) => word.push(letter),
        }
    }
    if any || !word.is_empty() {
        out.push(word);
    }
    out
}

#[async_trait]
impl Command for PromptCommand {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn run(&self, typed: &str) -> Result<Typed, Failure> {
        let arguments = self.arguments(typed)?;
        let asker = Asker::person();
        let asked = ask(&self.server, &asker, |answers, state| {
            let mut params = GetPromptRequestParams::new(self.prompt.name.clone());
            params.arguments = Some(arguments.clone());
            params.input_responses = answers;
            params.request_state = state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        });
        let ServerResult::GetPromptResult(result) = asked.await.map_err(|error| error.to_string())? else {
            return Err(self.server.strange("what it sent is no prompt").to_string());
        };
        let mut text = String::new();
        for message in &result.messages {
            let said = match &message.content {
                ContentBlock::Text(part) => part.text.clone(),
                ContentBlock::Resource(resource) => resource.get_text(),
                _ => "[something that is no text]".to_owned(),
            };
            text.push_str(&clean(&said, TEXT.saturating_sub(text.len())));
            text.push_str("\n\n");
        }
        // The person chose to say it, and did not write it.
        let name = &self.server.config().name;
        let fence = fenced(name, ("prompt", &self.prompt.name), text.trim());
        Ok(Typed::Instead(format!(
            "Do what this prompt of the MCP server {name} asks for. I chose it, and it is about my task.\n{fence}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes_stay_together() {
        assert_eq!(words(r#"a  "b c" d='e f' """#), ["a", "b c", "d=e f", ""]);
        assert_eq!(words(" "), Vec::<String>::new());
    }
}

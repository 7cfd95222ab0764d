//! The script that answers when no model is configured: a short tour of the desk, which really works on it.
//!
//! Promise: what it says follows what was done. Where a call failed or was refused it says that, and nothing else; what it
//! shows are the ids that calls gave.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use mica_ai::message::{ResultStatus, ToolResult};
use mica_ai::{Content, Dialect, Message, Model, ModelStream, Provider, Request};
use mica_testkit::{Scenario, ScriptedModel, Seen, Step, Turn};
use tokio_util::sync::CancellationToken;

/// What is said on the screen, so that nobody takes it for a model.
pub const NOTE: &str = "No model is asked: a script answers. It knows a tour, and really works on the desk. Try:\n  Find Ana Silva.\n  \
                        Which threads are open?          (on /page inbox)\n  Answer this thread.              (on /page inbox, \
                        after /open thread:1053)\n  Mark Initech as active.\n  Make a task to ring Ana tomorrow.\n  Index the \
                        articles.              (on /page kb)\n  /inbound contact:ana-silva | Printer is down | It stopped \
                        printing. Please help.\n  /sweep, then /today and /approve";

/// The script as a model.
///
/// # Errors
/// A mistake in the script.
pub fn model() -> Result<(Arc<dyn Provider>, Arc<Model>)> {
    let scenario: Scenario =
        toml::from_str(include_str!("tour.toml")).context("the script of the tour is wrong")?;
    let mut model = Model::assumed("tour", Dialect::Responses);
    model.name = "a script".to_owned();
    let script = ScriptedModel::new(scenario.clone());
    Ok((Arc::new(Following { scenario, script }), Arc::new(model)))
}

/// Plays the script, and has its words follow what was done.
struct Following {
    scenario: Scenario,
    script: ScriptedModel,
}

impl Provider for Following {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let said = {
            let results = results(&request);
            failures(&results).or_else(|| self.words(&request, &results))
        };
        match said {
            Some(said) => {
                ScriptedModel::new(Scenario::new().turn(Turn::new().text(said))).stream(request, cancel)
            }
            None => self.script.stream(request, cancel),
        }
    }
}

impl Following {
    /// The words that the script has for this, filled in. `None` where it calls something.
    fn words(&self, request: &Request, results: &[&ToolResult]) -> Option<String> {
        let seen = Seen::in_process(request);
        let fits = |turn: &&Turn| turn.when.as_ref().is_some_and(|when| when.fits(&seen));
        let [Step::Text(text)] = self.scenario.turns.iter().find(fits)?.steps.as_slice() else { return None };
        let last = results.last().map(|result| words_of(result)).unwrap_or_default();
        let text = text.replace("{result}", &sentence(&last));
        let text = text.replace("{news}", &news(&seen.user));
        let list = |kind| serde_json::to_string(&ids(&last, kind)).unwrap_or_default();
        Some(text.replace("{contacts}", &list("contact")).replace("{threads}", &list("thread")))
    }
}

/// The results that came after the last thing that was said.
fn results(request: &Request) -> Vec<&ToolResult> {
    let since = request.messages.iter().rposition(|message| matches!(message, Message::User(_)));
    let since = request.messages.iter().skip(since.map_or(0, |at| at + 1));
    let results = since.filter_map(|message| match message {
        Message::ToolResult(result) => Some(result),
        _ => None,
    });
    results.collect()
}

/// What did not work, in words.
fn failures(results: &[&ToolResult]) -> Option<String> {
    let failed: Vec<&&ToolResult> =
        results.iter().filter(|result| result.status == ResultStatus::Failed).collect();
    if failed.is_empty() {
        return None;
    }
    let rows = failed.iter().map(|result| format!("- {}: {}\n", result.tool, sentence(&words_of(result))));
    let all = if failed.len() == results.len() { "That was not done." } else { "Not all of that was done." };
    Some(format!("{all}\n\n{}", rows.collect::<String>()))
}

/// The first sentence of a text: what follows is for models.
fn sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line.to_owned(), |(first, _)| format!("{first}."))
}

fn words_of(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        Content::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What background work has to say: the line inside its boundary.
fn news(user: &str) -> String {
    let inside = user.split_once("<task-notification").and_then(|(_, rest)| rest.split_once('>'));
    let inside = inside.and_then(|(_, rest)| rest.split_once("</"));
    inside.map(|(line, _)| line.trim().to_owned()).unwrap_or_default()
}

/// The ids of a kind in a text, each once, in order.
fn ids<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | '-');
    let words = text.split(|letter| !is_part(letter));
    let is_id = |word: &&str| {
        let name = word.split_once(':').filter(|(found, _)| *found == kind).map(|(_, name)| name);
        name.is_some_and(|name| !name.is_empty() && !name.contains(':'))
    };
    let mut all: Vec<&str> = Vec::new();
    for id in words.filter(is_id) {
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_can_be_read() {
        model().unwrap();
    }

    #[test]
    fn what_it_fills_in_comes_from_what_happened() {
        let text = "1. Ana (contact:ana-silva), thread:1053; contact:ana-silva x: y";
        assert_eq!(ids(text, "contact"), ["contact:ana-silva"]);
        assert_eq!(ids(text, "thread"), ["thread:1053"]);
        let told = "Background work has news.\n<task-notification kind=\"reindex\">\n12 articles.\n</task-notification>\nSay so.";
        assert_eq!(news(told), "12 articles.");
        assert_eq!(news("hello"), "");
    }
}

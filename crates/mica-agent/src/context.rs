//! What a run works on: the model, the prompt, the tools, the conversation, and what it took so far.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use mica_ai::id::MessageId;
use mica_ai::message::ToolCall;
use mica_ai::model::Effort;
use mica_ai::request::{ToolChoice, ToolDef};
use mica_ai::{Message, Model, Provider, Request, StopReason};

use crate::outcome::Tally;
use crate::tool::Tool;

/// What a run works on. Lives longer than a run: the next one goes on from it.
#[derive(Clone)]
pub struct Context {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// The model, and what is known about it.
    pub model: Arc<Model>,
    /// The system prompt, in tiers, most stable first. Changing it costs the cached prefix.
    pub system: Vec<String>,
    /// The tools. Changing them costs the cached prefix.
    pub tools: ToolSet,
    /// The conversation, as it goes to the model. What is compacted away is in the session, not here.
    pub messages: Vec<Message>,
    /// Settings of every request.
    pub settings: Settings,
    /// What the current run took so far.
    pub tally: Tally,
}

/// Settings of every request of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Output tokens of one answer at most.
    pub max_output: Option<u64>,
    /// How hard to think.
    pub effort: Option<Effort>,
    /// Requests with the same key are routed to the same cache.
    pub cache_key: Option<String>,
}

impl Default for Settings {
    /// 15,000 output tokens and low effort: enough for a file, and direct answers to direct questions.
    fn default() -> Self {
        Self { max_output: Some(15_000), effort: Some(Effort::Low), cache_key: None }
    }
}

impl Context {
    /// A conversation that has not begun.
    pub fn new(provider: Arc<dyn Provider>, model: Arc<Model>) -> Self {
        Self {
            provider,
            model,
            system: Vec::new(),
            tools: ToolSet::default(),
            messages: Vec::new(),
            settings: Settings::default(),
            tally: Tally::default(),
        }
    }

    /// The request for the next answer.
    pub fn request(&self) -> Request {
        let mut request = Request::new(Arc::clone(&self.model));
        request.system.clone_from(&self.system);
        request.tools = Arc::clone(self.tools.definitions());
        request.messages.clone_from(&self.messages);
        request.max_output = self.settings.max_output;
        request.effort = self.settings.effort;
        request.cache.key.clone_from(&self.settings.cache_key);
        request.tool_choice = ToolChoice::Auto;
        request
    }

    /// The calls of the last answer that have no result yet. Empty unless the conversation stops in the middle.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        self.unanswered(StopReason::is_whole)
    }

    /// The calls without a result of the last answer, if the reason it ended for is one of those.
    pub(crate) fn unanswered(&self, ended: fn(StopReason) -> bool) -> Vec<ToolCall> {
        let mut answered = Vec::new();
        for message in self.messages.iter().rev() {
            match message {
                Message::ToolResult(result) => answered.push(&result.call),
                Message::User(_) => break,
                Message::Assistant(answer) if !ended(answer.stop) => break,
                Message::Assistant(answer) => {
                    return answer.calls().filter(|call| !answered.contains(&&call.id)).cloned().collect();
                }
            }
        }
        Vec::new()
    }

    /// The id of the last answer: calls are named after it, because their own ids need not differ between answers.
    pub(crate) fn last_answer(&self) -> Option<&MessageId> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::Assistant(answer) => Some(&answer.id),
            _ => None,
        })
    }
}

/// The tools of a run, by name. Sorted, so that the order they were added in does not change the cached prompt.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// What the model sees of them, made when it is first asked for: every turn asks for it.
    definitions: Arc<OnceLock<Arc<[ToolDef]>>>,
}

impl ToolSet {
    /// Adds a tool. One of the same name is replaced and returned.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        // Not emptied but left behind: a clone of this set may still use it.
        self.definitions = Arc::default();
        self.tools.insert(tool.spec().name.clone(), tool)
    }

    /// The tool of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The tools as the model sees them.
    pub fn definitions(&self) -> &Arc<[ToolDef]> {
        self.definitions.get_or_init(|| self.tools.values().map(|tool| tool.spec().definition()).collect())
    }
}

impl<T: Tool + 'static> FromIterator<T> for ToolSet {
    fn from_iter<I: IntoIterator<Item = T>>(tools: I) -> Self {
        let mut set = Self::default();
        for tool in tools {
            set.add(Arc::new(tool));
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;

    use super::*;
    use crate::cx::ToolCx;
    use crate::tool::{Args, ToolError, ToolOutput, ToolSpec};

    struct Named(ToolSpec);

    #[async_trait]
    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::text(""))
        }
    }

    fn tool(name: &str, description: &str) -> Arc<dyn Tool> {
        Arc::new(Named(ToolSpec::new(name, description, json!({ "type": "object" }))))
    }

    fn shown(tools: &ToolSet) -> Vec<String> {
        tools.definitions().iter().map(|tool| format!("{}: {}", tool.name, tool.description)).collect()
    }

    #[test]
    fn what_is_shown_follows_what_is_added() {
        let mut tools = ToolSet::default();
        assert_eq!(shown(&tools), Vec::<String>::new());
        tools.add(tool("b", "one"));
        assert_eq!(shown(&tools), ["b: one"]);
        let before = tools.clone();
        tools.add(tool("a", "two"));
        tools.add(tool("b", "three"));
        assert_eq!(shown(&tools), ["a: two", "b: three"]);
        assert_eq!(shown(&before), ["b: one"], "a clone keeps what it had");
    }
}

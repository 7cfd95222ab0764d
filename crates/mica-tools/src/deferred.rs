//! Tools that are not sent with every request: listed by name, described when they are asked for, called through one that
//! stands before them.
//!
//! Promises: the tools that a model is sent stay the same, whatever is loaded and called, so the cached prompt holds. A
//! call through [`CALL`] is the call of the tool that it names, for everyone but the provider. Nothing has to be loaded
//! before it is called, and nothing is remembered: what was loaded is in the conversation, and nowhere else.

mod call;
mod load;
mod shelf;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use mica_agent::{Tool, ToolSpec};
use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use serde_json::Value;

pub use call::CallTool;
pub use load::LoadTools;
pub use shelf::{Shelf, Supplier};

/// The name of the tool that tells what others take.
pub const LOAD: &str = "load_tools";
/// The name of the tool that calls others.
pub const CALL: &str = "call_tool";

/// Characters of the line that a tool has in the listing: enough to know whether to load it.
const LINE: usize = 120;

/// Tools that are not sent with every request.
#[derive(Clone, Default)]
pub struct Deferred {
    /// By name, so that the order they were given in does not change the cached prompt.
    tools: Arc<[Arc<dyn Tool>]>,
    /// Where others may come to stand while the session lives.
    shelves: Arc<[Shelf]>,
    /// All of them as they were when they were last put together.
    joined: Arc<Mutex<Option<Joined>>>,
}

/// What stood on the shelves, and what that came to with the others.
struct Joined {
    shelves: Vec<Arc<[Arc<dyn Tool>]>>,
    all: Arc<[Arc<dyn Tool>]>,
}

impl Deferred {
    /// Defers tools. Of two with the same name, the later one counts, as in a set of tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let by_name: std::collections::BTreeMap<String, Arc<dyn Tool>> =
            tools.into_iter().map(|tool| (tool.spec().name.clone(), tool)).collect();
        Self { tools: by_name.into_values().collect(), ..Self::default() }
    }

    /// With tools that come and go while the session lives. Whoever puts them on a shelf tells the model of them, at the end
    /// of the conversation: the listing is part of the cached prompt and does not have them.
    #[must_use]
    pub fn growing(mut self, shelves: Vec<Shelf>) -> Self {
        self.shelves = shelves.into();
        self.joined = Arc::default();
        self
    }

    /// Whether there are none, and none can come. Then nothing needs to be sent or said.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.shelves.is_empty()
    }

    /// The tools to send in their place: [`LOAD`] and [`CALL`]. None, when nothing is deferred.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.is_empty() {
            return Vec::new();
        }
        vec![Arc::new(LoadTools::new(self)), Arc::new(CallTool::new(self))]
    }

    /// What the prompt says of them: a name and a line for each that was there from the start. `None`, when nothing is
    /// deferred.
    pub fn listing(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut text = format!(
            "More tools can be called with {CALL}. Load those you need with {LOAD} first, several at once: it tells what they \
             take."
        );
        if !self.shelves.is_empty() {
            text.push_str(
                " Which there are besides those of this list, the context of the conversation says.",
            );
        }
        for tool in &*self.tools {
            let _ = write!(text, "\n- {}: {}", tool.spec().name, line(tool.spec()));
        }
        Some(text)
    }

    /// All there are now. A tool that was there from the start is not replaced by one of its name.
    fn now(&self) -> Arc<[Arc<dyn Tool>]> {
        if self.shelves.is_empty() {
            return Arc::clone(&self.tools);
        }
        let shelves: Vec<_> = self.shelves.iter().map(Shelf::tools).collect();
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        // It is asked for with every call and every turn, and shelves seldom change.
        if let Some(joined) = &*joined
            && joined.shelves.iter().zip(&shelves).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return Arc::clone(&joined.all);
        }
        let mut now = self.tools.to_vec();
        let mut names: HashSet<&str> = self.tools.iter().map(|tool| tool.spec().name.as_str()).collect();
        for tool in shelves.iter().flat_map(|shelf| shelf.iter()) {
            if names.insert(&tool.spec().name) {
                now.push(Arc::clone(tool));
            }
        }
        let all: Arc<[Arc<dyn Tool>]> = now.into();
        *joined = Some(Joined { all: Arc::clone(&all), shelves });
        all
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.now().iter().find(|tool| tool.spec().name == name).cloned()
    }

    /// Those that a name is for: one, or with a `*` at its end all that begin so. What may be on its way is waited for.
    async fn named(&self, name: &str) -> Vec<Arc<dyn Tool>> {
        let there = || match name.strip_suffix('*') {
            None => self.get(name).into_iter().collect::<Vec<_>>(),
            Some(begin) => {
                let all = self.now();
                all.iter().filter(|tool| tool.spec().name.starts_with(begin)).cloned().collect()
            }
        };
        let found = there();
        if !found.is_empty() {
            return found;
        }
        for shelf in &*self.shelves {
            shelf.fetch(name).await;
        }
        there()
    }

    fn names(&self) -> Vec<String> {
        self.now().iter().map(|tool| tool.spec().name.clone()).collect()
    }
}

/// The first sentence of what a tool says of itself, on one line.
pub fn line(spec: &ToolSpec) -> String {
    let words: Vec<&str> = spec.description.split_whitespace().collect();
    let words = words.join(" ");
    // A point with a small letter behind it is one of "e.g.", not an end.
    let begins = |end: &usize| words.get(end + 2..).is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let end = words.match_indices(". ").map(|(at, _)| at).find(begins).unwrap_or(words.len());
    let sentence = words.get(..end).unwrap_or(&words);
    let sentence = sentence.trim_end_matches('.');
    if sentence.chars().count() <= LINE {
        return sentence.to_owned();
    }
    let cut: String = sentence.chars().take(LINE).collect();
    format!("{} …", cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole))
}

/// A call of the conversation by the tool that it was for, for whoever has no tools at hand to ask: a call through
/// [`CALL`] without it, every other as it is.
pub fn unwrapped(call: &ToolCall) -> Cow<'_, ToolCall> {
    if call.name != CALL {
        return Cow::Borrowed(call);
    }
    let inner = call.arguments.parse().ok().and_then(|args| call::inner(&args).ok());
    match inner {
        None => Cow::Borrowed(call),
        Some((name, args)) => {
            let arguments = Arguments::from_value(&Value::Object(args));
            Cow::Owned(ToolCall { id: call.id.clone(), name, arguments })
        }
    }
}

#[cfg(test)]
mod tests;

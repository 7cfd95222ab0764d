//! What stands in for tools: the same specification, and what the case says instead of what the tool would do.
//!
//! Promise: in a case with stand-ins, a call that none of them fits runs nothing, unless the case says that it may. Such a
//! call fails for the model, and the case with it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::tool::{Access, Args, Resource, ToolSpec};
use mica_agent::{Preview, Tool, ToolCx, ToolError, ToolOutput};
use serde_json::Value;

use crate::case::{Matching, MockPart, Times, Unmatched};
use crate::product::StageError;

/// The stand-ins of a case. Clones count together.
#[derive(Clone, Default)]
pub struct Mocks(Option<Arc<Inner>>);

struct Inner {
    parts: Vec<MockPart>,
    unmatched: Unmatched,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often each of them stood in.
    used: Vec<usize>,
    /// Calls that nothing fitted.
    missed: Vec<String>,
    /// Tools that something could stand in for.
    tools: BTreeSet<String>,
}

/// What a call comes to.
enum Chosen {
    Output(ToolOutput),
    Error(String),
    Run,
    Missed,
}

impl Mocks {
    /// The stand-ins of a case. Without any, tools run as they are.
    pub fn new(parts: &[MockPart], unmatched: Option<Unmatched>) -> Self {
        if parts.is_empty() && unmatched.is_none() {
            return Self(None);
        }
        let state = State { used: vec![0; parts.len()], ..State::default() };
        let unmatched = unmatched.unwrap_or_default();
        Self(Some(Arc::new(Inner { parts: parts.to_vec(), unmatched, state: Mutex::new(state) })))
    }

    /// Whether there are none: tools run as they are.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The tool with its stand-ins. What the model sees of it stays the same, byte for byte.
    pub fn over(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        match &self.0 {
            None => tool,
            Some(inner) => {
                let names = std::iter::once(&tool)
                    .chain(tool.behind().iter())
                    .map(|tool| tool.spec().name.clone())
                    .collect::<Vec<_>>();
                inner.lock().tools.extend(names);
                Arc::new(Mocked { tool, inner: Arc::clone(inner) })
            }
        }
    }

    /// What stands in for a tool that nobody has, in words.
    pub fn unknown(&self) -> Option<String> {
        let inner = self.0.as_ref()?;
        let tools = &inner.lock().tools;
        let (index, part) = inner.parts.iter().enumerate().find(|(_, part)| !tools.contains(&part.tool))?;
        let unknown = StageError::unknown("tool", &part.tool, tools.iter().map(String::as_str));
        Some(format!("mock {}: {unknown}", index + 1))
    }

    /// Calls that nothing fitted, in words.
    pub fn missed(&self) -> Vec<String> {
        let Some(inner) = &self.0 else { return Vec::new() };
        inner.lock().missed.clone()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn choose(&self, tool: &str, args: &Args, access: Access) -> Chosen {
        let mut state = self.lock();
        let value = Value::Object(args.clone());
        for (part, used) in self.parts.iter().zip(&mut state.used) {
            let fits = part.args.as_ref().is_none_or(|wanted| {
                let wanted = Value::Object(wanted.clone());
                match part.matching {
                    Matching::Subset => crate::case::includes(&value, &wanted),
                    Matching::Exact => crate::case::equal(&value, &wanted),
                }
            });
            let most = if part.times == Times::Once { part.outputs.len().max(1) } else { usize::MAX };
            if part.tool != tool || !fits || *used >= most {
                continue;
            }
            let number = *used;
            *used += 1;
            if let Some(error) = &part.error {
                return Chosen::Error(error.clone());
            }
            let text = part.outputs.get(number).or(part.outputs.last()).or(part.output.as_ref());
            let mut output = ToolOutput::text(text.cloned().unwrap_or_default());
            output.details.clone_from(&part.details);
            return Chosen::Output(output);
        }
        match self.unmatched {
            Unmatched::Run => Chosen::Run,
            Unmatched::Reads if access == Access::Read => Chosen::Run,
            Unmatched::Reads | Unmatched::Fail => {
                state.missed.push(format!("{tool} {}", crate::case::canonical(&value)));
                Chosen::Missed
            }
        }
    }
}

struct Mocked {
    tool: Arc<dyn Tool>,
    inner: Arc<Inner>,
}

#[async_trait]
impl Tool for Mocked {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn access(&self, args: &Args) -> Access {
        self.tool.access(args)
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        self.tool.touches(args)
    }

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        let over = |tool: &Arc<dyn Tool>| {
            Arc::new(Mocked { tool: Arc::clone(tool), inner: Arc::clone(&self.inner) }) as Arc<dyn Tool>
        };
        self.tool.behind().iter().map(over).collect()
    }

    fn stands_for(&self, args: &Args) -> Option<Result<(String, Args), ToolError>> {
        self.tool.stands_for(args)
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        self.tool.preview(args).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        match self.inner.choose(&self.spec().name, &args, self.access(&args)) {
            Chosen::Output(output) => Ok(output),
            Chosen::Error(error) => Err(ToolError::new(error)),
            Chosen::Run => self.tool.call(args, cx).await,
            Chosen::Missed => Err(ToolError::new(
                "Not run: in this case nothing stands in for this call with these arguments.",
            )),
        }
    }
}

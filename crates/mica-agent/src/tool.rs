//! Tools: what a model can call, and what the engine must know to run them safely.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_ai::Content;
use mica_ai::request::{Strictness, ToolDef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::Preview;
use crate::cx::ToolCx;

/// The arguments of a call, parsed.
pub type Args = Map<String, Value>;

/// Something the model can call.
///
/// Contract: `call` ends soon after `cx.cancel` fires; whatever it leaves undone it says in its result. It need not
/// guard against panics, deadlines or its own output size: the engine does.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it is. The same for as long as the tool lives: it is part of the cached prompt.
    fn spec(&self) -> &ToolSpec;

    /// What a call may run beside: what its specification says, unless its arguments say that it does less.
    fn access(&self, args: &Args) -> Access {
        let _ = args;
        self.spec().access
    }

    /// What a call touches. Calls that touch the same thing run one after the other, in call order. A call that
    /// names nothing is taken to touch everything that is written beside it.
    fn touches(&self, args: &Args) -> Vec<Resource> {
        let _ = args;
        Vec::new()
    }

    /// Tools that can be called besides those that the model is sent: through this one, or by their own names. There may be
    /// others later, as nothing of them is sent; asked whenever a call is looked at.
    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        Arc::default()
    }

    /// The call that a call of this tool stands for: the name of the tool that does it, and its arguments. Gates, people,
    /// hooks and events then see that call and its tool, as if the model had made it; only the conversation keeps the one
    /// that was made. Asked whenever the call is looked at, so it only reads its arguments. `None`: it stands for itself.
    fn stands_for(&self, args: &Args) -> Option<Result<(String, Args), ToolError>> {
        let _ = args;
        None
    }

    /// What a call would do, for a person who is asked about it. Only looks. `None`: its arguments say it all.
    async fn preview(&self, args: &Args) -> Option<Preview> {
        let _ = args;
        None
    }

    /// Does it.
    ///
    /// # Errors
    /// [`ToolError`]: the model reads it, and can do better.
    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError>;
}

/// What the engine knows of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// The name people see.
    pub label: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Whether the provider must hold the model to the schema.
    pub strictness: Strictness,
    /// What it may run beside.
    pub access: Access,
    /// What may happen when it is run again after a crash.
    pub effect: Effect,
    /// Whether a person is asked first, unless a rule says otherwise.
    pub approval: Approval,
    /// How long a call may take, without the time that people take ([`ToolCx::person`]).
    pub deadline: Duration,
    /// Bytes of text a result may have. What is beyond is cut in the middle.
    pub output_limit: usize,
    /// What a successful call ends.
    pub ends: Ends,
}

impl ToolSpec {
    /// A tool that only looks: runs beside others, needs no approval, has no effect.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        let name = name.into();
        Self {
            label: name.clone(),
            name,
            description: description.into(),
            schema,
            strictness: Strictness::Guide,
            access: Access::Read,
            effect: Effect::Pure,
            approval: Approval::NotNeeded,
            deadline: Self::DEADLINE,
            output_limit: Self::OUTPUT_LIMIT,
            ends: Ends::Nothing,
        }
    }

    /// Two minutes: what a person waits for without wondering.
    pub const DEADLINE: Duration = Duration::from_secs(120);
    /// One mebibyte: beyond what any model can read at once. Spilling to files happens far below it.
    pub const OUTPUT_LIMIT: usize = 1 << 20;

    /// The tool as the model sees it.
    pub fn definition(&self) -> ToolDef {
        ToolDef {
            name: self.name.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
            strictness: self.strictness,
        }
    }
}

/// What a tool may run beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Only looks: runs beside other reads.
    Read,
    /// Changes something: writes run in call order.
    Write,
    /// Runs alone.
    Exclusive,
}

/// What may happen when a tool is run again after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It has none.
    Pure,
    /// The same again.
    Idempotent,
    /// Once, by a key that the other side remembers.
    Keyed,
    /// Once, in one transaction with the record of it.
    Transactional,
    /// Twice. It is never run again; its outcome is reported as unknown.
    Unsafe,
}

/// Whether a person is asked before a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// No.
    NotNeeded,
    /// Yes.
    Needed,
}

/// What a successful call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// Nothing: the model reads the result and goes on.
    Nothing,
    /// The batch: the calls behind it in the same answer are not run, because what may be done has changed. Such a tool
    /// runs alone ([`Access::Exclusive`]), so that nothing behind it has begun.
    Batch,
    /// The run, once the whole batch is done. Not when another call of it failed: the model has to learn of that.
    Run,
}

/// Something a call touches, by a name that is the same whenever it is the same thing: a canonical path, a record's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource(String);

impl Resource {
    /// A file, by its canonical path.
    pub fn file(path: impl AsRef<std::path::Path>) -> Self {
        Self(format!("file:{}", path.as_ref().display()))
    }

    /// Anything else, by a kind and a name.
    pub fn named(kind: &str, name: &str) -> Self {
        Self(format!("{kind}:{name}"))
    }
}

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model is shown.
    pub content: Vec<Content>,
    /// What user interfaces and logs get besides. Never sent to a model.
    pub details: Option<Value>,
}

impl ToolOutput {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], details: None }
    }

    /// Adds what user interfaces and logs get.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// Why a call did not do what it was asked. The text is for the model: what happened, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// For the model.
    pub message: String,
    /// For user interfaces and logs.
    pub details: Option<Value>,
}

impl ToolError {
    /// A failure in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: None }
    }
}

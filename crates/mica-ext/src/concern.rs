//! What an extension can have a say in: one trait for each concern.
//!
//! Compiled extensions implement these; scripted ones and command hooks are adapters that do. Whoever asks them puts a
//! deadline around each call, catches panics, and tells people of a failure once. A [`Guard`] that fails means no; every
//! other concern that fails is left out, and the run goes on.

use async_trait::async_trait;
use mica_agent::{Args, Outcome, ToolOutput, ToolSpec};
use mica_ai::Message;
use mica_ai::message::ToolCall;
use serde_json::Value;

/// A failure of an extension, in words for people.
pub type Failure = String;

/// What a guard says about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Guarded {
    /// No opinion.
    Pass,
    /// Do not ask a person, as far as this guard goes. Lifts no denial, no floor and no question of anybody else.
    Allow,
    /// A person decides.
    Ask {
        /// Why they are asked.
        reason: String,
    },
    /// It may not run.
    Block {
        /// Why. The model reads it.
        reason: String,
    },
    /// It should run with these arguments. They are validated and judged again by every gate.
    Change {
        /// All arguments.
        args: Args,
    },
    /// It should run with these arguments, and a person decides: they see it as it would run.
    ChangeAndAsk {
        /// All arguments.
        args: Args,
        /// Why they are asked.
        reason: String,
    },
}

/// Judges calls, and may change what they came to.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Whether it judges calls before they run. One that does not is not asked.
    fn judges(&self) -> bool {
        true
    }

    /// Whether it looks at what calls came to. One that does not is not asked.
    fn reviews(&self) -> bool {
        true
    }

    /// Before a tool runs.
    ///
    /// # Errors
    /// In words. The call is denied.
    async fn tool_call(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, Failure> {
        let _ = (call, spec, args);
        Ok(Guarded::Pass)
    }

    /// After a tool ran. `Ok(None)`: leave it as it is.
    ///
    /// # Errors
    /// In words. The result stays as it is.
    async fn tool_result(
        &self,
        call: &ToolCall,
        spec: &ToolSpec,
        result: &Resulted,
    ) -> Result<Option<Resulted>, Failure> {
        let _ = (call, spec, result);
        Ok(None)
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Resulted {
    /// What the model reads, and what interfaces get besides.
    pub output: ToolOutput,
    /// Whether it failed.
    pub failed: bool,
}

/// What became of something a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Nothing: go on with it.
    Go,
    /// Go on with this instead.
    Instead(String),
    /// It is dealt with; the model is not asked. What is in it is shown.
    Handled(Option<String>),
    /// It must not be said, for this reason.
    Refused(String),
}

/// Sees what people type before anybody else does.
#[async_trait]
pub trait Input: Send + Sync {
    /// Somebody typed something.
    ///
    /// # Errors
    /// In words. It goes on as it was typed.
    async fn input(&self, text: &str) -> Result<Typed, Failure>;
}

/// Adds to what the model is told.
#[async_trait]
pub trait Prompting: Send + Sync {
    /// A run is about to begin with this prompt. What is returned rides with it, at the tail of the conversation, so that
    /// what was sent before stays as it was.
    ///
    /// # Errors
    /// In words. Nothing is added.
    async fn before_run(&self, prompt: &str) -> Result<Option<String>, Failure>;
}

/// Changes what a model is sent, for one request.
#[async_trait]
pub trait Window: Send + Sync {
    /// The conversation as it would be sent. `Ok(None)`: as it is. What is kept does not change; that the cache may have
    /// to be written anew is told with the reason.
    ///
    /// # Errors
    /// In words. It is sent as it is.
    async fn context(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Failure>;
}

/// Who wants the window shortened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompactTrigger {
    /// It is full.
    #[default]
    Auto,
    /// A person asked for it.
    Manual,
}

impl CompactTrigger {
    /// Its name in files and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Moment {
    /// A session begins or stands elsewhere: `startup`, `resume`, `reload`, or `goto` when a person went to another branch.
    SessionStart {
        /// Which of them.
        reason: &'static str,
    },
    /// A new session was made of what was said until somewhere. This one goes on: the new one begins when it is opened.
    SessionFork {
        /// The id of the new one.
        session: String,
    },
    /// The program goes, or extensions are loaded anew.
    SessionShutdown {
        /// Which of them.
        reason: &'static str,
    },
    /// A run began.
    AgentStart,
    /// A run ended.
    AgentEnd {
        /// How.
        outcome: Outcome,
        /// The last words of the model.
        answer: String,
    },
    /// A turn began.
    TurnStart {
        /// Its number within the run.
        turn: u32,
    },
    /// A turn ended.
    TurnEnd {
        /// Its number within the run.
        turn: u32,
    },
    /// A tool is about to run, behind every gate.
    ToolStart {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// The arguments it runs with.
        args: Value,
    },
    /// A running tool tells how far it is.
    ToolUpdate {
        /// The call.
        call: String,
        /// What is new.
        news: String,
    },
    /// A tool that ran has ended.
    ToolEnd {
        /// The call.
        call: String,
        /// Whether it failed.
        failed: bool,
    },
    /// A person runs a command of their own, which the model did not ask for.
    UserShell {
        /// The command.
        command: String,
    },
    /// A message began to come.
    MessageStart {
        /// Its id.
        message: String,
    },
    /// A piece of a message.
    MessageUpdate {
        /// Its id.
        message: String,
        /// The piece, as events tell it.
        delta: Value,
    },
    /// A message is whole.
    MessageEnd {
        /// The message.
        message: Message,
    },
    /// The window is about to be shortened.
    BeforeCompact {
        /// Why, in words. What the person wants kept stands behind it.
        reason: String,
        /// Who wants it.
        trigger: CompactTrigger,
        /// What the person wants kept.
        focus: Option<String>,
    },
    /// It was.
    Compacted {
        /// Why.
        reason: String,
        /// Tokens before.
        before: u64,
        /// Tokens after.
        after: u64,
    },
    /// Another model is asked from now on.
    ModelChange {
        /// Its name.
        model: String,
    },
    /// A subagent began.
    SubagentStart {
        /// Its id.
        agent: String,
    },
    /// A subagent ended.
    SubagentEnd {
        /// Its id.
        agent: String,
        /// How.
        outcome: Outcome,
    },
    /// A person should know something.
    Notice {
        /// In words.
        text: String,
    },
}

impl Moment {
    /// The kinds, by the names that scripts use.
    pub const KINDS: [&str; 20] = [
        "session_start",
        "session_fork",
        "session_shutdown",
        "agent_start",
        "agent_end",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "user_shell",
        "before_compact",
        "compacted",
        "model_change",
        "subagent_start",
        "subagent_end",
        "notice",
    ];

    /// The name that scripts use for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "session_start",
            Self::SessionFork { .. } => "session_fork",
            Self::SessionShutdown { .. } => "session_shutdown",
            Self::AgentStart => "agent_start",
            Self::AgentEnd { .. } => "agent_end",
            Self::TurnStart { .. } => "turn_start",
            Self::TurnEnd { .. } => "turn_end",
            Self::MessageStart { .. } => "message_start",
            Self::MessageUpdate { .. } => "message_update",
            Self::MessageEnd { .. } => "message_end",
            Self::ToolStart { .. } => "tool_execution_start",
            Self::ToolUpdate { .. } => "tool_execution_update",
            Self::ToolEnd { .. } => "tool_execution_end",
            Self::UserShell { .. } => "user_shell",
            Self::BeforeCompact { .. } => "before_compact",
            Self::Compacted { .. } => "compacted",
            Self::ModelChange { .. } => "model_change",
            Self::SubagentStart { .. } => "subagent_start",
            Self::SubagentEnd { .. } => "subagent_end",
            Self::Notice { .. } => "notice",
        }
    }
}

/// Is told what happens.
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Whether it wants to hear of this kind, by the name that scripts use (`turn_start`). Others cost nothing.
    fn hears(&self, kind: &str) -> bool {
        let _ = kind;
        true
    }

    /// Something happened. The run waits for it, within the deadline.
    ///
    /// # Errors
    /// In words.
    async fn moment(&self, moment: &Moment) -> Result<(), Failure>;
}

/// What a person can type behind a slash.
#[async_trait]
pub trait Command: Send + Sync {
    /// Its name, without the slash.
    fn name(&self) -> &str;

    /// What it does, in a line.
    fn description(&self) -> &str;

    /// Does it. What is returned becomes of what was typed, as for [`Input`].
    ///
    /// # Errors
    /// In words.
    async fn run(&self, arguments: &str) -> Result<Typed, Failure>;
}

/// A key that does something.
#[async_trait]
pub trait Shortcut: Send + Sync {
    /// The key, as `ctrl+shift+t`.
    fn key(&self) -> &str;

    /// What it does, in a line.
    fn description(&self) -> &str;

    /// Does it.
    ///
    /// # Errors
    /// In words.
    async fn run(&self) -> Result<(), Failure>;
}

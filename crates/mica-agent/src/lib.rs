//! The loop: ask the model, run its tools, repeat; tell what happens.
//!
//! It must not know: providers' wire formats, disks, user interfaces, domains. Whatever those need, they say through
//! [`Hooks`].
//!
//! Its nouns: a [`Context`] is what a run works on, [`Tool`]s are what the model can call, [`Hooks`] have a say in
//! everything, [`Event`]s tell what happens, and an [`Outcome`] is how it ends. An [`Agent`] keeps them together for
//! longer than a run.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mica_agent::{Agent, Context, Outcome, ToolOutput, TypedTool};
//! use mica_ai::{Model, Provider};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Weather {
//!     /// Where.
//!     city: String,
//! }
//!
//! async fn ask(provider: Arc<dyn Provider>, model: Arc<Model>) {
//!     let mut context = Context::new(provider, model);
//!     context.tools.add(Arc::new(TypedTool::new("weather", "Tells the weather.", |ask: Weather, _| async move {
//!         Ok(ToolOutput::text(format!("{}: sunny", ask.city)))
//!     })));
//!     let agent = Agent::new(context, Vec::new());
//!     match agent.prompt("How is the weather in Oslo?").await {
//!         Ok(Outcome::Completed) => {}
//!         Ok(other) => eprintln!("it ended early: {other:?}"),
//!         Err(busy) => eprintln!("{busy}"),
//!     }
//! }
//!
//! # use mica_testkit::{Scenario, ScriptedModel, Turn};
//! # let script = Scenario::new()
//! #     .turn(Turn::new().call("weather", serde_json::json!({ "city": "Oslo" })))
//! #     .turn(Turn::new().text("Sunny."));
//! # let model = Arc::new(Model::assumed("scripted", mica_ai::Dialect::Responses));
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # let provider = ScriptedModel::new(script);
//! # runtime.block_on(ask(Arc::new(provider.clone()), model));
//! # assert_eq!(provider.requests().len(), 2);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `examples/twenty_lines.rs` adds a hook and shows the answer as it comes.

pub mod agent;
pub mod approval;
pub mod base;
mod batch;
mod call;
pub mod context;
pub mod control;
pub mod cx;
pub mod event;
mod gate;
mod guard;
pub mod hooks;
pub mod id;
pub mod meant;
pub mod nearest;
pub mod outcome;
pub mod proposal;
pub mod queue;
pub mod run;
pub mod shorten;
pub mod shown;
pub mod tool;
pub mod typed;
pub mod waits;

pub use agent::{Agent, Busy, Relay};
pub use approval::{Answer, Ask, Decision, Decisions, Preview, Verdict};
pub use base::Base;
pub use context::{Context, Settings, ToolSet};
pub use control::Control;
pub use cx::ToolCx;
pub use event::{Event, EventKind, EventSink, Listener};
pub use gate::look_again;
pub use hooks::{HookStack, Hooks, NoHooks, Point};
pub use id::RunId;
pub use meant::{Meaningless, Meant};
pub use outcome::{Limit, Outcome, RunError, Tally};
pub use proposal::{Proposal, Scope};
pub use shown::Shown;
pub use tool::{Access, Approval, Args, Effect, Ends, Resource, Tool, ToolError, ToolOutput, ToolSpec};
pub use typed::TypedTool;
pub use waits::Patience;

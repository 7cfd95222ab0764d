//! An agent in about twenty lines: a model, a tool, a hook, and the model's words as they come.
//!
//! `cargo run -p mica-agent --example twenty_lines`. The model is played by a script, so it needs no key; put any
//! other provider in its place.

#![allow(clippy::print_stdout, reason = "examples print")]

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{
    Agent, Context, Event, EventKind, Hooks, Listener, Outcome, ToolOutput, TypedTool, Verdict,
};
use mica_ai::{Dialect, Model, StreamEvent};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// Where.
    city: String,
}

struct NotOnMars;

#[async_trait]
impl Hooks for NotOnMars {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.args["city"] != "Mars" {
            return Verdict::Allow;
        }
        Verdict::Deny { reason: "Mars has no stations. Ask for a city on Earth.".into(), rule: None }
    }
}

struct Screen;

#[async_trait]
impl Listener for Screen {
    async fn event(&self, event: Event) {
        match event.kind {
            EventKind::Answer { delta: StreamEvent::TextDelta { text, .. }, .. } => print!("{text}"),
            EventKind::CallStart { label, arguments, .. } => println!("  [{label} {arguments}]"),
            EventKind::RunEnd { outcome } => println!("\n{outcome:?}"),
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let script = Scenario::new()
        .turn(Turn::new().text("Let me look.").call("weather", json!({ "city": "Oslo" })))
        .turn(Turn::new().text("It is sunny in Oslo, with 21 degrees."));
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(script)), model);
    context.system.push("You talk about the weather.".into());
    context.tools.add(Arc::new(TypedTool::new(
        "weather",
        "Tells the weather.",
        |ask: Weather, _| async move { Ok(ToolOutput::text(format!("{}: sunny, 21 °C", ask.city))) },
    )));

    let agent = Agent::new(context, vec![Arc::new(NotOnMars)]);
    agent.listen(Arc::new(Screen));
    let outcome = agent.prompt("How is the weather in Oslo?").await;
    assert!(matches!(outcome, Ok(Outcome::Completed)));
}

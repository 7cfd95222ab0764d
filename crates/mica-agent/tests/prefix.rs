//! Promise 4 on every wire: each request of a long run is a byte prefix of the next.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::Arc;

use mica_agent::{Agent, Context};
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::model::{Effort, ReasoningFacts, ReasoningStyle};
use mica_ai::{Dialect, Model, Remote};
use mica_testkit::{Call, Scenario, ScriptedTransport, Step, Turn, cache, prefix};
use serde_json::json;
use support::{Journal, ended, says, tools};

const TURNS: usize = 50;

fn agent(dialect: Dialect, transport: &ScriptedTransport) -> Agent {
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    let provider =
        Remote::new(Arc::new(endpoint), dialect, Arc::new(NoCredential), Arc::new(transport.clone()));
    let style = match dialect {
        Dialect::Messages => ReasoningStyle::Adaptive,
        Dialect::Responses | Dialect::Chat => ReasoningStyle::Effort,
    };
    let model = Model {
        reasoning: ReasoningFacts { style, levels: vec![Effort::Low, Effort::High], min_budget: None },
        cache: cache::usual(dialect),
        ..Model::assumed("m", dialect)
    };
    let mut context = Context::new(Arc::new(provider), Arc::new(model));
    context.system = vec!["You look at things.".to_owned(), "The things are small.".to_owned()];
    for tool in tools(&Journal::default()) {
        context.tools.add(tool);
    }
    Agent::new(context, Vec::new())
}

fn turn(number: usize) -> Turn {
    let read = |say: String| Step::Call(Call::new("look", json!({ "say": say, "touch": ["a"] })));
    let turn = Turn::new().thinking(format!("Thought {number}: Größe?"));
    match number % 5 {
        0 => turn.text("Two at once.").step(read(format!("{number}a"))).step(read(format!("{number}b"))),
        1 => turn.call("change", json!({ "then": "fail", "say": "It is \"locked\"." })),
        2 => turn.text("A slip.").call("loook", json!({})),
        3 => turn.step(Step::Call(Call::raw("look", "{\"say\": "))),
        _ => turn.step(read(number.to_string())),
    }
}

#[tokio::test(start_paused = true)]
async fn promise_4_the_window_only_grows_at_the_end() {
    for dialect in Dialect::ALL {
        let scenario = (0..TURNS).map(turn).fold(Scenario::new(), Scenario::turn);
        let transport = ScriptedTransport::new(scenario.turn(says("Done.")).turn(says("And done.")));
        let agent = agent(dialect, &transport);
        agent.steer("Mind the gap.").unwrap();
        agent.steer("And the step.").unwrap();
        agent.follow_up("And then?").unwrap();
        let outcome = agent.prompt("Look at everything.").await.unwrap();
        assert_eq!(ended(&outcome), "completed", "{dialect}: {outcome:?}");

        let bodies: Vec<_> =
            transport.script().captured().into_iter().map(|captured| captured.body).collect();
        assert_eq!(bodies.len(), TURNS + 2, "{dialect}");
        prefix::grows_at_the_end(dialect, &bodies).unwrap();
        let first = String::from_utf8_lossy(&bodies[0]);
        assert!(first.contains("\"tools\":[") && first.contains("The things are small."), "{dialect}");
    }
}

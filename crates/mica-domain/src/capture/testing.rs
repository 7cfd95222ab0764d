//! A small product whose tools count what they do, and stores that die at a chosen point.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::{Access, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSet, ToolSpec};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::action::{Action, Predicted, Status};
use super::bundle::{About, Base, Bundle, State, Subject};
use super::temp;
use crate::records::testing::{Passing, Points};

/// A moment, in seconds of a day.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Where a process dies: at the n-th boundary it comes to.
#[derive(Default)]
pub(crate) struct Faults {
    dies_at: Option<usize>,
    passed: AtomicUsize,
    died: CancellationToken,
}

impl Faults {
    pub(crate) fn at(point: usize) -> Arc<Self> {
        Arc::new(Self { dies_at: Some(point), ..Self::default() })
    }

    pub(crate) fn none() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }

    /// Goes on, or is never heard of again.
    pub(crate) async fn boundary(&self) {
        let passed = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if self.dies_at == Some(passed) {
            self.died.cancel();
            std::future::pending::<()>().await;
        }
    }

    /// What comes of something, unless the process dies before.
    pub(crate) async fn until_death<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.died.cancelled() => None,
            made = work => Some(made),
        }
    }
}

/// Records with a boundary before and after each write.
pub(crate) type Dying = Passing<Faults>;

#[async_trait]
impl Points for Faults {
    async fn writes(&self) {
        self.boundary().await;
    }
}

/// What was really done: the tool, the key, the arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) tool: String,
    pub(crate) key: String,
    pub(crate) args: Value,
}

/// What the product knows.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) done: Mutex<Vec<Done>>,
    /// Outputs by key: what the other side remembers of keyed effects.
    used: Mutex<BTreeMap<String, Value>>,
}

impl World {
    pub(crate) fn done(&self) -> Vec<Done> {
        self.done.lock().unwrap().clone()
    }

    /// What was done, in short.
    pub(crate) fn told(&self) -> Vec<String> {
        self.done().iter().map(|done| format!("{} {} {}", done.key, done.tool, done.args)).collect()
    }

    /// The tools, one for each effect, as a process has them that may die.
    pub(crate) fn tools(self: &Arc<Self>, faults: &Arc<Faults>) -> ToolSet {
        let tool = |name: &str, effect: Effect| {
            let schema = json!({
                "type": "object",
                "properties": {
                    "title": { "type": "string", "minLength": 1 },
                    "on": { "type": ["string", "null"] },
                    "fail": { "type": "boolean" },
                },
                "required": ["title"],
                "additionalProperties": false,
            });
            let mut spec = ToolSpec::new(name, "Does it.", schema);
            spec.effect = effect;
            spec.access = Access::Write;
            Doing { spec, world: Arc::clone(self), faults: Arc::clone(faults) }
        };
        [tool("keyed", Effect::Keyed), tool("same", Effect::Idempotent), tool("unsafe", Effect::Unsafe)]
            .into_iter()
            .collect()
    }
}

struct Doing {
    spec: ToolSpec,
    world: Arc<World>,
    faults: Arc<Faults>,
}

#[async_trait]
impl Tool for Doing {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        self.faults.boundary().await;
        if args.get("fail") == Some(&json!(true)) {
            return Err(ToolError::new("it is closed"));
        }
        let made = if self.spec.effect == Effect::Keyed {
            self.world.used.lock().unwrap().get(&cx.effect_key).cloned()
        } else {
            None
        };
        let made = made.unwrap_or_else(|| {
            let done = Done {
                tool: self.spec.name.clone(),
                key: cx.effect_key.clone(),
                args: Value::Object(args.clone()),
            };
            let mut all = self.world.done.lock().unwrap();
            all.push(done);
            let id = match self.spec.effect {
                Effect::Keyed => json!(format!("K-{}", all.len())),
                // What is the same again has the same id.
                Effect::Idempotent => json!(format!("I-{}", args["title"].as_str().unwrap())),
                _ => json!(all.len()),
            };
            let made = json!({ "made": { "id": id } });
            self.world.used.lock().unwrap().insert(cx.effect_key.clone(), made.clone());
            made
        });
        self.faults.boundary().await;
        Ok(ToolOutput::text(format!("{} made", self.spec.name)).with_details(made))
    }
}

/// An action of the tools above, number `n`, on what another would make.
pub(crate) fn action(n: usize, tool: &str, on: Option<usize>) -> Action {
    let mut args = json!({ "title": format!("a{n}") });
    if let Some(on) = on {
        args["on"] = json!(temp::id(on));
    }
    let effect = match tool {
        "keyed" => Effect::Keyed,
        "same" => Effect::Idempotent,
        _ => Effect::Unsafe,
    };
    Action {
        id: temp::id(n),
        tool: tool.to_owned(),
        args: args.as_object().unwrap().clone(),
        digest: format!("{tool} {n}"),
        card: None,
        predicted: Predicted { text: "made".to_owned(), details: json!({ "made": { "id": temp::id(n) } }) },
        makes: vec!["/made/id".to_owned()],
        needs: on.into_iter().map(temp::id).collect(),
        right: None,
        amendable: vec!["title".to_owned(), "on".to_owned()],
        effect,
        amended: None,
        changed: None,
        tried: None,
        status: Status::Open,
    }
}

/// A fresh bundle about a ticket.
pub(crate) fn bundle(id: &str, made: i64, actions: Vec<Action>) -> Bundle {
    Bundle {
        about: About {
            bundle: id.to_owned(),
            kind: "sweep".to_owned(),
            subject: Some(Subject::new("ticket", "T-1")),
            base: Base::version("7"),
            by: Some("night".to_owned()),
            session: None,
        },
        made: at(made),
        summary: "Some work.".to_owned(),
        actions,
        state: State::Fresh,
        lease: None,
        trail: Vec::new(),
    }
}

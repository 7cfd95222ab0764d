//! Settles the arguments of calls once: what `tomorrow` or `me` means is found out when the call is made, and stays so.
//!
//! A call passes the gate again when a suspended run goes on, which may be a week later in another process; what it was
//! settled to is kept beside the session until then. People are shown, and captures keep, what is settled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point};
use mica_agent::{Args, Context, Hooks, Shown, Verdict};
use mica_ai::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hooks::DomainHooks;
use crate::side::Side;

/// Whose changes these are, beside the session.
const KIND: &str = "settled";

/// What a call was settled to.
#[derive(Serialize, Deserialize)]
struct Settled {
    /// The answer that made it, and its id: some servers number their calls anew in every answer.
    call: String,
    /// The arguments as they were given.
    given: Shown,
    /// The arguments as they are meant.
    args: Args,
}

/// Settles arguments before anybody else judges them.
pub(super) struct Settle {
    domain: Arc<DomainHooks>,
    side: Arc<dyn Side>,
    known: Mutex<BTreeMap<(String, String), Args>>,
}

impl Settle {
    /// With what was settled in the session before.
    pub(super) fn open(domain: Arc<DomainHooks>, side: Arc<dyn Side>) -> Result<Self, String> {
        let mut known = BTreeMap::new();
        for change in side.all(KIND)? {
            match serde_json::from_value::<Settled>(change) {
                Ok(one) => drop(known.insert((one.call, one.given.as_str().to_owned()), one.args)),
                // The call is settled anew, and a yes that was given to something else does not count for that.
                Err(error) => tracing::warn!(%error, "what a call was settled to cannot be read"),
            }
        }
        Ok(Self { domain, side, known: Mutex::new(known) })
    }

    async fn settle(&self, gated: &mut Gated<'_>, cx: &Context) -> Result<(), String> {
        let act = self.domain.act(&gated.spec.name);
        let Some(settle) = act.and_then(|act| act.settle) else { return Ok(()) };
        let given = Shown::of(&gated.spec.name, &Value::Object(gated.args.clone()));
        let call = format!("{}/{}", answer(cx), gated.call.id);
        let place = (call.clone(), given.as_str().to_owned());
        if let Some(args) = self.known().get(&place) {
            gated.args.clone_from(args);
            return Ok(());
        }
        let args = settle(gated.args.clone()).await?;
        if args == gated.args {
            return Ok(());
        }
        let kept = self.side.append(KIND, json!(Settled { call, given, args: args.clone() })).await;
        kept.map_err(|problem| format!("what it means could not be kept: {problem}. Nothing was done."))?;
        self.known().insert(place, args.clone());
        gated.args = args;
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<(String, String), Args>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer whose calls are looked at.
fn answer(cx: &Context) -> &str {
    let last = cx.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(answer) => Some(answer.id.as_str()),
        _ => None,
    });
    last.unwrap_or_default()
}

#[async_trait]
impl Hooks for Settle {
    fn says(&self, at: Point) -> bool {
        at == Point::Gate
    }

    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        match self.settle(gated, cx).await {
            Ok(()) => Verdict::Pass,
            Err(reason) => Verdict::Deny { reason, rule: None },
        }
    }
}

//! What must come of a step, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Holds;
use crate::product::OUTCOMES;

/// What must come of a step. What is not said may be anything, but for the outcome: a run is expected to complete, and
/// requests are expected to be valid on their wire.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// How the run ends: `completed` when absent. `none` when no run is to come of it.
    pub outcome: Option<String>,
    /// The limit that was reached, or words of what failed.
    pub detail: Option<String>,
    /// What people read.
    pub text: Option<Holds>,
    /// Calls that ran: each of these, in any order.
    pub called: Vec<CalledLike>,
    /// Calls that the model made, whether or not they ran.
    pub tried: Vec<CalledLike>,
    /// Tools of which no call ran.
    #[serde(deserialize_with = "super::read::words")]
    pub not_called: Vec<String>,
    /// Tools whose first calls ran in this order. Others may lie between.
    pub order: Vec<String>,
    /// All calls that ran, by tool and in order.
    pub calls: Option<Vec<String>>,
    /// What people were asked about, all of it and in order.
    pub asked: Option<Vec<CalledLike>>,
    /// Cards that are shown: each of these.
    pub cards: Vec<CardLike>,
    /// Kinds of cards of which none is shown.
    #[serde(deserialize_with = "super::read::words")]
    pub no_cards: Vec<String>,
    /// Variables, by name: what is looked at as `variable:NAME`.
    pub variables: BTreeMap<String, Holds>,
    /// Anything that the product lets one look at.
    pub look: BTreeMap<String, Holds>,
    /// What the event says about itself.
    pub event: Option<Holds>,
    /// What the model was sent anew in this step: everything of it as one text.
    pub told: Option<Holds>,
    /// The tools that the model was offered last.
    pub tools: Option<Holds>,
    /// What people were told besides: all notices as a list.
    pub notices: Option<Holds>,
    /// What it took at most.
    pub usage: Option<UsageBounds>,
    /// Whether all requests are such as a provider takes. `false`: it is not looked at.
    pub wire_valid: Option<bool>,
    /// Each request of the step begins with all of the one before it.
    pub prefix_stable: bool,
    /// In words, for the judge: one verdict each.
    #[serde(deserialize_with = "super::read::words")]
    pub judge: Vec<String>,
}

/// How arguments are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// What is given must be there; there may be more.
    #[default]
    Subset,
    /// They are the same.
    Exact,
}

/// A call that is like this.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CalledLike {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// How they are compared.
    #[serde(rename = "match")]
    pub matching: Matching,
    /// Arguments whose text a regular expression finds something in.
    pub matches: BTreeMap<String, String>,
    /// How often exactly; once or more when absent.
    pub times: Option<usize>,
}

/// A card that is like this.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardLike {
    /// Its kind.
    pub kind: String,
    /// What it is about, all of it and in order; anything when absent.
    pub ids: Option<Vec<String>>,
}

/// What a step may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageBounds {
    /// Dollars at most.
    pub max_cost: Option<f64>,
    /// Input tokens at most.
    pub max_input: Option<u64>,
    /// Output tokens at most.
    pub max_output: Option<u64>,
    /// Requests at most.
    pub max_requests: Option<usize>,
    /// Requests at least.
    pub min_requests: Option<usize>,
    /// The least share of the input that came from the cache, 0 to 1.
    pub min_cache_ratio: Option<f64>,
}

impl Expect {
    /// What is wrong with it, each with its key.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(outcome) = &self.outcome
            && outcome != "none"
            && !OUTCOMES.contains(&outcome.as_str())
        {
            let meant = mica_agent::nearest::nearest(outcome, OUTCOMES.into_iter());
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean {meant:?}?"));
            found.push(format!(
                "there is no outcome {outcome:?}{meant} (known: {}, none)",
                OUTCOMES.join(", ")
            ));
        }
        let calls = [
            ("called", &self.called[..]),
            ("tried", &self.tried),
            ("asked", self.asked.as_deref().unwrap_or_default()),
        ];
        for (key, calls) in calls {
            for call in calls {
                if call.tool.is_empty() {
                    found.push(format!("`{key}`: a call needs a `tool`"));
                }
                let unreadable =
                    call.matches.values().filter_map(|pattern| super::holds::unreadable(pattern));
                found.extend(unreadable.map(|problem| format!("`{key}`: {problem}")));
            }
        }
        let held = [
            ("text", &self.text),
            ("event", &self.event),
            ("told", &self.told),
            ("tools", &self.tools),
            ("notices", &self.notices),
        ];
        let held = held.into_iter().filter_map(|(key, holds)| Some((key.to_owned(), holds.as_ref()?)));
        let variables = self.variables.iter().map(|(name, holds)| (format!("variables.{name}"), holds));
        let looked = self.look.iter().map(|(name, holds)| (format!("look.{name}"), holds));
        let held = held.chain(variables).chain(looked);
        found.extend(held.filter_map(|(key, holds)| Some(format!("`{key}`: {}", holds.wrong()?))));
        found
    }
}

//! What the requests of a session begin with, as digests: so that a session that is opened again can say why they begin
//! otherwise. A new program, other tools, another prompt cost the cached prefix, and nobody who looks at the bill should
//! have to guess.

use std::collections::BTreeMap;

use mica_agent::{Context, Shown};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::side::Side;

/// Whose changes these are, beside the session.
const KIND: &str = "prefix";

/// What requests begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prefix {
    page: Option<String>,
    /// By name.
    tools: BTreeMap<String, Shown>,
    /// The tiers of the system prompt.
    system: Vec<Shown>,
}

impl Prefix {
    /// What requests begin with on a page.
    pub(super) fn of(page: Option<&str>, cx: &Context) -> Self {
        let tools = cx.tools.definitions().iter().map(|tool| {
            let sent = json!([tool.description, tool.schema, tool.strictness]);
            (tool.name.clone(), Shown::of(&tool.name, &sent))
        });
        let system = cx.system.iter().map(|tier| Shown::of("system", &json!(tier)));
        Self { page: page.map(str::to_owned), tools: tools.collect(), system: system.collect() }
    }

    /// What it was when the session was last at work.
    pub(super) fn kept(side: &dyn Side) -> Result<Option<Self>, String> {
        let last = side.all(KIND)?.pop();
        // Of a program that kept it otherwise nothing can be said.
        Ok(last.and_then(|mut last| serde_json::from_value(last["prefix"].take()).ok()))
    }

    /// Keeps it, with the reason why it is so, unless it is what was kept last.
    pub(super) async fn keep(&self, side: &dyn Side, reason: &str) -> Result<(), String> {
        if Self::kept(side)?.as_ref() == Some(self) {
            return Ok(());
        }
        side.append(KIND, json!({ "prefix": self, "reason": reason })).await
    }

    /// How it differs from what was kept, in words.
    pub(super) fn differs(&self, kept: &Self) -> Option<String> {
        let mut said = Vec::new();
        let named = |page: &Option<String>| page.clone().unwrap_or_else(|| "none".to_owned());
        if self.page != kept.page {
            said.push(format!("the page was {} and is {}", named(&kept.page), named(&self.page)));
        }
        let names = |one: &Self, other: &Self, pick: fn(Option<&Shown>, &Shown) -> bool| {
            let found = one.tools.iter().filter(|(name, shown)| pick(other.tools.get(*name), shown));
            found.map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let lists = [
            ("new tools", names(self, kept, |other, _| other.is_none())),
            ("tools that are gone", names(kept, self, |other, _| other.is_none())),
            (
                "tools that are described otherwise",
                names(self, kept, |other, shown| other.is_some_and(|o| o != shown)),
            ),
        ];
        let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
        said.extend(lists.map(|(what, names)| format!("{what}: {}", names.join(", "))));
        if self.system != kept.system {
            said.push("the prompt says something else".to_owned());
        }
        (!said.is_empty()).then(|| format!("since the session was last at work: {}", said.join("; ")))
    }
}

//! Holds what came of a step against what the case says must come of it.

use std::collections::BTreeMap;

use mica_testkit::prefix::grows_at_the_end;
use serde_json::{Value, json};

use crate::case::{
    CalledLike, Expect, Holds, Matching, TurnPart, UsageBounds, canonical, equal, finds, includes,
};
use crate::played::Asked;
use crate::product::{Called, Came};
use crate::report::Check;

/// What there is to hold against.
pub(crate) struct Seen<'a> {
    /// What came of it, if a run did.
    pub(crate) came: Option<&'a Came>,
    /// Whether somebody said something, so that a run must come of it.
    pub(crate) is_said: bool,
    /// What the event said.
    pub(crate) happened: &'a Value,
    /// The requests of this step.
    pub(crate) requests: &'a [Asked],
    /// The request before them.
    pub(crate) before: Option<&'a Asked>,
    /// What each of them told anew.
    pub(crate) told: &'a [String],
    /// The tools that the model was offered last.
    pub(crate) tools: &'a [String],
    /// What was looked at.
    pub(crate) looked: &'a BTreeMap<String, Value>,
    /// What it was when the case began.
    pub(crate) at_first: &'a BTreeMap<String, Value>,
}

/// Gathers checks of one step.
pub(crate) struct Checks {
    at: String,
    found: Vec<Check>,
}

impl Checks {
    pub(crate) fn new(at: impl Into<String>) -> Self {
        Self { at: at.into(), found: Vec::new() }
    }

    pub(crate) fn done(self) -> Vec<Check> {
        self.found
    }

    pub(crate) fn add(
        &mut self,
        what: &str,
        passed: bool,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.found.push(Check {
            at: self.at.clone(),
            what: what.to_owned(),
            passed,
            judged: false,
            expected: expected.into(),
            found: found.into(),
        });
    }

    pub(crate) fn judged(&mut self, statement: &str, holds: bool, reason: &str) {
        self.add("judge", holds, statement, reason);
        if let Some(last) = self.found.last_mut() {
            last.judged = true;
        }
    }

    pub(crate) fn holds(&mut self, what: &str, holds: &Holds, value: &Value, at_first: Option<&Value>) {
        let unlike = holds.check(value, at_first);
        if unlike.is_empty() {
            self.add(what, true, "", "");
        }
        for unlike in unlike {
            self.add(what, false, unlike.expected, unlike.found);
        }
    }

    /// Everything that a step expects.
    pub(crate) fn step(&mut self, expect: &Expect, seen: &Seen<'_>) {
        self.outcome(expect, seen);
        let nothing = Came::default();
        let came = seen.came.unwrap_or(&nothing);
        if let Some(detail) = &expect.detail {
            self.add("detail", came.ended.detail.contains(detail.as_str()), detail, &came.ended.detail);
        }
        if let Some(text) = &expect.text {
            self.holds("text", text, &json!(came.text), None);
        }
        expect.called.iter().for_each(|like| self.called("called", like, &came.ran));
        expect.tried.iter().for_each(|like| self.called("tried", like, &came.tried));
        for tool in &expect.not_called {
            let ran: Vec<Called> = came.ran.iter().filter(|call| call.tool == *tool).cloned().collect();
            self.add("not_called", ran.is_empty(), format!("no call of {tool}"), listed(&ran));
        }
        let ran: Vec<&str> = came.ran.iter().map(|call| call.tool.as_str()).collect();
        if !expect.order.is_empty() {
            let places: Vec<Option<usize>> =
                expect.order.iter().map(|tool| ran.iter().position(|ran| ran == tool)).collect();
            let in_order = places.iter().all(Option::is_some) && places.is_sorted();
            self.add("order", in_order, expect.order.join(", "), ran.join(", "));
        }
        if let Some(calls) = &expect.calls {
            self.add("calls", ran == *calls, calls.join(", "), ran.join(", "));
        }
        if let Some(asked) = &expect.asked {
            let fits = asked.len() == came.asks.len()
                && asked.iter().zip(&came.asks).all(|(like, ask)| is_like(like, ask));
            self.add("asked", fits, likes(asked), listed(&came.asks));
        }
        for card in &expect.cards {
            let fits = |shown: &crate::product::CardSeen| {
                shown.kind == card.kind && card.ids.as_ref().is_none_or(|ids| *ids == shown.ids)
            };
            let wanted = format!("{} {}", card.kind, card.ids.clone().unwrap_or_default().join(", "));
            self.add("cards", came.cards.iter().any(fits), wanted.trim(), cards(came));
        }
        for kind in &expect.no_cards {
            let none = came.cards.iter().all(|card| card.kind != *kind);
            self.add("no_cards", none, format!("no {kind}"), cards(came));
        }
        if let Some(event) = &expect.event {
            self.holds("event", event, seen.happened, None);
        }
        if let Some(told) = &expect.told {
            self.holds("told", told, &json!(seen.told.join("\n")), None);
        }
        if let Some(tools) = &expect.tools {
            self.holds("tools", tools, &json!(seen.tools), None);
        }
        if let Some(notices) = &expect.notices {
            self.holds("notices", notices, &json!(came.notices), None);
        }
        let variables = expect.variables.iter().map(|(name, holds)| (format!("variable:{name}"), holds));
        let looks = expect.look.iter().map(|(what, holds)| (what.clone(), holds));
        for (what, holds) in variables.chain(looks) {
            let value = seen.looked.get(&what).unwrap_or(&Value::Null);
            self.holds(&what, holds, value, seen.at_first.get(&what));
        }
        if let Some(bounds) = &expect.usage {
            self.usage(bounds, came, seen.requests.len());
        }
        self.wire(expect, seen);
    }

    fn outcome(&mut self, expect: &Expect, seen: &Seen<'_>) {
        let ended = seen.came.map(|came| came.ended.clone());
        let found = match &ended {
            None => "none".to_owned(),
            Some(ended) if ended.detail.is_empty() => ended.outcome.clone(),
            Some(ended) => format!("{} ({})", ended.outcome, ended.detail),
        };
        let outcome = ended.map_or_else(|| "none".to_owned(), |ended| ended.outcome);
        let usual = if seen.is_said || seen.came.is_some() { "completed" } else { "none" };
        let wanted = expect.outcome.as_deref().unwrap_or(usual);
        self.add("outcome", outcome == wanted, wanted, found);
    }

    fn called(&mut self, what: &str, like: &CalledLike, calls: &[Called]) {
        let count = calls.iter().filter(|call| is_like(like, call)).count();
        let fits = like.times.map_or(count > 0, |times| times == count);
        let times = like.times.map_or(String::new(), |times| format!(", {times} times"));
        self.add(what, fits, format!("{}{times}", likes(std::slice::from_ref(like))), listed(calls));
    }

    fn usage(&mut self, bounds: &UsageBounds, came: &Came, requests: usize) {
        let usage = &came.usage;
        let mut most = |what: &str, most: Option<f64>, found: f64| {
            if let Some(most) = most {
                self.add(what, found <= most, format!("at most {most}"), found.to_string());
            }
        };
        let cost = usage.cost.map_or(f64::INFINITY, |cost| cost.total().into());
        most("usage.max_cost", bounds.max_cost, cost);
        most("usage.max_input", bounds.max_input.map(|most| most as f64), usage.input as f64);
        most("usage.max_output", bounds.max_output.map(|most| most as f64), usage.output as f64);
        most("usage.max_requests", bounds.max_requests.map(|most| most as f64), requests as f64);
        if let Some(least) = bounds.min_requests {
            self.add(
                "usage.min_requests",
                requests >= least,
                format!("at least {least}"),
                requests.to_string(),
            );
        }
        if let Some(least) = bounds.min_cache_ratio {
            let ratio = usage.cache_hit_ratio();
            self.add(
                "usage.min_cache_ratio",
                ratio >= least,
                format!("at least {least}"),
                format!("{ratio:.3}"),
            );
        }
    }

    fn wire(&mut self, expect: &Expect, seen: &Seen<'_>) {
        if expect.wire_valid != Some(false) {
            let wrong = seen.requests.iter().enumerate().find_map(|(index, asked)| {
                asked.wrong.as_ref().map(|wrong| format!("request {}: {wrong}", index + 1))
            });
            if expect.wire_valid == Some(true) || wrong.is_some() {
                let fine = wrong.is_none();
                self.add("wire_valid", fine, "requests that a provider takes", wrong.unwrap_or_default());
            }
        }
        if expect.prefix_stable
            && let Some(first) = seen.requests.first()
        {
            let bodies: Vec<&[u8]> =
                seen.before.into_iter().chain(seen.requests).map(|asked| asked.body.as_slice()).collect();
            let grown = grows_at_the_end(first.dialect, &bodies);
            let what = "each request begins with all of the one before it";
            self.add("prefix_stable", grown.is_ok(), what, grown.err().unwrap_or_default());
        }
    }

    /// That scripted turns were asked for, and with what they must have seen.
    pub(crate) fn turns(&mut self, turns: &[&TurnPart], told: &[String]) {
        let (asked, said) = (told.len(), turns.len());
        if asked != said {
            self.add(
                "turn",
                false,
                format!("{said} requests, as there are turns"),
                format!("{asked} requests"),
            );
        }
        for (index, (turn, words)) in turns.iter().zip(told).enumerate() {
            let what = format!("turn {}", index + 1);
            for part in &turn.sees {
                self.add(&what, words.contains(part.as_str()), format!("{part:?} is told"), words);
            }
            for part in &turn.lacks {
                self.add(&what, !words.contains(part.as_str()), format!("{part:?} is not told"), words);
            }
        }
    }
}

fn is_like(like: &CalledLike, call: &Called) -> bool {
    let wanted = Value::Object(like.args.clone());
    let fits = match like.matching {
        Matching::Subset => includes(&call.args, &wanted),
        Matching::Exact => equal(&call.args, &wanted),
    };
    let found = |(key, pattern): (&String, &String)| {
        call.args.get(key).is_some_and(|value| finds(pattern, &crate::case::plain(value)))
    };
    call.tool == like.tool && fits && like.matches.iter().all(found)
}

fn likes(likes: &[CalledLike]) -> String {
    let one = |like: &CalledLike| {
        let mut text = format!("{} {}", like.tool, canonical(&Value::Object(like.args.clone())));
        for (key, pattern) in &like.matches {
            text.push_str(&format!(" with {key} like /{pattern}/"));
        }
        text
    };
    likes.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn listed(calls: &[Called]) -> String {
    calls.iter().map(|call| format!("{} {}", call.tool, canonical(&call.args))).collect::<Vec<_>>().join("\n")
}

fn cards(came: &Came) -> String {
    let one = |card: &crate::product::CardSeen| format!("{} {}", card.kind, card.ids.join(", "));
    came.cards.iter().map(one).collect::<Vec<_>>().join("\n")
}

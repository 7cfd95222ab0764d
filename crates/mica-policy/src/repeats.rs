//! Going round in circles: noticed, and answered with a reason, before the budget ends the run.
//!
//! Three patterns: the same call again and again; the same two or three calls in turn; the same call after it failed,
//! with nothing changed since. A model that is told so finds another way more often than not, and a denied call costs
//! nothing. Only what goes on in spite of it runs into the limits of the budget.

mod guard;
mod history;

pub use guard::RepeatGuard;
pub(crate) use history::is_poll;
pub use history::{Fingerprint, history};

/// How much repetition is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Identical calls in a row that run. Two: looking twice can be meant, the third answer is known.
    pub identical: usize,
    /// Times the same call may fail while nothing is changed. Two: one retry, because networks fail for a moment.
    pub failing: usize,
    /// Rounds of the same two or three calls; the call that would complete the last one is denied. Three: two rounds
    /// happen when something is looked at before and after.
    pub rounds: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { identical: 2, failing: 2, rounds: 3 }
    }
}

/// The longest circle that is looked for. Longer ones are rare, and the turn limit ends them.
const PERIOD: usize = 3;

/// What is known of a call that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// Which call it was.
    pub call: Fingerprint,
    /// Whether it failed, or was not run.
    pub failed: bool,
    /// Whether its tool changes things.
    pub changes: bool,
    /// Whether it is meant to be made again and again: asking whether something is done.
    pub polls: bool,
}

/// A repetition, and how far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// The same call in a row.
    Identical {
        /// Made so often already.
        times: usize,
    },
    /// The same call, which keeps failing.
    Failing {
        /// Failed so often already.
        times: usize,
    },
    /// The same calls in turn.
    Circle {
        /// How many calls.
        period: usize,
    },
}

impl Repetition {
    /// The name of the rule in verdicts.
    pub fn rule(&self) -> &'static str {
        match self {
            Repetition::Identical { .. } => "repeats: identical calls",
            Repetition::Failing { .. } => "repeats: failing call",
            Repetition::Circle { .. } => "repeats: calls in a circle",
        }
    }

    /// What to tell the model so that it does something else.
    pub fn for_model(&self, tool: &str) -> String {
        match self {
            Repetition::Identical { times } => format!(
                "This call was not run: you have made exactly this call of {tool} {times} times in a row. Use the answer \
                 you have, change the arguments, or do something else."
            ),
            Repetition::Failing { times } => format!(
                "This call was not run: exactly this call of {tool} has failed {times} times, and nothing has changed \
                 since. Read why it failed, then change the arguments or take another way."
            ),
            Repetition::Circle { period } => format!(
                "This call was not run: you keep making the same {period} calls in turn. Say what you are trying to find \
                 out, and take another way."
            ),
        }
    }
}

/// Whether the next call repeats what was done, by the calls before it, oldest first.
pub fn judge(patience: &Patience, past: &[Fact], next: &Fact) -> Option<Repetition> {
    let untouched = past.iter().rev().take_while(|fact| !fact.changes || fact.failed);
    let failed = untouched.filter(|fact| fact.call == next.call && fact.failed).count();
    if failed >= patience.failing.max(1) {
        return Some(Repetition::Failing { times: failed });
    }
    if next.polls {
        return None;
    }
    let times = past.iter().rev().take_while(|fact| fact.call == next.call).count();
    if times >= patience.identical.max(1) {
        return Some(Repetition::Identical { times });
    }
    (2..=PERIOD)
        .find(|period| circles(patience, past, next, *period))
        .map(|period| Repetition::Circle { period })
}

/// Whether the next call completes another round of the same calls.
fn circles(patience: &Patience, past: &[Fact], next: &Fact, period: usize) -> bool {
    let length = period * patience.rounds.max(2);
    let Some(start) = (past.len() + 1).checked_sub(length) else { return false };
    let recent: Vec<&Fact> = past.iter().skip(start).chain([next]).collect();
    let repeats = recent.iter().zip(recent.iter().skip(period)).all(|(one, later)| one.call == later.call);
    // A circle of one call is the other pattern, and whoever waits for something goes in circles on purpose.
    let differ = recent.iter().any(|fact| fact.call != next.call);
    repeats && differ && recent.iter().all(|fact| !fact.polls)
}

#[cfg(test)]
mod tests;

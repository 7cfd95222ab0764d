//! The limits of a run, judged before each turn by what it took so far.
//!
//! Two kinds. Turns, tokens, repeats and failures are about work: when one is reached, the model gets one more answer,
//! without tools, to say what is done and what is not. Cost and time are promises to people: the closing answer is paid
//! for out of them, so the run closes while there is still room for a turn like those before, and stops at once when
//! there is none left.

mod hooks;
mod meter;

pub use hooks::Budget;
pub use meter::{Meter, Share};

use std::time::Duration;

use mica_agent::hooks::Step;
use mica_agent::{Limit, Tally};
use mica_ai::usage::{Usage, Usd};

/// The limits of a run. `None` is no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Turns. 50: what long editing tasks need, and twice what a question takes that goes well.
    pub turns: Option<u32>,
    /// Tokens, by [`weighed`]. Two million: fifty turns over a cached window of 100,000 tokens weigh half a million, and
    /// as many answers of full length three quarters of one. Who gets beyond reads without a cache, or in circles.
    pub tokens: Option<u64>,
    /// Money. No limit: prices may be unknown, and only the user knows the purse.
    pub cost: Option<Usd>,
    /// Time spent asking models and running tools. One hour: more than a minute for each of the fifty turns. A person's
    /// thinking time is not in it; single answers and calls have deadlines of their own.
    pub active: Option<Duration>,
    /// Identical calls in a row. Five: two that run, and three that were denied with a reason.
    pub repeats: Option<usize>,
    /// Calls in a row that failed. Twelve: a batch of wrong guesses is one mistake, three turns of them are a pattern.
    pub failures: Option<u32>,
    /// Questions that people answered. No limit: who answers can also stop it. A product whose people are not to be worn
    /// down until they say yes to anything sets one.
    pub approvals: Option<u32>,
    /// With so many turns left, the model is told once. Five: enough to bring things into order. Zero, or a turn limit
    /// of no more than twice that, is no warning.
    pub warning: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: Some(50),
            tokens: Some(2_000_000),
            cost: None,
            active: Some(Duration::from_secs(60 * 60)),
            repeats: Some(5),
            failures: Some(12),
            approvals: None,
            warning: 5,
        }
    }
}

impl Limits {
    /// No limits at all. For tests, and for callers that have their own.
    pub const NONE: Limits = Limits {
        turns: None,
        tokens: None,
        cost: None,
        active: None,
        repeats: None,
        failures: None,
        approvals: None,
        warning: 0,
    };
}

/// Tokens as a limit counts them: a token read from the cache weighs a tenth, every other one weighs one.
///
/// A conversation is read again with every turn. Counted in full, a limit would be used up by the square of the turns,
/// and say more about their number than about the work. A tenth is what the providers ask for a cached token. It is
/// fixed, so that a limit means the same with every model; who wants to go by prices has the cost.
pub fn weighed(usage: &Usage) -> u64 {
    let fresh = usage.input.saturating_sub(usage.cache_read);
    fresh.saturating_add(usage.cache_read / 10).saturating_add(usage.output)
}

/// A limit that is reached, and whether there is room for a closing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Which.
    pub limit: Limit,
    /// What can still be done.
    pub room: Room,
}

/// What can still be done at a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// One answer without tools.
    ForClosing,
    /// Nothing.
    None,
}

impl From<Reached> for Step {
    fn from(reached: Reached) -> Step {
        match reached.room {
            Room::ForClosing => Step::Close(reached.limit),
            Room::None => Step::Stop(reached.limit),
        }
    }
}

/// The first limit that is reached, judged before a turn. The turn that is about to begin is counted in the tally, as
/// the loop does it.
pub fn judge(limits: &Limits, tally: &Tally) -> Option<Reached> {
    promises(limits, tally).or_else(|| work(limits, tally))
}

/// A promise that is used up goes before one that is nearly so.
fn promises(limits: &Limits, tally: &Tally) -> Option<Reached> {
    let (cost, time) = (cost(limits, tally), time(limits, tally));
    match (&cost, &time) {
        (Some(Reached { room: Room::ForClosing, .. }), Some(Reached { room: Room::None, .. })) => time,
        _ => cost.or(time),
    }
}

fn cost(limits: &Limits, tally: &Tally) -> Option<Reached> {
    let (most, spent) = (limits.cost?, tally.usage.cost?.total());
    let done = tally.turns.saturating_sub(1);
    let like_before = Usd::from_dollars(spent.dollars() / f64::from(done.max(1)));
    let room = room(spent, like_before, most)?;
    Some(reached("cost", format!("{spent} of {most} in {done} turns"), room))
}

fn time(limits: &Limits, tally: &Tally) -> Option<Reached> {
    let (most, spent) = (limits.active?, tally.active);
    let done = tally.turns.saturating_sub(1);
    let like_before = spent.checked_div(done.max(1)).unwrap_or(spent);
    let room = room(spent, like_before, most)?;
    let text = format!("{} of {} of work in {done} turns", minutes(spent), minutes(most));
    Some(reached("time", text, room))
}

/// Whether a promise is used up, or would be by one more turn like those before.
fn room<T: PartialOrd + std::ops::Add<Output = T> + Copy>(spent: T, like_before: T, most: T) -> Option<Room> {
    if spent >= most {
        Some(Room::None)
    } else if spent + like_before > most {
        Some(Room::ForClosing)
    } else {
        None
    }
}

fn work(limits: &Limits, tally: &Tally) -> Option<Reached> {
    let done = tally.turns.saturating_sub(1);
    if limits.turns.is_some_and(|most| tally.turns > most) {
        return Some(reached("turns", format!("{done} turns"), Room::ForClosing));
    }
    let tokens = weighed(&tally.usage);
    if let Some(most) = limits.tokens.filter(|most| tokens >= *most) {
        let text = format!("{tokens} tokens of {most}, cached ones counted as a tenth");
        return Some(reached("tokens", text, Room::ForClosing));
    }
    let repeats = tally.repeats();
    if limits.repeats.is_some_and(|most| repeats >= most) {
        return Some(reached("repeats", format!("the same call {repeats} times in a row"), Room::ForClosing));
    }
    if limits.failures.is_some_and(|most| tally.failures >= most) {
        let text = format!("{} calls failed in a row", tally.failures);
        return Some(reached("failures", text, Room::ForClosing));
    }
    if limits.approvals.is_some_and(|most| tally.approvals >= most) {
        let text = format!("people were asked {} times", tally.approvals);
        return Some(reached("approvals", text, Room::ForClosing));
    }
    None
}

/// The note for the model when the turns run out soon. `None` when it is not the time.
pub fn warning(limits: &Limits, tally: &Tally) -> Option<String> {
    let most = limits.turns.filter(|most| *most > limits.warning.saturating_mul(2))?;
    let left = most.saturating_sub(tally.turns);
    (left <= limits.warning && left > 0).then(|| {
        format!(
            "[Note from the system, not from the user: {left} of {most} turns are left, then the run ends. Finish what \
             matters most, and leave things in working order.]"
        )
    })
}

fn reached(name: &str, text: String, room: Room) -> Reached {
    Reached { limit: Limit { name: name.to_owned(), reached: text }, room }
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) }
}

#[cfg(test)]
mod tests;

//! What an answer took: tokens and money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls.
///
/// Providers count differently; here `input` is always everything the model read, cached or not, so that
/// window arithmetic needs no cases: `input + output` is what the next request starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, those read from and written to the cache included.
    pub input: u64,
    /// The part of `input` that came from the prompt cache.
    pub cache_read: u64,
    /// The part of `input` that was written to the prompt cache, long-lived writes included.
    pub cache_write: u64,
    /// The part of `cache_write` that was written to live for an hour.
    pub cache_write_long: u64,
    /// All output tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
    /// What it cost. `None` when the model's prices are unknown, which is not the same as free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// Input tokens that the cache had no part in.
    pub fn uncached(&self) -> u64 {
        self.input.saturating_sub(self.cache_read).saturating_sub(self.cache_write)
    }

    /// Everything in the window after this call.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The share of the input that came from the cache, 0 to 1.
    pub fn cache_hit_ratio(&self) -> f64 {
        if self.input == 0 { 0.0 } else { self.cache_read as f64 / self.input as f64 }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_long += other.cache_write_long;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.cost = match (self.cost, other.cost) {
            (Some(left), Some(right)) => Some(left + right),
            (one, None) | (None, one) => one,
        };
    }
}

/// What a call cost, by what was paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Uncached input.
    pub input: Usd,
    /// Cache reads.
    pub cache_read: Usd,
    /// Cache writes.
    pub cache_write: Usd,
    /// Output, reasoning included.
    pub output: Usd,
}

impl Cost {
    /// The sum.
    pub fn total(&self) -> Usd {
        self.input + self.cache_read + self.cache_write + self.output
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            input: self.input + other.input,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            output: self.output + other.output,
        }
    }
}

/// An amount of US dollars, exact to a millionth of a millionth, so that sums do not drift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Usd(u64);

const PICOS: f64 = 1e12;

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);

    /// An amount in dollars. Negative amounts and non-numbers become nothing.
    pub fn from_dollars(dollars: f64) -> Self {
        // `as` saturates and maps NaN to 0, which is what is wanted.
        Self((dollars * PICOS).round() as u64)
    }

    /// The amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / PICOS
    }

    /// This price, given per million tokens, for so many tokens.
    pub fn per_million(self, tokens: u64) -> Usd {
        let picos = u128::from(self.0) * u128::from(tokens) / 1_000_000;
        Usd(u64::try_from(picos).unwrap_or(u64::MAX))
    }
}

impl Add for Usd {
    type Output = Usd;

    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Usd) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(amounts: I) -> Usd {
        amounts.fold(Usd::ZERO, Add::add)
    }
}

impl From<f64> for Usd {
    fn from(dollars: f64) -> Self {
        Usd::from_dollars(dollars)
    }
}

impl From<Usd> for f64 {
    fn from(amount: Usd) -> f64 {
        amount.dollars()
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.dollars();
        // Four places read well for a session; one call of a small model needs more to not look free.
        if self.0 == 0 || dollars >= 0.01 { write!(f, "${dollars:.4}") } else { write!(f, "${dollars:.7}") }
    }
}

#[cfg(test)]
mod tests;

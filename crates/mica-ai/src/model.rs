//! What is known about a model. Facts are data (`models.toml`), never conditions on a name in code.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::message::Dialect;
use crate::usage::{Cost, Usage, Usd};

/// The facts about one model that a request depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The catalogue's name, for example `gpt-5.5`.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// What goes into the request: the deployment name on Azure, the id elsewhere.
    #[serde(default)]
    pub deployment: String,
    /// The wire it is best reached over.
    pub dialect: Dialect,
    /// Tokens that fit into the window, input and output together.
    pub context: u64,
    /// Tokens of input at most, where that is less than the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input: Option<u64>,
    /// Tokens of output at most.
    pub max_output: u64,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it can read images.
    pub images: bool,
    /// Whether it can be held to a JSON schema.
    pub structured_output: bool,
    /// How it reasons.
    pub reasoning: ReasoningFacts,
    /// Parameters it answers 400 to. They are left out of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejects: Vec<Parameter>,
    /// How its prompt cache works.
    pub cache: CacheFacts,
    /// What it costs. Absent when unknown, which is not the same as free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

impl Model {
    /// Facts that are safe to assume about a model nobody knows, reached over a dialect: a modest window, tools, no
    /// parameters to choose, no cache marks, no prices.
    pub fn assumed(name: &str, dialect: Dialect) -> Self {
        Self {
            id: name.to_owned(),
            name: name.to_owned(),
            deployment: name.to_owned(),
            dialect,
            context: 128_000,
            max_input: None,
            max_output: 8_192,
            tools: true,
            images: false,
            structured_output: false,
            reasoning: ReasoningFacts::default(),
            rejects: Vec::new(),
            cache: CacheFacts::NONE,
            prices: None,
        }
    }

    /// Whether a parameter may be sent.
    pub fn accepts(&self, parameter: Parameter) -> bool {
        !self.rejects.contains(&parameter)
    }

    /// Puts the cost of a call into its usage.
    pub fn price(&self, usage: &mut Usage) {
        usage.cost = self.prices.as_ref().map(|prices| prices.cost(usage));
    }

    /// Whether a call read more than the window holds: some servers cut the input silently instead of failing.
    pub fn overflowed(&self, usage: &Usage) -> bool {
        usage.input > self.max_input.unwrap_or(self.context)
    }
}

/// A request parameter some models reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// Sampling temperature.
    Temperature,
    /// Nucleus sampling.
    TopP,
    /// Stop sequences.
    Stop,
    /// Turning thinking off explicitly.
    ThinkingDisabled,
    /// `parallel_tool_calls`.
    ParallelToolCalls,
    /// A tool choice that leaves no choice: models that think always refuse to be forced into a call.
    ForcedToolChoice,
}

/// How a model reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasoningFacts {
    /// How effort is asked for.
    pub style: ReasoningStyle,
    /// The levels it takes, weakest first. Empty when there is nothing to choose.
    #[serde(default)]
    pub levels: Vec<Effort>,
    /// The smallest token budget it takes, for [`ReasoningStyle::Budget`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_budget: Option<u64>,
}

impl ReasoningFacts {
    /// The level to send for a wish: the wish itself where the model has it, else the next stronger one,
    /// else the strongest. `None` when the model has no levels.
    pub fn nearest(&self, wish: Effort) -> Option<Effort> {
        let mut levels = self.levels.clone();
        levels.sort_unstable();
        levels.iter().copied().find(|level| *level >= wish).or(levels.last().copied())
    }
}

/// How effort is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningStyle {
    /// It does not reason.
    #[default]
    None,
    /// It reasons as it sees fit; there is no parameter.
    Always,
    /// A named level.
    Effort,
    /// Claude: adaptive thinking with a named level beside it.
    Adaptive,
    /// Claude before adaptive thinking: a number of tokens.
    Budget,
}

/// How hard a model should think. Ordered, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Hard.
    High,
    /// Very hard.
    Xhigh,
    /// As hard as it can.
    Max,
}

impl Effort {
    /// All levels, weakest first.
    pub const ALL: [Effort; 7] = [
        Effort::None,
        Effort::Minimal,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::Xhigh,
        Effort::Max,
    ];

    /// The name on the wire and in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Xhigh => "xhigh",
            Effort::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Effort::ALL
            .into_iter()
            .find(|effort| effort.name() == text)
            .ok_or_else(|| UnknownEffort { given: text.to_owned() })
    }
}

/// An effort name nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown effort {given:?}: use none, minimal, low, medium, high, xhigh or max")]
pub struct UnknownEffort {
    /// What was given.
    pub given: String,
}

/// How a model's prompt cache works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheFacts {
    /// What makes the provider cache.
    pub kind: CacheKind,
    /// Prefixes of fewer tokens are not cached, silently.
    #[serde(default)]
    pub minimum: u64,
    /// Marks a request may carry.
    #[serde(default)]
    pub max_marks: u8,
    /// How many content blocks before a mark are searched for an earlier entry. 0: no limit.
    #[serde(default)]
    pub lookback: u16,
    /// How long entries live, in minutes, shortest first.
    #[serde(default)]
    pub ttl_minutes: Vec<u32>,
}

impl CacheFacts {
    /// No cache at all.
    pub const NONE: CacheFacts =
        CacheFacts { kind: CacheKind::None, minimum: 0, max_marks: 0, lookback: 0, ttl_minutes: Vec::new() };
}

/// What makes a provider cache a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Nothing does, or it is not known.
    None,
    /// Any long enough prefix is cached by itself; writes are free.
    Prefix,
    /// Claude: what the request marks with `cache_control`.
    Marks,
    /// GPT-5.6 and later: implicit, plus what the request marks with `prompt_cache_breakpoint`; writes are paid.
    Breakpoints,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The base prices.
    #[serde(flatten)]
    pub base: PriceRow,
    /// Prices of requests whose input is larger than a size; the whole request is charged at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
}

/// One row of prices, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PriceRow {
    /// Uncached input.
    pub input: Usd,
    /// Output.
    pub output: Usd,
    /// Cache reads; charged as input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Usd>,
    /// Cache writes; charged as input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Usd>,
    /// Writes that live for an hour; charged as other writes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_long: Option<Usd>,
}

/// Prices above a size of input.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PriceTier {
    /// Applies when the input has more tokens than this.
    pub above: u64,
    /// The prices.
    #[serde(flatten)]
    pub row: PriceRow,
}

impl Prices {
    /// What a call cost.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let row = self
            .tiers
            .iter()
            .filter(|tier| usage.input > tier.above)
            .max_by_key(|tier| tier.above)
            .map_or(&self.base, |tier| &tier.row);
        let write = row.cache_write.unwrap_or(row.input);
        let long = usage.cache_write_long.min(usage.cache_write);
        Cost {
            input: row.input.per_million(usage.uncached()),
            cache_read: row.cache_read.unwrap_or(row.input).per_million(usage.cache_read),
            cache_write: write.per_million(usage.cache_write - long)
                + row.cache_write_long.unwrap_or(write).per_million(long),
            output: row.output.per_million(usage.output),
        }
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! A model for tests, with everything a dialect can use.

    use super::*;

    pub(crate) fn model(dialect: Dialect) -> Model {
        Model {
            id: "test-model".into(),
            name: "Test model".into(),
            deployment: "test-deployment".into(),
            dialect,
            context: 200_000,
            max_input: None,
            max_output: 8_000,
            tools: true,
            images: true,
            structured_output: true,
            reasoning: ReasoningFacts {
                style: match dialect {
                    Dialect::Messages => ReasoningStyle::Adaptive,
                    Dialect::Responses | Dialect::Chat => ReasoningStyle::Effort,
                },
                levels: vec![Effort::Low, Effort::Medium, Effort::High],
                min_budget: None,
            },
            rejects: Vec::new(),
            cache: CacheFacts {
                kind: match dialect {
                    Dialect::Messages => CacheKind::Marks,
                    Dialect::Responses => CacheKind::Breakpoints,
                    Dialect::Chat => CacheKind::Prefix,
                },
                minimum: 1024,
                max_marks: 4,
                lookback: 20,
                ttl_minutes: vec![5, 60],
            },
            prices: Some(Prices {
                base: PriceRow {
                    input: Usd::from_dollars(2.0),
                    output: Usd::from_dollars(10.0),
                    cache_read: Some(Usd::from_dollars(0.2)),
                    cache_write: Some(Usd::from_dollars(2.5)),
                    cache_write_long: Some(Usd::from_dollars(4.0)),
                },
                tiers: Vec::new(),
            }),
        }
    }
}

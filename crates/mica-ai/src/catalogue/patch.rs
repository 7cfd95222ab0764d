//! Model facts of which some may be missing, and how one set of them goes over another.

use crate::message::Dialect;
use crate::model::{
    CacheFacts, CacheKind, Effort, Model, Parameter, PriceRow, PriceTier, Prices, ReasoningFacts,
    ReasoningStyle,
};
use crate::usage::Usd;

/// Facts as a text gives them. What is absent is taken from what lies below.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch {
    pub(super) family: Option<String>,
    pub(super) name: Option<String>,
    pub(super) aliases: Option<Vec<String>>,
    pub(super) dialect: Option<Dialect>,
    pub(super) context: Option<u64>,
    pub(super) max_input: Option<u64>,
    pub(super) max_output: Option<u64>,
    pub(super) tools: Option<bool>,
    pub(super) images: Option<bool>,
    pub(super) structured_output: Option<bool>,
    pub(super) rejects: Option<Vec<Parameter>>,
    pub(super) reasoning: ReasoningPatch,
    pub(super) cache: CachePatch,
    pub(super) prices: PricesPatch,
}

/// As [`ReasoningFacts`].
#[derive(Debug, Clone, Default)]
pub(super) struct ReasoningPatch {
    pub(super) style: Option<ReasoningStyle>,
    pub(super) levels: Option<Vec<Effort>>,
    pub(super) min_budget: Option<u64>,
}

/// As [`CacheFacts`].
#[derive(Debug, Clone, Default)]
pub(super) struct CachePatch {
    pub(super) kind: Option<CacheKind>,
    pub(super) minimum: Option<u64>,
    pub(super) max_marks: Option<u8>,
    pub(super) lookback: Option<u16>,
    pub(super) ttl_minutes: Option<Vec<u32>>,
}

/// As [`Prices`].
#[derive(Debug, Clone, Default)]
pub(super) struct PricesPatch {
    pub(super) input: Option<Usd>,
    pub(super) output: Option<Usd>,
    pub(super) cache_read: Option<Usd>,
    pub(super) cache_write: Option<Usd>,
    pub(super) cache_write_long: Option<Usd>,
    pub(super) tiers: Option<Vec<PriceTier>>,
}

/// Replaces `below` where `above` has something to say.
fn over<T>(below: &mut Option<T>, above: Option<T>) {
    if above.is_some() {
        *below = above;
    }
}

impl Patch {
    /// Puts another patch over this one, field by field. Lists are replaced whole.
    pub(super) fn merge(&mut self, above: Patch) {
        over(&mut self.family, above.family);
        over(&mut self.name, above.name);
        over(&mut self.aliases, above.aliases);
        over(&mut self.dialect, above.dialect);
        over(&mut self.context, above.context);
        over(&mut self.max_input, above.max_input);
        over(&mut self.max_output, above.max_output);
        over(&mut self.tools, above.tools);
        over(&mut self.images, above.images);
        over(&mut self.structured_output, above.structured_output);
        over(&mut self.rejects, above.rejects);
        over(&mut self.reasoning.style, above.reasoning.style);
        over(&mut self.reasoning.levels, above.reasoning.levels);
        over(&mut self.reasoning.min_budget, above.reasoning.min_budget);
        over(&mut self.cache.kind, above.cache.kind);
        over(&mut self.cache.minimum, above.cache.minimum);
        over(&mut self.cache.max_marks, above.cache.max_marks);
        over(&mut self.cache.lookback, above.cache.lookback);
        over(&mut self.cache.ttl_minutes, above.cache.ttl_minutes);
        over(&mut self.prices.input, above.prices.input);
        over(&mut self.prices.output, above.prices.output);
        over(&mut self.prices.cache_read, above.prices.cache_read);
        over(&mut self.prices.cache_write, above.prices.cache_write);
        over(&mut self.prices.cache_write_long, above.prices.cache_write_long);
        over(&mut self.prices.tiers, above.prices.tiers);
    }

    /// The model, or the field without which there is none.
    pub(super) fn into_model(self, id: &str) -> Result<Model, &'static str> {
        Ok(Model {
            id: id.to_owned(),
            name: self.name.unwrap_or_else(|| id.to_owned()),
            deployment: id.to_owned(),
            dialect: self.dialect.ok_or("dialect")?,
            context: self.context.ok_or("context")?,
            max_input: self.max_input,
            max_output: self.max_output.ok_or("max_output")?,
            tools: self.tools.unwrap_or(true),
            images: self.images.unwrap_or(false),
            structured_output: self.structured_output.unwrap_or(false),
            reasoning: ReasoningFacts {
                style: self.reasoning.style.unwrap_or_default(),
                levels: self.reasoning.levels.unwrap_or_default(),
                min_budget: self.reasoning.min_budget,
            },
            rejects: self.rejects.unwrap_or_default(),
            cache: CacheFacts {
                kind: self.cache.kind.unwrap_or(CacheKind::None),
                minimum: self.cache.minimum.unwrap_or(0),
                max_marks: self.cache.max_marks.unwrap_or(0),
                lookback: self.cache.lookback.unwrap_or(0),
                ttl_minutes: self.cache.ttl_minutes.unwrap_or_default(),
            },
            prices: self.prices.into_prices()?,
        })
    }
}

impl PricesPatch {
    /// The prices; none when nothing is given. Half a price list is an error: the missing half would read as free.
    fn into_prices(self) -> Result<Option<Prices>, &'static str> {
        let (input, output) = match (self.input, self.output) {
            (Some(input), Some(output)) => (input, output),
            (Some(_), None) => return Err("prices.output"),
            (None, Some(_)) => return Err("prices.input"),
            (None, None) => {
                let others = self.cache_read.or(self.cache_write).or(self.cache_write_long).is_some();
                return if others || self.tiers.is_some() { Err("prices.input") } else { Ok(None) };
            }
        };
        let base = PriceRow {
            input,
            output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_long: self.cache_write_long,
        };
        Ok(Some(Prices { base, tiers: self.tiers.unwrap_or_default() }))
    }
}

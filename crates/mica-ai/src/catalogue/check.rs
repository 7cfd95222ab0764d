//! Whether the facts of a model can be true together.

use std::fmt;

use crate::model::{CacheKind, Effort, Model, PriceRow, ReasoningStyle};

/// A contradiction in the facts of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field.
    pub field: &'static str,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// Everything wrong with a model's facts.
pub(super) fn faults(model: &Model) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut fault = |field, problem: String| found.push(Fault { field, problem });
    if model.context == 0 || model.max_output == 0 {
        fault("context", "context and max_output are at least 1".into());
    }
    if model.max_output > model.context {
        fault("max_output", format!("{} is more than the context of {}", model.max_output, model.context));
    }
    if let Some(max) = model.max_input.filter(|max| *max > model.context || *max == 0) {
        fault("max_input", format!("{max} is not between 1 and the context of {}", model.context));
    }
    reasoning(model, &mut fault);
    cache(model, &mut fault);
    if let Some(prices) = &model.prices {
        price_row(&prices.base, &mut fault);
        for tier in &prices.tiers {
            price_row(&tier.row, &mut fault);
        }
        if !prices.tiers.is_sorted_by(|one, next| one.above < next.above) {
            fault("prices.tiers", "the sizes in `above` must ascend".into());
        }
    }
    found
}

fn reasoning(model: &Model, fault: &mut impl FnMut(&'static str, String)) {
    let facts = &model.reasoning;
    if !facts.levels.is_sorted_by(|one: &Effort, next| one < next) {
        fault("reasoning.levels", "the levels must ascend, each once".into());
    }
    let chooses =
        matches!(facts.style, ReasoningStyle::Effort | ReasoningStyle::Adaptive | ReasoningStyle::Budget);
    if chooses && facts.levels.is_empty() {
        fault("reasoning.levels", "this style needs at least one level".into());
    }
    if !chooses && !facts.levels.is_empty() {
        fault("reasoning.levels", "this style has no levels to choose from: leave them out".into());
    }
    if facts.style == ReasoningStyle::Budget && facts.min_budget.is_none() {
        fault("reasoning.min_budget", "the budget style needs it".into());
    }
}

fn cache(model: &Model, fault: &mut impl FnMut(&'static str, String)) {
    let facts = &model.cache;
    let marks = matches!(facts.kind, CacheKind::Marks | CacheKind::Breakpoints);
    if marks && facts.max_marks == 0 {
        fault("cache.max_marks", "a cache that is marked needs at least one mark".into());
    }
    if !facts.ttl_minutes.is_sorted_by(|one, next| one < next) || facts.ttl_minutes.contains(&0) {
        fault("cache.ttl_minutes", "the times must ascend and be at least 1".into());
    }
    if facts.kind != CacheKind::None && facts.ttl_minutes.is_empty() {
        fault("cache.ttl_minutes", "a cache needs at least one time".into());
    }
}

/// Reads are never dearer than input, and output never cheaper. A price that breaks this is a slip of a digit.
fn price_row(row: &PriceRow, fault: &mut impl FnMut(&'static str, String)) {
    if row.output < row.input {
        fault("prices.output", format!("{} is less than the input's {}", row.output, row.input));
    }
    if let Some(read) = row.cache_read.filter(|read| *read > row.input) {
        fault("prices.cache_read", format!("{read} is more than the input's {}", row.input));
    }
    if let Some(write) = row.cache_write.filter(|write| *write < row.input) {
        fault("prices.cache_write", format!("{write} is less than the input's {}", row.input));
    }
    let write = row.cache_write.unwrap_or(row.input);
    if let Some(long) = row.cache_write_long.filter(|long| *long < write) {
        fault("prices.cache_write_long", format!("{long} is less than a short write's {write}"));
    }
}

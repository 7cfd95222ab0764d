//! From a named effort to a number of thinking tokens, for models that take a budget.

use crate::model::{Effort, Model, ReasoningStyle};

/// Tokens a thinking model must be left for its answer.
pub const ANSWER_RESERVE: u64 = 1024;

/// The smallest budget a provider takes, where the model's facts do not say.
const SMALLEST: u64 = 1024;

/// Budgets by effort. The provider's smallest is 1,024; each step up is worth about what the named levels of newer
/// models are. Beyond `high` more tokens bring little, so the stronger levels share its budget.
const BUDGETS: [(Effort, u64); 6] = [
    (Effort::Minimal, 1024),
    (Effort::Low, 2048),
    (Effort::Medium, 8192),
    (Effort::High, 16384),
    (Effort::Xhigh, 16384),
    (Effort::Max, 16384),
];

/// The thinking budget for an effort, when there is room for all of it. `None` when the effort is none, or the model
/// takes no budget.
pub fn wanted(model: &Model, effort: Effort) -> Option<u64> {
    if model.reasoning.style != ReasoningStyle::Budget {
        return None;
    }
    let tokens = BUDGETS.iter().find(|(level, _)| *level == effort).map(|(_, tokens)| *tokens)?;
    Some(tokens.max(least(model)))
}

/// The thinking budget for an effort, within an output limit that thinking and answer share.
///
/// `None` means: do not ask for thinking, because none is [`wanted`], or the output limit leaves no room for the
/// smallest budget beside [`ANSWER_RESERVE`].
pub fn budget(model: &Model, effort: Effort, output_limit: u64) -> Option<u64> {
    let room = output_limit.min(model.max_output).saturating_sub(ANSWER_RESERVE);
    Some(wanted(model, effort)?.min(room)).filter(|tokens| *tokens >= least(model))
}

fn least(model: &Model) -> u64 {
    model.reasoning.min_budget.unwrap_or(SMALLEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn check(effort: Effort, output_limit: u64, expect: Option<u64>) {
        let haiku = Catalogue::builtin().resolve("claude-haiku-4-5").unwrap().model;
        assert_eq!(budget(&haiku, effort, output_limit), expect, "{effort} within {output_limit}");
    }

    #[test]
    fn effort_becomes_tokens_and_leaves_room_for_the_answer() {
        check(Effort::None, 64_000, None);
        check(Effort::Minimal, 64_000, Some(1024));
        check(Effort::Low, 64_000, Some(2048));
        check(Effort::Medium, 64_000, Some(8192));
        check(Effort::High, 64_000, Some(16384));
        check(Effort::Max, 64_000, Some(16384));
        check(Effort::High, 8192, Some(7168));
        check(Effort::High, 2048, Some(1024));
        check(Effort::High, 2047, None);
        check(Effort::Minimal, 0, None);
    }

    #[test]
    fn models_without_budgets_get_none() {
        let sonnet = Catalogue::builtin().resolve("claude-sonnet-5").unwrap().model;
        assert_eq!(budget(&sonnet, Effort::High, 64_000), None);
    }
}

//! How much of a window may be filled.

use mica_agent::Settings;
use mica_ai::Model;

/// The sizes that decisions about a window are made by, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLimits {
    /// Input and output together.
    window: u64,
    /// Input at most.
    input: u64,
    /// Input at most that the model takes, however short the answer is.
    most: u64,
    /// What is kept free beyond the answer, because counts are estimates and a summary has to be asked for.
    margin: u64,
}

/// Tokens that asking for a summary takes, and that a summary must have room for.
const ASK: u64 = 700;
const SUMMARY: u64 = 4_000;

impl WindowLimits {
    /// The limits of a model under a run's settings. `smaller` is a smaller window that somebody set, or that the
    /// provider told of.
    pub fn new(model: &Model, settings: &Settings, smaller: Option<u64>) -> Self {
        let window = smaller.unwrap_or(u64::MAX).min(model.context).max(1);
        let answer = settings.max_output.unwrap_or(model.max_output).min(model.max_output);
        // Some models may write as much as their window holds. Half of it is left to the conversation whatever they may.
        let input = window.saturating_sub(answer).max(window / 2).min(model.max_input.unwrap_or(u64::MAX));
        // Two percent is what estimates of the newest messages are wrong by; 2,000 tokens hold a request for a summary.
        let margin = (window / 50).max(2_000).min(window / 8);
        let most = model.max_input.unwrap_or(u64::MAX).min(window);
        Self { window, input, most, margin }
    }

    /// The whole window.
    pub fn window(self) -> u64 {
        self.window
    }

    /// What a request may have at most, so that an answer still fits.
    pub fn input(self) -> u64 {
        self.input
    }

    /// What a summary of the whole window may have, when it is asked for with the window as it is. `None` when there is no
    /// room for one. It is less than an answer may have, so a window that is too full for a turn can still be summarised.
    pub fn summary_room(self, filled: u64) -> Option<u64> {
        let asked = filled.saturating_add(ASK);
        let left = self.window.saturating_sub(asked);
        (asked <= self.most && left >= SUMMARY.min(self.window / 8)).then_some(left)
    }

    /// What may be in the window before something is done about it.
    pub fn threshold(self) -> u64 {
        self.input.saturating_sub(self.margin)
    }
}

#[cfg(test)]
mod tests {
    use mica_ai::Dialect;

    use super::*;

    #[test]
    fn room_for_the_answer_is_kept() {
        let mut model = Model::assumed("m", Dialect::Chat);
        (model.context, model.max_output) = (200_000, 64_000);
        let settings = Settings { max_output: Some(15_000), ..Settings::default() };
        let limits = WindowLimits::new(&model, &settings, None);
        assert_eq!((limits.input(), limits.threshold()), (185_000, 181_000));
        model.max_input = Some(100_000);
        assert_eq!(WindowLimits::new(&model, &settings, None).threshold(), 96_000);
        assert_eq!(limits.summary_room(190_000), Some(9_300), "too full for a turn, not for a summary");
        assert_eq!(limits.summary_room(196_000), None);
        // A provider that takes less than was known is believed.
        assert_eq!(WindowLimits::new(&model, &settings, Some(32_000)).threshold(), 15_000);
    }

    #[test]
    fn a_small_window_is_not_all_answer() {
        let mut model = Model::assumed("m", Dialect::Chat);
        (model.context, model.max_output) = (8_192, 8_192);
        let limits = WindowLimits::new(&model, &Settings { max_output: None, ..Settings::default() }, None);
        assert_eq!((limits.input(), limits.threshold()), (4_096, 3_072));
    }
}

//! The script that answers when no model is configured: a short tour of the desk, which really works on it.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use mica_ai::{Dialect, Model, Provider};
use mica_testkit::{Scenario, ScriptedModel};

/// What is said on the screen, so that nobody takes it for a model.
pub const NOTE: &str = "No model is asked: a script answers. It knows a tour, and really works on the desk. Try:\n  Find Ana Silva.\n  \
                        Which threads are open?          (on /page inbox)\n  Answer this thread.              (after /open \
                        thread:1053)\n  Mark Initech as active.\n  Make a task to ring Ana tomorrow.\n  Index the articles.             \
                        (on /page kb)\n  /inbound contact:ana-silva | Printer is down | It stopped printing. Please help.\n  /sweep, \
                        then /today and /approve";

/// The script as a model.
///
/// # Errors
/// A mistake in the script.
pub fn model() -> Result<(Arc<dyn Provider>, Arc<Model>)> {
    let scenario: Scenario =
        toml::from_str(include_str!("tour.toml")).context("the script of the tour is wrong")?;
    let mut model = Model::assumed("tour", Dialect::Responses);
    model.name = "a script".to_owned();
    Ok((Arc::new(ScriptedModel::new(scenario)), Arc::new(model)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_script_can_be_read() {
        super::model().unwrap();
    }
}

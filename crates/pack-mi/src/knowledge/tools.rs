//! The tools by which an agent reads the references: `load_context_reference` and `search_references`.
//!
//! Both only look. What they give is shorter than what the window spills to files, so it is read once and whole.

mod load;
mod search;

use std::sync::Arc;

use mica_agent::Tool;
use synapse_lang::model::Version;

pub use load::LoadContextReference;
pub use search::{SearchReferences, shown};

/// Tells the runtime of the project as it is now, when it is known. It is asked at every call, because the file that says
/// it can change while a session lasts.
pub type RuntimeVersion = Arc<dyn Fn() -> Option<Version> + Send + Sync>;

/// Both tools.
#[must_use]
pub fn tools(version: RuntimeVersion) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(LoadContextReference::new(Arc::clone(&version))), Arc::new(SearchReferences::new(version))]
}

#[cfg(test)]
mod tests;

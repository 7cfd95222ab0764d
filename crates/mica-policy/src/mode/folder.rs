//! The one place that plan mode may write to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use mica_agent::Args;
use serde_json::Value;

/// How a caller makes a canonical path out of what a model wrote. `None`: it cannot tell, which counts as outside.
type Normalise = Arc<dyn Fn(&str) -> Option<PathBuf> + Send + Sync>;

/// The plan folder, and which argument of which tool says where something is written.
#[derive(Clone)]
pub struct PlanFolder {
    root: PathBuf,
    writers: BTreeMap<String, String>,
    normalise: Normalise,
}

impl PlanFolder {
    /// A folder by its canonical path. `normalise` resolves links and relative paths: this crate sees no disk.
    pub fn new(
        root: impl Into<PathBuf>,
        normalise: impl Fn(&str) -> Option<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        Self { root: root.into(), writers: BTreeMap::new(), normalise: Arc::new(normalise) }
    }

    /// Says that a tool writes to the path in this argument, and nowhere else.
    #[must_use]
    pub fn writer(mut self, tool: &str, argument: &str) -> Self {
        self.writers.insert(tool.to_owned(), argument.to_owned());
        self
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a call writes below the folder and nowhere else. What cannot be told is a no.
    pub fn holds(&self, tool: &str, args: &Args) -> bool {
        let Some(argument) = self.writers.get(tool) else { return false };
        let Some(Value::String(text)) = args.get(argument) else { return false };
        let Some(path) = (self.normalise)(text) else { return false };
        // A path that still has `..` in it was not normalised, and nobody knows where it leads.
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        plain && path.starts_with(&self.root) && path != self.root
    }
}

impl fmt::Debug for PlanFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanFolder")
            .field("root", &self.root)
            .field("writers", &self.writers)
            .finish_non_exhaustive()
    }
}

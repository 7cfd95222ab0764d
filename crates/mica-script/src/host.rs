//! What scripts may ask of the program around them: functions by name, and nothing else.
//!
//! A script calls them as `host.<name>(…)`. Values cross as JSON. A failure becomes an `Error` that the script can catch.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

/// What a host function answers: a value, or why not, in words for the script.
pub type Answer = Result<Value, String>;

/// An answer that takes a while.
pub type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

type Now = Arc<dyn Fn(Vec<Value>) -> Answer + Send + Sync>;
type Later = Arc<dyn Fn(Vec<Value>) -> Pending + Send + Sync>;

/// Functions that a script may call.
#[derive(Clone, Default)]
pub struct Host {
    functions: BTreeMap<String, HostFunction>,
}

#[derive(Clone)]
pub(crate) enum HostFunction {
    Now(Now),
    Later(Later),
}

impl Host {
    /// No functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a function that answers at once. It runs on the thread of the cage, and nothing stops it.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        function: impl Fn(Vec<Value>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.functions.insert(name.into(), HostFunction::Now(Arc::new(function)));
        self
    }

    /// With a function that a script awaits. It is dropped when the call of the script ends before it does.
    #[must_use]
    pub fn with_async<F>(
        mut self,
        name: impl Into<String>,
        function: impl Fn(Vec<Value>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let later: Later = Arc::new(move |args| Box::pin(function(args)));
        self.functions.insert(name.into(), HostFunction::Later(later));
        self
    }

    /// The names of the functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&HostFunction> {
        self.functions.get(name)
    }
}

//! Where variables are kept, when that is not the session.

use async_trait::async_trait;
use serde_json::Value;

/// Variables of somebody else: those of a workflow, for example.
#[async_trait]
pub trait Variables: Send + Sync {
    /// A variable.
    fn get(&self, name: &str) -> Option<Value>;

    /// Their names, in order.
    fn names(&self) -> Vec<String>;

    /// Sets one. It is safe when this returns.
    ///
    /// # Errors
    /// In words.
    async fn set(&self, name: &str, value: Value) -> Result<(), String>;
}

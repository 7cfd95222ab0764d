//! What a product keeps itself, and lets the store of a session see.

use async_trait::async_trait;
use serde_json::Value;

/// Variables of somebody else: those of a workflow, for example. `var:` then means these.
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

/// What a session is about: fields that can be referred to by name alone, such as `contact.email`.
pub trait Subject: Send + Sync {
    /// The names of its fields, in order.
    fn fields(&self) -> Vec<String>;

    /// A field, as it is now.
    fn field(&self, name: &str) -> Option<Value>;
}

/// The members of an object are its fields.
impl Subject for serde_json::Map<String, Value> {
    fn fields(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.get(name).cloned()
    }
}

//! The gate that validates: the first in the order, so that the others judge what will really run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, ToolSpec, Verdict};

use super::{BadSchema, Schema};

/// The name of the rule in verdicts.
const RULE: &str = "schema";

/// Validates and coerces the arguments of every call.
#[derive(Debug, Default)]
pub struct SchemaGate {
    /// By tool. Compiling is dear, and a tool's schema never changes while it lives; one that is replaced by another
    /// of its name is compiled again.
    compiled: Mutex<HashMap<String, Arc<Schema>>>,
}

impl SchemaGate {
    /// A gate that has compiled nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The schema of a tool, compiled once.
    ///
    /// # Errors
    /// [`BadSchema`].
    pub fn schema(&self, spec: &ToolSpec) -> Result<Arc<Schema>, BadSchema> {
        let known = self.lock().get(&spec.name).cloned();
        if let Some(schema) = known.filter(|schema| *schema.text() == spec.schema) {
            return Ok(schema);
        }
        let schema = Arc::new(Schema::compile(&spec.schema)?);
        self.lock().insert(spec.name.clone(), schema.clone());
        Ok(schema)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Schema>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Hooks for SchemaGate {
    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        let tool = &gated.spec.name;
        let deny = |reason: String| Verdict::Deny { reason, rule: Some(RULE.to_owned()) };
        let schema = match self.schema(gated.spec) {
            Ok(schema) => schema,
            Err(bad) => {
                tracing::error!(%tool, error = %bad, "a tool cannot be called: its schema is broken");
                return deny(format!(
                    "{tool} cannot be called: its own schema is broken. Do it in another way."
                ));
            }
        };
        match schema.judge(&mut gated.args) {
            Ok(coercions) => {
                for coercion in coercions {
                    tracing::debug!(%tool, %coercion, "an argument was put right");
                }
                Verdict::Pass
            }
            // The model has not been sent the schema of a tool that stands behind another, and may not have asked for it.
            Err(invalid) if cx.tools.get(tool).is_none() => deny(format!(
                "{}\nIts arguments (JSON Schema): {}",
                invalid.for_model(tool),
                gated.spec.schema
            )),
            Err(invalid) => deny(invalid.for_model(tool)),
        }
    }
}

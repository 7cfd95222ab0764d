//! Tools from a function and a type: the schema comes from the type, and arguments arrive as it.

use std::future::Future;
use std::marker::PhantomData;

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cx::ToolCx;
use crate::tool::{Args, Resource, Tool, ToolError, ToolOutput, ToolSpec};

/// The JSON Schema of a type, as models read it best: draft 2020-12, everything inline, no title.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if let Value::Object(members) = &mut schema {
        members.shift_remove("title");
    }
    schema
}

/// A tool whose arguments are a type.
pub struct TypedTool<A, F> {
    spec: ToolSpec,
    touches: fn(&A) -> Vec<Resource>,
    call: F,
    arguments: PhantomData<fn(A)>,
}

impl<A, F, R> TypedTool<A, F>
where
    A: JsonSchema + DeserializeOwned + Send + 'static,
    F: Fn(A, ToolCx) -> R + Send + Sync,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    /// A tool that only looks. Use [`TypedTool::with`] to say otherwise.
    pub fn new(name: impl Into<String>, description: impl Into<String>, call: F) -> Self {
        Self {
            spec: ToolSpec::new(name, description, schema_of::<A>()),
            touches: |_| Vec::new(),
            call,
            arguments: PhantomData,
        }
    }

    /// Changes what the engine knows of it.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ToolSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// Says what a call touches.
    #[must_use]
    pub fn touching(mut self, touches: fn(&A) -> Vec<Resource>) -> Self {
        self.touches = touches;
        self
    }
}

#[async_trait]
impl<A, F, R> Tool for TypedTool<A, F>
where
    A: JsonSchema + DeserializeOwned + Send + 'static,
    F: Fn(A, ToolCx) -> R + Send + Sync,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        read::<A>(args.clone()).map(|args| (self.touches)(&args)).unwrap_or_default()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args = read::<A>(args)?;
        (self.call)(args, cx.clone()).await
    }
}

fn read<A: DeserializeOwned>(args: Args) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        ToolError::new(format!("The arguments do not fit the tool: {error}. Nothing was done."))
    })
}

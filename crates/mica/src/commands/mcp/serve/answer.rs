//! What tools answer, and how a function becomes a tool.

use mica_agent::ToolError;
use mica_agent::typed::schema_of;
use mica_tools::FileError;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::site::Site;

/// Bytes of the text of an answer at most. What is beyond is in the structured part, or can be asked for in parts.
const MOST_TEXT: usize = 64 << 10;

/// What a tool answers: data for programs, and the same in few words for models.
pub struct Answer<T> {
    /// What a model reads.
    pub text: String,
    /// What fits the schema of the tool's output.
    pub data: T,
}

/// Why a tool does not do what was asked, in words that say what to do instead.
#[derive(Debug)]
pub struct Refusal(String);

impl Refusal {
    /// In words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        Self(error.for_model())
    }
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self(error.message)
    }
}

/// What a tool does with its arguments.
type Run = Box<dyn Fn(&Site, JsonObject) -> CallToolResult + Send + Sync>;

/// A tool, and what it does.
pub struct Offered {
    /// What clients see.
    pub tool: Tool,
    run: Run,
}

impl Offered {
    /// A tool that only looks.
    pub fn new<I, O>(
        name: &'static str,
        title: &str,
        description: &'static str,
        run: fn(&Site, &I) -> Result<Answer<O>, Refusal>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let mut tool = Tool::new(name, description, object(schema_of::<I>()));
        tool.title = Some(title.to_owned());
        tool.output_schema = Some(object(schema_of::<O>()).into());
        tool.annotations = Some(
            ToolAnnotations::with_title(title)
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        );
        let run = move |site: &Site, arguments: JsonObject| match serde_json::from_value(Value::Object(
            arguments,
        )) {
            Ok(input) => told(run(site, &input)),
            Err(error) => refused(&format!("The arguments do not fit the tool {name}: {error}.")),
        };
        Self { tool, run: Box::new(run) }
    }

    /// Does it, on a thread that may wait.
    pub fn call(&self, site: &Site, arguments: JsonObject) -> CallToolResult {
        (self.run)(site, arguments)
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

fn told<O: Serialize>(answer: Result<Answer<O>, Refusal>) -> CallToolResult {
    match answer {
        Ok(Answer { mut text, data }) => match serde_json::to_value(data) {
            Ok(data) => {
                shorten(&mut text);
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(error) => refused(&format!("The answer cannot be written: {error}.")),
        },
        Err(Refusal(text)) => refused(&text),
    }
}

/// An answer that says why there is none.
pub fn refused(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn shorten(text: &mut String) {
    if text.len() <= MOST_TEXT {
        return;
    }
    let mut end = MOST_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n[{left} more bytes; ask for less at a time]"));
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

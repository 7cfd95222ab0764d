//! From parsed JSON to the arguments of a tool.

use mica_agent::{Args, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads arguments as a type.
pub(super) fn read<A: DeserializeOwned>(args: Args) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        ToolError::new(format!("The arguments do not fit the tool: {error}. Nothing was done."))
    })
}

/// A number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "it is rounded to one digit anyway")]
    let of = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", of(1_000)),
        _ => format!("{:.1} MB", of(1_000_000)),
    }
}

/// `1 error`, `2 errors`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The beginning of a text, up to some bytes.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", text.get(..text.floor_char_boundary(most)).unwrap_or_default())
}

//! A call in one line, for people.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mica_agent::Args;
use serde_json::Value;

use crate::act::Act;

/// Letters of a line.
const LINE: usize = 160;

/// Letters of one argument in it.
const ARGUMENT: usize = 40;

/// A call in one line: as the product says it, or its arguments. What breaks over it says nothing.
pub fn digest(act: Option<&Act>, label: &str, args: &Args) -> String {
    let own = act.and_then(|act| act.digest.as_ref()).and_then(|digesting| {
        let said = catch_unwind(AssertUnwindSafe(|| digesting(args)));
        said.inspect_err(|_| tracing::error!("a digest panicked")).ok()
    });
    let text = own.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| {
        let arguments: Vec<String> = args
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => format!("{name}: {}", cut(text, ARGUMENT)),
                other => format!("{name}: {}", cut(&other.to_string(), ARGUMENT)),
            })
            .collect();
        if arguments.is_empty() { label.to_owned() } else { format!("{label} ({})", arguments.join(", ")) }
    });
    cut(&text, LINE)
}

/// The beginning of a text, in one line.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_one_line() {
        let args = |value: Value| value.as_object().unwrap().clone();
        let long = args(json!({ "to": "ann\nlee", "n": 3, "body": "x".repeat(100) }));
        assert_eq!(
            digest(None, "Reply", &long),
            format!("Reply (to: ann lee, n: 3, body: {}…)", "x".repeat(39))
        );
        assert_eq!(digest(None, "Reply", &Args::new()), "Reply");
        let act = Act::of("reply").digesting(|args| format!("Reply to {}", args["to"].as_str().unwrap()));
        assert_eq!(digest(Some(&act), "Reply", &long), "Reply to ann lee");
        // It panics without an argument that it counts on.
        assert_eq!(digest(Some(&act), "Reply", &args(json!({ "n": 1 }))), "Reply (n: 1)");
    }
}

//! The fingerprint of what a person was shown, so that a yes counts for that and for nothing else.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base::Base;

/// The fingerprint of a call as a person is shown it: the tool, the arguments it would run with, and what it rests on. The same in every
/// process, whatever the order in which the arguments are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shown(String);

/// Bytes of the hash that are kept: nobody finds a second call with the same ones.
const BYTES: usize = 16;

impl Shown {
    /// The fingerprint of a tool with arguments.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        let mut text = String::new();
        write(&Value::from(tool), &mut text);
        write(arguments, &mut text);
        let digest = Sha256::digest(text);
        let hex = digest.iter().take(BYTES).fold(String::with_capacity(2 * BYTES), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Self(hex)
    }

    /// The same, with what it rests on: what was shown when that stood otherwise was something else.
    pub fn based(tool: &str, arguments: &Value, base: Option<&Base>) -> Self {
        match base {
            None => Self::of(tool, arguments),
            Some(base) => Self::of(tool, &json!({ "arguments": arguments, "base": base })),
        }
    }

    /// The fingerprint as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value as JSON in which the members of objects are sorted.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in members {
                write(&Value::from(key.as_str()), out);
                out.push(':');
                write(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Shown;

    #[test]
    fn order_makes_no_difference_and_everything_else_does() {
        let shown = Shown::of("write", &json!({ "path": "a", "more": { "x": [1, "2"], "y": null } }));
        let same = Shown::of("write", &json!({ "more": { "y": null, "x": [1, "2"] }, "path": "a" }));
        assert_eq!(shown, same);
        assert_eq!(shown.as_str(), "3ae2ab2f16c97c2c228a3c9ce3efe589");
        for (tool, arguments) in [
            ("writes", json!({ "path": "a", "more": { "x": [1, "2"], "y": null } })),
            ("write", json!({ "path": "b", "more": { "x": [1, "2"], "y": null } })),
            ("write", json!({ "path": "a", "more": { "x": [1, 2], "y": null } })),
            ("write", json!({ "path": "a", "more": { "x": ["2", 1], "y": null } })),
            ("write", json!({ "path": "a", "more": { "x": [1, "2"] } })),
            ("write", json!({ "path": "a" })),
        ] {
            assert_ne!(Shown::of(tool, &arguments), shown, "{tool} {arguments}");
        }
    }
}

//! What stands in for a tool, as it is written.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Matching;

/// What happens with calls that no stand-in fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmatched {
    /// They fail, and so does the case.
    #[default]
    Fail,
    /// The tool runs.
    Run,
    /// Tools that only look run; the others fail, and so does the case.
    Reads,
}

/// How often a stand-in stands in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// Always.
    #[default]
    Repeat,
    /// Once.
    Once,
}

/// What stands in for a tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MockPart {
    /// The tool.
    pub tool: String,
    /// The arguments it is for; any when absent.
    pub args: Option<Map<String, Value>>,
    /// How they are compared.
    #[serde(rename = "match")]
    pub matching: Matching,
    /// What the model reads.
    pub output: Option<String>,
    /// What it reads, call by call. With `once`, each of them is read once; else the last stays.
    pub outputs: Vec<String>,
    /// What interfaces get besides.
    pub details: Option<Value>,
    /// It fails with this instead.
    pub error: Option<String>,
    /// How often.
    pub times: Times,
}

impl MockPart {
    pub(super) fn wrong(&self) -> Option<String> {
        let given = [self.output.is_some(), !self.outputs.is_empty(), self.error.is_some()];
        match given.iter().filter(|given| **given).count() {
            _ if self.tool.is_empty() => Some("`tool` is missing".to_owned()),
            1 => None,
            0 => Some("say what comes of it: `output`, `outputs` or `error`".to_owned()),
            _ => Some("`output`, `outputs` and `error` exclude each other".to_owned()),
        }
    }
}

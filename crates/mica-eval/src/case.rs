//! A case: what the world is like, what is said and done in it, and what must come of it. Read from TOML.
//!
//! Promise: nothing in a file is passed over. A key that nobody knows is an error, with its place and the key that was
//! probably meant, and so is a step that says two things at once; all of them are told, not only the first. The whole format is in `docs/evals.md`.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::confine::{below, leads_out};
use crate::error::EvalError;

mod expect;
mod holds;
mod mock;
mod model;
mod read;
mod shape;
mod step;

pub use expect::{CalledLike, CardLike, Expect, Matching, UsageBounds};
pub use holds::{Holds, Near, Unlike};
pub(crate) use holds::{equal, finds, includes, plain};
pub use mock::{MockPart, Times, Unmatched};
pub use model::{CallPart, JudgePart, ModelKind, ModelPart, TurnPart};
pub use read::given;
pub(crate) use read::likely;
pub use shape::{Shape, Shapes};
pub use step::{Action, AnswerPart, Step};

/// The time at which a case stands when it says nothing else.
pub const NOON: &str = "2026-01-05T12:00:00Z";

/// A case, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseFile {
    /// What it shows, in a sentence.
    pub about: String,
    /// The product it is played in.
    pub product: String,
    /// Words to choose cases by.
    pub tags: Vec<String>,
    /// What time it is at first.
    #[serde(deserialize_with = "read::time")]
    pub clock: Option<Timestamp>,
    /// Seconds it may take; the runner's own limit when absent.
    pub deadline: Option<u64>,
    /// The digest that its journal must have: played again, it tells the same bytes.
    pub journal: Option<String>,
    /// What the world is like at first, as the product has it.
    pub setup: Map<String, Value>,
    /// What happens with calls that no stand-in fits.
    pub unmatched: Option<Unmatched>,
    /// What stands in for tools.
    pub mock: Vec<MockPart>,
    /// Who answers.
    pub model: ModelPart,
    /// Who judges what is put in words.
    pub judge: JudgePart,
    /// What the scripted model says, in order, when no step says it.
    pub turn: Vec<TurnPart>,
    /// What is said and done.
    pub step: Vec<Step>,
    /// What must be so at the end, by what is looked at.
    pub after: std::collections::BTreeMap<String, Holds>,
}

/// A case that can be played.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name: the path of its file below what was asked for, without the ending.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Tells whether two reports speak of the same case: comments and layout do not count.
    pub digest: String,
    /// What it says.
    pub file: CaseFile,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// Every [`EvalError::Invalid`] there is, in the order of the file and with its place.
    pub fn parse(name: &str, path: &Path, text: &str) -> Result<Self, Vec<EvalError>> {
        let invalid = |(at, problem): read::Mistake| EvalError::Invalid {
            path: path.to_path_buf(),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
            problem,
        };
        let all = |mistakes: Vec<read::Mistake>| mistakes.into_iter().map(invalid).collect::<Vec<_>>();
        let source = read::Source::parse(text).map_err(all)?;
        let file: CaseFile = source.read().map_err(all)?;
        let mut mistakes = wrong(&file, &source);
        if !mistakes.is_empty() {
            mistakes.sort_by_key(|(place, _)| *place);
            return Err(all(mistakes));
        }
        let value: toml::Table =
            toml::from_str(text).map_err(|error| all(vec![(None, error.message().to_owned())]))?;
        let value = serde_json::to_value(&value).map_err(|error| all(vec![(None, error.to_string())]))?;
        let digest = digest(canonical(&value).as_bytes());
        Ok(Self { name: name.to_owned(), path: path.to_path_buf(), digest, file })
    }

    /// What time it is at first.
    pub fn begins(&self) -> Timestamp {
        self.file.clock.unwrap_or_else(|| NOON.parse().unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// The folder of its file.
    pub fn beside(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// A file that it names beside itself.
    ///
    /// # Errors
    /// In words, when it leads out of the folder of the case.
    pub fn file(&self, named: &Path) -> Result<PathBuf, String> {
        below(self.beside(), named, "the folder of the case")
    }

    /// Why it asks a real model whenever it is played, when it does.
    pub fn asks_live(&self) -> Option<&'static str> {
        let judge = &self.file.judge;
        let judges = self.file.step.iter().any(|step| !step.expect.judge.is_empty());
        if self.file.model.kind == ModelKind::Live {
            Some("it asks a real model: --live plays it")
        } else if judges && judge.cassette.is_none() && judge.turn.is_empty() {
            Some("its judge is a real model: --live plays it; with a `cassette` in [judge] it is asked once")
        } else {
            None
        }
    }

    /// Whether it says anything about what must come of it, beyond what is so of every case.
    pub fn expects_something(&self) -> bool {
        let file = &self.file;
        let sees = |turn: &TurnPart| !turn.sees.is_empty() || !turn.lacks.is_empty();
        file.journal.is_some()
            || !file.after.is_empty()
            || self.turns().any(sees)
            || file.step.iter().any(|step| step.expect != Expect::default())
    }

    /// Everything the scripted model says, in order.
    pub fn turns(&self) -> impl Iterator<Item = &TurnPart> {
        self.file.step.iter().flat_map(|step| &step.turn).chain(&self.file.turn)
    }
}

/// What is wrong beyond what the shape says.
fn wrong(file: &CaseFile, source: &read::Source<'_>) -> Vec<read::Mistake> {
    let mut found = Vec::new();
    if file.about.trim().is_empty() {
        found.push((None, "`about` is missing: say in a sentence what the case shows".to_owned()));
    }
    if file.product.trim().is_empty() {
        found.push((None, "`product` is missing: say which product the case is played in".to_owned()));
    }
    if file.step.is_empty() {
        found.push((None, "there is no [[step]]: a case in which nothing happens shows nothing".to_owned()));
    }
    let files = [(&file.model.file, ["model", "file"]), (&file.judge.cassette, ["judge", "cassette"])];
    for (named, path) in files {
        let key = path.join(".");
        let out = named.as_deref().and_then(leads_out);
        let problem =
            out.map(|problem| format!("`{key}`: {problem}: name something below the folder of the case"));
        found.extend(problem.map(|problem| (source.place(&path), problem)));
    }
    found.extend(file.model.wrong(file).map(|problem| (source.place(&["model"]), problem)));
    for (index, mock) in file.mock.iter().enumerate() {
        let at = || source.place(&["mock", &index.to_string()]);
        found.extend(mock.wrong().map(|problem| (at(), format!("mock {}: {problem}", index + 1))));
    }
    for (index, step) in file.step.iter().enumerate() {
        let at = || source.place(&["step", &index.to_string()]);
        found
            .extend(step.wrong().into_iter().map(|problem| (at(), format!("step {}: {problem}", index + 1))));
    }
    for (what, holds) in &file.after {
        let at = || source.place(&["after", what]);
        found.extend(holds.wrong().map(|problem| (at(), format!("after {what:?}: {problem}"))));
    }
    if !file.turn.is_empty() && file.step.iter().any(|step| !step.turn.is_empty()) {
        let problem = "there are turns of the case and turns of steps: their order would be anybody's guess";
        found.push((source.place(&["turn", "0"]), problem.to_owned()));
    }
    let asks_judge = file.step.iter().any(|step| !step.expect.judge.is_empty());
    if asks_judge && !file.judge.is_set() {
        let problem = "there is something to judge and no [judge]: say `model`, `cassette` or [[judge.turn]]";
        found.push((None, problem.to_owned()));
    }
    found
}

/// Names some bytes, briefly.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A value with the keys of objects in order: the same however it was written.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: std::collections::BTreeMap<&String, &Value> = members.iter().collect();
            members.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        Value::Array(members) => members.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// That as text.
pub(crate) fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

/// A time that passes, as it is written: `90s`, `2h 30m`, `3d`.
///
/// # Errors
/// In words.
pub fn duration(text: &str) -> Result<SignedDuration, String> {
    let span: jiff::Span = text
        .parse()
        .map_err(|_| format!("{text:?} is no duration; write for example \"2h 30m\" or \"3d\""))?;
    span.to_duration(jiff::SpanRelativeTo::days_are_24_hours())
        .map_err(|_| format!("{text:?} has no fixed length; write days or less"))
}

#[cfg(test)]
mod tests;

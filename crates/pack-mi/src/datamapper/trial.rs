//! A mapping, run on a sample, and its result held against the target.

use mica_script::console::Console;
use mica_script::{Cage, Limits, ScriptError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::shape::{self, Shape};
use super::typescript::FUNCTION;
use super::{Schema, schema};

use jsonschema::error::{TypeKind, ValidationErrorKind};

/// Characters of a result that are shown.
const SHOWN: usize = 3_000;

/// Findings that are listed before the rest is counted.
const LISTED: usize = 25;

/// The name of the module that calls the mapping.
const CALLING: &str = "(trial)";

/// That module. Properties of messages are there, and say their names.
const CALLER: &str = r#"
const named = (name: string): any => new Proxy({}, { get: (_, key) => typeof key === "string" ? `${name}${key}` : undefined });
(globalThis as any).DM_PROPERTIES = new Proxy({}, { get: (_, scope) => typeof scope === "string" ? named("") : undefined });
"#;

/// A mapping to try.
pub(crate) struct Trial<'a> {
    /// The name of its file.
    pub(crate) name: &'a str,
    /// Its file.
    pub(crate) source: &'a str,
    /// Files beside it.
    pub(crate) others: &'a [(String, String)],
    /// What it is given.
    pub(crate) input: &'a Value,
    /// What it should make.
    pub(crate) output: &'a Schema,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tried {
    /// The result.
    pub(crate) value: Value,
    /// What does not fit the target.
    pub(crate) found: Vec<Finding>,
    /// What it printed.
    pub(crate) console: Console,
}

/// One thing that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Missing,
    Extra,
    Wrong(String),
}

impl Trial<'_> {
    /// What happens to the mapping when nothing is there that may be missing. `None`: nothing bad.
    pub(crate) async fn sparse(&self, input: &Schema, cancel: &CancellationToken) -> Option<String> {
        let least = shape::least(&input.shape)?;
        let error = Trial { input: &least, ..*self }.run(cancel).await.err()?;
        let why = failure(&error, self.name, self.source);
        Some(format!("Without optional fields, and with empty lists, it stops, and so will the flow:\n{why}"))
    }

    /// Runs it.
    pub(crate) async fn run(&self, cancel: &CancellationToken) -> Result<Tried, ScriptError> {
        let cage = Cage::new(Limits::default())?;
        for (name, source) in self.others.iter().filter(|(name, _)| name != self.name) {
            cage.module(name, source).await?;
        }
        cage.module(self.name, self.source).await?;
        let import = Value::from(format!("./{}", self.name));
        let caller = format!(
            "{CALLER}import {{ {FUNCTION} }} from {import};\nexport const run = (input: any) => {FUNCTION}(input);\n"
        );
        cage.module(CALLING, &caller).await?;
        let value = cage.call_until(CALLING, "run", std::slice::from_ref(self.input), cancel).await;
        let console = cage.console();
        let value = value?;
        let found = judge(&value, &self.output.shape);
        Ok(Tried { value, found, console })
    }
}

/// What of a value does not fit a shape. What is wrong with every item of a list is said once.
pub(crate) fn judge(value: &Value, shape: &Shape) -> Vec<Finding> {
    let compiled = jsonschema::options().offline().build(&schema::write(shape));
    let Ok(validator) = compiled else { return Vec::new() };
    let mut found: Vec<Finding> = Vec::new();
    let mut add = |path: String, what| {
        let finding = Finding { path, what };
        if !found.contains(&finding) {
            found.push(finding);
        }
    };
    for error in validator.iter_errors(value) {
        let at = path(error.instance_path().as_str());
        let inner = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                add(inner(property.as_str().unwrap_or_default()), What::Missing);
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                unexpected.iter().for_each(|name| add(inner(name), What::Extra));
            }
            ValidationErrorKind::Type { kind } => {
                let wanted = match kind {
                    TypeKind::Single(one) => one.to_string(),
                    TypeKind::Multiple(_) => "another type".to_owned(),
                };
                add(root(&at), What::Wrong(format!("wants {wanted}, is {}", shown(error.instance()))));
            }
            ValidationErrorKind::Enum { options } => {
                add(
                    root(&at),
                    What::Wrong(format!("wants one of {options}, is {}", shown(error.instance()))),
                );
            }
            _ => add(root(&at), What::Wrong(format!("fits no form of it, is {}", shown(error.instance())))),
        }
    }
    found
}

fn root(path: &str) -> String {
    if path.is_empty() { "the result".to_owned() } else { path.to_owned() }
}

/// A JSON pointer as people write paths, without the numbers of items.
fn path(pointer: &str) -> String {
    let mut text = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push_str("[]");
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&step);
        }
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        single => cut(&single.to_string(), 60),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

impl Tried {
    /// Whether the result is what was wanted.
    pub(crate) fn fits(&self) -> bool {
        self.found.is_empty()
    }

    /// For the model.
    pub(crate) fn text(&self, on: &str) -> String {
        let result = serde_json::to_string_pretty(&self.value).unwrap_or_default();
        let mut text = format!("Tried on {on}; the result is:\n{}\n", cut(&result, SHOWN));
        if self.fits() {
            text.push_str("It fits the target schema.");
            return self.with_console(text);
        }
        let mut listed = 0;
        let mut list = |title: &str, wanted: &dyn Fn(&Finding) -> Option<String>| {
            let all: Vec<String> = self.found.iter().filter_map(wanted).collect();
            if all.is_empty() {
                return;
            }
            let room = LISTED.saturating_sub(listed).max(1);
            let mut said = all.iter().take(room).cloned().collect::<Vec<_>>().join(", ");
            if all.len() > room {
                said += &format!(", and {} more", all.len() - room);
            }
            listed += all.len();
            text.push_str(&format!("{title}: {said}\n"));
        };
        list("Missing", &|one| (one.what == What::Missing).then(|| one.path.clone()));
        list("Not in the target schema", &|one| (one.what == What::Extra).then(|| one.path.clone()));
        list("Wrong", &|one| match &one.what {
            What::Wrong(why) => Some(format!("{} ({why})", one.path)),
            _ => None,
        });
        self.with_console(text.trim_end().to_owned())
    }

    fn with_console(&self, mut text: String) -> String {
        for line in self.console.lines.iter().take(10) {
            text.push_str(&format!("\nconsole: {}", cut(&line.text, 200)));
        }
        text
    }
}

/// Why a mapping cannot be run, with the line it stopped at.
pub(crate) fn failure(error: &ScriptError, name: &str, source: &str) -> String {
    let mut error = error.clone();
    // Who called it is no news.
    match &mut error {
        ScriptError::NotFound { there, .. } => there.retain(|one| one != CALLING),
        ScriptError::Thrown { frames, .. }
        | ScriptError::TimedOut { frames, .. }
        | ScriptError::StackOverflow { frames } => frames.retain(|frame| frame.module != CALLING),
        _ => {}
    }
    let mut text = error.for_model();
    if let Some(frame) = error.frames().iter().find(|frame| frame.module == name)
        && let Some(line) = source.lines().nth(frame.at.line.saturating_sub(1) as usize)
    {
        text.push_str(&format!("\n{} | {}", frame.at.line, cut(line.trim(), 200)));
    }
    text
}

#[cfg(test)]
mod tests;

//! `fix`: repairs an artifact, as `mica fix` does. It writes only when the server was started to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synapse_lang::fix::Extent;

use super::finding::{Finding, Summary, rows};
use crate::commands::fix::{Wanted, codes, diff, mend};
use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;
use crate::render::findings::Counts;
use crate::sources::Checkable;

/// What to repair.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A file, relative to the root.
    path: Option<String>,
    /// The text of an artifact that is not saved yet, instead of a path.
    text: Option<String>,
    /// Where that text will be saved.
    file_name: Option<String>,
    /// Only findings with these codes, for example SYN0201.
    #[serde(default)]
    codes: Vec<String>,
    /// Also repairs that should be looked at afterwards, not only safe ones.
    #[serde(default)]
    all: bool,
    /// The runtime, for example 4.3 or 4.4.0. Left out: what the project says, else the newest.
    runtime: Option<String>,
    /// Write the repaired text to the file.
    #[serde(default)]
    write: bool,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    path: String,
    /// Whether the text is another than before.
    changed: bool,
    /// Whether the file was written.
    written: bool,
    /// The repaired text.
    text: String,
    /// The change as a unified diff.
    diff: String,
    /// What was repaired.
    applied: Vec<Applied>,
    /// Codes whose repair was left out, because it does not help or breaks something else.
    refused: Vec<String>,
    /// What is left.
    left: Vec<Finding>,
    summary: Summary,
}

/// A repair that was made.
#[derive(Debug, Serialize, JsonSchema)]
struct Applied {
    code: String,
    title: String,
}

/// The tool.
pub fn tool(may_write: bool) -> Offered {
    let mut offered = Offered::new(
        "fix",
        "Repair a Synapse artifact",
        "Repairs what `check` finds in an artifact, where the repair is evident, and gives the repaired text, a diff and what is \
         left. A repair that would make the artifact worse is not made.",
        run,
    );
    if may_write {
        if let Some(annotations) = &mut offered.tool.annotations {
            annotations.read_only_hint = Some(false);
            annotations.destructive_hint = Some(true);
        }
    } else {
        // Nothing is offered that would be refused.
        let mut schema = (*offered.tool.input_schema).clone();
        if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
            properties.remove("write");
        }
        offered.tool.input_schema = schema.into();
    }
    offered
}

fn run(site: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    if input.write && !site.may_write() {
        return Err(Refusal::new(
            "This server only looks: it was started without --write. Take the text or the diff of this answer and write it \
             yourself.",
        ));
    }
    let asked = input.runtime.as_deref().map(|runtime| site.runtime(Some(runtime))).transpose()?.flatten();
    let names = codes(&input.codes).map_err(|error| {
        let text = error.to_string();
        Refusal::new(
            text.replace("--code ", "").replace("`mica explain --list` lists all", "they look like SYN0201"),
        )
    })?;
    let extent = if input.all { Extent::Everything } else { Extent::Safe };
    let wanted = Wanted { extent, codes: names };
    let view = site.view(false);
    if let Some(path) = &input.path
        && site.place(path)?.is_dir()
    {
        return Err(Refusal::new(format!(
            "{path} is a folder: repair one file at a time; `check` lists those with findings."
        )));
    }
    let (mut sources, what) = match (&input.path, &input.text) {
        (Some(path), None) => (site.files(std::slice::from_ref(path), &view)?, Checkable::Files),
        (None, Some(text)) => site.text(text, input.file_name.as_deref(), &view)?,
        _ => return Err(Refusal::new("Give the path of one file, or a text.")),
    };
    if input.write && input.path.is_none() {
        return Err(Refusal::new("Only a file can be written: give its path."));
    }
    sources.set_runtime(asked);
    let [target] = sources.targets.as_slice() else {
        return Err(Refusal::new(format!(
            "{} is nothing that is checked, so there is nothing to repair.",
            input.path.as_deref().unwrap_or("That")
        )));
    };
    let target = target.clone();
    let mut checked = sources.check(asked, &what);
    let checked = match checked.pop() {
        Some(Ok(checked)) => checked,
        Some(Err(why)) => return Err(Refusal::new(why)),
        None => return Err(Refusal::new("There is nothing to check there.")),
    };
    let (repaired, left) =
        mend(&mut sources, &target, &checked.text, &wanted, asked).map_err(Refusal::new)?;
    let changed = repaired.text != *checked.text;
    let written = changed && input.write;
    if written && let Some(path) = &input.path {
        site.write(path, &checked.text, &repaired.text)?;
    }
    let diff = diff(&checked.shown, &checked.text, &repaired.text);
    let mut counts = Counts::default();
    left.iter().for_each(|one| counts.add(one.severity));
    let summary = Summary::of(1, &counts);
    let left = Finding::all(&repaired.text, &left);
    let done = match (repaired.applied.len(), written) {
        (0, _) => "Nothing was repaired".to_owned(),
        (count, true) => format!("{count} repaired, and written"),
        (count, false) => format!("{count} repaired, not written"),
    };
    let rest = rows(left.iter().map(|one| (checked.shown.as_str(), one)));
    let text = format!("{done}; left: {}.\n{diff}{rest}", summary.words());
    let applied = repaired.applied.iter();
    let data = Output {
        path: checked.shown,
        changed,
        written,
        diff,
        applied: applied
            .map(|one| Applied { code: one.code.to_string(), title: one.title.clone() })
            .collect(),
        refused: repaired.refused.iter().map(ToString::to_string).collect(),
        text: repaired.text,
        left,
        summary,
    };
    Ok(Answer { text: text.trim_end().to_owned(), data })
}

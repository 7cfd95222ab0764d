//! `generate_data_mapping`: fills in, or changes, the mapping of a data mapper that is there, and runs it.
//!
//! Promise: a mapping that does not run is not written, and what somebody mapped before is not lost in silence.

use std::path::Path;

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
    typed::schema_of,
};
use mica_tools::arguments::{blocking, read};
use mica_tools::{Change, Found, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Layout, SAMPLE, UTILS};
use super::mapping::{self, Protected};
use super::trial::{Trial, failure};
use super::typescript::{self, MappingError, MappingFile};
use super::{DM_UTILS, DataMapping, Mapper, shape};
use crate::project::choice::inside;

/// The name models call it by.
pub(crate) const NAME: &str = "generate_data_mapping";

/// What a mapper is told.
const PROMPT: &str = include_str!("prompt.md");

/// Bytes of a mapping, and of what lies beside it.
const FILE: u64 = 1 << 20;

/// Files beside a mapping that it may import.
const BESIDE: usize = 20;

/// Which mapping, and how.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GenerateArgs {
    /// The folder of the data mapper, or a file in it, or just its name.
    dm_config_path: String,
    /// The mapping: the body of `mapFunction(input)`, or the whole function, in TypeScript.
    mapping: Option<String>,
    /// What the mapping is to do, in words, when somebody else is to write it. Not together with mapping.
    instructions: Option<String>,
    /// Replace a mapping that is there as a whole. Otherwise fields that are mapped now, and that the new mapping says
    /// nothing of, are kept.
    replace: Option<bool>,
}

/// Writes mappings.
pub struct GenerateDataMapping {
    workspace: Workspace,
    with: DataMapping,
    spec: ToolSpec,
}

impl GenerateDataMapping {
    /// A tool for a workspace.
    #[must_use]
    pub fn new(workspace: &Workspace, with: DataMapping) -> Self {
        let asked = if with.mapper.is_some() {
            "Give the mapping yourself, or instructions for somebody who writes it."
        } else {
            "Give the mapping."
        };
        let description = format!(
            "Fills in or changes the mapping of a data mapper. {asked} It is run on the sample; one that does not run is not \
             written. The answer shows the result, and what is missing, wrong or too much. Fields that are mapped already \
             are kept unless replace says otherwise."
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<GenerateArgs>());
        spec.label = "Map data".to_owned();
        spec.access = Access::Write;
        // The same mapping again changes nothing.
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), with, spec }
    }
}

#[async_trait]
impl Tool for GenerateDataMapping {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        let path = args.get("dm_config_path").and_then(Value::as_str);
        let script = path.and_then(|path| find(&self.workspace, path).ok());
        self.workspace.touched(script.as_deref())
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: GenerateArgs = read(args.clone()).ok()?;
        // What somebody else will write, nobody can show before.
        let given = args.mapping.clone()?;
        let workspace = self.workspace.clone();
        let looking = tokio::task::spawn_blocking(move || {
            let change = There::read(&workspace, &args.dm_config_path).and_then(|there| {
                let new = spliced(&there.name, &there.source, &given).map_err(ToolError::new)?;
                let (after, _) = protected(&args, &there, new)?;
                Ok(Change { path: there.path, before: Some(there.source), after })
            });
            match change {
                Ok(change) => workspace.preview(&change.path.clone(), &[change]),
                Err(error) => Preview::Fails { reason: error.message },
            }
        });
        looking.await.ok()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: GenerateArgs = read(args)?;
        let (workspace, path) = (self.workspace.clone(), args.dm_config_path.clone());
        let there = blocking(cx, move |_| There::read(&workspace, &path)).await?;
        let new = self.new_source(&args, &there, cx).await?;
        let (new, kept) = protected(&args, &there, new)?;

        let input = there.sample.clone();
        let on = if input.is_some() { "the sample" } else { "an example made from the input interface" };
        let input = input.unwrap_or_else(|| shape::example(&there.file.input.shape, &there.file.input.title));
        let trial = Trial {
            name: &there.name,
            source: &new,
            others: &there.others,
            input: &input,
            output: &there.file.output,
        };
        let tried = trial.run(&cx.cancel).await.map_err(|error| {
            let why = failure(&error, &there.name, &new);
            ToolError::new(format!(
                "The mapping does not run on {on}, so {} was not changed.\n{why}",
                there.path
            ))
        })?;

        let sparse = trial.sparse(&there.file.input, &cx.cancel).await;

        let change = Change { path: there.path.clone(), before: Some(there.source.clone()), after: new };
        let workspace = self.workspace.clone();
        let changed = blocking(cx, move |cx| workspace.change(&[change], cx)).await?;
        let mut answer = match changed.shown.first() {
            Some(shown) => format!("Wrote the mapping into {shown}.\n"),
            None => format!("{} has this mapping already; nothing was written.\n", there.path),
        };
        if !kept.is_empty() {
            answer.push_str(&format!(
                "Kept as they were, because the new mapping says nothing of them (replace: true drops them): {}\n",
                kept.join(", ")
            ));
        }
        answer.push_str(&tried.text(on));
        if let Some(sparse) = sparse {
            answer.push_str(&format!("\n{sparse}"));
        }
        if let Ok(place) = self.workspace.existing(&there.path) {
            answer.push_str(&format!("\n{}", types(&self.with, &place.path(), cx).await));
        }
        Ok(ToolOutput::text(answer).with_details(changed.details))
    }
}

impl GenerateDataMapping {
    /// The file with the new mapping, as it was given or as somebody wrote it.
    async fn new_source(&self, args: &GenerateArgs, there: &There, cx: &ToolCx) -> Result<String, ToolError> {
        let refused = |why: String| ToolError::new(format!("{why} {} was not changed.", there.path));
        match (&args.mapping, &self.with.mapper) {
            (Some(given), _) => spliced(&there.name, &there.source, given).map_err(refused),
            (None, Some(mapper)) => {
                let instructions = args.instructions.as_deref();
                let written = written(mapper.as_ref(), &there.name, &there.source, instructions, cx).await;
                written.map_err(|why| refused(format!("No mapping was written: {why}")))
            }
            (None, None) => Err(refused(format!(
                "Nobody here writes mappings from words. Give mapping: the body of mapFunction(input) for\n{}\n",
                there.source.trim()
            ))),
        }
    }
}

/// Keeps what was mapped before. Answers the file, and the fields that were kept.
fn protected(args: &GenerateArgs, there: &There, new: String) -> Result<(String, Vec<String>), ToolError> {
    let file = typescript::read(&new, &there.name)
        .map_err(|error| ToolError::new(format!("{} {} was not changed.", said(&error), there.path)))?;
    if args.replace == Some(true) {
        return Ok((new, Vec::new()));
    }
    match mapping::protect(&there.source, &there.file, &new, &file) {
        Protected::Nothing => Ok((new, Vec::new())),
        Protected::Kept { source, fields } => Ok((source, fields)),
        Protected::Lost { fields } => {
            let what = if fields.is_empty() {
                "It has a mapping that cannot be compared with the new one".to_owned()
            } else {
                format!("The new mapping would lose fields that are mapped now ({})", fields.join(", "))
            };
            Err(ToolError::new(format!(
                "{what}. Map them too, or set replace to true if they are to go. {} was not changed; it maps now:\n{}",
                there.path,
                typescript::indented(there.source.get(there.file.function.body.clone()).unwrap_or_default())
            )))
        }
    }
}

/// A data mapper that is there.
struct There {
    path: String,
    name: String,
    source: String,
    file: MappingFile,
    others: Vec<(String, String)>,
    sample: Option<Value>,
}

impl There {
    fn read(workspace: &Workspace, given: &str) -> Result<Self, ToolError> {
        let path = find(workspace, given)?;
        let (folder, name) =
            path.rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
        let within =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let source = workspace.changeable(&path)?.unwrap_or_default();
        let file = typescript::read(&source, name)
            .map_err(|error| ToolError::new(format!("{path} is no data mapping: {}", said(&error))))?;
        let mut others: Vec<(String, String)> = scripts(workspace, folder)
            .into_iter()
            .filter(|other| other != name)
            .take(BESIDE)
            .filter_map(|other| Some((other.clone(), workspace.text(&within(&other), FILE).ok()??)))
            .collect();
        if !others.iter().any(|(name, _)| name == UTILS) {
            others.push((UTILS.to_owned(), DM_UTILS.to_owned()));
        }
        let sample = workspace.text(&within(SAMPLE), FILE).ok().flatten();
        let sample = sample.and_then(|text| serde_json::from_str(&text).ok());
        let name = name.to_owned();
        Ok(Self { path, name, source, file, others, sample })
    }
}

fn said(error: &MappingError) -> String {
    let text = error.to_string();
    if text.ends_with('.') || text.contains('\n') { text } else { format!("{text}.") }
}

/// The mapping that a path means: the file itself, or the one in the folder, or the one beside.
fn find(workspace: &Workspace, given: &str) -> Result<String, ToolError> {
    let given = given.trim_end_matches('/').trim_start_matches("./");
    let by_name = by_name(workspace, given);
    let given = match by_name.as_slice() {
        [] => given,
        [only] => only.as_str(),
        several => {
            return Err(ToolError::new(format!(
                "There are several data mappers {given}: say {}.",
                several.join(" or ")
            )));
        }
    };
    let place = workspace.existing(given)?;
    let relative = place.path();
    let relative =
        relative.strip_prefix(workspace.root()).map_or(given.to_owned(), |path| path.display().to_string());
    let folder = match place.found() {
        Found::Folder => relative.as_str(),
        _ if is_script(&relative) => return Ok(relative),
        _ => relative.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let own = folder.rsplit('/').next().unwrap_or_default();
    let scripts: Vec<String> =
        scripts(workspace, folder).into_iter().filter(|name| is_script(name)).collect();
    let within = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    match scripts.as_slice() {
        [only] => Ok(within(only)),
        several if several.iter().any(|name| *name == format!("{own}.ts")) => {
            Ok(within(&format!("{own}.ts")))
        }
        [] => {
            Err(ToolError::new(format!("There is no data mapping in {given}: a .ts file with mapFunction.")))
        }
        several => Err(ToolError::new(format!("Say which mapping in {given}: {}.", several.join(", ")))),
    }
}

/// The folders of the data mappers that have a name, when it is no path.
fn by_name(workspace: &Workspace, name: &str) -> Vec<String> {
    let root = workspace.root();
    if name.is_empty() || name.starts_with('.') || name.contains('/') || root.join(name).exists() {
        return Vec::new();
    }
    let inside = inside(root).into_iter().map(|project| format!("{project}/"));
    let projects = std::iter::once(String::new()).chain(inside);
    projects
        .flat_map(|project| Layout::FOLDERS.map(|folder| format!("{project}{folder}/{name}")))
        .filter(|path| root.join(path).is_dir())
        .collect()
}

fn is_script(path: &str) -> bool {
    path.ends_with(".ts") && !path.ends_with(UTILS)
}

/// The TypeScript files of a folder.
fn scripts(workspace: &Workspace, folder: &str) -> Vec<String> {
    let place = if folder.is_empty() {
        Ok(workspace.root().to_owned())
    } else {
        workspace.existing(folder).map(|place| place.path())
    };
    let entries = place.ok().and_then(|path| std::fs::read_dir(path).ok()).into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".ts"))
        .collect();
    names.sort();
    names
}

/// A file with the mapping that was given put in.
fn spliced(name: &str, source: &str, given: &str) -> Result<String, String> {
    let given = mapping::given(given).map_err(|error| error.for_model())?;
    let file = typescript::read(source, name).map_err(|error| said(&error))?;
    Ok(mapping::with_body(source, &file, &given))
}

/// A file with the mapping that somebody wrote for it.
pub(super) async fn written(
    mapper: &dyn Mapper,
    name: &str,
    source: &str,
    instructions: Option<&str>,
    cx: &ToolCx,
) -> Result<String, String> {
    let wanted = instructions.unwrap_or("Map every field that the source has something for.");
    let prompt = format!(
        "{PROMPT}\n<file name=\"{name}\">\n{source}\n</file>\n\n<instructions>\n{wanted}\n</instructions>\n"
    );
    let answer = tokio::select! {
        answer = mapper.map(&prompt) => answer?,
        () = cx.cancel.cancelled() => return Err("it was stopped.".to_owned()),
    };
    let new = spliced(name, source, &answer)?;
    // What is no TypeScript is not handed on.
    typescript::read(&new, name).map_err(|error| said(&error))?;
    Ok(new)
}

/// What the compiler says of a file.
pub(super) async fn types(with: &DataMapping, file: &Path, cx: &ToolCx) -> String {
    match &with.types {
        Some(types) => types.check(file, &cx.cancel).await.text(),
        None => super::TypeReport::Skipped("there is no TypeScript compiler here".to_owned()).text(),
    }
}

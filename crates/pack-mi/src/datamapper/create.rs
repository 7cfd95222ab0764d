//! `create_data_mapper`: a folder with everything that a data mapper needs, from two samples or schemas.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
    typed::schema_of,
};
use mica_tools::arguments::{blocking, read};
use mica_tools::{Change, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use synapse_lang::project::disk;

use super::layout::{Layout, SAMPLE, UTILS};
use super::trial::{Trial, Tried, failure};
use super::{DM_UTILS, DataMapping, Form, Schema, auto, generate, mapping, read_schema, shape, typescript};
use crate::Checker;
use crate::project::choice::{Wanted, choose};
use crate::project::{Layout as ProjectLayout, MiProject};

/// The name models call it by.
pub(crate) const NAME: &str = "create_data_mapper";

/// Bytes of a schema or a sample.
const SCHEMA: u64 = 4 << 20;

/// Items of a list in the sample that is kept.
const ITEMS: usize = 5;

/// What to make.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateArgs {
    /// Its name: a letter, then letters, digits, - and _.
    name: String,
    /// What goes in: a sample message or a schema, as text, or the path of a file in the project.
    input_schema: String,
    /// What input_schema is.
    input_type: Form,
    /// What comes out: a sample message or a schema, as text, or the path of a file in the project.
    output_schema: String,
    /// What output_schema is.
    output_type: Form,
    /// Map fields of the same name and kind. Costs nothing, and says what is left.
    auto_map: Option<bool>,
    /// The mapping itself, when you know it: the body of `mapFunction(input)`, or the whole function, in TypeScript.
    mapping: Option<String>,
    /// What the mapping is to do, in words, when somebody else is to write it.
    mapping_instructions: Option<String>,
    /// The project's folder, relative to the workspace, when there are several.
    project: Option<String>,
}

/// Makes data mappers.
pub struct CreateDataMapper {
    workspace: Workspace,
    checker: Checker,
    with: DataMapping,
    spec: ToolSpec,
}

impl CreateDataMapper {
    /// A tool for a workspace. The checker is of the same folder.
    #[must_use]
    pub fn new(workspace: &Workspace, checker: &Checker, with: DataMapping) -> Self {
        let description = "Creates a data mapper: its folder with the TypeScript mapping, the helpers, and the entries in \
                           artifact.xml. Give a sample message or a schema for both sides. Give mapping when you know it; \
                           auto_map maps fields of the same name. The mapping is run on the sample, and the answer shows the \
                           result, what is missing, and the mediator to use. Never write these files by hand.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<CreateArgs>());
        spec.label = "Create data mapper".to_owned();
        spec.access = Access::Write;
        // Made twice, the second call finds the first one's work and refuses.
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), checker: checker.clone(), with, spec }
    }
}

#[async_trait]
impl Tool for CreateDataMapper {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        let Some(name) = args.get("name").and_then(Value::as_str) else { return Vec::new() };
        let project = args.get("project").and_then(Value::as_str);
        let Ok(layout) = layout(&self.workspace, &self.checker, name, project) else { return Vec::new() };
        let paths = [layout.script(), layout.file(UTILS), layout.file(SAMPLE), layout.descriptor()];
        paths.iter().flat_map(|path| self.workspace.touched(Some(path))).collect()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: CreateArgs = read(args.clone()).ok()?;
        let (workspace, checker) = (self.workspace.clone(), self.checker.clone());
        let looking = tokio::task::spawn_blocking(move || match plan(&workspace, &checker, &args) {
            Ok(planned) => match planned.changes(&workspace, &planned.source) {
                Ok(changes) => workspace.preview(&format!("data mapper {}", args.name), &changes),
                Err(error) => Preview::Fails { reason: error.message },
            },
            Err(error) => Preview::Fails { reason: error.message },
        });
        looking.await.ok()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: CreateArgs = read(args)?;
        let (workspace, checker) = (self.workspace.clone(), self.checker.clone());
        let planning = args.clone();
        let planned = Arc::new(blocking(cx, move |_| plan(&workspace, &checker, &planning)).await?);
        let mut notes = planned.notes.clone();
        let mut source = planned.source.clone();

        let example = planned.sample.clone();
        let on = if example.is_some() { "the sample" } else { "an example made from the input schema" };
        let input = example.unwrap_or_else(|| shape::example(&planned.input.shape, &planned.input.title));
        // A mapping in words comes on top of what is obvious, and takes nothing away when it does not run.
        let mut is_empty = planned.is_empty;
        if let (Some(instructions), None) = (&args.mapping_instructions, &args.mapping) {
            match self.written_from_words(&planned, instructions, &input, cx).await {
                Ok(better) => (source, is_empty) = (better, false),
                Err(why) => notes.push(why),
            }
        }
        let (tried, sparse) = planned.tried(&source, &input, cx).await.map_err(|why| {
            ToolError::new(format!("The mapping does not run on {on}, so nothing was written.\n{why}"))
        })?;

        let (workspace, to_write, text) = (self.workspace.clone(), Arc::clone(&planned), source);
        let changed = blocking(cx, move |cx| {
            let changes = to_write.changes(&workspace, &text)?;
            workspace.change(&changes, cx)
        })
        .await?;
        let mut answer = format!("Created the data mapper {}: {}.\n", args.name, changed.shown.join(", "));
        answer.push_str(&planned.layout.usage(&planned.input, &planned.output));
        for note in notes {
            answer.push_str(&format!("\n\n{note}"));
        }
        if is_empty {
            answer.push_str("\n\nNothing is mapped yet: give the mapping with generate_data_mapping.");
        } else {
            answer.push_str(&format!("\n\n{}", tried.text(on)));
            if let Some(sparse) = sparse {
                answer.push_str(&format!("\n{sparse}"));
            }
            if let Ok(place) = self.workspace.existing(&planned.layout.script()) {
                answer.push_str(&format!("\n{}", generate::types(&self.with, &place.path(), cx).await));
            }
        }
        Ok(ToolOutput::text(answer).with_details(changed.details))
    }
}

impl CreateDataMapper {
    /// The file with a mapping that somebody wrote from words, and that runs.
    async fn written_from_words(
        &self,
        planned: &Planned,
        instructions: &str,
        input: &Value,
        cx: &ToolCx,
    ) -> Result<String, String> {
        let Some(mapper) = &self.with.mapper else {
            return Err("Nobody here writes mappings from words: write it yourself with generate_data_mapping, giving \
                        mapping."
                .to_owned());
        };
        let name = &planned.script_name;
        let written = generate::written(mapper.as_ref(), name, &planned.source, Some(instructions), cx);
        let new = written.await.map_err(|why| format!("The mapping in words was not written: {why}"))?;
        let refused =
            |why| format!("The mapping that was written from words does not run, and was dropped:\n{why}");
        planned.tried(&new, input, cx).await.map_err(refused)?;
        Ok(new)
    }
}

fn layout(
    workspace: &Workspace,
    checker: &Checker,
    name: &str,
    project: Option<&str>,
) -> Result<Layout, ToolError> {
    let root = choose(workspace, project, Wanted::Part)?;
    if !disk::is_project(&root) {
        return Err(ToolError::new(
            "There is no Micro Integrator project here: a folder with src/main/wso2mi. Nothing was written.",
        ));
    }
    let found = MiProject::read(&root);
    if found.as_ref().is_some_and(|found| found.layout == ProjectLayout::Old) {
        return Err(ToolError::new(
            "This project has the layout of Integration Studio (src/main/synapse-config), whose data mappers are made there and \
             in another format: they are not supported here. Make the data mapper in Integration Studio, or move the \
             project to src/main/wso2mi. Nothing was written.",
        ));
    }
    let root = root.canonicalize().unwrap_or(root);
    let checked = checker.root().map(|root| root.canonicalize().unwrap_or(root));
    let version = if checked.as_ref() == Some(&root) {
        checker.runtime()
    } else {
        found.and_then(|found| found.version())
    };
    Layout::new(workspace.root(), &root, version, name)
}

/// A data mapper that can be made, and has not been.
struct Planned {
    layout: Layout,
    script_name: String,
    input: Schema,
    output: Schema,
    sample: Option<Value>,
    source: String,
    utils: String,
    is_empty: bool,
    notes: Vec<String>,
}

fn plan(workspace: &Workspace, checker: &Checker, args: &CreateArgs) -> Result<Planned, ToolError> {
    let layout = layout(workspace, checker, &args.name, args.project.as_deref())?;
    if workspace.changeable(&layout.script())?.is_some() {
        return Err(ToolError::new(format!(
            "{} is there already, and is not replaced. Change it with generate_data_mapping, or choose another name.",
            layout.script()
        )));
    }
    let (input, sample) = side(workspace, "input_schema", &args.input_schema, args.input_type)?;
    let (output, _) = side(workspace, "output_schema", &args.output_schema, args.output_type)?;
    let mut notes = Vec::new();
    let mut is_empty = false;
    let source = match &args.mapping {
        Some(given) => {
            let skeleton = typescript::write(&input, &output, typescript::empty_body(&output));
            let refused = |why: String| {
                ToolError::new(format!("The mapping cannot be used, and nothing was written. {why}"))
            };
            let given = mapping::given(given).map_err(|error| refused(error.for_model()))?;
            let file =
                typescript::read(&skeleton, "mapping.ts").map_err(|error| refused(error.to_string()))?;
            mapping::with_body(&skeleton, &file, &given)
        }
        None if args.auto_map == Some(true) => {
            let made = auto::map(&input, &output);
            notes.push(left(&made));
            is_empty = made.mapped == 0;
            typescript::write(&input, &output, &made.body)
        }
        None => {
            is_empty = true;
            typescript::write(&input, &output, typescript::empty_body(&output))
        }
    };
    let script_name = format!("{}.ts", args.name);
    let utils = utils(workspace, &layout);
    let sample = sample.map(|mut value| {
        shorten(&mut value);
        value
    });
    Ok(Planned { layout, script_name, input, output, sample, source, utils, is_empty, notes })
}

impl Planned {
    /// Runs a mapping, also on the least that may come. The error is for the model.
    async fn tried(
        &self,
        source: &str,
        input: &Value,
        cx: &ToolCx,
    ) -> Result<(Tried, Option<String>), String> {
        let others = [(UTILS.to_owned(), self.utils.clone())];
        let trial = Trial { name: &self.script_name, source, others: &others, input, output: &self.output };
        let tried =
            trial.run(&cx.cancel).await.map_err(|error| failure(&error, &self.script_name, source))?;
        Ok((tried, trial.sparse(&self.input, &cx.cancel).await))
    }

    fn changes(&self, workspace: &Workspace, source: &str) -> Result<Vec<Change>, ToolError> {
        let descriptor = self.layout.descriptor();
        let before = workspace.changeable(&descriptor)?;
        let described = self.layout.described(before.as_deref())?;
        let mut changes = vec![
            Change { path: self.layout.script(), before: None, after: source.to_owned() },
            Change { path: self.layout.file(UTILS), before: None, after: self.utils.clone() },
        ];
        if let Some(sample) = &self.sample {
            let text = serde_json::to_string_pretty(sample).unwrap_or_default();
            changes.push(Change { path: self.layout.file(SAMPLE), before: None, after: format!("{text}\n") });
        }
        // What a mapper that was deleted by hand left behind is taken over.
        for change in &mut changes {
            change.before = workspace.changeable(&change.path)?;
        }
        changes.push(Change { path: descriptor, before, after: described });
        Ok(changes)
    }
}

/// One side, from a text or a file of the project.
fn side(
    workspace: &Workspace,
    argument: &str,
    given: &str,
    form: Form,
) -> Result<(Schema, Option<Value>), ToolError> {
    let text = if is_path(given) {
        let path = given.trim().trim_start_matches("./");
        let found = workspace.text(path, SCHEMA)?;
        found.ok_or_else(|| {
            ToolError::new(format!("{path} is no text, so it is no {argument}. Nothing was written."))
        })?
    } else {
        given.to_owned()
    };
    read_schema(&text, form)
        .map_err(|error| ToolError::new(format!("{argument} cannot be used: {error}. Nothing was written.")))
}

fn is_path(given: &str) -> bool {
    let given = given.trim();
    let ends = [".json", ".xml", ".xsd", ".csv"].iter().any(|end| given.to_ascii_lowercase().ends_with(end));
    !given.contains(['\n', '{', '<'])
        && (ends || ["./", "/", "src/"].iter().any(|start| given.starts_with(start)))
}

/// The helpers that other mappers of the project have: those may be newer than ours.
fn utils(workspace: &Workspace, layout: &Layout) -> String {
    let folder = workspace.existing(&layout.all()).map(|place| place.path());
    let mut names: Vec<String> = folder
        .ok()
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let found = names.iter().find_map(|name| {
        let text = workspace.text(&format!("{}/{name}/{UTILS}", layout.all()), SCHEMA).ok()??;
        (!text.trim().is_empty()).then_some(text)
    });
    found.unwrap_or_else(|| DM_UTILS.to_owned())
}

fn left(made: &auto::AutoMapped) -> String {
    let fields = if made.mapped == 1 { "field by its name" } else { "fields by their names" };
    let mut text = format!("Mapped {} {fields}.", made.mapped);
    if !made.left.is_empty() {
        let each = made.left.iter().take(40).map(|(path, why)| format!("\n- {path}: {why}"));
        text.push_str(&format!(" Not mapped:{}", each.collect::<String>()));
        if made.left.len() > 40 {
            text.push_str(&format!("\n- and {} more", made.left.len() - 40));
        }
    }
    text
}

/// Keeps the first items of lists: a sample is for trying.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(ITEMS);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

//! `get_connector_definitions`: what connectors there are, and what one of them can do.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use mica_tools::Workspace;
use mica_tools::arguments::{blocking, read};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use synapse_lang::model::Version;

use super::definition::Definition;
use super::render;
use super::shelf::{Archives, Shelf};
use super::store::{Stocked, StoreCache};
use crate::connectors::example::example;
use crate::project::MiProject;

/// The name models call it by.
pub const NAME: &str = "get_connector_definitions";

/// How much is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// What it is, how it connects, and the names of its operations.
    #[default]
    Summary,
    /// Parameters of operations and connections, with an example.
    Details,
    /// All connectors there are, one row each.
    #[serde(alias = "catalog")]
    Catalogue,
}

/// What to look up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetArgs {
    /// Connectors by prefix, artifact id or title: http, mi-connector-http, salesforce; inbound endpoints as kafka inbound.
    #[serde(default)]
    names: Vec<String>,
    /// summary: operations by name. details: parameters, with an example. catalogue: everything there is.
    mode: Option<Mode>,
    /// For details: operations, without the prefix. Left out: all of them, when they are few.
    #[serde(default)]
    operations: Vec<String>,
    /// For details: kinds of connections.
    #[serde(default)]
    connections: Vec<String>,
    /// For details: only these parameters.
    #[serde(default)]
    parameters: Vec<String>,
    /// The module of the project, relative to the workspace, when there are several.
    project: Option<String>,
}

/// Operations that are told with all parameters when none are named.
const FEW: usize = 8;

/// Tells about connectors.
pub struct GetConnectorDefinitions {
    workspace: Workspace,
    store: Option<Arc<StoreCache>>,
    archives: Arc<Archives>,
    spec: ToolSpec,
}

impl GetConnectorDefinitions {
    /// A tool for a workspace, with a store if one is to be asked.
    pub fn new(workspace: &Workspace, store: Option<Arc<StoreCache>>) -> Self {
        let description = "Tells what connectors and inbound endpoints there are and what they can do: operations, parameters, \
                           kinds of connections, Maven coordinates and an example that checks. The archives in the project \
                           count first. Ask before writing a connector's operation; never guess a parameter.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<GetArgs>());
        spec.label = "Look up connectors".to_owned();
        Self { workspace: workspace.clone(), store, archives: Arc::default(), spec }
    }
}

/// The project of a call, and the folder it lies in: the workspace, or a module of it.
pub(super) fn project_of(
    workspace: &Workspace,
    inside: Option<&str>,
) -> Result<Option<MiProject>, ToolError> {
    let root = match inside {
        None | Some("" | ".") => workspace.root().to_path_buf(),
        Some(inside) => workspace.existing(inside)?.path(),
    };
    let root =
        if root.is_file() { root.parent().map(std::path::Path::to_path_buf).unwrap_or(root) } else { root };
    Ok(MiProject::read(&root).or_else(|| MiProject::around(&root)))
}

/// What a store has, when there is one.
pub(super) async fn stocked(store: Option<&Arc<StoreCache>>, runtime: Option<Version>) -> Stocked {
    match store {
        Some(store) => store.stock(runtime).await,
        None => Stocked::default(),
    }
}

#[async_trait]
impl Tool for GetConnectorDefinitions {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: GetArgs = read(args)?;
        let (workspace, inside) = (self.workspace.clone(), args.project.clone());
        let project = blocking(cx, move |_| project_of(&workspace, inside.as_deref())).await?;
        let stocked = stocked(self.store.as_ref(), project.as_ref().and_then(MiProject::version)).await;
        let archives = Arc::clone(&self.archives);
        blocking(cx, move |_| tell(&args, project.as_ref(), &archives, stocked)).await
    }
}

fn tell(
    args: &GetArgs,
    project: Option<&MiProject>,
    archives: &Archives,
    stocked: Stocked,
) -> Result<ToolOutput, ToolError> {
    let shelf = Shelf::new(project, archives, stocked);
    let runtime = project.and_then(MiProject::version);
    let mode = args.mode.unwrap_or_default();
    let mut parts = Vec::new();
    let mut missing = Vec::new();
    if mode == Mode::Catalogue || (args.names.is_empty() && mode == Mode::Summary) {
        parts.push(render::catalogue(shelf.all().map(AsRef::as_ref), runtime));
    } else if args.names.is_empty() {
        return Err(ToolError::new("Name the connectors to look up; mode catalogue lists all."));
    }
    let asked = if mode == Mode::Catalogue { &[] as &[String] } else { &args.names };
    let mut found = Vec::new();
    let mut told: Vec<Arc<Definition>> = Vec::new();
    for name in asked {
        match shelf.find(name) {
            // Two names of one connector are answered once.
            Ok(one) if told.iter().any(|other| Arc::ptr_eq(other, &one.definition)) => {}
            Ok(one) => {
                parts.push(match mode {
                    Mode::Details => details(&one.definition, args, project, runtime),
                    Mode::Summary | Mode::Catalogue => render::summary(&one.definition, project),
                });
                if !one.others.is_empty() {
                    parts.push(format!("Similar names: {}\n", one.others.join(", ")));
                }
                found.push(one.definition.name.clone());
                told.push(one.definition);
            }
            Err(like) if like.is_empty() => {
                missing.push(format!("No connector {name:?} is known; mode catalogue lists all."));
            }
            Err(like) => {
                missing.push(format!("No connector {name:?} is known. Did you mean {}?", like.join(", ")));
            }
        }
    }
    if parts.is_empty() {
        return Err(ToolError::new(missing.join("\n")));
    }
    parts.extend(missing.into_iter().map(|row| format!("{row}\n")));
    parts.extend(shelf.notes.iter().map(|note| format!("Note: {note}\n")));
    let details = json!({ "found": found, "notes": shelf.notes });
    Ok(ToolOutput::text(parts.join("\n")).with_details(details))
}

fn details(
    definition: &Definition,
    args: &GetArgs,
    project: Option<&MiProject>,
    runtime: Option<Version>,
) -> String {
    let mut parts = Vec::new();
    let mut unknown = Vec::new();
    let mut first_connection = None;
    let mut first_operation = None;
    for name in &args.connections {
        match definition.connection(name) {
            Some(one) => {
                first_connection = first_connection.or(Some(one));
                parts.push(render::connection(definition, one, &args.parameters));
            }
            None => {
                let known: Vec<&str> = definition.connections.iter().map(|one| one.name.as_str()).collect();
                unknown.push(format!(
                    "{} has no connection {name}; it has {}.\n",
                    definition.name,
                    list(&known)
                ));
            }
        }
    }
    for name in &args.operations {
        match definition.operation(name) {
            Some(one) => {
                first_operation = first_operation.or(Some(one));
                parts.push(render::operation(definition, one, &args.parameters));
            }
            None => {
                let known: Vec<&str> = definition.operations.iter().map(|one| one.name.as_str()).collect();
                let near = synapse_lang::near::nearest(name, known.iter().copied());
                let near = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
                let whole = if definition.complete {
                    "has no operation"
                } else {
                    "has, as far as is known, no operation"
                };
                unknown.push(format!("{} {whole} {name}.{near} It has {}.\n", definition.name, list(&known)));
            }
        }
    }
    if args.operations.is_empty() && args.connections.is_empty() {
        let visible: Vec<_> =
            definition.operations.iter().filter(|one| !one.hidden && one.name != "init").collect();
        parts.extend(
            definition
                .connections
                .iter()
                .take(FEW)
                .map(|one| render::connection(definition, one, &args.parameters)),
        );
        if visible.len() <= FEW {
            parts.extend(visible.iter().map(|one| render::operation(definition, one, &args.parameters)));
        } else {
            let names: Vec<&str> = visible.iter().map(|one| one.name.as_str()).collect();
            parts.push(format!(
                "It has many operations; name those you need in operations: {}\n",
                names.join(", ")
            ));
        }
    }
    let shown = example(definition, runtime.unwrap_or(Version::NEWEST), first_connection, first_operation);
    let mut text = render::summary_head(definition, project);
    text.push('\n');
    text.push_str(&parts.join("\n"));
    text.push_str(&unknown.concat());
    let shown = render::example(&shown);
    if !shown.is_empty() {
        text.push_str(&format!("\nExample:\n{shown}"));
    }
    text
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none that is known".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
pub(super) mod tests;

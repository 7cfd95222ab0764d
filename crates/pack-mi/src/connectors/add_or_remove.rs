//! `add_or_remove_connector`: changes which connectors the build file of a project names.
//!
//! The edit is planned on the text as it is, with one outcome for each connector, and written through the workspace, so
//! that it is guarded, recorded for undo and refused when the file changed meanwhile.

use std::fmt::Write;
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
use serde_json::json;
use synapse_lang::model::Version;

use super::definition::{Definition, Kind, Source, plain_name};
use super::example::example;
use super::get_definitions::{project_of, stocked};
use super::render;
use super::shelf::{Archives, Shelf};
use super::store::{Stocked, StoreCache};
use crate::pom::{self, Connector};
use crate::project::{Layout, MiProject};

/// The name models call it by.
pub const NAME: &str = "add_or_remove_connector";

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// Names it in the build file.
    Add,
    /// Takes it out of the build file.
    Remove,
    /// Gives it another version.
    Upgrade,
}

/// Which connectors, and what happens to them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangeArgs {
    /// add, remove, or upgrade to another version.
    action: Action,
    /// Connectors by prefix, artifact id or title, each with a version if it is not to be the newest known: http,
    /// mi-connector-kafka@3.3.9. One that is not known: group:artifact:version.
    connectors: Vec<String>,
    /// The module of the project, relative to the workspace, when there are several.
    project: Option<String>,
}

/// Changes the connectors of a project.
pub struct AddOrRemoveConnector {
    workspace: Workspace,
    store: Option<Arc<StoreCache>>,
    archives: Arc<Archives>,
    spec: ToolSpec,
}

impl AddOrRemoveConnector {
    /// A tool for a workspace, with a store if one is to be asked.
    pub fn new(workspace: &Workspace, store: Option<Arc<StoreCache>>) -> Self {
        let description = "Adds connectors to the project's pom.xml, removes them, or gives them another version; several at \
                           once, each with its own outcome. Everything else of the file stays as it is. After adding, the \
                           answer shows the local entry and the operation to write.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ChangeArgs>());
        spec.label = "Change connectors".to_owned();
        spec.access = Access::Write;
        // The same again finds its own work done.
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { workspace: workspace.clone(), store, archives: Arc::default(), spec }
    }

    async fn stock(&self, args: &ChangeArgs) -> Stocked {
        let (workspace, inside) = (self.workspace.clone(), args.project.clone());
        let version = tokio::task::spawn_blocking(move || {
            let project = project_of(&workspace, inside.as_deref()).ok().flatten();
            project.as_ref().and_then(MiProject::version)
        });
        stocked(self.store.as_ref(), version.await.ok().flatten()).await
    }
}

#[async_trait]
impl Tool for AddOrRemoveConnector {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        let inside = args.get("project").and_then(|inside| inside.as_str()).unwrap_or_default();
        let place = self.workspace.resolve(&pom_path(inside)).ok();
        place.map(|place| Resource::file(place.path())).into_iter().collect()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: ChangeArgs = read(args.clone()).ok()?;
        let stocked = self.stock(&args).await;
        let (workspace, archives) = (self.workspace.clone(), Arc::clone(&self.archives));
        let looking =
            tokio::task::spawn_blocking(move || match plan(&workspace, &archives, stocked, &args) {
                Ok(Planned { change: Some(change), .. }) => {
                    let path = change.path.clone();
                    workspace.preview(&path, &[change])
                }
                Ok(Planned { outcomes, .. }) => Preview::Fails { reason: told(&outcomes) },
                Err(error) => Preview::Fails { reason: error.message },
            });
        looking.await.ok()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ChangeArgs = read(args)?;
        let stocked = self.stock(&args).await;
        let (workspace, archives) = (self.workspace.clone(), Arc::clone(&self.archives));
        blocking(cx, move |cx| {
            let planned = plan(&workspace, &archives, stocked, &args)?;
            let Planned { change, outcomes, notes, runtime } = planned;
            if outcomes.iter().all(|one| one.state == State::Failed) {
                return Err(ToolError::new(format!("{}Nothing was changed.", told(&outcomes))));
            }
            let mut details = json!({});
            let mut text = told(&outcomes);
            if let Some(change) = change {
                let path = change.path.clone();
                details = workspace.change(&[change], cx)?.details;
                let _ = writeln!(
                    text,
                    "{path} was changed. The build fetches connectors from Maven repositories."
                );
            }
            if args.action == Action::Add {
                text.push_str(&lessons(&outcomes, runtime));
            }
            if args.action == Action::Remove && outcomes.iter().any(|one| one.state == State::Done) {
                text.push_str("Artifacts that use what was removed no longer deploy: check the project.\n");
            }
            for note in notes {
                let _ = writeln!(text, "Note: {note}");
            }
            details["items"] = outcomes.iter().map(Outcome::row).collect();
            Ok(ToolOutput::text(text).with_details(details))
        })
        .await
    }
}

/// What became of one connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    AsBefore,
    Failed,
}

#[derive(Debug)]
struct Outcome {
    name: String,
    state: State,
    said: String,
    definition: Option<Arc<Definition>>,
}

impl Outcome {
    fn row(&self) -> serde_json::Value {
        let state = match self.state {
            State::Done => "done",
            State::AsBefore => "unchanged",
            State::Failed => "failed",
        };
        json!({ "name": self.name, "outcome": state, "message": self.said })
    }
}

fn told(outcomes: &[Outcome]) -> String {
    outcomes.iter().map(|one| format!("- {}: {}\n", one.name, one.said)).collect()
}

/// A change that can be made, and has not been.
struct Planned {
    change: Option<Change>,
    outcomes: Vec<Outcome>,
    notes: Vec<String>,
    runtime: Version,
}

fn pom_path(inside: &str) -> String {
    let inside = inside.trim_end_matches("pom.xml").trim_matches('/');
    if inside.is_empty() || inside == "." { "pom.xml".to_owned() } else { format!("{inside}/pom.xml") }
}

/// The folder of the build file, relative to the workspace.
fn folder_of(workspace: &Workspace, args: &ChangeArgs) -> Result<String, ToolError> {
    if let Some(inside) = &args.project {
        return Ok(inside.clone());
    }
    let project = MiProject::read(workspace.root());
    match project {
        Some(project) if project.layout == Layout::Modules => {
            let parts: Vec<&str> = project.parts().map(|module| module.path.as_str()).collect();
            match parts.as_slice() {
                [only] => Ok((*only).to_owned()),
                [] => Ok(String::new()),
                several => Err(ToolError::new(format!(
                    "The project has several modules: say which in project: {}. Nothing was changed.",
                    several.join(", ")
                ))),
            }
        }
        _ => Ok(String::new()),
    }
}

fn plan(
    workspace: &Workspace,
    archives: &Archives,
    stocked: Stocked,
    args: &ChangeArgs,
) -> Result<Planned, ToolError> {
    if args.connectors.is_empty() {
        return Err(ToolError::new("Name at least one connector. Nothing was changed."));
    }
    let folder = folder_of(workspace, args)?;
    let path = pom_path(&folder);
    let Some(before) = workspace.changeable(&path)? else {
        return Err(ToolError::new(format!(
            "There is no {path}: this is no project that a build file could add connectors to. Nothing was changed."
        )));
    };
    let refused = |error: &pom::PomError| ToolError::new(format!("{path}: {}", error.for_model()));
    // A file that cannot be edited is refused before anything is looked up.
    pom::version_of(&before, "", "").map_err(|error| refused(&error))?;
    let project = project_of(workspace, Some(&folder))?;
    let shelf = Shelf::new(project.as_ref(), archives, stocked);
    let desk = Desk { action: args.action, shelf: &shelf, project: project.as_ref() };
    let mut text = before.clone();
    let mut outcomes = Vec::new();
    for name in &args.connectors {
        let (outcome, changed) = desk.handle(name, &text).map_err(|error| refused(&error))?;
        if let Some(changed) = changed {
            text = changed;
        }
        outcomes.push(outcome);
    }
    let change = (text != before).then_some(Change { path, before: Some(before), after: text });
    let runtime = project.as_ref().and_then(MiProject::version).unwrap_or(Version::NEWEST);
    Ok(Planned { change, outcomes, notes: shelf.notes.clone(), runtime })
}

/// What one connector is decided with.
struct Desk<'a> {
    action: Action,
    shelf: &'a Shelf,
    project: Option<&'a MiProject>,
}

/// The coordinates that were asked for.
struct Asked {
    group: String,
    artifact: String,
    version: Option<String>,
    /// Whether the caller said the version: what was said is done, what is only known must be newer.
    said: bool,
    definition: Option<Arc<Definition>>,
}

impl Desk<'_> {
    /// Decides and plans one; the text after it, when it changes.
    fn handle(&self, name: &str, text: &str) -> Result<(Outcome, Option<String>), pom::PomError> {
        let outcome =
            |state, said: String, definition| Outcome { name: name.to_owned(), state, said, definition };
        let asked = match self.asked(name) {
            Ok(asked) => asked,
            Err(reason) => return Ok((outcome(State::Failed, reason, None), None)),
        };
        let there = pom::version_of(text, &asked.group, &asked.artifact)?;
        let id = format!("{}:{}", asked.group, asked.artifact);
        let definition = asked.definition.clone();
        if self.action == Action::Remove {
            return Ok(match pom::remove(text, &asked.group, &asked.artifact)? {
                Some(changed) => (outcome(State::Done, format!("removed {id}"), definition), Some(changed)),
                None => (outcome(State::AsBefore, format!("{id} is not in the pom.xml"), definition), None),
            });
        }
        if let (Some(there), Action::Add) = (&there, self.action) {
            let more = match asked.version.as_ref().filter(|version| *version != there) {
                Some(version) if asked.said => format!("; {version} is asked for: use upgrade"),
                Some(known) if is_newer(there, known) => {
                    format!(", which is newer than what is known ({known})")
                }
                Some(known) => format!("; {known} is known: use upgrade"),
                None => String::new(),
            };
            return Ok((
                outcome(State::AsBefore, format!("already in the pom.xml with {there}{more}"), definition),
                None,
            ));
        }
        let Some(version) = asked.version else {
            let said = format!("its newest version is not known: say it, {}@VERSION", asked.artifact);
            return Ok((outcome(State::Failed, said, definition), None));
        };
        let known = definition.as_ref().and_then(|definition| definition.version.as_deref());
        let unknown = known.filter(|known| *known != version).map(|known| {
            format!("; {version} is not among the versions that are known ({known} is): the build says whether it exists")
        });
        let unknown = unknown.unwrap_or_default();
        let connector = Connector { group: asked.group, artifact: asked.artifact, version: version.clone() };
        let Some(there) = there else {
            if self.action == Action::Upgrade {
                let said = format!("{id} is not in the pom.xml: use add");
                return Ok((outcome(State::Failed, said, definition), None));
            }
            let changed = pom::add(text, &connector)?;
            return Ok((
                outcome(State::Done, format!("added {id}, {version}{unknown}"), definition),
                changed,
            ));
        };
        if !asked.said && is_newer(&there, &version) {
            let said = format!(
                "{id} stays at {there}, which is newer than what is known ({version}); to go back, say the version"
            );
            return Ok((outcome(State::AsBefore, said, definition), None));
        }
        match pom::set_version(text, &connector) {
            Ok(None) => Ok((
                outcome(State::AsBefore, format!("{id} has version {version} already"), definition),
                None,
            )),
            Ok(changed) => {
                let said = format!("{id} from {there} to {version}{unknown}");
                Ok((outcome(State::Done, said, definition), changed))
            }
            // One that is kept elsewhere is no reason to refuse the others.
            Err(error @ pom::PomError::VersionElsewhere { .. }) => {
                Ok((outcome(State::Failed, error.to_string(), definition), None))
            }
            Err(error) => Err(error),
        }
    }

    /// What a name means here.
    fn asked(&self, name: &str) -> Result<Asked, String> {
        let (id, version) = match name.rsplit_once('@') {
            Some((id, version)) => (id.trim(), Some(version.trim().trim_start_matches('v').to_owned())),
            None => (name.trim(), None),
        };
        let version =
            version.filter(|version| !version.is_empty() && !version.eq_ignore_ascii_case("latest"));
        if let Some(version) = version.as_ref().filter(|version| !is_version(version)) {
            return Err(format!("{version:?} is no version"));
        }
        let parts: Vec<&str> = id.split(':').map(str::trim).collect();
        if let [group, artifact, rest @ ..] = parts.as_slice() {
            return self.written(group, artifact, rest, version);
        }
        // What the build file has counts before what is known: its group may be another.
        let wanted = plain_name(id);
        let declared = self.project.into_iter().flat_map(|project| &project.connectors);
        let mut declared = declared
            .filter(|one| one.artifact.eq_ignore_ascii_case(id) || plain_name(&one.artifact) == wanted);
        let found = self.shelf.find(id);
        if self.action != Action::Add
            && let Some(one) = declared.next()
        {
            let definition =
                found.ok().map(|found| found.definition).filter(|it| it.artifact == one.artifact);
            let newest = definition.as_ref().and_then(|definition| definition.version.clone());
            let (group, artifact) = (one.group.clone(), one.artifact.clone());
            return Ok(Asked {
                group,
                artifact,
                said: version.is_some(),
                version: version.or(newest),
                definition,
            });
        }
        let definition = found.map_err(|like| {
            let like = if like.is_empty() { ".".to_owned() } else { format!("; did you mean {}?", like.join(", ")) };
            format!("no such connector is known{like} One that is not known can be given as group:artifact:version.")
        })?;
        self.known(&definition.definition, version)
    }

    /// Coordinates that were written out.
    fn written(
        &self,
        group: &str,
        artifact: &str,
        rest: &[&str],
        version: Option<String>,
    ) -> Result<Asked, String> {
        let is_id = |text: &str| {
            !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || "._-".contains(one))
        };
        if !is_id(group) || !is_id(artifact) || rest.len() > 1 {
            return Err("coordinates look like group:artifact:version".to_owned());
        }
        let version = version.or_else(|| rest.first().map(|version| (*version).to_owned()));
        if let Some(version) = version.as_ref().filter(|version| !is_version(version)) {
            return Err(format!("{version:?} is no version"));
        }
        let definition = self.shelf.all().find(|one| one.group == group && one.artifact == artifact).cloned();
        let newest = definition.as_ref().and_then(|definition| definition.version.clone());
        let (group, artifact) = (group.to_owned(), artifact.to_owned());
        Ok(Asked { group, artifact, said: version.is_some(), version: version.or(newest), definition })
    }

    /// A connector that is known.
    fn known(&self, definition: &Arc<Definition>, version: Option<String>) -> Result<Asked, String> {
        if definition.kind == Kind::Bundled {
            return Err("this inbound endpoint comes with the runtime: write the artifact, nothing is added"
                .to_owned());
        }
        if !definition.has_coordinates {
            return Err(
                "its Maven coordinates are not in the snapshot: give group:artifact:version".to_owned()
            );
        }
        if let (Source::Archive(path), Action::Add, None) = (&definition.source, self.action, &version) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(format!(
                "its archive {name} lies in the project already, so the pom.xml need not name it"
            ));
        }
        let runtime = self.project.and_then(MiProject::version);
        if let (Some(since), Some(runtime), None) = (definition.since, runtime, &version)
            && runtime < since
        {
            return Err(format!(
                "{} needs runtime {since} and the project builds for {runtime}: name an older version, {}@VERSION",
                definition.version.as_deref().unwrap_or("the newest version"),
                definition.artifact
            ));
        }
        Ok(Asked {
            group: definition.group.clone(),
            artifact: definition.artifact.clone(),
            said: version.is_some(),
            version: version.or_else(|| definition.version.clone()),
            definition: Some(Arc::clone(definition)),
        })
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '$')
        && text.chars().all(|one| one.is_ascii_alphanumeric() || "._-+${}".contains(one))
}

/// Whether a version is newer than another: by the numbers of its dotted parts, as far as both have them. What follows
/// the numbers, such as `-SNAPSHOT`, does not count, and one that is no version, such as `${http.version}`, is not newer.
fn is_newer(version: &str, than: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        let plain = text.split(['-', '+']).next().unwrap_or_default();
        let mut numbers: Vec<u64> = plain.split('.').map_while(|part| part.parse().ok()).collect();
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        numbers
    };
    numbers(version) > numbers(than)
}

/// What to write for what was added.
fn lessons(outcomes: &[Outcome], runtime: Version) -> String {
    let added = outcomes.iter().filter(|one| one.state == State::Done);
    let mut text = String::new();
    for definition in added.filter_map(|one| one.definition.as_ref()) {
        let shown = render::example(&example(definition, runtime, None, None));
        if !shown.is_empty() {
            let _ = write!(text, "\nTo use {}:\n{shown}", definition.name);
        }
    }
    text
}

#[cfg(test)]
mod tests;

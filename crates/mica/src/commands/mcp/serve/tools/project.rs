//! `project_facts` and `project_graph`: what a project is, and what is in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use pack_mi::project::{Layout, MiProject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synapse_lang::graph::{Graph, Node, State};

use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;
use crate::sources::read_project;

/// Artifacts and calls of one answer at most.
const MOST: usize = 2_000;

/// Which project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A file or a folder in the project, relative to the root. Left out: the project of the root.
    path: Option<String>,
}

/// What a project is.
#[derive(Debug, Serialize, JsonSchema)]
struct Facts {
    /// Its folder.
    root: String,
    name: Option<String>,
    /// wso2mi: src/main/wso2mi. synapse-config: the older one. modules: only modules. bare: a build file only.
    layout: &'static str,
    /// The runtime it is built for.
    runtime: Option<String>,
    /// Which file says so.
    runtime_from: Option<String>,
    modules: Vec<Module>,
    /// Connectors that its build file declares: group:artifact:version.
    connectors: Vec<String>,
    /// Archives of connectors that lie in it.
    archives: Vec<String>,
    /// How many artifacts there are, by kind.
    artifacts: BTreeMap<String, usize>,
    /// All folders that this server may look at.
    roots: Vec<String>,
}

/// A module of a project.
#[derive(Debug, Serialize, JsonSchema)]
struct Module {
    path: String,
    layout: &'static str,
    runtime: Option<String>,
}

/// Who calls whom.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Calls {
    /// What the project defines.
    artifacts: Vec<Artifact>,
    calls: Vec<Call>,
    /// What is named and not defined, with who names it.
    unresolved: Vec<Unresolved>,
    /// Groups of artifacts that can reach themselves.
    cycles: Vec<Vec<String>>,
    left_out: usize,
    /// What could not be read, and why.
    unreadable: Vec<String>,
}

/// An artifact.
#[derive(Debug, Serialize, JsonSchema)]
struct Artifact {
    /// kind:name, as calls name it.
    id: String,
    kind: String,
    name: String,
    path: Option<String>,
    line: Option<u32>,
}

/// A call.
#[derive(Debug, Serialize, JsonSchema)]
struct Call {
    from: String,
    to: String,
    /// How many places of the caller name it.
    count: usize,
}

/// Something that is not there.
#[derive(Debug, Serialize, JsonSchema)]
struct Unresolved {
    id: String,
    /// missing: nothing defines it. outside: the server or its registry may have it.
    state: &'static str,
    by: Vec<String>,
}

/// The tool that tells facts.
pub fn facts() -> Offered {
    Offered::new(
        "project_facts",
        "Facts about the project",
        "Tells what the Micro Integrator project is: its runtime version and who says so, its layout and modules, its connectors, \
         and how many artifacts of each kind it has.",
        tell,
    )
}

/// The tool that draws.
pub fn graph() -> Offered {
    Offered::new(
        "project_graph",
        "Who calls whom",
        "Lists the artifacts of a project, which of them call which, what is named but not defined, and cycles. Use it to find \
         who uses an artifact before you change or rename it.",
        draw,
    )
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::New => "wso2mi",
        Layout::Old => "synapse-config",
        Layout::Modules => "modules",
        Layout::Bare => "bare",
    }
}

fn root(site: &Site, input: &Input) -> Result<PathBuf, Refusal> {
    site.project_root(input.path.as_deref())?.ok_or_else(|| {
        Refusal::new(
            "There is no Micro Integrator project there: no src/main/wso2mi and no src/main/synapse-config below the roots of \
             this server.",
        )
    })
}

fn tell(site: &Site, input: &Input) -> Result<Answer<Facts>, Refusal> {
    let root = root(site, input)?;
    let project = MiProject::read(&root).ok_or_else(|| Refusal::new("Its build files cannot be read."))?;
    let (read, _) = read_project(&root).map_err(|error| Refusal::new(error.to_string()))?;
    let mut artifacts: BTreeMap<String, usize> = BTreeMap::new();
    for node in Graph::of(&read).nodes.into_iter().filter(|node| node.state == State::Defined) {
        *artifacts.entry(node.kind.to_owned()).or_default() += 1;
    }
    let facts = Facts {
        root: site.shown(&root),
        name: project.name.clone(),
        layout: layout(project.layout),
        runtime: project.version().map(|version| version.to_string()),
        runtime_from: project.runtime.as_ref().map(|runtime| site.shown(&runtime.file)),
        modules: project
            .modules
            .iter()
            .map(|one| Module {
                path: one.path.clone(),
                layout: layout(one.layout),
                runtime: one.runtime.as_ref().map(|runtime| runtime.version.to_string()),
            })
            .collect(),
        connectors: project
            .connectors
            .iter()
            .map(|one| format!("{}:{}:{}", one.group, one.artifact, one.version))
            .collect(),
        archives: project.archives.iter().map(|path| site.shown(path)).collect(),
        artifacts,
        roots: site.roots().iter().map(|root| root.display().to_string()).collect(),
    };
    Ok(Answer { text: facts_in_words(&facts), data: facts })
}

fn facts_in_words(facts: &Facts) -> String {
    let mut text = format!(
        "{} in {}, layout {}; {}.",
        facts.name.as_deref().unwrap_or("A project without a name"),
        facts.root,
        facts.layout,
        match (&facts.runtime, &facts.runtime_from) {
            (Some(version), Some(from)) => format!("Micro Integrator {version}, by {from}"),
            (Some(version), None) => format!("Micro Integrator {version}"),
            (None, _) => "its build file does not say for which runtime".to_owned(),
        }
    );
    let listed = |text: &mut String, what: &str, of: &[String]| {
        if !of.is_empty() {
            let _ = write!(text, "\n{what}: {}.", of.join(", "));
        }
    };
    let artifacts: Vec<String> =
        facts.artifacts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    listed(&mut text, "Artifacts", &artifacts);
    let modules: Vec<String> = facts.modules.iter().map(|one| one.path.clone()).collect();
    listed(&mut text, "Modules", &modules);
    listed(&mut text, "Connectors", &facts.connectors);
    listed(&mut text, "Archives", &facts.archives);
    text
}

fn draw(site: &Site, input: &Input) -> Result<Answer<Calls>, Refusal> {
    let root = root(site, input)?;
    let (project, unreadable) = read_project(&root).map_err(|error| Refusal::new(error.to_string()))?;
    let graph = Graph::of(&project);
    let id = |at: usize| graph.nodes.get(at).map(|node: &Node| format!("{}:{}", node.kind, node.name));
    let name = |at: usize| id(at).unwrap_or_default();
    let artifacts: Vec<Artifact> = graph
        .nodes
        .iter()
        .filter(|node| node.state == State::Defined)
        .map(|node| Artifact {
            id: format!("{}:{}", node.kind, node.name),
            kind: node.kind.to_owned(),
            name: node.name.clone(),
            path: node.path.as_ref().map(|path| site.shown(&root.join(path))),
            line: node.line,
        })
        .collect();
    let callers =
        |at: usize| graph.edges.iter().filter(move |edge| edge.to == at).map(|edge| name(edge.from));
    let unresolved: Vec<Unresolved> = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.state != State::Defined)
        .map(|(at, node)| Unresolved {
            id: name(at),
            state: if node.state == State::Missing { "missing" } else { "outside" },
            by: callers(at).collect(),
        })
        .collect();
    let calls: Vec<Call> = graph
        .edges
        .iter()
        .map(|edge| Call { from: name(edge.from), to: name(edge.to), count: edge.count })
        .collect();
    let cycles = graph.cycles().into_iter().map(|group| group.into_iter().map(name).collect()).collect();
    let over = |count: usize| count.saturating_sub(MOST);
    let left_out = over(artifacts.len()) + over(calls.len()) + over(unresolved.len());
    let mut data = Calls { artifacts, calls, unresolved, cycles, left_out, unreadable };
    data.artifacts.truncate(MOST);
    data.calls.truncate(MOST);
    data.unresolved.truncate(MOST);
    Ok(Answer { text: graph_in_words(&data), data })
}

fn graph_in_words(calls: &Calls) -> String {
    let mut text = String::new();
    for one in &calls.artifacts {
        let place = match (&one.path, one.line) {
            (Some(path), Some(line)) => format!(" ({path}:{line})"),
            (Some(path), None) => format!(" ({path})"),
            _ => String::new(),
        };
        let called: Vec<&str> =
            calls.calls.iter().filter(|call| call.from == one.id).map(|call| call.to.as_str()).collect();
        let called = if called.is_empty() { String::new() } else { format!(" -> {}", called.join(", ")) };
        let _ = writeln!(text, "{}{place}{called}", one.id);
    }
    for one in &calls.unresolved {
        let _ = writeln!(text, "{}: {}, named by {}", one.state, one.id, one.by.join(", "));
    }
    for cycle in &calls.cycles {
        let _ = writeln!(text, "cycle: {}", cycle.join(", "));
    }
    if text.is_empty() {
        text.push_str("The project has no artifacts.");
    }
    text.trim_end().to_owned()
}

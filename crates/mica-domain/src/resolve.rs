//! From capabilities and a page to the tools and the texts that a model gets.
//!
//! Invariant: what a text says is true. Fragments are rendered after the tools are chosen, from those that are left, and
//! [`Resolved::check`] fails when one names a tool that is not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mica_agent::{Tool, ToolSet, ToolSpec};
use mica_context::section::ToolNames;
use mica_tools::{Deferred, deferred};

use crate::act::Act;
use crate::capability::{Capability, Delivery, Exclude, Words};
use crate::error::DomainError;
use crate::lint::named;
use crate::page::Page;

/// What a model gets on a page.
pub struct Resolved {
    /// The tools.
    pub tools: ToolSet,
    /// The names of all that can be called, those that are deferred among them.
    pub names: ToolNames,
    /// What the capabilities say, in their order.
    pub fragments: Vec<String>,
    /// What can be done here, for people.
    pub summaries: Vec<String>,
    /// All names there are on any page: those that are not among `names` must not be named.
    universe: ToolNames,
    /// Those that others describe.
    foreign: ToolNames,
}

/// Chooses the tools of a page.
///
/// Those of deferred capabilities are put behind two tools that load and call them, and are listed in the last fragment;
/// they are among the names, because they can be called. Where none are deferred, nothing is added.
///
/// A page that no capability is bound to has the global tools only, and so has no page. A tool of the page replaces a
/// global one of the same name. `keep` has the last word on every tool: a mode, an organisation's settings.
///
/// # Errors
/// [`DomainError::DuplicateTool`] and [`DomainError::UnknownInput`]: mistakes in the domain.
pub fn resolve(
    capabilities: &[Capability],
    page: Option<&str>,
    keep: &dyn Fn(&ToolSpec) -> bool,
) -> Result<Resolved, DomainError> {
    resolve_deferring(capabilities, page, keep, &|_| false)
}

/// The same, with more tools that are deferred: those that `defers` picks, whatever their capability says.
///
/// # Errors
/// As for [`resolve()`].
pub fn resolve_deferring(
    capabilities: &[Capability],
    page: Option<&str>,
    keep: &dyn Fn(&ToolSpec) -> bool,
    defers: &dyn Fn(&ToolSpec) -> bool,
) -> Result<Resolved, DomainError> {
    let here = |capability: &&Capability| matches!(&capability.page, Page::Named(name) if Some(name.as_str()) == page);
    let global = |capability: &&Capability| capability.page == Page::Global;
    let excludes: Vec<&Exclude> =
        capabilities.iter().filter(here).flat_map(|capability| &capability.excludes).collect();

    let mut chosen = by_name(capabilities.iter().filter(global))?;
    chosen.retain(|_, (tool, _)| !excludes.iter().any(|exclude| exclude.covers(tool.spec())));
    chosen.extend(by_name(capabilities.iter().filter(here))?);
    chosen.retain(|_, (tool, _)| keep(tool.spec()));

    let mut tools = ToolSet::default();
    let mut later = Vec::new();
    for (tool, delivery) in chosen.values() {
        if *delivery == Delivery::Deferred || defers(tool.spec()) {
            later.push(Arc::clone(tool));
        } else {
            tools.add(Arc::clone(tool));
        }
    }
    let active = || capabilities.iter().filter(|capability| global(capability) || here(capability));
    let shelves = active().filter_map(|capability| capability.shelf.clone()).collect();
    let deferred = Deferred::new(later).growing(shelves);
    for tool in deferred.tools() {
        let name = &tool.spec().name;
        if chosen.contains_key(name.as_str()) {
            let page = page.map_or(Page::Global, Page::named);
            return Err(DomainError::DuplicateTool { name: name.clone(), page });
        }
        tools.add(tool);
    }
    let names: ToolNames = tools.callable().into_iter().collect();
    let foreign = capabilities.iter().filter(|capability| capability.words == Words::Foreign);
    let foreign = foreign.flat_map(|capability| &capability.tools).map(|tool| tool.spec().name.clone());
    let universe = capabilities
        .iter()
        .flat_map(|capability| &capability.tools)
        .map(|tool| tool.spec().name.clone())
        .chain([deferred::LOAD, deferred::CALL].map(str::to_owned))
        .collect();
    for capability in capabilities {
        inputs_exist(capability, capabilities)?;
    }
    Ok(Resolved {
        fragments: active()
            .filter_map(|capability| (capability.prompt)(&names))
            .chain(deferred.listing())
            .collect(),
        // A capability none of whose tools are left can do nothing here.
        summaries: active()
            .filter(|capability| capability.tools.iter().any(|tool| names.has(&tool.spec().name)))
            .filter_map(|capability| (capability.summary)(&names))
            .collect(),
        tools,
        names,
        universe,
        foreign: foreign.collect(),
    })
}

/// Whether [`resolve`] gives a page the tool of this name: one of the page itself, or a global one that it does not leave
/// out. Asked for every call, so nothing is made.
pub(crate) fn is_on(capabilities: &[Capability], page: Option<&str>, spec: &ToolSpec) -> bool {
    let here = |capability: &&Capability| matches!(&capability.page, Page::Named(name) if Some(name.as_str()) == page);
    let has = |capability: &Capability| capability.tools.iter().any(|tool| tool.spec().name == spec.name);
    if capabilities.iter().filter(here).any(has) {
        return true;
    }
    let global = |capability: &&Capability| capability.page == Page::Global;
    let mut excludes = capabilities.iter().filter(here).flat_map(|capability| &capability.excludes);
    capabilities.iter().filter(global).any(has) && !excludes.any(|exclude| exclude.covers(spec))
}

/// What is said of a tool where the user is: what the page says goes before what is said everywhere.
pub(crate) fn act_of<'a>(capabilities: &'a [Capability], page: Option<&str>, tool: &str) -> Option<&'a Act> {
    let here = |capability: &&Capability| matches!(&capability.page, Page::Named(name) if Some(name.as_str()) == page);
    let global = |capability: &&Capability| capability.page == Page::Global;
    let said = |capability: &'a Capability| capability.acts.iter().find(|act| act.tool == tool);
    let local = capabilities.iter().filter(here).find_map(said);
    local.or_else(|| capabilities.iter().filter(global).find_map(said))
}

/// What is said of the tools of a page, each once.
pub(crate) fn acts_on(capabilities: &[Capability], page: Option<&str>) -> Vec<Act> {
    let said = capabilities.iter().flat_map(|capability| &capability.acts).map(|act| act.tool.as_str());
    let tools: BTreeSet<&str> = said.collect();
    tools.into_iter().filter_map(|tool| act_of(capabilities, page, tool).cloned()).collect()
}

/// What is said of all tools, wherever they are, each once.
pub(crate) fn all_acts(capabilities: &[Capability]) -> Vec<Act> {
    let mut acts: BTreeMap<&str, &Act> = BTreeMap::new();
    for act in capabilities.iter().flat_map(|capability| &capability.acts) {
        acts.entry(&act.tool).or_insert(act);
    }
    acts.into_values().cloned().collect()
}

impl Resolved {
    /// Fails when a text, or a tool's description, names a tool that is not there.
    ///
    /// # Errors
    /// [`DomainError::UntrueText`] for the first one.
    pub fn check<'a>(
        &'a self,
        texts: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), DomainError> {
        let fragments = self.fragments.iter().map(|text| ("of a capability", text.as_str()));
        let summaries = self.summaries.iter().map(|text| ("that sums up a capability", text.as_str()));
        let untrue = |id: &str, text: &str| {
            let tool = named(text, &self.universe).find(|name| !self.names.has(name));
            tool.map(|tool| DomainError::UntrueText { text: id.to_owned(), tool: tool.to_owned() })
        };
        // What comes to stand on a shelf is others', too.
        let is_own = |name: &str| self.universe.has(name) && !self.foreign.has(name);
        let wrong = texts
            .into_iter()
            .chain(fragments)
            .chain(summaries)
            .find_map(|(id, text)| untrue(id, text))
            .or_else(|| {
                let tools = self.tools.iter().cloned().chain(self.tools.behind());
                tools
                    .filter(|tool| is_own(&tool.spec().name))
                    .find_map(|tool| untrue(&tool.spec().name, &tool.spec().description))
            });
        wrong.map_or(Ok(()), Err)
    }
}

impl Resolved {
    /// A text without the lines that name a tool which is not there, for texts that are data: profiles of subagents, for
    /// example, which are written for whatever tools there may be. A tool can be named as `[[tool]]`; then it is also known
    /// for one where no capability has it.
    pub fn truthful(&self, text: &str) -> String {
        let marked = |line: &str| -> bool {
            let mut names = line.split("[[").skip(1).filter_map(|rest| Some(rest.split_once("]]")?.0));
            names.all(|name| self.names.has(name))
        };
        let is_true =
            |line: &&str| marked(line) && named(line, &self.universe).all(|name| self.names.has(name));
        text.lines().filter(is_true).collect::<Vec<_>>().join("\n").replace("[[", "`").replace("]]", "`")
    }
}

type ByName<'a> = BTreeMap<&'a str, (Arc<dyn Tool>, Delivery)>;

/// The tools of capabilities of one page. Two of the same name are a mistake: which one counts would be chance.
fn by_name<'a>(capabilities: impl Iterator<Item = &'a Capability>) -> Result<ByName<'a>, DomainError> {
    let mut tools = BTreeMap::new();
    for capability in capabilities {
        for tool in &capability.tools {
            let name = tool.spec().name.as_str();
            if tools.insert(name, (Arc::clone(tool), capability.delivery)).is_some() {
                return Err(DomainError::DuplicateTool {
                    name: name.to_owned(),
                    page: capability.page.clone(),
                });
            }
        }
    }
    Ok(tools)
}

fn inputs_exist(capability: &Capability, all: &[Capability]) -> Result<(), DomainError> {
    let declared: BTreeSet<(&str, &str)> = all
        .iter()
        .flat_map(|capability| &capability.tools)
        .flat_map(|tool| arguments(tool.spec()).map(|argument| (tool.spec().name.as_str(), argument)))
        .collect();
    match capability.inputs.iter().find(|input| !declared.contains(&(&input.tool, &input.argument))) {
        None => Ok(()),
        Some(input) => {
            Err(DomainError::UnknownInput { tool: input.tool.clone(), argument: input.argument.clone() })
        }
    }
}

/// The arguments that a tool's schema declares.
pub(crate) fn arguments(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    spec.schema["properties"].as_object().into_iter().flat_map(|members| members.keys()).map(String::as_str)
}

#[cfg(test)]
mod tests;

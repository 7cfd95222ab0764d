//! Connectors: which there are, what they can do, and how a project gets them.
//!
//! A [`Definition`] says what a connector can do, and says what it does not know. It comes from the archive that lies in
//! the project ([`archive`]), from a store that the program was told to ask ([`store`]), or from the facts that come
//! along ([`snapshot`]), in this order. [`Shelf`] puts them together for one project. The tools are
//! [`GetConnectorDefinitions`] and [`AddOrRemoveConnector`].
//!
//! Promise: nothing is made up. An operation whose parameters are not known says so.

pub mod add_or_remove;
pub mod archive;
pub mod definition;
pub mod example;
pub mod get_definitions;
mod render;
pub mod shelf;
pub mod snapshot;
pub mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use mica_agent::Tool;
use mica_tools::Workspace;

pub use add_or_remove::AddOrRemoveConnector;
pub use definition::{Checkable, Connection, Definition, Init, Kind, Operation, Parameter, Source};
pub use get_definitions::GetConnectorDefinitions;
pub use shelf::{Found, Shelf};
pub use store::{Store, StoreCache};

use crate::project::MiProject;

/// The tools for connectors, for one workspace. Without a store, the facts that come along are all there is besides
/// the project's own archives.
pub fn tools(workspace: &Workspace, store: Option<Arc<StoreCache>>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(GetConnectorDefinitions::new(workspace, store.clone())),
        Arc::new(AddOrRemoveConnector::new(workspace, store)),
    ]
}

/// The connectors whose archives lie in a project, with all their operations: what a checker can hold flows against.
#[must_use]
pub fn in_project(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let archives = MiProject::read(root).map(|project| project.archives).unwrap_or_default();
    let mut known = BTreeMap::new();
    for definition in archives.iter().filter_map(|path| archive::read(path).ok()) {
        let Some(operations) = definition.checkable() else { continue };
        let names = operations.into_iter().map(|one| one.name.to_owned()).collect();
        known.insert(definition.name.clone(), names);
    }
    known
}

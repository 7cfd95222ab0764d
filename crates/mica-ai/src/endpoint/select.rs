//! From the name of a model to where its requests go and what is known about it.

use std::sync::Arc;

use super::error::{EndpointError, SelectError};
use super::{Endpoint, HostKind, Note};
use crate::catalogue::{Catalogue, Found, MatchedBy};
use crate::message::{Dialect, Origin};
use crate::model::Model;

/// The endpoints there are, in the order they are preferred in.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    list: Vec<Arc<Endpoint>>,
    /// What a person should know about how the configuration was read.
    pub notes: Vec<Note>,
}

/// Where requests for a model go.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The endpoint.
    pub endpoint: Arc<Endpoint>,
    /// The model, with its deployment and the dialect set.
    pub model: Arc<Model>,
    /// The dialect to speak.
    pub dialect: Dialect,
    /// How much is known about the model.
    pub facts: Facts,
}

/// How much is known about a chosen model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facts {
    /// The catalogue has it.
    Known(MatchedBy),
    /// Nothing: modest limits are assumed, and there are no prices.
    Assumed,
}

impl Choice {
    /// The whole address that its requests go to.
    pub fn url(&self) -> String {
        self.endpoint.url(self.dialect, &self.model.deployment)
    }

    /// What its answers will carry as their origin.
    pub fn origin(&self) -> Origin {
        Origin {
            dialect: self.dialect,
            provider: self.endpoint.name.clone(),
            model: self.model.deployment.clone(),
        }
    }
}

impl Endpoints {
    /// Adds an endpoint, as the least preferred.
    ///
    /// # Errors
    /// [`EndpointError::SameName`].
    pub fn push(&mut self, endpoint: Endpoint) -> Result<(), EndpointError> {
        if self.get(&endpoint.name).is_some() {
            return Err(EndpointError::SameName { name: endpoint.name });
        }
        self.list.push(Arc::new(endpoint));
        Ok(())
    }

    /// Adds other endpoints as less preferred ones. Of two with one name the first stays: a configuration file goes
    /// before what is found in the environment.
    pub fn extend(&mut self, others: Endpoints) {
        for endpoint in others.list {
            if self.get(&endpoint.name).is_none() {
                self.list.push(endpoint);
            }
        }
        self.notes.extend(others.notes);
    }

    /// The endpoint of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Endpoint>> {
        self.list.iter().find(|endpoint| endpoint.name.eq_ignore_ascii_case(name))
    }

    /// All endpoints, the most preferred first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.list.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Chooses where requests for a model go.
    ///
    /// `NAME/MODEL` asks at the endpoint of that name (`azure/MODEL` at one on Azure). Otherwise an endpoint whose
    /// deployment list has the model is taken, else the first that hosts models of its dialect; one that is configured
    /// for Claude alone before one that has Claude beside others. Names nobody knows go to the first endpoint.
    ///
    /// # Errors
    /// When no endpoint can be the right one.
    pub fn select(&self, catalogue: &Catalogue, name: &str) -> Result<Choice, SelectError> {
        self.choose(catalogue, name, None)
    }

    /// As [`Endpoints::select`], but speaks the dialect that is asked for.
    ///
    /// # Errors
    /// As [`Endpoints::select`].
    pub fn select_as(
        &self,
        catalogue: &Catalogue,
        name: &str,
        dialect: Dialect,
    ) -> Result<Choice, SelectError> {
        self.choose(catalogue, name, Some(dialect))
    }

    fn choose(
        &self,
        catalogue: &Catalogue,
        name: &str,
        wish: Option<Dialect>,
    ) -> Result<Choice, SelectError> {
        let (scope, asked) = self.scope(name.trim());
        if asked.is_empty() {
            return Err(SelectError::NoName);
        }
        let first = scope.first().copied().ok_or(SelectError::NoEndpoints)?;
        let by_name = catalogue.resolve(asked).ok();
        let mapped = scope.iter().find_map(|endpoint| Mapped::find(endpoint, asked, by_name.as_ref()));
        let found = match &mapped {
            Some(mapped) => catalogue.resolve(mapped.model).ok().or_else(|| by_name.clone()),
            None => by_name.clone(),
        };
        let own = found.as_ref().map(|found| found.model.dialect);
        let endpoint = match (&mapped, wish.or(own)) {
            (Some(mapped), _) => mapped.endpoint,
            (None, Some(dialect)) => host(&scope, dialect).ok_or_else(|| SelectError::NotHosted {
                model: asked.to_owned(),
                dialect,
                endpoints: scope.iter().map(|endpoint| endpoint.name.clone()).collect(),
            })?,
            (None, None) => first,
        };
        let dialect = wish.unwrap_or_else(|| dialect_at(endpoint, own));
        let deployment = match &mapped {
            Some(mapped) => mapped.deployment.to_owned(),
            None => deployment_at(endpoint, catalogue, asked, found.as_ref()),
        };
        let facts = found.as_ref().map_or(Facts::Assumed, |found| Facts::Known(found.by));
        let mut model = match found {
            Some(found) => (*found.model).clone(),
            None => Model::assumed(asked, dialect),
        };
        model.deployment = deployment;
        model.dialect = dialect;
        Ok(Choice { endpoint: Arc::clone(endpoint), model: Arc::new(model), dialect, facts })
    }

    /// The endpoints a name is looked for at, and the name without the endpoint's.
    fn scope<'a>(&'a self, name: &'a str) -> (Vec<&'a Arc<Endpoint>>, &'a str) {
        if let Some((head, tail)) = name.split_once('/') {
            if let Some(endpoint) = self.get(head) {
                return (vec![endpoint], tail);
            }
            let kinds: Vec<_> = self.list.iter().filter(|endpoint| is_called(endpoint.kind, head)).collect();
            if !kinds.is_empty() {
                return (kinds, tail);
            }
        }
        (self.list.iter().collect(), name)
    }
}

/// What an endpoint's deployment list says about a name.
struct Mapped<'a> {
    endpoint: &'a Arc<Endpoint>,
    model: &'a str,
    deployment: &'a str,
}

impl<'a> Mapped<'a> {
    /// Looks for a model by what was asked, then by its id, then for a deployment of that name.
    fn find(endpoint: &'a Arc<Endpoint>, asked: &'a str, found: Option<&'a Found>) -> Option<Mapped<'a>> {
        let map = &endpoint.deployments;
        // A likeness is no identity: `gpt-4o-2024-08-06` may be deployed beside `gpt-4o`.
        let sure = found.filter(|found| found.by != MatchedBy::Likeness);
        for model in std::iter::once(asked).chain(sure.map(|found| found.model.id.as_str())) {
            if let Some(deployment) = map.deployment(model) {
                return Some(Mapped { endpoint, model, deployment });
            }
        }
        map.model(asked).map(|model| Mapped { endpoint, model, deployment: asked })
    }
}

/// Names for a kind of endpoint that people put in front of a model.
fn is_called(kind: HostKind, word: &str) -> bool {
    let azure = matches!(kind, HostKind::Foundry | HostKind::FoundryClaude);
    kind.name().eq_ignore_ascii_case(word) || (azure && word.eq_ignore_ascii_case("azure"))
}

/// The endpoint for models whose own dialect this is. A local server is the last resort for all: what it cannot host
/// under its own dialect it may still host over chat.
fn host<'a>(scope: &[&'a Arc<Endpoint>], dialect: Dialect) -> Option<&'a Arc<Endpoint>> {
    let alone = |endpoint: &&&Arc<Endpoint>| {
        endpoint.hosts(dialect) && matches!(endpoint.kind, HostKind::FoundryClaude | HostKind::Anthropic)
    };
    let hosts = |endpoint: &&&Arc<Endpoint>| endpoint.hosts(dialect);
    let local = |endpoint: &&&Arc<Endpoint>| endpoint.kind == HostKind::Local;
    scope
        .iter()
        .find(alone)
        .or_else(|| scope.iter().find(hosts))
        .or_else(|| scope.iter().find(local))
        .copied()
}

/// The dialect to speak at an endpoint to a model whose own dialect is known or not.
fn dialect_at(endpoint: &Endpoint, own: Option<Dialect>) -> Dialect {
    match (endpoint.dialect, own) {
        // On Azure, Claude has a path and a dialect of its own, whatever the other models there are spoken to in.
        (_, Some(Dialect::Messages)) if endpoint.kind == HostKind::Foundry => Dialect::Messages,
        (Some(set), _) => set,
        (None, Some(own)) if endpoint.kind.hosts(own) => own,
        (None, _) => endpoint.kind.default_dialect(),
    }
}

/// What to call a model at an endpoint that has no list entry for it.
fn deployment_at(endpoint: &Endpoint, catalogue: &Catalogue, asked: &str, found: Option<&Found>) -> String {
    if let Some(named) = endpoint.address.deployment() {
        return named.to_owned();
    }
    match (endpoint.kind, found) {
        // Local servers name models by whatever they were loaded as, slashes included.
        (HostKind::Local, _) | (_, None) => asked.to_owned(),
        // Deployments are named by their owner, so what was asked stands.
        (HostKind::Foundry | HostKind::FoundryClaude, Some(found)) => found.bare.clone(),
        // A vendor knows its own names only: another spelling of an id becomes the id.
        (HostKind::OpenAi | HostKind::Anthropic, Some(found)) => {
            let known = catalogue.aliases(&found.model.id).contains(&found.bare);
            if found.by == MatchedBy::Alias && !known { found.model.id.clone() } else { found.bare.clone() }
        }
    }
}

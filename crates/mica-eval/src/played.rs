//! The model of a case, and what it was asked: every request as it would go over its wire.

use std::sync::{Arc, Mutex, PoisonError};

use mica_ai::{Assistant, Catalogue, Dialect, Message, Model, ModelStream, Origin, Provider, Request};
use mica_testkit::{Scenario, validate};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A request, as it goes over its wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The wire.
    pub dialect: Dialect,
    /// The body.
    pub body: Vec<u8>,
    /// The body, read.
    pub json: Value,
    /// Why a provider would refuse it.
    pub wrong: Option<String>,
}

impl Asked {
    /// A request that a server took, or whose shape nobody checked yet.
    pub fn on_wire(dialect: Dialect, body: Vec<u8>) -> Self {
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let wrong = refused(dialect, &json, false);
        Self { dialect, body, json, wrong }
    }

    /// The conversation in it, as a list.
    pub fn items(&self) -> &[Value] {
        let items = self.json["input"].as_array().or(self.json["messages"].as_array());
        items.map_or(&[], Vec::as_slice)
    }

    /// The names of the tools in it.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.json["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let name =
            |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

/// Why a provider would refuse a request.
fn refused(dialect: Dialect, json: &Value, seals: bool) -> Option<String> {
    let mut strict = Scenario::new().strict;
    strict.seals = seals;
    let mut headers = http::HeaderMap::new();
    mica_ai::dialect::headers(dialect, &mut headers);
    let model = json["model"].as_str().unwrap_or_default();
    let check = validate::Check { strict, facts: None, model, headers: &headers };
    validate::request(dialect, json, &check).err().map(|wrong| wrong.message)
}

/// What a model was asked, the oldest first. Clones see the same.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Mutex<Vec<Asked>>>);

impl Watch {
    /// The requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, asked: Asked) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }
}

/// The model of a case. Clones are the same one.
#[derive(Clone)]
pub struct Played {
    provider: Arc<dyn Provider>,
    /// Another one from some moment on, for all clones.
    model: Arc<Mutex<Arc<Model>>>,
    scenario: Option<Scenario>,
    watch: Watch,
}

impl Played {
    /// A provider that is watched. `scenario` is what it plays, for stages that play it over a wire.
    pub fn new(provider: Arc<dyn Provider>, model: Arc<Model>, scenario: Option<Scenario>) -> Self {
        let watch = Watch::default();
        let watching = Watching { inner: provider, watch: watch.clone(), seals: scenario.is_some() };
        Self { provider: Arc::new(watching), model: Arc::new(Mutex::new(model)), scenario, watch }
    }

    /// Who answers.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.provider)
    }

    /// What is known of the model.
    pub fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on it is another one, also when the stage is opened again.
    pub(crate) fn becomes(&self, model: Arc<Model>) {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// What it plays, when it plays a script.
    pub fn scenario(&self) -> Option<&Scenario> {
        self.scenario.as_ref()
    }

    /// What it was asked.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// The facts of a model: the catalogue's when it knows the name.
pub(crate) fn facts(name: Option<&str>, dialect: Option<Dialect>) -> Arc<Model> {
    let name = name.unwrap_or("scripted");
    let mut model = match Catalogue::builtin().resolve(name) {
        Ok(found) => Model::clone(&found.model),
        Err(_) => Model::assumed(name, dialect.unwrap_or(Dialect::Responses)),
    };
    model.dialect = dialect.unwrap_or(model.dialect);
    if model.deployment.is_empty() {
        model.deployment.clone_from(&model.id);
    }
    Arc::new(model)
}

/// Notes each request as it would go over its wire.
struct Watching {
    inner: Arc<dyn Provider>,
    watch: Watch,
    seals: bool,
}

impl Provider for Watching {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let dialect = request.model.dialect;
        let origin = origin(&request);
        let asked = match mica_ai::dialect::bytes(dialect, &request, &origin) {
            Ok(body) => {
                let json: Value = serde_json::from_slice(&body).unwrap_or_default();
                let wrong = refused(dialect, &json, self.seals);
                Asked { dialect, body: body.to_vec(), json, wrong }
            }
            Err(error) => {
                Asked { dialect, body: Vec::new(), json: Value::Null, wrong: Some(error.to_string()) }
            }
        };
        self.watch.note(asked);
        self.inner.stream(request, cancel)
    }
}

/// Who answers a request, as far as what was said before tells.
fn origin(request: &Request) -> Origin {
    let model = &request.model;
    // Of this model only: what another one said before a switch is no word of who answers now.
    let said = request.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(Assistant { origin, .. })
            if origin.dialect == model.dialect && [&model.id, &model.deployment].contains(&&origin.model) =>
        {
            Some(origin.clone())
        }
        _ => None,
    });
    said.unwrap_or_else(|| Origin {
        dialect: request.model.dialect,
        provider: "scripted".to_owned(),
        model: request.model.deployment.clone(),
    })
}

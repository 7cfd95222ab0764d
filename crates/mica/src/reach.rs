//! From settings to a model that can be asked: endpoints, catalogue, credentials, network.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use mica_agent::nearest::distance;
use mica_ai::Catalogue;
use mica_ai::auth::Clock;
use mica_ai::connect::Means;
use mica_ai::endpoint::{Choice, EndpointError, Endpoints, Facts, Settings};
use mica_ai::http::HttpTransport;
use mica_ai::message::Dialect;
use mica_ai::model::Effort;
use mica_ai::retry::RetryPolicy;
use mica_ai::transport::Transport;
use mica_ai::watchdog::ModelClock;
use mica_session::entry::ModelChange;
use toml::{Table, Value};

use crate::cli::RunFlags;
use crate::config::Values;
use crate::runner::Runner;
use crate::surroundings::Surroundings;

/// What models there are, and where.
pub struct Reach {
    /// What is known of models.
    pub catalogue: Catalogue,
    /// Where they are served.
    pub endpoints: Endpoints,
}

impl Reach {
    /// What can be reached, endpoint by endpoint, and what is wrong with the others. Having none is fine.
    ///
    /// # Errors
    /// Settings about models that are wrong.
    pub fn known(
        values: &Values,
        flags: &RunFlags,
        surroundings: &Surroundings,
    ) -> Result<(Self, Vec<String>)> {
        let variables = |name: &str| surroundings.variable(name);
        let mut endpoints = Endpoints::default();
        let mut problems = Vec::new();
        if let Some(Err(error)) = flags.dialect.as_deref().map(str::parse::<Dialect>) {
            problems.push(format!("--dialect: {error}"));
        }
        let flagged = flags.base_url.as_deref().map(|url| ("--base-url".to_owned(), flagged(url, flags)));
        let numbered = values.endpoints.iter().enumerate();
        let configured =
            numbered.map(|(index, one)| (format!("[[endpoints]] number {}", index + 1), one.clone()));
        for (what, one) in flagged.into_iter().chain(configured) {
            match read(std::slice::from_ref(&one), &variables) {
                Ok(found) => endpoints.extend(found),
                Err(error) => problems.push(format!("{what} cannot be used: {}", error.root_cause())),
            }
        }
        match Endpoints::from_env(&variables) {
            Ok(found) => endpoints.extend(found),
            Err(EndpointError::Nothing { .. }) => {}
            Err(error) => problems.push(format!("the endpoints in the environment cannot be used: {error}")),
        }
        Ok((Self { catalogue: catalogue(values)?, endpoints }, problems))
    }

    /// Finds endpoints in the settings, then in the environment.
    ///
    /// # Errors
    /// Settings that are wrong, with what to do about it.
    pub fn find(values: &Values, flags: &RunFlags, surroundings: &Surroundings) -> Result<Self> {
        let variables = |name: &str| surroundings.variable(name);
        if let Some(dialect) = &flags.dialect {
            // Before it goes into an endpoint's settings, where a mistake would be told as one of a file.
            dialect.parse::<Dialect>()?;
        }
        let mut endpoints = Endpoints::default();
        if let Some(url) = &flags.base_url {
            endpoints.extend(read(&[flagged(url, flags)], &variables)?);
        }
        endpoints.extend(read(&values.endpoints, &variables)?);
        match Endpoints::from_env(&variables) {
            Ok(found) => endpoints.extend(found),
            // Nothing in the environment is fine when something is configured.
            Err(_) if !endpoints.is_empty() => {}
            Err(error) => return Err(error).context("no model can be asked"),
        }
        let catalogue = catalogue(values)?;
        Ok(Self { catalogue, endpoints })
    }

    /// The model to ask.
    ///
    /// # Errors
    /// When none is named, or nobody serves it.
    pub fn choose(&self, values: &Values) -> Result<Choice> {
        let Some(name) = &values.model else {
            let known: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            bail!(
                "no model is named: say --model NAME, or put `model = \"NAME\"` into the settings (endpoints: {})",
                known.join(", ")
            );
        };
        let choice = match &values.dialect {
            None => self.endpoints.select(&self.catalogue, name),
            Some(dialect) => self.endpoints.select_as(&self.catalogue, name, dialect.parse::<Dialect>()?),
        };
        choice.with_context(|| format!("the model {name:?} cannot be asked"))
    }

    /// The model to switch to. A dialect that the settings ask for is spoken where it can be; another model may need its
    /// own.
    ///
    /// # Errors
    /// A name that nobody knows, with those that look like it. Unlike at the start, a name is not taken on trust: then
    /// the next answer would be the one to fail. With its endpoint in front, `ENDPOINT/NAME`, it is.
    pub fn switch(&self, values: &Values, name: &str) -> Result<Choice> {
        let wish = values.dialect.as_deref().map(str::parse::<Dialect>).transpose()?;
        let wished = wish.and_then(|wish| self.endpoints.select_as(&self.catalogue, name, wish).ok());
        let choice = match wished {
            Some(choice) => choice,
            None => self
                .endpoints
                .select(&self.catalogue, name)
                .with_context(|| format!("the model {name:?} cannot be asked"))?,
        };
        let endpoint = |head: &str| self.endpoints.get(head).is_some();
        let placed = name.split_once('/').is_some_and(|(head, _)| endpoint(head));
        let deployed = self.endpoints.iter().any(|endpoint| endpoint.deployments.model(name).is_some());
        let set = values.model.as_deref() == Some(name);
        if choice.facts == Facts::Assumed && !placed && !deployed && !set {
            bail!("{}", self.unknown(name, &choice.endpoint.name));
        }
        Ok(choice)
    }

    /// The model that a session was switched to, when it can still be asked.
    ///
    /// # Errors
    /// When its endpoint is not there any more, or has no such model.
    pub fn again(&self, change: &ModelChange) -> Result<Choice> {
        let (endpoint, model) = (&change.endpoint, &change.model);
        if self.endpoints.get(endpoint).is_none() {
            bail!("there is no endpoint {endpoint:?} any more");
        }
        let name = format!("{endpoint}/{model}");
        let same = self.endpoints.select_as(&self.catalogue, &name, change.dialect);
        Ok(same.or_else(|_| self.endpoints.select(&self.catalogue, &name))?)
    }

    /// A choice as a session keeps it: by the name that leads to it again.
    pub fn change(&self, choice: &Choice, effort: Option<String>) -> ModelChange {
        let endpoint = choice.endpoint.name.clone();
        let by_id = self.endpoints.select(&self.catalogue, &format!("{endpoint}/{}", choice.model.id));
        let leads = by_id.is_ok_and(|found| found.model.deployment == choice.model.deployment);
        let model = if leads { &choice.model.id } else { &choice.model.deployment };
        ModelChange { endpoint, model: model.clone(), dialect: choice.dialect, effort }
    }

    fn unknown(&self, name: &str, endpoint: &str) -> String {
        let served =
            self.catalogue.models().filter(|model| self.endpoints.select(&self.catalogue, &model.id).is_ok());
        let mut near: Vec<(usize, &str)> = served
            .map(|model| (distance(&name.to_ascii_lowercase(), &model.id), model.id.as_str()))
            .filter(|(distance, id)| *distance <= id.len() / 2)
            .collect();
        near.sort_unstable();
        let near: Vec<&str> = near.into_iter().take(NEAR).map(|(_, id)| id).collect();
        let meant = match near.as_slice() {
            [] => "`mica models` lists those there are".to_owned(),
            near => format!("did you mean {}?", near.join(", ")),
        };
        format!(
            "there is no model {name:?}; {meant} A name that is not listed is asked for with its endpoint: {endpoint}/{name}"
        )
    }
}

/// Names that are offered in the place of one that nobody knows.
const NEAR: usize = 3;

/// What is known of models: what is built in, and what the settings say over it.
fn catalogue(values: &Values) -> Result<Catalogue> {
    if values.models.is_empty() {
        return Ok(Catalogue::builtin().clone());
    }
    let overrides = Table::from_iter([("model".to_owned(), Value::Table(values.models.clone()))]);
    Catalogue::builtin()
        .with_overrides(&overrides.to_string())
        .context("the settings under [models] are wrong")
}

/// How hard to think.
///
/// # Errors
/// A level nobody knows.
pub fn effort(values: &Values) -> Result<Option<Effort>> {
    Ok(values.effort.as_deref().map(str::parse::<Effort>).transpose()?)
}

/// The network, an identity and patience.
///
/// # Errors
/// When TLS cannot be set up.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
pub fn means(values: &Values, surroundings: &Surroundings) -> Result<Means> {
    let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new()?);
    let clock: Arc<dyn Clock> = Arc::new(std::time::SystemTime::now);
    let azure = mica_ai::auth::Surroundings::look_up(|name| surroundings.variable(name));
    let identity = Arc::new(azure.chain(&transport, &clock, Some(Arc::new(Runner::new(surroundings)))));
    let idle = Duration::from_secs(values.limits.idle.unwrap_or(120));
    Ok(Means {
        transport,
        identity,
        retry: RetryPolicy::default(),
        clock: ModelClock::new(idle, values.limits.time.map(Duration::from_secs)),
    })
}

/// The endpoint that the flags describe.
fn flagged(url: &str, flags: &RunFlags) -> Value {
    let mut endpoint = Table::new();
    let mut set = |key: &str, value: &str| {
        endpoint.insert(key.to_owned(), Value::String(value.to_owned()));
    };
    set("name", "flags");
    set("kind", "local");
    set("base_url", url);
    if let Some(dialect) = &flags.dialect {
        set("dialect", dialect);
    }
    if let Some(variable) = &flags.api_key_env {
        let auth = Table::from_iter([
            ("kind".to_owned(), Value::String("api_key".to_owned())),
            ("env".to_owned(), Value::String(variable.clone())),
        ]);
        endpoint.insert("auth".to_owned(), Value::Table(auth));
    }
    Value::Table(endpoint)
}

fn read(endpoints: &[Value], variables: &dyn Fn(&str) -> Option<String>) -> Result<Endpoints> {
    let table = Table::from_iter([("endpoints".to_owned(), Value::Array(endpoints.to_vec()))]);
    let settings =
        Settings::parse(&table.to_string()).context("the settings under [[endpoints]] are wrong")?;
    settings.resolve(variables).context("the endpoints in the settings cannot be used")
}

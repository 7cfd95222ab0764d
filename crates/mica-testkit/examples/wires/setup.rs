//! Where the demo's model is: a configured endpoint, or a scripted server that is started here.

use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;

use mica_ai::auth::{Clock, Surroundings};
use mica_ai::catalogue::Catalogue;
use mica_ai::connect::Means;
use mica_ai::endpoint::{Choice, EndpointError, Endpoints};
use mica_ai::http::HttpTransport;
use mica_ai::retry::RetryPolicy;
use mica_ai::transport::Transport;
use mica_ai::watchdog::ModelClock;
use mica_ai::{Dialect, Provider};
use mica_testkit::{Scenario, ScriptedServer};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Streams one question with a tool call, and shows what arrives.

usage: demo [--model NAME] [--dialect responses|messages|chat] [--scripted] [--question TEXT]

  --model NAME      the model to ask, as NAME or ENDPOINT/NAME; may be given again for more
  --dialect NAME    the wire to speak; all three when the model is scripted, else the model's own
  --scripted        play the model by script, even when an endpoint is configured
  --question TEXT   what to ask; the scripted model gives its one answer to anything

Endpoints are found in the environment: AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME with AZURE_OPENAI_API_KEY,
ANTHROPIC_FOUNDRY_RESOURCE with ANTHROPIC_FOUNDRY_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, MICA_LOCAL_BASE_URL.
docs/endpoints.md has the rest.";

const QUESTION: &str = "My OrderProxy answers 400 to {\"customerId\": \"C-17\"}. Why? It is in \
     src/main/wso2mi/artifacts/proxy-services/OrderProxy.xml.";

/// The model that stands for each wire when it is played by script. Their catalogue entries give prices and cache rules.
const SCRIPTED: [(Dialect, &str); 3] =
    [(Dialect::Responses, "gpt-5.5"), (Dialect::Messages, "claude-sonnet-5"), (Dialect::Chat, "gpt-4.1")];

/// What the command line asks for.
pub(crate) struct Options {
    models: Vec<String>,
    dialect: Option<Dialect>,
    scripted: bool,
    /// The question.
    pub(crate) question: String,
}

impl Options {
    /// Reads the command line; `None` when help is wanted.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options =
            Self { models: Vec::new(), dialect: None, scripted: false, question: QUESTION.to_owned() };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                // Whoever comes through a runner may have left this between its arguments and ours.
                "--" => {}
                "--scripted" => options.scripted = true,
                "--model" => options.models.push(value()?),
                "--question" => options.question = value()?,
                "--dialect" => {
                    options.dialect = Some(value()?.parse().map_err(|error| format!("{error}"))?);
                }
                other => return Err(format!("{other:?} is not an option")),
            }
        }
        Ok(Some(options))
    }
}

/// Where the model is.
pub(crate) struct Target {
    endpoints: Endpoints,
    transport: Arc<dyn Transport>,
    /// The server, when the model is played by script.
    pub(crate) server: Option<ScriptedServer>,
}

impl Target {
    /// Finds a configured endpoint, or starts the scripted server.
    pub(crate) async fn find(options: &Options) -> Result<Self, Box<dyn Error>> {
        let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new()?);
        if !options.scripted {
            match Endpoints::from_env(&environment) {
                Ok(endpoints) => return Ok(Self { endpoints, transport, server: None }),
                Err(EndpointError::Nothing { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        let catalogue = Catalogue::builtin();
        let mut scenario = Scenario::from_toml(include_str!("scenario.toml"))?.key("scripted-key");
        for (_, name) in SCRIPTED {
            scenario = scenario.model(&catalogue.resolve(name)?.model);
        }
        let server = ScriptedServer::start(scenario).await?;
        // From here on the scripted server is an endpoint like any other.
        let base = server.url("");
        let variables = |name: &str| match name {
            "AZURE_OPENAI_BASE_URL" => Some(format!("{base}/openai/v1")),
            "ANTHROPIC_FOUNDRY_BASE_URL" => Some(format!("{base}/anthropic")),
            "AZURE_OPENAI_API_KEY" | "ANTHROPIC_FOUNDRY_API_KEY" => Some("scripted-key".to_owned()),
            _ => None,
        };
        Ok(Self { endpoints: Endpoints::from_env(&variables)?, transport, server: Some(server) })
    }

    /// What will be asked.
    pub(crate) fn choices(&self, options: &Options) -> Result<Vec<Choice>, Box<dyn Error>> {
        let catalogue = Catalogue::builtin();
        let select = |name: &str, dialect: Option<Dialect>| match dialect {
            Some(dialect) => self.endpoints.select_as(catalogue, name, dialect),
            None => self.endpoints.select(catalogue, name),
        };
        if self.server.is_some() {
            let wanted =
                SCRIPTED.iter().filter(|(dialect, _)| options.dialect.is_none_or(|wish| wish == *dialect));
            return wanted.map(|(dialect, name)| Ok(select(name, Some(*dialect))?)).collect();
        }
        if options.models.is_empty() {
            let names: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
            return Err(format!(
                "found {}: name the model or deployment to ask with --model NAME, or use --scripted",
                names.join(", ")
            )
            .into());
        }
        options.models.iter().map(|name| Ok(select(name, options.dialect)?)).collect()
    }

    /// The provider that answers for a choice.
    pub(crate) fn provider_for(&self, choice: &Choice) -> Result<Arc<dyn Provider>, Box<dyn Error>> {
        let means = Means {
            transport: Arc::clone(&self.transport),
            identity: Arc::new(Surroundings::look_up(environment).chain(&self.transport, &clock(), None)),
            retry: RetryPolicy::default(),
            clock: ModelClock::default(),
        };
        Ok(means.provider(choice))
    }

    /// Stops the scripted server.
    pub(crate) async fn close(self) {
        if let Some(server) = self.server {
            server.shutdown().await;
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the demo is a program: it reads its environment")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[allow(clippy::disallowed_methods, reason = "the demo is a program: it knows the time")]
fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemTime::now)
}

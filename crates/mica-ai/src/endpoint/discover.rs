//! Finds endpoints in environment variables, under the names that other tools use for them.

use super::error::EndpointError;
use super::select::Endpoints;
use super::settings::{EndpointSettings, value_of};
use super::{Address, AddressError, AuthSettings, DeploymentMap, HostKind, Note};

/// Looks up a variable. The environment itself belongs to the program; this crate is given this much of it.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

const FOUNDRY_ADDRESS: [&str; 2] = ["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME"];
const CLAUDE_ADDRESS: [&str; 2] = ["ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_RESOURCE"];
const DEPLOYMENTS: &str = "AZURE_OPENAI_DEPLOYMENT_NAME_MAP";
const API_VERSION: &str = "AZURE_OPENAI_API_VERSION";

impl Endpoints {
    /// Finds endpoints, in the order they are preferred in: Foundry, Claude on Foundry, OpenAI, Anthropic, local.
    ///
    /// # Errors
    /// A variable with a value that cannot be right, or [`EndpointError::Nothing`] with the variables to set.
    pub fn from_env(variables: Variables<'_>) -> Result<Endpoints, EndpointError> {
        let mut finder = Finder { variables, found: Endpoints::default() };
        finder.azure(HostKind::Foundry, FOUNDRY_ADDRESS)?;
        finder.azure(HostKind::FoundryClaude, CLAUDE_ADDRESS)?;
        finder.keyed(HostKind::OpenAi, "OPENAI_BASE_URL")?;
        finder.keyed(HostKind::Anthropic, "ANTHROPIC_BASE_URL")?;
        finder.local()?;
        if finder.found.is_empty() {
            return Err(EndpointError::Nothing { notes: finder.found.notes });
        }
        Ok(finder.found)
    }
}

struct Finder<'a> {
    variables: Variables<'a>,
    found: Endpoints,
}

impl Finder<'_> {
    fn get(&self, name: &str) -> Option<String> {
        value_of(self.variables, name)
    }

    /// An endpoint on Azure, by address or by resource; the address wins. Without a key Entra is meant.
    fn azure(&mut self, kind: HostKind, [base, resource]: [&str; 2]) -> Result<(), EndpointError> {
        let key = self.get(kind.key_variable());
        let mut settings = EndpointSettings::new(kind);
        let from = if let Some(address) = self.get(base) {
            settings.base_url = Some(address);
            base
        } else if let Some(name) = self.get(resource) {
            settings.resource = Some(name);
            resource
        } else if let (Some(claude), Some(_)) = (self.claude_beside_foundry(kind), &key) {
            settings.base_url = Some(claude);
            base
        } else {
            if key.is_some() {
                self.found.notes.push(Note::KeyWithoutAddress {
                    variable: kind.key_variable().to_owned(),
                    needed: vec![base.to_owned(), resource.to_owned()],
                });
            }
            return Ok(());
        };
        let mut deployments = DeploymentMap::default();
        if kind == HostKind::Foundry {
            settings.api_version = self.get(API_VERSION);
            deployments = DeploymentMap::parse(DEPLOYMENTS, &self.get(DEPLOYMENTS).unwrap_or_default())?;
        }
        self.add(&settings, from, deployments)
    }

    /// One resource serves both, so a key for Claude alone is enough when the resource is known.
    fn claude_beside_foundry(&self, kind: HostKind) -> Option<String> {
        match &self.found.get(HostKind::Foundry.name())?.address {
            Address::Foundry { claude, .. } if kind == HostKind::FoundryClaude => Some(claude.clone()),
            _ => None,
        }
    }

    /// An endpoint with an address of its own, for which a key is enough.
    fn keyed(&mut self, kind: HostKind, base: &str) -> Result<(), EndpointError> {
        let mut settings = EndpointSettings::new(kind);
        settings.base_url = self.get(base);
        if self.get(kind.key_variable()).is_none() {
            if settings.base_url.is_some() {
                self.found.notes.push(Note::AddressWithoutKey {
                    variable: base.to_owned(),
                    needed: kind.key_variable().to_owned(),
                });
            }
            return Ok(());
        }
        self.add(&settings, base, DeploymentMap::default())
    }

    fn local(&mut self) -> Result<(), EndpointError> {
        let base = "MICA_LOCAL_BASE_URL";
        let Some(address) = self.get(base) else {
            return Ok(());
        };
        let mut settings = EndpointSettings::new(HostKind::Local);
        settings.base_url = Some(address);
        if self.get(HostKind::Local.key_variable()).is_none() {
            settings.auth = Some(AuthSettings::None {});
        }
        self.add(&settings, base, DeploymentMap::default())
    }

    /// Adds an endpoint. Complaints about the address name the variable it came from.
    fn add(
        &mut self,
        settings: &EndpointSettings,
        from: &str,
        deployments: DeploymentMap,
    ) -> Result<(), EndpointError> {
        let (mut endpoint, note) = settings.resolve(self.variables).map_err(|error| match error {
            EndpointError::Address { source, .. } => {
                let about_version =
                    matches!(source, AddressError::VersionNeeded { .. } | AddressError::Version { .. });
                let setting = if about_version { API_VERSION } else { from };
                EndpointError::Address { setting: setting.to_owned(), source }
            }
            other => other,
        })?;
        endpoint.deployments = deployments;
        self.found.notes.extend(note);
        self.found.push(endpoint)
    }
}

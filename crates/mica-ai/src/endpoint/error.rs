//! What can be wrong with an address, a configuration, or a choice of model.

use super::Note;
use crate::message::Dialect;

/// Why a text is not the address of an endpoint. Never contains a query, a user name or a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Nothing was given.
    #[error("the address is empty: give one like https://NAME.openai.azure.com")]
    Empty,
    /// It has spaces or control characters inside.
    #[error("the address {given:?} contains a space or a control character: remove it")]
    Space {
        /// What was given.
        given: String,
    },
    /// It is no address at all.
    #[error("{given:?} is not an address ({problem}): give one like https://NAME.openai.azure.com")]
    Malformed {
        /// What was given.
        given: String,
        /// What the parser says.
        problem: String,
    },
    /// The scheme is neither https nor http.
    #[error("the address begins with {scheme}: use https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// Keys and conversations would travel in the clear.
    #[error("{host} may be reached over https only: http is for this machine (localhost, 127.0.0.1, [::1])")]
    Insecure {
        /// The host.
        host: String,
    },
    /// There is a user name or password in the address.
    #[error("the address of {host} contains a user name or password: remove it, and give the key on its own")]
    Credentials {
        /// The host.
        host: String,
    },
    /// The path is none that this kind of endpoint has.
    #[error("{host} has no path /{path}: give the address without it")]
    Path {
        /// The host.
        host: String,
        /// The path.
        path: String,
    },
    /// The host lacks the resource's name.
    #[error("{host} lacks the name of the resource: use https://NAME.{host}")]
    NoResource {
        /// The host.
        host: String,
    },
    /// The resource's name cannot be one.
    #[error(
        "{given:?} is not the name of a resource: 2 to 64 letters, digits and hyphens; for an address set the base URL"
    )]
    Resource {
        /// What was given.
        given: String,
    },
    /// The deployments path is used without a dated version.
    #[error("the /openai/deployments path needs a dated api-version such as 2024-10-21{}: set one, or use the /openai/v1 path, which needs none", given_version(.given))]
    VersionNeeded {
        /// What was given instead.
        given: Option<String>,
    },
    /// The version is none.
    #[error("{given:?} is not an api-version: use a dated one such as 2024-10-21, or leave it out")]
    Version {
        /// What was given.
        given: String,
    },
}

fn given_version(given: &Option<String>) -> String {
    given.as_ref().map(|given| format!(", not {given:?}")).unwrap_or_default()
}

/// Why endpoints cannot be made from what is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// An address is wrong.
    #[error("{setting}: {source}")]
    Address {
        /// The variable, or the endpoint and field.
        setting: String,
        /// What is wrong.
        source: AddressError,
    },
    /// An item of a deployment list is wrong.
    #[error("{setting}: {item:?} is not MODEL=DEPLOYMENT: {problem}")]
    Deployment {
        /// The variable, or the endpoint and field.
        setting: String,
        /// The item.
        item: String,
        /// What is wrong.
        problem: String,
    },
    /// The configuration is not TOML of the right shape.
    #[error("endpoints: {problem}")]
    Settings {
        /// What the parser says, with the place.
        problem: String,
    },
    /// Two endpoints have one name.
    #[error(
        "endpoint {name:?} is there twice: names are what models are asked for by, so make them different"
    )]
    SameName {
        /// The name.
        name: String,
    },
    /// A name could not be told from a path.
    #[error("{name:?} is not a name for an endpoint: use letters, digits, - and _")]
    Name {
        /// The name.
        name: String,
    },
    /// There is no address, and this kind has none of its own.
    #[error("endpoint {endpoint}: set {needed}")]
    NoAddress {
        /// The endpoint.
        endpoint: String,
        /// The fields of which one is needed.
        needed: &'static str,
    },
    /// A field is set that this kind of endpoint does not have.
    #[error("endpoint {endpoint}: {field} is not for endpoints of kind {kind}: remove it")]
    Field {
        /// The endpoint.
        endpoint: String,
        /// The field.
        field: &'static str,
        /// The kind.
        kind: &'static str,
    },
    /// The key is missing.
    #[error("endpoint {endpoint}: set {variable} to its key")]
    NoKey {
        /// The endpoint.
        endpoint: String,
        /// The variable.
        variable: String,
    },
    /// A header cannot be sent, or would replace the credential.
    #[error("endpoint {endpoint}: header {header:?}: {problem}")]
    Header {
        /// The endpoint.
        endpoint: String,
        /// The header's name.
        header: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Nothing is configured.
    #[error(
        "no model endpoint is configured{}. Set one of: AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME (with \
         AZURE_OPENAI_API_KEY, or sign in with Entra); ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL (with \
         ANTHROPIC_FOUNDRY_API_KEY); OPENAI_API_KEY; ANTHROPIC_API_KEY; MICA_LOCAL_BASE_URL, for example \
         http://127.0.0.1:11434/v1",
        notes_text(.notes)
    )]
    Nothing {
        /// What was there but could not be used.
        notes: Vec<Note>,
    },
}

fn notes_text(notes: &[Note]) -> String {
    notes.iter().map(|note| format!(" ({note})")).collect()
}

/// Why there is nowhere to send requests for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// No name was given.
    #[error("no model is named: give one, for example gpt-5.5")]
    NoName,
    /// There are no endpoints at all.
    #[error("no model endpoint is configured")]
    NoEndpoints,
    /// No endpoint hosts models of this dialect.
    #[error("{model:?} is reached over {dialect}, and none of the endpoints ({}) has that: configure one that has", .endpoints.join(", "))]
    NotHosted {
        /// The model.
        model: String,
        /// Its dialect.
        dialect: Dialect,
        /// The endpoints there are.
        endpoints: Vec<String>,
    },
}

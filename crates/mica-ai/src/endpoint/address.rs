//! Addresses: from what people paste to what requests are sent to.

use std::fmt;

use url::{Host, Url};

use super::HostKind;
use super::error::AddressError;
use crate::dialect;
use crate::message::Dialect;

/// The address of an endpoint, normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Azure: OpenAI-style paths and Claude's path on one resource.
    Foundry {
        /// How OpenAI-style requests are addressed.
        openai: OpenAiPath,
        /// What `/v1/messages` is appended to.
        claude: String,
    },
    /// OpenAI-style: what `/responses` and `/chat/completions` are appended to.
    OpenAi {
        /// Ends in a version, usually `/v1`.
        base: String,
    },
    /// Claude: what `/v1/messages` is appended to.
    Claude {
        /// Without the version.
        base: String,
    },
}

/// The two ways Azure addresses OpenAI-style requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenAiPath {
    /// One path for all deployments; the body names the deployment.
    V1 {
        /// What `/responses` and `/chat/completions` are appended to.
        base: String,
    },
    /// The older path, with the deployment and a dated version in the address.
    Deployments {
        /// Ends in `/openai`.
        base: String,
        /// The version.
        api_version: String,
        /// The deployment a pasted address named.
        deployment: Option<String>,
    },
}

impl Address {
    /// Reads an address for a kind of endpoint, in any form people paste. The version is used where the address needs
    /// one and does not have its own. Answers the version that is not going to be sent, if there is one.
    ///
    /// # Errors
    /// When the text is not an address, is not safe to use, or has a path that such an endpoint does not have.
    pub fn parse(
        kind: HostKind,
        text: &str,
        api_version: Option<&str>,
    ) -> Result<(Address, Option<String>), AddressError> {
        let located = Located::parse(text)?;
        match kind {
            HostKind::Foundry => super::azure::foundry(&located, api_version),
            HostKind::FoundryClaude => Ok((Address::Claude { base: super::azure::claude(&located)? }, None)),
            HostKind::OpenAi | HostKind::Local => {
                Ok((Address::OpenAi { base: located.join(&openai_segments(&located)) }, None))
            }
            HostKind::Anthropic => {
                Ok((Address::Claude { base: located.join(&claude_segments(&located)) }, None))
            }
        }
    }

    /// The address of a resource on Azure, by the resource's name.
    ///
    /// # Errors
    /// When it cannot be the name of a resource.
    pub fn of_resource(kind: HostKind, name: &str) -> Result<String, AddressError> {
        let name = super::azure::resource(name)?;
        Ok(match kind {
            HostKind::FoundryClaude => format!("https://{name}.services.ai.azure.com/anthropic"),
            _ => format!("https://{name}.openai.azure.com/openai/v1"),
        })
    }

    /// The whole address that a request goes to.
    pub fn url(&self, dialect: Dialect, deployment: &str) -> String {
        let path = dialect::path(dialect);
        match (self, dialect) {
            (Address::Foundry { claude: base, .. }, Dialect::Messages)
            | (Address::Claude { base }, Dialect::Messages) => {
                format!("{base}{path}")
            }
            (Address::Claude { base }, Dialect::Responses | Dialect::Chat) => format!("{base}/v1{path}"),
            (Address::OpenAi { base }, Dialect::Messages) => {
                format!("{}{path}", base.strip_suffix("/v1").unwrap_or(base))
            }
            (Address::OpenAi { base }, Dialect::Responses | Dialect::Chat) => format!("{base}{path}"),
            (Address::Foundry { openai, .. }, Dialect::Responses | Dialect::Chat) => {
                openai.url(dialect, deployment)
            }
        }
    }

    /// The deployment that the address itself names.
    pub fn deployment(&self) -> Option<&str> {
        match self {
            Address::Foundry { openai: OpenAiPath::Deployments { deployment, .. }, .. } => {
                deployment.as_deref()
            }
            _ => None,
        }
    }
}

impl fmt::Display for Address {
    /// A form that reads back as the same address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Foundry { openai: OpenAiPath::V1 { base }, .. }
            | Address::OpenAi { base }
            | Address::Claude { base } => f.write_str(base),
            Address::Foundry {
                openai: OpenAiPath::Deployments { base, api_version, deployment }, ..
            } => {
                write!(f, "{base}/deployments")?;
                if let Some(deployment) = deployment {
                    write!(f, "/{deployment}")?;
                }
                write!(f, "?api-version={api_version}")
            }
        }
    }
}

impl OpenAiPath {
    fn url(&self, dialect: Dialect, deployment: &str) -> String {
        let path = dialect::path(dialect);
        match self {
            OpenAiPath::V1 { base } => format!("{base}{path}"),
            OpenAiPath::Deployments { base, api_version, .. } if dialect == Dialect::Chat => {
                format!("{base}/deployments/{}{path}?api-version={api_version}", escaped(deployment))
            }
            OpenAiPath::Deployments { base, api_version, .. } => {
                format!("{base}{path}?api-version={api_version}")
            }
        }
    }
}

/// A name as one segment of a path, so that no name can lead to another path.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'~')
            || (byte == b'.' && !all_dots(name))
        {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `.` and `..` mean folders in a path.
fn all_dots(name: &str) -> bool {
    name.bytes().all(|byte| byte == b'.')
}

/// An address taken apart.
pub(super) struct Located {
    /// Scheme, host and port.
    pub(super) origin: String,
    /// The host alone.
    pub(super) host: String,
    /// The parts of the path that are not empty.
    pub(super) segments: Vec<String>,
    /// The version that the query names. Everything else in the query is dropped.
    pub(super) api_version: Option<String>,
}

impl Located {
    pub(super) fn parse(text: &str) -> Result<Located, AddressError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        if text.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(AddressError::Space { given: shown(text) });
        }
        let malformed = |problem: String| AddressError::Malformed { given: shown(text), problem };
        let url = if text.contains("://") {
            Url::parse(text)
        } else {
            // Servers on this machine rarely speak TLS, and everything else must.
            Url::parse(&format!("https://{text}")).and_then(|url| {
                if is_loopback(&url) { Url::parse(&format!("http://{text}")) } else { Ok(url) }
            })
        }
        .map_err(|error| malformed(error.to_string()))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(AddressError::Scheme { scheme: url.scheme().to_owned() });
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials { host });
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err(AddressError::Insecure { host });
        }
        let api_version = url
            .query_pairs()
            .find(|(key, _)| key.eq_ignore_ascii_case("api-version"))
            .map(|(_, value)| value.into_owned())
            .filter(|version| !version.is_empty());
        let segments =
            url.path().split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
        Ok(Located { origin: url.origin().ascii_serialization(), host, segments, api_version })
    }

    /// The origin with a path.
    pub(super) fn join<S: AsRef<str>>(&self, segments: &[S]) -> String {
        let mut out = self.origin.clone();
        for segment in segments {
            out.push('/');
            out.push_str(segment.as_ref());
        }
        out
    }

    /// The path without what dialects append to a base, however often it was appended.
    pub(super) fn without_requests(&self) -> Vec<&str> {
        let mut left: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        loop {
            match left.as_slice() {
                [.., "chat", "completions"] => left.truncate(left.len() - 2),
                [.., "responses" | "messages"] => left.truncate(left.len() - 1),
                _ => return left,
            }
        }
    }
}

/// What an error may show of a text: nothing that can hold a secret.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let text = text.rsplit('@').next().unwrap_or_default();
    text.chars().take(120).collect()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// OpenAI-style servers have a version in their path; it is added where people leave it out.
fn openai_segments(located: &Located) -> Vec<&str> {
    let mut segments = located.without_requests();
    if !segments.iter().any(|segment| is_version(segment)) {
        segments.push("v1");
    }
    segments
}

/// Claude's path is appended with its version, so the version is taken off.
pub(super) fn claude_segments(located: &Located) -> Vec<&str> {
    let mut segments: Vec<&str> = located.segments.iter().map(String::as_str).collect();
    while let Some(&"v1" | &"messages") = segments.last() {
        segments.pop();
    }
    segments
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

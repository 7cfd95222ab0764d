//! The addresses of Azure resources, in all the forms the portal, the documentation and older tools give them.

use super::address::{Address, Located, OpenAiPath, claude_segments};
use super::error::AddressError;

/// The hosts a resource is reached at; all lead to the same resource. The last part is the cloud.
const HOSTS: [&str; 3] = ["openai.azure.", "services.ai.azure.", "cognitiveservices.azure."];
const CLOUDS: [&str; 2] = ["com", "us"];

/// A resource's name and its cloud.
struct Resource<'a> {
    name: &'a str,
    cloud: &'static str,
}

/// Reads an address of a Foundry resource. The second part is a version that is not going to be sent.
///
/// The path decides: `/openai/deployments` is the older style and needs a dated version; everything else is v1, which
/// needs none. A dated version beside a v1 address is therefore left out rather than refused: that pair is printed in
/// many guides, and means nothing more than that the guide is older than v1.
pub(super) fn foundry(
    located: &Located,
    api_version: Option<&str>,
) -> Result<(Address, Option<String>), AddressError> {
    let resource = resource_of(located)?;
    let version = match located.api_version.as_deref().or(api_version).map(str::trim) {
        None | Some("") => None,
        Some(version) => Some(version_of(version)?),
    };
    let segments = located.without_requests();
    let wrong_path = || AddressError::Path { host: located.host.clone(), path: located.segments.join("/") };
    let openai = segments.iter().position(|segment| segment.eq_ignore_ascii_case("openai"));
    let (prefix, rest) = match openai {
        Some(at) => {
            let (prefix, rest) = segments.split_at(at);
            (prefix, rest.get(1..).unwrap_or_default())
        }
        None => (segments.as_slice(), [].as_slice()),
    };
    // On Azure only a project may stand in front: the resource's own path serves its deployments too, and takes keys.
    let prefix: &[&str] = match (&resource, prefix) {
        (Some(_), [] | ["api", "projects", ..] | ["models"] | ["anthropic"] | ["anthropic", "v1"]) => &[],
        (Some(_), _) => return Err(wrong_path()),
        (None, prefix) => prefix,
    };
    let under = |tail: &[&str]| located.join(&[prefix, tail].concat());
    let claude = match &resource {
        Some(Resource { name, cloud }) => {
            format!("{}/anthropic", located.origin.replace(&located.host, &claude_host(name, cloud)))
        }
        None => under(&["anthropic"]),
    };
    let dated = version.filter(|version| version.starts_with("20"));
    let v1 = |base: String| {
        Ok((
            Address::Foundry { openai: OpenAiPath::V1 { base }, claude: claude.clone() },
            dated.map(str::to_owned),
        ))
    };
    let older = |deployment: Option<&str>| {
        let api_version = dated
            .ok_or_else(|| AddressError::VersionNeeded { given: version.map(str::to_owned) })?
            .to_owned();
        let deployment = deployment.map(str::to_owned);
        let openai = OpenAiPath::Deployments { base: under(&["openai"]), api_version, deployment };
        Ok((Address::Foundry { openai, claude: claude.clone() }, None))
    };
    match rest {
        // Gateways and test servers choose their own paths; one that says nothing of `openai` is taken as it is.
        [] if openai.is_none() && resource.is_none() && !prefix.is_empty() => v1(under(&[])),
        // A pasted `/openai/responses?api-version=2025-…` is the older style without a deployment.
        [] if openai.is_some() && located.segments.len() > segments.len() && dated.is_some() => older(None),
        [] | ["v1"] => v1(under(&["openai", "v1"])),
        ["deployments"] => older(None),
        ["deployments", name] => older(Some(name)),
        _ => Err(wrong_path()),
    }
}

/// Reads an address for Claude on a Foundry resource: what `/v1/messages` is appended to.
pub(super) fn claude(located: &Located) -> Result<String, AddressError> {
    let segments = claude_segments(located);
    match resource_of(located)? {
        Some(Resource { name, cloud }) => match segments.as_slice() {
            [] | ["anthropic"] | ["openai", ..] | ["api", "projects", ..] => {
                Ok(format!("{}/anthropic", located.origin.replace(&located.host, &claude_host(name, cloud))))
            }
            _ => Err(AddressError::Path { host: located.host.clone(), path: located.segments.join("/") }),
        },
        None if segments.is_empty() => Ok(located.join(&["anthropic"])),
        None => Ok(located.join(&segments)),
    }
}

/// Checks the name of a resource.
pub(super) fn resource(name: &str) -> Result<String, AddressError> {
    let name = name.trim();
    let fits = (2..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-');
    if fits { Ok(name.to_ascii_lowercase()) } else { Err(AddressError::Resource { given: name.to_owned() }) }
}

/// Claude answers at one of the hosts only.
fn claude_host(name: &str, cloud: &str) -> String {
    format!("{name}.services.ai.azure.{cloud}")
}

/// The resource that a host names; none for hosts that are not Azure's.
fn resource_of(located: &Located) -> Result<Option<Resource<'_>>, AddressError> {
    for cloud in CLOUDS {
        for service in HOSTS {
            let Some(front) = located.host.strip_suffix(cloud).and_then(|rest| rest.strip_suffix(service))
            else {
                continue;
            };
            match front.strip_suffix('.') {
                Some(name) if !name.is_empty() => return Ok(Some(Resource { name, cloud })),
                _ if front.is_empty() => return Err(AddressError::NoResource { host: located.host.clone() }),
                _ => {}
            }
        }
    }
    Ok(None)
}

/// A version: `v1`, `preview`, or a date with or without `-preview`.
fn version_of(text: &str) -> Result<&str, AddressError> {
    let date = text.strip_suffix("-preview").unwrap_or(text);
    let dated = date.len() == 10
        && date.starts_with("20")
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if dated || matches!(text, "v1" | "preview") {
        Ok(text)
    } else {
        Err(AddressError::Version { given: text.chars().take(40).collect() })
    }
}

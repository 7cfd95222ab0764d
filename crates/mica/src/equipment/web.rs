//! The web: reading pages, and finding some when the settings say who does that.
//!
//! Nothing is connected to, looked up or set up here; that happens when a call runs.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use mica_agent::Tool;
use mica_domain::{Capability, Page};
use mica_sandbox::Host;
use mica_tools::web::{
    Clock, Proxies, SearchProvider, Service, ServiceKind, SystemResolver, Web, WebFetch, WebLimits, WebSearch,
};
use secrecy::SecretString;

use super::{Fresh, Part};
use crate::config::{Values, WebValues};
use crate::surroundings::Surroundings;

/// What the settings say of the web, and the way there. What a person should know about it goes to `notices`.
///
/// # Errors
/// Settings that are wrong, with what to do about it.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
pub(super) fn equip(
    values: &Values,
    surroundings: &Surroundings,
    notices: &mut Vec<String>,
) -> Result<(Part, Web)> {
    let mut part = Part::default();
    let settings = &values.web;
    let hosts = settings.private_hosts.iter().map(|host| host.parse::<Host>());
    let hosts = hosts.collect::<Result<Vec<Host>, _>>().context("private_hosts under [web] is wrong")?;
    let mut web = Web::new(Arc::new(SystemResolver)).with_private_hosts(hosts);
    if settings.proxy.unwrap_or(true) {
        web = web.with_proxies(Proxies::from_variables(|name| surroundings.variable(name)));
    }
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if settings.fetch.unwrap_or(true) {
        let clock: Clock = Arc::new(std::time::SystemTime::now);
        let fetch = WebFetch::new(web.clone(), clock);
        part.hooks.push(fetch.gate());
        tools.push(Arc::new(fetch));
    }
    if let Some(provider) = provider(settings, surroundings, &web, notices)? {
        tools.push(Arc::new(WebSearch::new(provider, WebLimits::default())));
    }
    if !tools.is_empty() {
        let pages = Capability::new(Page::Global, "Read the web", tools);
        part.capabilities.push(pages.clone());
        // Pages are the same for everybody.
        part.anew = Some(Arc::new(move |_| Fresh { capabilities: vec![pages.clone()], hooks: Vec::new() }));
    }
    Ok((part, web))
}

/// Who finds pages. Nobody, unless the settings name somebody.
fn provider(
    settings: &WebValues,
    surroundings: &Surroundings,
    web: &Web,
    notices: &mut Vec<String>,
) -> Result<Option<Arc<dyn SearchProvider>>> {
    let kind = match (&settings.search, &settings.search_url) {
        (None, None) => return Ok(None),
        (None, Some(_)) => ServiceKind::Searxng,
        (Some(name), _) if name == "off" => return Ok(None),
        (Some(name), _) => name.parse::<ServiceKind>().context("search under [web] is wrong")?,
    };
    let Some(url) = settings.search_url.as_deref().or(kind.usual_url()) else {
        bail!("search = \"{}\" under [web] needs search_url, the address of the instance", kind.name());
    };
    let key = match settings.search_key_env.as_deref().or(kind.usual_key()) {
        None => None,
        Some(variable) => match surroundings.variable(variable) {
            Some(key) => Some(SecretString::from(key)),
            None => {
                notices.push(format!(
                    "the web is not searched: {} needs a key, and {variable} is not set (search_key_env under [web] names \
                     another variable)",
                    kind.name()
                ));
                return Ok(None);
            }
        },
    };
    let service = Service::new(kind, url, key, web.clone()).context("search_url under [web] is wrong")?;
    Ok(Some(Arc::new(service)))
}

#[cfg(test)]
mod tests;

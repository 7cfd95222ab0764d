//! Proxies: how the user's network is left, when it is not left directly.
//!
//! A proxy looks names up itself, so that what it connects to cannot be pinned from here. Where one is used, addresses
//! written as numbers are judged all the same, and so are names that are known here; the rest is the proxy's to judge.

use std::net::IpAddr;

use url::Url;

use super::address::Address;

/// Which proxy is used for what. None, unless said otherwise.
#[derive(Clone, Default)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    except: Vec<String>,
}

impl Proxies {
    /// From variables, by the names that programs agree on: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in
    /// small letters or large. What is no address is ignored.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| {
            get(&name.to_ascii_lowercase()).or_else(|| get(name)).filter(|text| !text.trim().is_empty())
        };
        let proxy = |name| {
            let text = find(name).or_else(|| find("ALL_PROXY"))?;
            let text = text.trim();
            let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
            Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
        };
        let except = find("NO_PROXY").unwrap_or_default();
        let except =
            except.split(',').map(|part| part.trim().to_ascii_lowercase()).filter(|part| !part.is_empty());
        Self { http: proxy("HTTP_PROXY"), https: proxy("HTTPS_PROXY"), except: except.collect() }
    }

    /// The proxy for a page. This machine is never reached through one.
    pub(super) fn of(&self, page: &Address) -> Option<&Url> {
        let proxy = if page.url().scheme() == "https" { self.https.as_ref() } else { self.http.as_ref() }?;
        let here = page.host() == "localhost" || page.machine().is_some_and(|machine| machine.is_loopback());
        let excepted = self.except.iter().any(|pattern| fits(pattern, page));
        (!here && !excepted).then_some(proxy)
    }
}

/// Whether an exception speaks of a page: `*`, a domain with all below it, an address, or a range of them.
fn fits(pattern: &str, page: &Address) -> bool {
    if pattern == "*" {
        return true;
    }
    if let Some(machine) = page.machine() {
        return match pattern.split_once('/') {
            Some((network, bits)) => match (network.parse(), bits.parse()) {
                (Ok(network), Ok(bits)) => in_range(machine, network, bits),
                _ => false,
            },
            None => pattern.parse() == Ok(machine),
        };
    }
    let (name, port) = match pattern.rsplit_once(':') {
        Some((name, port)) => (name, port.parse().ok()),
        None => (pattern, None),
    };
    let name = name.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.');
    let below = page.host().strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !name.is_empty() && below && port.is_none_or(|port: u16| port == page.port())
}

fn in_range(machine: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (machine, network) {
        (IpAddr::V4(machine), IpAddr::V4(network)) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
            bits <= 32 && machine.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(machine), IpAddr::V6(network)) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits)).unwrap_or(0);
            bits <= 128 && machine.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_of_a_page() {
        let variables = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://proxy.corp:3128".to_owned()),
            "http_proxy" => Some("plain.corp:3128".to_owned()),
            "no_proxy" => Some("corp.example, .local.example,10.0.0.0/8,a.example:8443,fd00::/8".to_owned()),
            _ => None,
        };
        let proxies = Proxies::from_variables(variables);
        let tls = Some("http://proxy.corp:3128/");
        for (page, expect) in [
            ("https://docs.rs/", tls),
            ("http://docs.rs/", Some("http://plain.corp:3128/")),
            ("https://corp.example/", None),
            ("https://wiki.corp.example/", None),
            ("https://notcorp.example/", tls),
            ("https://a.local.example/", None),
            ("https://a.example:8443/", None),
            ("https://a.example/", tls),
            ("https://10.1.2.3/", None),
            ("https://11.1.2.3/", tls),
            ("https://[fd00::1]/", None),
            ("https://localhost:9/", None),
            ("https://127.0.0.1:9/", None),
        ] {
            let found = proxies.of(&Address::parse(page).unwrap()).map(Url::as_str);
            assert_eq!(found, expect, "{page}");
        }
        assert!(Proxies::default().of(&Address::parse("https://docs.rs/").unwrap()).is_none());
        let star = Proxies::from_variables(|name| match name {
            "ALL_PROXY" => Some("http://p:1".to_owned()),
            "NO_PROXY" => Some("*".to_owned()),
            _ => None,
        });
        assert!(star.of(&Address::parse("https://docs.rs/").unwrap()).is_none());
    }
}

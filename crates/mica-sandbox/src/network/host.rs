//! A host that may be reached: `example.org`, `*.example.org`, `example.org:8443`, `10.0.0.5:80`, `[::1]:8080`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::SandboxError;

/// Ports of a host that is written without one.
const USUAL: [u16; 2] = [443, 80];

/// A host that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Exact(String),
    /// Everything below, and not the name itself.
    Below(String),
    Address(IpAddr),
}

impl Host {
    /// Whether a name or address and a port are this one.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let port_fits = self.port.map_or_else(|| USUAL.contains(&port), |own| own == port);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        port_fits
            && match &self.name {
                Name::Exact(name) => *name == host,
                Name::Below(name) => {
                    host.strip_suffix(name.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
                }
                Name::Address(address) => address_of(&host) == Some(*address),
            }
    }

    /// Whether it may lead into a private network: only what was written for that, an address or `localhost`.
    pub(crate) fn may_be_private(&self) -> bool {
        match &self.name {
            Name::Address(_) => true,
            Name::Exact(name) => name == "localhost" || name.ends_with(".localhost"),
            Name::Below(_) => false,
        }
    }
}

/// An address as it is written in a URL.
pub(crate) fn address_of(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl FromStr for Host {
    type Err = SandboxError;

    fn from_str(text: &str) -> Result<Self, SandboxError> {
        let bad = |reason| SandboxError::Host { text: text.to_owned(), reason };
        let whole = text.trim();
        if whole.contains("://") || whole.contains('/') {
            return Err(bad("say the host alone, such as example.org or example.org:8443"));
        }
        if let Some(address) = address_of(whole) {
            return Ok(Self { name: Name::Address(address), port: None });
        }
        let (name, port) = match whole.rsplit_once(':') {
            Some((name, port)) => {
                (name, Some(port.parse().map_err(|_| bad("the port is a number up to 65535"))?))
            }
            None => (whole, None),
        };
        if let Some(address) = address_of(name) {
            return Ok(Self { name: Name::Address(address), port });
        }
        let lower = name.trim_end_matches('.').to_ascii_lowercase();
        let (name, wild) = match lower.strip_prefix("*.") {
            Some(below) => (below.to_owned(), true),
            None => (lower, false),
        };
        let label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        if name.is_empty() || name.len() > 253 || !name.split('.').all(label) {
            return Err(bad("a name is letters, digits and dashes between dots; `*.` may begin it"));
        }
        if wild && !name.contains('.') {
            return Err(bad("`*.` stands before a domain, not before the top of all"));
        }
        Ok(Self { name: if wild { Name::Below(name) } else { Name::Exact(name) }, port })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Exact(name) => f.write_str(name)?,
            Name::Below(name) => write!(f, "*.{name}")?,
            Name::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            Name::Address(address) => write!(f, "{address}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, host: &str, port: u16, expect: bool) {
        let entry: Host = list.parse().unwrap();
        assert_eq!(entry.matches(host, port), expect, "{list} and {host}:{port}");
        assert_eq!(entry.to_string().parse::<Host>().unwrap(), entry);
    }

    #[test]
    fn hosts_match() {
        check("example.org", "example.org", 443, true);
        check("example.org", "EXAMPLE.org.", 80, true);
        check("example.org", "example.org", 22, false);
        check("example.org:22", "example.org", 22, true);
        check("example.org:22", "example.org", 443, false);
        check("example.org", "evil-example.org", 443, false);
        check("example.org", "www.example.org", 443, false);
        check("*.example.org", "www.example.org", 443, true);
        check("*.example.org", "a.b.example.org", 443, true);
        check("*.example.org", "example.org", 443, false);
        check("*.example.org", ".example.org", 443, false);
        check("*.example.org", "wwwexample.org", 443, false);
        check("10.0.0.5:80", "10.0.0.5", 80, true);
        check("10.0.0.5", "10.0.0.6", 80, false);
        check("[::1]:8080", "[::1]", 8080, true);
        check("::1", "::1", 443, true);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in ["", "*", "*.", "*.org", "https://a.b", "a.b/c", "a b", "a.b:99999", "a..b", "a.*.b"] {
            assert!(text.parse::<Host>().is_err(), "{text:?}");
        }
    }
}

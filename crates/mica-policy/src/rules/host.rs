//! Hosts in rules: `docs.rs`, `*.wso2.com`, `docs.rs:8443`, `*`.
//!
//! A rule is held against the host that would be reached, never against the text of an address: what stands before an
//! `@`, capital letters, a dot at the end, other alphabets and other ways to write a number change the text, not the host.

use url::{Host, Url};

/// A pattern of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Any,
    Exact(String),
    /// Everything below, and not the name itself.
    Below(String),
}

impl HostPattern {
    /// Reads a pattern. None when it is no host.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.parse::<std::net::Ipv6Addr>().is_ok() {
            return Some(Self { name: Name::Exact(canonical(&format!("[{text}]"))?), port: None });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let name = match name.strip_prefix("*.") {
            _ if name == "*" => Name::Any,
            Some(below) => {
                Name::Below(canonical(below).filter(|name| name.parse::<std::net::IpAddr>().is_err())?)
            }
            None => Name::Exact(canonical(name)?),
        };
        Some(Self { name, port })
    }

    /// Whether an address leads to such a host. None when that cannot be told: it is no address, or it leads to the host by
    /// a port that the pattern does not speak of.
    pub(super) fn fits(&self, address: &str) -> Option<bool> {
        let url = Url::parse(address.trim()).ok()?;
        let host = url.host_str()?;
        let host = host.strip_suffix('.').unwrap_or(host);
        let named = match &self.name {
            Name::Any => true,
            Name::Exact(name) => name == host,
            Name::Below(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
        };
        let port = url.port_or_known_default()?;
        match self.port {
            _ if !named => Some(false),
            Some(own) => Some(own == port),
            None if matches!(self.name, Name::Any) || matches!(port, 80 | 443) => Some(true),
            None => None,
        }
    }
}

/// A host as addresses have it once they are read.
fn canonical(name: &str) -> Option<String> {
    // A slash or an `@` would be read as the end of a host, or of what stands before one.
    if name.contains(['/', '@', '*', '?', '\\', '#']) {
        return None;
    }
    let host = Host::parse(name).ok()?.to_string();
    let host = host.strip_suffix('.').unwrap_or(&host);
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, address: &str, expect: Option<bool>) {
        assert_eq!(HostPattern::read(pattern).unwrap().fits(address), expect, "{pattern} and {address}");
    }

    #[test]
    fn the_host_counts_and_not_the_text() {
        let yes = Some(true);
        let no = Some(false);
        check("docs.rs", "https://docs.rs/tokio", yes);
        check("docs.rs", "http://docs.rs", yes);
        check("DOCS.rs.", "https://docs.RS./tokio", yes);
        check("docs.rs", "https://docs.rs:443/", yes);
        check("docs.rs", "https://docs.rs:8443/", None);
        check("docs.rs:8443", "https://docs.rs:8443/", yes);
        check("docs.rs:8443", "https://docs.rs/", no);
        check("docs.rs", "https://docs.rs@evil.example/", no);
        check("docs.rs", "https://user:docs.rs@evil.example/docs.rs", no);
        check("docs.rs", "https://evil.example/?docs.rs", no);
        check("docs.rs", "https://evil.example#@docs.rs/", no);
        check("docs.rs", "https://evil.example\\@docs.rs/", no);
        check("docs.rs", "https://docs.rs.evil.example/", no);
        check("docs.rs", "https://evildocs.rs/", no);
        check("docs.rs", "https:\\\\docs.rs/x", yes);
        check("docs.rs", "docs.rs", None);
        check("docs.rs", "mailto:a@docs.rs", None);
        check("*.wso2.com", "https://mi.docs.wso2.com/en", yes);
        check("*.wso2.com", "https://wso2.com/", no);
        check("*.wso2.com", "https://notwso2.com/", no);
        check("*.wso2.com", "https://mi.wso2.com.evil.example/", no);
        check("*", "https://anything.example:9/", yes);
        check("*:9", "https://anything.example:9/", yes);
        check("*:9", "https://anything.example/", no);
        check("b\u{fc}cher.example", "https://xn--bcher-kva.example/", yes);
        check("xn--bcher-kva.example", "https://B\u{dc}CHER.example/", yes);
        check("*.b\u{fc}cher.example", "https://a.xn--bcher-kva.example/", yes);
        check("apple.com", "https://\u{430}pple.com/", no);
        check("127.0.0.1", "http://2130706433/", yes);
        check("127.0.0.1", "http://0x7f.1/", yes);
        check("::1", "http://[0:0:0:0:0:0:0:1]/", yes);
        check("docs.rs", "https://docs\u{3002}rs/", yes);
    }

    #[test]
    fn what_is_no_host() {
        for text in [
            "https://docs.rs/*",
            "src/**",
            "docs.rs/x",
            "a@b",
            "docs.*",
            "a b",
            "docs.rs:x",
            "*.127.0.0.1",
            "*.",
        ] {
            assert_eq!(HostPattern::read(text), None, "{text}");
        }
    }
}

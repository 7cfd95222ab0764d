//! Addresses that can be fetched: read once, in one form, so that what a person allows is what is reached.

use std::net::IpAddr;

use url::{Host, Url};

use super::error::WebError;

/// Bytes of an address: what servers take.
const LONGEST: usize = 4_096;
/// Bytes of a value in a query that are a name or a number, and no secret.
const PLAIN_VALUE: usize = 40;
/// Parts of the names of query parameters that carry secrets.
const SECRET: &[&str] = &[
    "token",
    "key",
    "secret",
    "sig",
    "password",
    "passwd",
    "pwd",
    "auth",
    "code",
    "session",
    "credential",
    "jwt",
    "ticket",
    "nonce",
    "sas",
];

/// An address of a page, in its one form: a scheme of the web, a host in lower-case ASCII, no name of a user, no fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// [`WebError::Address`] says what is wrong, and what to say instead.
    pub fn parse(text: &str) -> Result<Self, WebError> {
        let text = text.trim();
        let bad = |reason: &str| WebError::Address { shown: shortened(text), reason: reason.to_owned() };
        if text.len() > LONGEST {
            return Err(bad("it is too long for an address"));
        }
        if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return Err(bad("an address has no blanks in it; write them as %20"));
        }
        let whole =
            |text: &str| format!("give the whole address, such as https://{}", text.trim_start_matches('/'));
        match Url::parse(text) {
            Ok(url) => Self::of(url).map_err(|error| match error {
                // `localhost:8080/x` reads as a scheme and a path.
                WebError::Address { .. } if !text.contains("://") => bad(&whole(&shortened(text))),
                error => error,
            }),
            Err(url::ParseError::RelativeUrlWithoutBase) => Err(bad(&whole(&shortened(text)))),
            Err(error) => Err(bad(&error.to_string())),
        }
    }

    /// An address in its one form.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn of(mut url: Url) -> Result<Self, WebError> {
        let bad =
            |url: &Url, reason: &str| WebError::Address { shown: shown(url), reason: reason.to_owned() };
        if url.as_str().len() > LONGEST {
            return Err(bad(&url, "it is too long for an address"));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(&url, "only http and https are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad(
                &url,
                "it names a user before its host. Leave out what stands before the @: pages that need a password are not read",
            ));
        }
        if let Some(Host::Domain(name)) = url.host()
            && name.ends_with('.')
        {
            let name = name.trim_end_matches('.').to_owned();
            let kept = url.clone();
            url.set_host(Some(&name)).map_err(|_| bad(&kept, "its host has no name"))?;
        }
        if url.host_str().is_none_or(str::is_empty) || url.port_or_known_default() == Some(0) {
            return Err(bad(&url, "it leads to no host"));
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The address.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Its text, secrets and all: for servers and for the model that gave it.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host: a name, or an address of a machine, as it stands in an address.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// The address of the machine, when it is written as one.
    pub(super) fn machine(&self) -> Option<IpAddr> {
        match self.0.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        }
    }

    /// Whether a redirect to there is still the same place: the same scheme, host and port, or the same host with TLS.
    pub(super) fn may_lead_to(&self, there: &Address) -> bool {
        let same = self.0.scheme() == there.0.scheme() && self.port() == there.port();
        let safer = self.0.scheme() == "http"
            && there.0.scheme() == "https"
            && (self.port(), there.port()) == (80, 443);
        self.host() == there.host() && (same || safer)
    }

    /// The address for logs and user interfaces: without values that look like secrets.
    pub fn shown(&self) -> String {
        shown(&self.0)
    }
}

/// An address without what could be a secret.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if let Some(query) = url.query() {
        let parts: Vec<String> = query
            .split('&')
            .map(|part| match part.split_once('=') {
                Some((name, value)) if is_secret(name, value) => format!("{name}=…"),
                None if part.len() > PLAIN_VALUE => "…".to_owned(),
                _ => part.to_owned(),
            })
            .collect();
        let query = parts.join("&");
        url.set_query(None);
        return shortened(&format!("{url}?{query}"));
    }
    shortened(url.as_str())
}

fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !value.is_empty() && (value.len() > PLAIN_VALUE || SECRET.iter().any(|part| name.contains(part)))
}

/// A text that fits into a message, without what stands before an `@` or behind a `?`.
fn shortened(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(start);
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let user = rest.get(..authority).and_then(|text| text.rfind('@')).map_or(0, |at| at + 1);
    let rest = rest.get(user..).unwrap_or_default();
    let end = rest.floor_char_boundary(300);
    let more = if end < rest.len() { "…" } else { "" };
    format!("{scheme}{}{more}", rest.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for (text, expect) in [
            (" https://Docs.RS/a#b ", "https://docs.rs/a"),
            ("https://docs.rs./a", "https://docs.rs/a"),
            ("HTTP://docs.rs:80", "http://docs.rs/"),
            ("https://docs.rs:8443/x?y=1", "https://docs.rs:8443/x?y=1"),
            ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"),
            ("https://\u{430}pple.com/", "https://xn--pple-43d.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
            ("https://a.example/x/../y", "https://a.example/y"),
            ("https:\\\\a.example\\x", "https://a.example/x"),
        ] {
            assert_eq!(Address::parse(text).unwrap().as_str(), expect, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_fetched_says_what_to_say_instead() {
        for (text, expect) in [
            (
                "docs.rs/tokio",
                "\"docs.rs/tokio\" cannot be fetched: give the whole address, such as https://docs.rs/tokio",
            ),
            ("//docs.rs", "\"//docs.rs\" cannot be fetched: give the whole address, such as https://docs.rs"),
            (
                "localhost:80/x",
                "\"localhost:80/x\" cannot be fetched: give the whole address, such as https://localhost:80/x",
            ),
            (
                "file:///etc/passwd",
                "\"file:///etc/passwd\" cannot be fetched: only http and https are fetched",
            ),
            ("ftp://a.example/", "\"ftp://a.example/\" cannot be fetched: only http and https are fetched"),
            (
                "https://a b",
                "\"https://a b\" cannot be fetched: an address has no blanks in it; write them as %20",
            ),
            ("https://", "\"https://\" cannot be fetched: empty host"),
            (
                "https://a.example:99999/",
                "\"https://a.example:99999/\" cannot be fetched: invalid port number",
            ),
            (
                "https://docs.rs:secret@evil.example/",
                "\"https://evil.example/\" cannot be fetched: it names a user before its host. Leave out what stands before \
                 the @: pages that need a password are not read",
            ),
        ] {
            assert_eq!(Address::parse(text).unwrap_err().to_string(), expect, "{text}");
        }
        assert!(Address::parse(&format!("https://a.example/{}", "x".repeat(5_000))).is_err());
        assert!(Address::parse("http://a.example:0/").is_err());
    }

    #[test]
    fn secrets_are_not_shown() {
        for (text, expect) in [
            ("https://a.example/?page=2&api_key=abc&q=x", "https://a.example/?page=2&api_key=…&q=x"),
            ("https://a.example/?X-Amz-Signature=0123", "https://a.example/?X-Amz-Signature=…"),
            (
                "https://a.example/?state=0123456789012345678901234567890123456789012",
                "https://a.example/?state=…",
            ),
            ("https://a.example/?0123456789012345678901234567890123456789012", "https://a.example/?…"),
            ("https://a.example/?token=", "https://a.example/?token="),
            ("https://a.example/a", "https://a.example/a"),
        ] {
            assert_eq!(Address::parse(text).unwrap().shown(), expect, "{text}");
        }
    }

    #[test]
    fn redirects_stay_at_their_place() {
        for (from, to, expect) in [
            ("https://a.example/x", "https://a.example/y", true),
            ("https://a.example/x", "https://A.example./y", true),
            ("http://a.example/", "https://a.example/", true),
            ("https://a.example/", "http://a.example/", false),
            ("http://a.example:8080/", "https://a.example/", false),
            ("http://a.example:8080/", "http://a.example:8081/", false),
            ("https://a.example/", "https://www.a.example/", false),
            ("https://a.example/", "https://a.example.evil.example/", false),
        ] {
            let (from, to) = (Address::parse(from).unwrap(), Address::parse(to).unwrap());
            assert_eq!(from.may_lead_to(&to), expect, "{from:?} {to:?}");
        }
    }
}

//! Services that find pages: SearXNG and what speaks like it, Brave, Tavily.
//!
//! What they differ in is data: where the words go, where the key goes, where the results are.

use std::str::FromStr;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::address::Address;
use super::super::error::WebError;
use super::super::http::{Asking, Web};
use super::{Hit, Query, SearchProvider};

/// Which language a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceKind {
    /// SearXNG: `GET …/search?q=&format=json`.
    Searxng,
    /// Brave: `GET …/web/search?q=&count=`, with a key.
    Brave,
    /// Tavily: `POST …/search`, with a key.
    Tavily,
}

impl ServiceKind {
    /// All of them.
    pub const ALL: [ServiceKind; 3] = [ServiceKind::Searxng, ServiceKind::Brave, ServiceKind::Tavily];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    /// Where it is, when it is in one place for everybody.
    pub fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
        }
    }

    /// The variable that its key is usually in. None when it needs no key.
    pub fn usual_key(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
        }
    }

    /// The list of results in an answer, and what the text about a page is called in it.
    fn results(self, answer: &Value) -> (Option<&Value>, &'static str) {
        match self {
            Self::Searxng | Self::Tavily => (answer.get("results"), "content"),
            // A search that finds nothing has no part for pages at all.
            Self::Brave => match answer.get("web") {
                None if answer.is_object() => (Some(&EMPTY), "description"),
                web => (web.and_then(|web| web.get("results")), "description"),
            },
        }
    }
}

static EMPTY: Value = Value::Array(Vec::new());

/// A name that no service has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no search service {name:?}; those that are known are searxng, brave and tavily")]
pub struct UnknownService {
    /// The name.
    pub name: String,
}

impl FromStr for ServiceKind {
    type Err = UnknownService;

    fn from_str(name: &str) -> Result<Self, UnknownService> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownService { name: name.to_owned() })
    }
}

/// A service at an address.
pub struct Service {
    kind: ServiceKind,
    address: Address,
    key: Option<SecretString>,
    web: Web,
}

impl Service {
    /// A service. `url` is the address of its search; for SearXNG, that of the whole instance will do.
    ///
    /// # Errors
    /// [`WebError::Address`] when it is no address.
    pub fn new(kind: ServiceKind, url: &str, key: Option<SecretString>, web: Web) -> Result<Self, WebError> {
        let mut address = Address::parse(url)?;
        let path = address.url().path().trim_end_matches('/').to_owned();
        if kind == ServiceKind::Searxng && !path.ends_with("/search") {
            let mut url = address.url().clone();
            url.set_path(&format!("{path}/search"));
            address = Address::of(url)?;
        }
        Ok(Self { kind, address, key, web })
    }

    fn asking(&self, query: &Query) -> Result<Asking, WebError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.key {
            let (name, value) = match self.kind {
                ServiceKind::Brave => {
                    (HeaderName::from_static("x-subscription-token"), key.expose_secret().to_owned())
                }
                _ => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| WebError::Refused {
                service: self.name(),
                status: 0,
                reason: "its key has letters that no header takes".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if self.kind == ServiceKind::Tavily {
            let mut body = json!({ "query": query.words, "max_results": query.count });
            if let (Some(site), Some(members)) = (&query.site, body.as_object_mut()) {
                members.insert("include_domains".to_owned(), json!([site]));
            }
            return Ok(Asking {
                address: self.address.clone(),
                headers,
                body: Some(body.to_string()),
                method: None,
            });
        }
        let words = match &query.site {
            Some(site) => format!("{} site:{site}", query.words),
            None => query.words.clone(),
        };
        let mut url = self.address.url().clone();
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("q", &words);
        match self.kind {
            ServiceKind::Brave => pairs.append_pair("count", &query.count.to_string()),
            _ => pairs.append_pair("format", "json"),
        };
        drop(pairs);
        Ok(Asking { address: Address::of(url)?, headers, body: None, method: None })
    }

    fn refused(&self, status: u16, reason: impl Into<String>) -> WebError {
        WebError::Refused { service: self.name(), status, reason: reason.into() }
    }
}

#[async_trait]
impl SearchProvider for Service {
    fn name(&self) -> String {
        format!("{} at {}", self.kind.name(), self.address.host())
    }

    async fn search(&self, query: &Query, cancel: &CancellationToken) -> Result<Vec<Hit>, WebError> {
        let answer = self.web.ask(self.asking(query)?, cancel).await?;
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            // What it says of itself is not repeated: some services quote the key they were given.
            let hint = match (status, self.kind) {
                (401, _) => "the key was not accepted. Tell the user",
                (403, ServiceKind::Searxng) => {
                    "the instance does not answer with JSON; its settings must list json under search.formats. Tell the user"
                }
                (403, _) => "the key may not do this. Tell the user",
                (429, _) => "too many searches for now. Go on without, or try later",
                (300..=399, _) => {
                    "it redirects, which is not followed with a key. Tell the user to set its new address"
                }
                _ => "the search failed. Go on without, or try later",
            };
            return Err(self.refused(status, hint));
        }
        let no_results = || {
            self.refused(
                status,
                "what came is no list of results. Tell the user that search_url may be the wrong address",
            )
        };
        let value: Value = serde_json::from_slice(&answer.body).map_err(|_| no_results())?;
        let (results, about) = self.kind.results(&value);
        let results = results.and_then(Value::as_array).ok_or_else(no_results)?;
        let text =
            |hit: &Value, name: &str| hit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let hits = results.iter().map(|hit| Hit {
            title: text(hit, "title"),
            url: text(hit, "url"),
            snippet: text(hit, about),
        });
        Ok(hits.collect())
    }
}

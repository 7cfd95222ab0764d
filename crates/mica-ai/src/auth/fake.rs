//! Stand-ins for the network, the clock and the command line, by script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use secrecy::SecretString;
use tokio::time::Instant;

use super::{AccessToken, Clock, Credential, Patience, Scope, TokenError, TokenSource};
use crate::error::{AiError, Cause};
use crate::transport::{HttpRequest, HttpResponse, Transport};

pub(super) mod loopback;

/// What happens to one request.
pub(super) enum Play {
    Answer {
        status: u16,
        headers: Vec<(&'static str, &'static str)>,
        body: String,
    },
    /// The connection breaks.
    Break(String),
    /// Nothing ever comes.
    Silence,
    /// Something, later.
    After(Duration, Box<Play>),
}

pub(super) fn answer(status: u16, body: impl Into<String>) -> Play {
    Play::Answer { status, headers: Vec::new(), body: body.into() }
}

/// The token endpoint's good answer.
pub(super) fn token(value: &str, expires_in: u64) -> Play {
    answer(200, format!(r#"{{"token_type":"Bearer","expires_in":{expires_in},"access_token":"{value}"}}"#))
}

/// Plays its script, one entry per request, and keeps the requests with the second they came in.
pub(super) struct Script {
    plays: Mutex<VecDeque<Play>>,
    seen: Mutex<Vec<(f32, HttpRequest)>>,
    began: Instant,
}

impl Script {
    pub(super) fn new(plays: impl IntoIterator<Item = Play>) -> Arc<Self> {
        Arc::new(Self {
            plays: Mutex::new(plays.into_iter().collect()),
            seen: Mutex::new(Vec::new()),
            began: Instant::now(),
        })
    }

    pub(super) fn add(&self, play: Play) {
        self.plays.lock().unwrap().push_back(play);
    }

    pub(super) fn requests(&self) -> Vec<HttpRequest> {
        self.seen.lock().unwrap().iter().map(|(_, request)| request.clone()).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The seconds at which the requests came.
    pub(super) fn times(&self) -> Vec<f32> {
        self.seen.lock().unwrap().iter().map(|(at, _)| at.round()).collect()
    }

    pub(super) fn form(&self, index: usize) -> Vec<(String, String)> {
        form_urlencoded::parse(&self.requests()[index].body).into_owned().collect()
    }
}

#[async_trait]
impl Transport for Script {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        self.seen.lock().unwrap().push((self.began.elapsed().as_secs_f32(), request));
        let mut play = self.plays.lock().unwrap().pop_front();
        loop {
            let why = match play {
                Some(Play::Answer { status, headers, body }) => {
                    let named =
                        |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
                    return Ok(HttpResponse {
                        status: StatusCode::from_u16(status).unwrap(),
                        headers: headers.into_iter().map(named).collect::<HeaderMap>(),
                        body: futures::stream::iter([Ok(Bytes::from(body))]).boxed(),
                    });
                }
                Some(Play::After(wait, then)) => {
                    tokio::time::sleep(wait).await;
                    play = Some(*then);
                    continue;
                }
                Some(Play::Silence) => std::future::pending().await,
                Some(Play::Break(why)) => why,
                None => "the script is over".to_owned(),
            };
            return Err(AiError::Network { action: "asking".to_owned(), source: Cause::new(why) });
        }
    }
}

/// A clock that stands still, a billion seconds after the epoch.
pub(super) const NOW: u64 = 1_000_000_000;

pub(super) fn clock() -> Arc<dyn Clock> {
    Arc::new(|| SystemTime::UNIX_EPOCH + Duration::from_secs(NOW))
}

/// A token source by script: `Ok` is a token's value, `Err` what is said instead. Keeps how it was asked.
pub(super) struct Source {
    name: &'static str,
    results: Mutex<VecDeque<Result<&'static str, &'static str>>>,
    asked: Mutex<Vec<(Scope, Patience)>>,
}

impl Source {
    pub(super) fn new(
        name: &'static str,
        results: impl IntoIterator<Item = Result<&'static str, &'static str>>,
    ) -> Arc<Self> {
        Arc::new(Self { name, results: Mutex::new(results.into_iter().collect()), asked: Mutex::default() })
    }

    pub(super) fn asked(&self) -> Vec<(Scope, Patience)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl TokenSource for Source {
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError> {
        self.asked.lock().unwrap().push((scope.clone(), patience));
        let result = self.results.lock().unwrap().pop_front();
        match result {
            Some(Ok(value)) => Ok(AccessToken {
                secret: SecretString::from(value),
                lifetime: Duration::from_secs(3600),
                refresh_in: None,
            }),
            Some(Err(why)) => Err(TokenError::local(why, format!("Mend {}.", self.name))),
            None => std::future::pending().await,
        }
    }

    fn describe(&self) -> String {
        self.name.to_owned()
    }
}

/// The headers a credential gives, as text.
pub(super) async fn signed(credential: &dyn Credential) -> Result<Vec<(String, String)>, AiError> {
    let mut headers = HeaderMap::new();
    credential.authorize(&mut headers).await?;
    assert!(headers.values().all(HeaderValue::is_sensitive), "a secret header must not print");
    let text =
        |(name, value): (&HeaderName, &HeaderValue)| (name.to_string(), value.to_str().unwrap().to_owned());
    Ok(headers.iter().map(text).collect())
}

/// The bearer token a credential gives.
pub(super) async fn bearer_of(credential: &dyn Credential) -> Result<String, AiError> {
    let headers = signed(credential).await?;
    assert_eq!(headers[0].0, "authorization");
    Ok(headers[0].1.strip_prefix("Bearer ").unwrap().to_owned())
}

/// The parts of an authorisation error: what was tried, what was said, what to do.
pub(super) fn auth(error: &AiError) -> (String, String, String) {
    match error {
        AiError::Auth { tried, hint, reply } => (tried.clone(), reply.to_string(), hint.clone()),
        other => panic!("not an authorisation error: {other:?}"),
    }
}

/// Everything an error can be turned into.
pub(super) fn faces(error: &AiError) -> String {
    format!("{error} {error:?} {error:#?} {} {}", error.for_user(), serde_json::to_string(error).unwrap())
}

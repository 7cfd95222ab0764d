//! The real network: requests over HTTP/1.1 and HTTP/2 with TLS.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};

use crate::error::{AiError, Cause, CutPoint};
use crate::transport::{HttpRequest, HttpResponse, Transport};

/// Sends requests with `reqwest`. Cheap to clone; clones share their connections.
///
/// Clients are made when they are first used: reading the system's certificates takes milliseconds that a program
/// which talks to this machine alone need not spend.
#[derive(Debug, Clone, Default)]
pub struct HttpTransport {
    client: Arc<OnceLock<reqwest::Client>>,
    /// For addresses on this machine: those never go through a proxy.
    direct: Arc<OnceLock<reqwest::Client>>,
}

impl HttpTransport {
    /// A transport with the system's proxy settings and certificates.
    ///
    /// # Errors
    /// None today; kept so that a set-up that must fail early can.
    pub fn new() -> Result<Self, AiError> {
        // A provider may be installed already, by the program or by a transport before this one: both are fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self::default())
    }

    fn client(&self, url: &reqwest::Url) -> Result<reqwest::Client, AiError> {
        let direct = is_loopback(url);
        let slot = if direct { &self.direct } else { &self.client };
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        let builder = reqwest::Client::builder();
        let client = build(if direct { builder.no_proxy() } else { builder })?;
        // Another task may have been first; then its client, with its connections, is the one to use.
        Ok(slot.get_or_init(|| client).clone())
    }
}

fn build(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, AiError> {
    builder
        .user_agent(concat!("mica/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect would carry the credential to wherever it points.
        .redirect(reqwest::redirect::Policy::none())
        // Attempts are counted and told in one place, the retry adapter.
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .tcp_keepalive(KEEP_ALIVE)
        .pool_idle_timeout(POOL_IDLE)
        .build()
        .map_err(|error| network("setting up TLS", error))
}

/// Long enough for a slow VPN, short enough to notice a wrong address.
const CONNECT: Duration = Duration::from_secs(15);
/// Middleboxes forget quiet connections, and models think for minutes.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Below the idle time-outs of common gateways, so that a connection is not reused while it is being closed.
const POOL_IDLE: Duration = Duration::from_secs(50);

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        let url: reqwest::Url = request
            .url
            .parse()
            .map_err(|error| network(format!("reading the address {:?}", request.url), error))?;
        let client = self.client(&url)?;
        let place = url.host_str().unwrap_or_default().to_owned();
        let response = client
            .request(request.method, url)
            .headers(request.headers)
            .body(request.body)
            .send()
            .await
            .map_err(|error| network(format!("asking {place}"), innermost(error)))?;
        Ok(HttpResponse {
            status: response.status(),
            headers: response.headers().clone(),
            body: response
                .bytes_stream()
                .map_err(|error| AiError::StreamCut {
                    when: CutPoint::BetweenEvents,
                    source: Some(Cause::new(innermost(error))),
                })
                .boxed(),
        })
    }
}

fn network(action: impl Into<String>, error: impl std::error::Error + Send + Sync + 'static) -> AiError {
    AiError::Network { action: action.into(), source: Cause::new(error) }
}

/// What broke in the end: "connection refused" without the four layers that passed it on. Those go to the log.
fn innermost(error: reqwest::Error) -> std::io::Error {
    let error = error.without_url();
    tracing::debug!(?error, "a request failed");
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    std::io::Error::other(cause.to_string())
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_this_machine_are_known() {
        for (url, expected) in [
            ("http://localhost:1/v1", true),
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("https://x.openai.azure.com", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn an_address_nobody_listens_at_is_a_network_error() {
        let transport = HttpTransport::new().unwrap();
        // Port 1 of loopback: nothing listens there, and nothing leaves the machine.
        let request = HttpRequest {
            method: http::Method::POST,
            url: "http://127.0.0.1:1/v1/responses?key=not-in-errors".into(),
            headers: http::HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        let error = transport.send(request).await.err().expect("nobody listens");
        assert_eq!(error.kind(), "network");
        assert!(!error.to_string().contains("not-in-errors"), "{error}");
        assert_eq!(
            error.to_string(),
            "network: asking 127.0.0.1: Connection refused (os error 111)",
            "what broke, and nothing of how it was passed on"
        );
    }
}

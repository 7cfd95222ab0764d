//! Servers on this machine: a small way to ask them, which tests can play.
//!
//! Invariant: nothing but this machine is reached. A server's certificate is not checked, because a fresh server signs its
//! own; that is safe only because the address is a loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;

/// Bytes of an answer that are read.
const LONGEST: usize = 4 << 20;

/// How to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Read.
    Get,
    /// Do.
    Post,
    /// Change.
    Patch,
    /// Remove.
    Delete,
}

/// A question.
#[derive(Clone)]
pub struct LocalRequest {
    /// How.
    pub method: Method,
    /// Where, with all of its query.
    pub url: String,
    /// What `Authorization` says. Nobody is shown it.
    pub authorization: Option<String>,
    /// A body of JSON.
    pub body: Option<String>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalResponse {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// It is no address of this machine.
    #[error("{url} is no address of this machine")]
    Elsewhere {
        /// The address.
        url: String,
    },
    /// Nobody listens.
    #[error("nobody listens there")]
    Refused,
    /// No answer in time.
    #[error("there was no answer within {} s", .after.as_secs())]
    Late {
        /// How long was waited.
        after: Duration,
    },
    /// Something else.
    #[error("{reason}")]
    Broken {
        /// What.
        reason: String,
    },
}

/// A way to servers on this machine.
#[async_trait]
pub trait Loopback: Send + Sync {
    /// Asks.
    ///
    /// # Errors
    /// [`LocalError`]. An answer with a bad status is an answer.
    async fn send(&self, request: LocalRequest) -> Result<LocalResponse, LocalError>;

    /// Whether somebody listens at a port.
    async fn listens(&self, port: u16) -> bool;
}

/// The way there.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalClient;

fn is_local(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

#[async_trait]
impl Loopback for LocalClient {
    async fn send(&self, request: LocalRequest) -> Result<LocalResponse, LocalError> {
        let broken = |error: &dyn std::error::Error| {
            let mut cause = error;
            while let Some(deeper) = cause.source() {
                cause = deeper;
            }
            LocalError::Broken { reason: cause.to_string() }
        };
        let url: reqwest::Url =
            request.url.parse().map_err(|_| LocalError::Elsewhere { url: request.url.clone() })?;
        if !is_local(&url) {
            return Err(LocalError::Elsewhere { url: request.url });
        }
        // One may be installed already, by whoever asks models: it is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .tls_danger_accept_invalid_certs(true)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(request.timeout)
            .build()
            .map_err(|error| broken(&error))?;
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut asking = client.request(method, url).header("Accept", "application/json");
        if let Some(authorization) = &request.authorization {
            asking = asking.header("Authorization", authorization);
        }
        if let Some(body) = request.body {
            asking = asking.header("Content-Type", "application/json").body(body);
        }
        let failed = |error: reqwest::Error| {
            if error.is_timeout() {
                LocalError::Late { after: request.timeout }
            } else if error.is_connect() && format!("{error:?}").contains("ConnectionRefused") {
                LocalError::Refused
            } else {
                broken(&error)
            }
        };
        let mut response = asking.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(piece.get(..piece.len().min(LONGEST - body.len())).unwrap_or_default());
            if body.len() >= LONGEST {
                break;
            }
        }
        Ok(LocalResponse { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    async fn listens(&self, port: u16) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let connecting = tokio::net::TcpStream::connect(address);
        matches!(tokio::time::timeout(Duration::from_secs(2), connecting).await, Ok(Ok(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_this_machine_is_reached() {
        let request = |url: &str| LocalRequest {
            method: Method::Get,
            url: url.to_owned(),
            authorization: None,
            body: None,
            timeout: Duration::from_secs(2),
        };
        for url in [
            "http://192.0.2.1/",
            "https://localhost.example.org/",
            "http://10.0.0.1",
            "nothing",
            "file:///etc/hosts",
        ] {
            let expected = Err(LocalError::Elsewhere { url: url.to_owned() });
            assert_eq!(LocalClient.send(request(url)).await, expected, "{url}");
        }
        let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let answer = LocalClient.send(request(&format!("http://localhost:{unused}/healthz"))).await;
        assert_eq!(answer, Err(LocalError::Refused));
        assert!(!LocalClient.listens(unused).await);
    }
}

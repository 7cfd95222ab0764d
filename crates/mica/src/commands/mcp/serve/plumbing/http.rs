//! Many clients over HTTP: one address, bounded in every direction, and closed to web pages from elsewhere.
//!
//! `Host` and `Origin` are checked, bodies, times and numbers are limited, and a token can be asked for. What is asked
//! when the server ends is answered.

mod bounded;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::offer::Offer;
use bounded::Bounded;

/// Where the server is, below its host.
pub const PATH: &str = "/mcp";
/// Bytes of a request at most.
pub const LARGEST: usize = 4 << 20;
/// How often a waiting client hears that it is not forgotten.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long what is being answered may take once the server was told to end.
const GRACE: Duration = Duration::from_secs(5);

/// Whether clients of the older era are remembered between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// They are not: every request stands alone, so nothing grows. Such a server asks its clients nothing.
    None,
    /// They are, so that a server can ask back.
    Kept,
}

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// What clients must send as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// Names by which the server may be asked, besides those of this machine and its own address.
    pub hosts: Vec<String>,
    /// Web pages that may ask, besides those of the server itself: `https://example.org`.
    pub origins: Vec<String>,
    /// Whether clients are remembered.
    pub sessions: Sessions,
    /// Requests that are answered at the same time; what comes then is sent away.
    pub requests: usize,
    /// Connections at the same time; what comes then waits.
    pub connections: usize,
    /// How long a request may take, from its first byte to its answer.
    pub deadline: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            sessions: Sessions::None,
            requests: 32,
            connections: 128,
            deadline: Duration::from_secs(150),
        }
    }
}

/// Serves until `stop` fires.
///
/// # Errors
/// When connections cannot be accepted any more.
pub async fn serve<O: Offer>(
    desk: Desk<O>,
    listener: TcpListener,
    options: Options,
    stop: CancellationToken,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let ending = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.sessions == Sessions::Kept)
        .with_json_response(true)
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        .with_max_request_body_bytes(LARGEST)
        .with_allowed_hosts(hosts(address, &options.hosts))
        .with_allowed_origins(origins(address, &options.origins))
        .enforce_origin_validation()
        .with_cancellation_token(ending.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(desk.clone()), sessions, config);
    let connections = options.connections;
    let gate = Arc::new(Gate { requests: Semaphore::new(options.requests), options });
    let router = Router::new().route_service(PATH, service).layer(from_fn_with_state(gate, through));
    let listener = Bounded::new(listener, connections);
    let told = stop.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move { told.cancelled().await });
    tokio::select! {
        served = serving.into_future() => served,
        () = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
            // Streams that have no end of their own.
            ending.cancel();
        } => Ok(()),
    }
}

/// The names by which the server may be asked: with another, a web page would have made a name of its own for it.
fn hosts(address: SocketAddr, more: &[String]) -> Vec<String> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    hosts.extend(more.iter().cloned());
    hosts
}

/// The web pages that may ask.
fn origins(address: SocketAddr, more: &[String]) -> Vec<String> {
    let port = address.port();
    let own = match address.ip() {
        IpAddr::V6(ip) => format!("http://[{ip}]:{port}"),
        IpAddr::V4(ip) => format!("http://{ip}:{port}"),
    };
    let mut origins = vec![own, format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}")];
    origins.extend(more.iter().cloned());
    origins
}

/// What every request goes through.
struct Gate {
    requests: Semaphore,
    options: Options,
}

async fn through(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    if let Some(token) = &gate.options.token
        && !is_allowed(request.headers().get(header::AUTHORIZATION), token)
    {
        let mut refused = said(StatusCode::UNAUTHORIZED, "Unauthorized: send the token of this server");
        let how = HeaderValue::from_static("Bearer realm=\"mica\"");
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        return refused;
    }
    let Ok(_permit) = gate.requests.try_acquire() else {
        let mut busy = said(StatusCode::SERVICE_UNAVAILABLE, "Busy: too many requests at the same time");
        busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        return busy;
    };
    match tokio::time::timeout(gate.options.deadline, next.run(request)).await {
        Ok(response) => response,
        Err(_) => said(StatusCode::REQUEST_TIMEOUT, "Request Timeout: it took too long"),
    }
}

fn said(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

/// Whether a header has the token. The time it takes says nothing about where a wrong one differs.
fn is_allowed(header: Option<&HeaderValue>, token: &str) -> bool {
    let Some((scheme, given)) =
        header.and_then(|value| value.to_str().ok()).and_then(|text| text.split_once(' '))
    else {
        return false;
    };
    let (given, token) = (given.trim().as_bytes(), token.as_bytes());
    let differs = given.iter().zip(token).fold(0, |differs, (one, other)| differs | (one ^ other));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let check = |header: Option<&str>, expect: bool| {
            let header = header.map(|text| HeaderValue::from_str(text).unwrap());
            assert_eq!(is_allowed(header.as_ref(), "secret"), expect, "{header:?}");
        };
        check(Some("Bearer secret"), true);
        check(Some("bearer  secret "), true);
        for wrong in [
            None,
            Some(""),
            Some("secret"),
            Some("Bearer"),
            Some("Bearer "),
            Some("Bearer secre"),
            Some("Bearer secret2"),
            Some("Basic secret"),
        ] {
            check(wrong, false);
        }
    }
}

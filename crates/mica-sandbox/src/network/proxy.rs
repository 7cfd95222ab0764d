//! A small HTTP proxy that reaches the hosts of a list: tunnels with `CONNECT`, and plain requests.
//!
//! Names are looked up here, and the address that was judged is the one that is connected to: a name that changes its
//! address between two questions gains nothing. What is asked for and refused is kept for the caller.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::address::is_public;
use super::host::{Host, address_of};

/// Bytes of a request's head.
const HEAD: usize = 32 * 1024;
/// Header fields of a request.
const FIELDS: usize = 128;
/// Connections at a time. More wait.
const CONNECTIONS: usize = 128;
/// What is kept of what was asked for. More is counted and not kept.
const KEPT: usize = 256;
/// For the head of a request, a name, and a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Something a command asked the network for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why not; none when it was let through.
    pub refused: Option<Refusal>,
}

/// Why a host was not reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It is not on the list.
    NotListed,
    /// It leads into a private network.
    Private(IpAddr),
    /// It is on the list and could not be reached.
    Unreachable(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotListed => f.write_str("not on the list of hosts that may be reached"),
            Self::Private(address) => write!(f, "leads to {address}, which is a private address"),
            Self::Unreachable(why) => write!(f, "could not be reached: {why}"),
        }
    }
}

/// What was asked for, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    fn add(&self, asked: Asked) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < KEPT && !list.contains(&asked) {
            list.push(asked);
        }
    }

    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    hosts: Vec<Host>,
    log: Log,
}

impl Proxy {
    pub(crate) fn new(hosts: Vec<Host>, log: Log) -> Arc<Self> {
        Arc::new(Self { hosts, log })
    }

    /// Serves until it is cancelled, and then ends every connection.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener, cancel: CancellationToken) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let stream = tokio::select! {
                () = cancel.cancelled() => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Out of descriptors, most likely; the next one may find some.
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                },
            };
            let (proxy, cancel) = (Arc::clone(&self), cancel.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = cancel.cancelled() => {}
                    _ = proxy.connection(stream) => {}
                }
                drop(place);
            });
        }
    }

    async fn connection(&self, mut inside: TcpStream) -> std::io::Result<()> {
        let Ok(head) = timeout(PATIENCE, read_head(&mut inside)).await else { return Ok(()) };
        let request = match head.and_then(|(head, rest)| Request::parse(&head, rest)) {
            Ok(request) => request,
            Err(status) => {
                return answer(&mut inside, status, "mica's proxy did not understand the request").await;
            }
        };
        let (host, port) = (request.host.clone(), request.port);
        let reached = self.reach(&host, port).await;
        self.log.add(Asked { host: host.clone(), port, refused: reached.as_ref().err().cloned() });
        let mut outside = match reached {
            Ok(outside) => outside,
            Err(refusal) => {
                let status = if matches!(refusal, Refusal::Unreachable(_)) {
                    "502 Bad Gateway"
                } else {
                    "403 Forbidden"
                };
                return answer(&mut inside, status, &format!("{host}:{port}: {refusal}")).await;
            }
        };
        if request.tunnel {
            inside.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        }
        outside.write_all(&request.onward).await?;
        tokio::io::copy_bidirectional(&mut inside, &mut outside).await?;
        Ok(())
    }

    async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let entries: Vec<&Host> = self.hosts.iter().filter(|entry| entry.matches(host, port)).collect();
        if entries.is_empty() {
            return Err(Refusal::NotListed);
        }
        let may_be_private = entries.iter().any(|entry| entry.may_be_private());
        let unreachable = |why: String| Refusal::Unreachable(why);
        let addresses: Vec<SocketAddr> = match address_of(host) {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => timeout(PATIENCE, lookup_host((host, port)))
                .await
                .map_err(|_| unreachable("its name was not found in time".to_owned()))?
                .map_err(|error| unreachable(error.to_string()))?
                .collect(),
        };
        // One private address among public ones is a trick, or a mistake that would look like one.
        if let Some(private) = addresses.iter().find(|address| !may_be_private && !is_public(address.ip())) {
            return Err(Refusal::Private(private.ip()));
        }
        let mut last = "it has no address".to_owned();
        for address in addresses {
            match timeout(PATIENCE, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => last = "no answer in time".to_owned(),
            }
        }
        Err(unreachable(last))
    }
}

/// A request that can be passed on.
#[derive(Debug)]
struct Request {
    host: String,
    port: u16,
    tunnel: bool,
    /// What the host is sent first.
    onward: Vec<u8>,
}

/// Reads to the end of the head; what came behind it is the second half.
async fn read_head(stream: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    let mut head = Vec::with_capacity(1024);
    let mut buffer = [0u8; 4096];
    loop {
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = head.split_off(end + 4);
            return Ok((head, rest));
        }
        if head.len() > HEAD {
            return Err("431 Request Header Fields Too Large");
        }
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => head.extend(buffer.iter().take(read)),
            _ => return Err("400 Bad Request"),
        }
    }
}

impl Request {
    fn parse(head: &[u8], rest: Vec<u8>) -> Result<Self, &'static str> {
        const BAD: &str = "400 Bad Request";
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        if !matches!(request.parse(head), Ok(httparse::Status::Complete(_))) {
            return Err(BAD);
        }
        let (method, target) = (request.method.ok_or(BAD)?, request.path.ok_or(BAD)?);
        if method == "CONNECT" {
            let (host, port) = split(target, None).ok_or(BAD)?;
            return Ok(Self { host, port, tunnel: true, onward: rest });
        }
        let after = target.strip_prefix("http://").ok_or("501 Not Implemented")?;
        let (authority, path) = match after.find(['/', '?']) {
            Some(at) => after.split_at(at),
            None => (after, "/"),
        };
        let (host, port) = split(authority, Some(80)).ok_or(BAD)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut onward =
            format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n")
                .into_bytes();
        for field in request.headers.iter() {
            let name = field.name.to_ascii_lowercase();
            // Those are between the command and the proxy, or said already.
            if name == "host" || name == "connection" || name == "keep-alive" || name.starts_with("proxy-") {
                continue;
            }
            onward.extend([field.name.as_bytes(), b": ", field.value, b"\r\n"].concat());
        }
        onward.extend(b"\r\n");
        onward.extend(rest);
        Ok(Self { host, port, tunnel: false, onward })
    }
}

/// A host and a port. Names of users are refused: they are there to deceive.
fn split(authority: &str, usual: Option<u16>) -> Option<(String, u16)> {
    if authority.contains('@') {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (authority, None),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    (!host.is_empty() && host.chars().all(is_plain)).then_some(())?;
    Some((host.to_owned(), port.or(usual)?))
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let body = format!("mica sandbox: {text}\n");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests;

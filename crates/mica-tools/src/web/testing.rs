//! What the tests of the web share: a small server on loopback, names that lead to it, and a clock.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::http::Web;
use super::limits::WebLimits;
use super::pages::Clock;
use super::reach::Resolver;

/// What the server does for a path.
#[derive(Clone)]
pub(super) enum Reply {
    /// All of an answer: head and body.
    Bytes(Vec<u8>),
    /// These bytes, and then the body's bytes again and again, for as long as anybody reads.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, and then nothing, with the connection held open.
    Stall(Vec<u8>),
}

/// A server on loopback. It ends with the test.
pub(super) struct Site {
    pub(super) port: u16,
    /// The heads (and bodies) of all requests.
    pub(super) requests: Arc<Mutex<Vec<String>>>,
    _guard: DropGuard,
}

impl Site {
    /// Serves paths; others are not there.
    pub(super) async fn serve(paths: &[(&str, Reply)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let paths: Arc<BTreeMap<String, Reply>> =
            Arc::new(paths.iter().map(|(path, reply)| ((*path).to_owned(), reply.clone())).collect());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let cancel = CancellationToken::new();
        let (kept, stop) = (Arc::clone(&requests), cancel.clone());
        tokio::spawn(async move {
            loop {
                let stream = tokio::select! {
                    () = stop.cancelled() => return,
                    accepted = listener.accept() => accepted.unwrap().0,
                };
                let (paths, kept, stop) = (Arc::clone(&paths), Arc::clone(&kept), stop.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = stop.cancelled() => {}
                        _ = connection(stream, &paths, &kept) => {}
                    }
                });
            }
        });
        Self { port, requests, _guard: cancel.drop_guard() }
    }

    /// An address on it, by a name that only tests know.
    pub(super) fn at(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port)
    }

    /// How often it was asked.
    pub(super) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The way to it: the name leads here, and is open.
    pub(super) fn web(&self, limits: WebLimits) -> Web {
        let open = format!("site.test:{}", self.port);
        Web::new(Names::to(&["127.0.0.1"])).with_private_hosts([open.parse().unwrap()]).with_limits(limits)
    }
}

async fn connection(
    mut stream: TcpStream,
    paths: &BTreeMap<String, Reply>,
    kept: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let text = String::from_utf8_lossy(&head).into_owned();
        if let Some((fields, body)) = text.split_once("\r\n\r\n") {
            let length = fields
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                break;
            }
        }
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    kept.lock().unwrap().push(text);
    let bare = path.split('?').next().unwrap_or_default();
    match paths.get(&path).or_else(|| paths.get(bare)) {
        None => stream.write_all(&answer("404 Not Found", "text/plain", b"no such page")).await?,
        Some(Reply::Bytes(bytes)) => stream.write_all(bytes).await?,
        Some(Reply::Endless(head, body)) => {
            stream.write_all(head).await?;
            loop {
                stream.write_all(body).await?;
            }
        }
        Some(Reply::Stall(bytes)) => {
            stream.write_all(bytes).await?;
            std::future::pending::<()>().await;
        }
    }
    stream.shutdown().await
}

/// An answer.
pub(super) fn answer(status: &str, media_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A good answer.
pub(super) fn ok(media_type: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Bytes(answer("200 OK", media_type, body.as_ref()))
}

/// An answer that leads elsewhere.
pub(super) fn moved(to: &str) -> Reply {
    let head =
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    Reply::Bytes(head.into_bytes())
}

/// Leads every name to the same addresses, one after the other; the last one stays. Counts the questions.
pub(super) struct Names {
    addresses: Vec<&'static str>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl Names {
    pub(super) fn to(addresses: &[&'static str]) -> Arc<Self> {
        Arc::new(Self { addresses: addresses.to_vec(), asked: Mutex::default() })
    }
}

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let at = asked.len().min(self.addresses.len().saturating_sub(1));
        asked.push(host.to_owned());
        match self.addresses.get(at) {
            Some(address) => Ok(vec![SocketAddr::new(address.parse().unwrap(), port)]),
            None => Err(io::Error::other("nobody knows it")),
        }
    }
}

/// A clock that is set by hand.
#[derive(Clone)]
pub(super) struct Hands(Arc<Mutex<SystemTime>>);

impl Hands {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000))))
    }

    pub(super) fn clock(&self) -> Clock {
        let hands = self.clone();
        Arc::new(move || *hands.0.lock().unwrap())
    }

    pub(super) fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

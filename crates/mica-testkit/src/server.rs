//! Plays a script over HTTP on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::{Head, Piece, wait};
use crate::capture::Captured;
use crate::http1::{self, LAST_CHUNK, Read};
use crate::route::Route;
use crate::scenario::Scenario;
use crate::script::{Script, failure};

/// An HTTP server on 127.0.0.1 that answers as the script says. Dropping it closes all its connections.
#[derive(Debug)]
pub struct ScriptedServer {
    script: Arc<Script>,
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl ScriptedServer {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When no port of the loopback interface can be bound.
    pub async fn start(scenario: impl Into<Scenario>) -> io::Result<Self> {
        Self::playing(Script::new(scenario)).await
    }

    /// Starts on a free port with a script that others play too.
    ///
    /// # Errors
    /// When no port of the loopback interface can be bound.
    pub async fn playing(script: Arc<Script>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        tasks.spawn(accept(listener, Arc::clone(&script), stop.clone(), tasks.clone()));
        Ok(Self { script, address, stop, tasks })
    }

    /// The script, for what was asked and what the cache did.
    pub fn script(&self) -> &Arc<Script> {
        &self.script
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path, for example `/v1`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, oldest first.
    pub fn captured(&self) -> Vec<Captured> {
        self.script.captured()
    }

    /// Closes all connections and waits until that is done.
    pub async fn shutdown(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stop.cancel();
        self.tasks.close();
    }
}

/// An address on loopback where nobody listens: connections to it are refused.
///
/// # Errors
/// When no port of the loopback interface can be bound.
pub async fn refused_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()
}

async fn accept(listener: TcpListener, script: Arc<Script>, stop: CancellationToken, tasks: TaskTracker) {
    let places = Arc::new(Semaphore::new(script.scenario().limits.connections.max(1)));
    loop {
        // A full house leaves further connections in the system's queue until someone goes.
        let place = tokio::select! {
            () = stop.cancelled() => return,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let (Ok(place), Ok((stream, _))) = (place, accepted) else {
            continue;
        };
        let (script, stop) = (Arc::clone(&script), stop.clone());
        tasks.spawn(async move {
            // What breaks a connection is the client's business; the script has noted what matters.
            tokio::select! {
                () = stop.cancelled() => {}
                _ = serve(stream, &script) => {}
            }
            drop(place);
        });
    }
}

/// How long a connection may be kept without a request, so that idle clients give up their places.
const IDLE: Duration = Duration::from_secs(60);

/// Serves the requests of one connection, one after another.
async fn serve(mut stream: TcpStream, script: &Arc<Script>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::new();
    loop {
        let request = http1::read_request(&mut stream, &mut buffer, script.scenario().limits.body);
        let answer = match tokio::time::timeout(IDLE, request).await?? {
            Read::Closed => return Ok(()),
            Read::Request(request) => script.answer(&request),
            Read::TooLarge { target } => {
                let vendor = Route::find("POST", target.split('?').next().unwrap_or_default()).vendor();
                let body = vendor.error(413, "", "Request exceeds the maximum size", None);
                write(&mut stream, script, failure(413, &body)).await?;
                // The rest of the body is still on its way and cannot be told from a next request.
                return Ok(());
            }
        };
        if !write(&mut stream, script, answer).await? {
            return Ok(());
        }
    }
}

/// Writes an answer. Tells whether the connection can be used again.
async fn write(stream: &mut TcpStream, script: &Arc<Script>, answer: crate::Answer) -> io::Result<bool> {
    let (head, mut body) = script.play(answer);
    match head {
        Head::Reset | Head::Refused => {
            stream.set_zero_linger()?;
            return Ok(false);
        }
        Head::Send { status, headers, after } => {
            wait(after).await;
            stream.write_all(&http1::head(status, &headers)).await?;
        }
    }
    loop {
        let piece = tokio::select! {
            piece = body.next() => piece,
            () = gone(stream) => return Ok(false),
        };
        match piece {
            Piece::Bytes(bytes) => stream.write_all(&http1::chunk(&bytes)).await?,
            Piece::End => {
                stream.write_all(LAST_CHUNK).await?;
                return Ok(true);
            }
            Piece::Cut => {
                stream.flush().await?;
                return Ok(false);
            }
        }
    }
}

/// Ends when the client has closed its side. While an answer is written no client sends more, so reading is safe.
async fn gone(stream: &TcpStream) {
    let mut byte = [0];
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut byte) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
            // A client that pipelines breaks the rule above; its bytes are lost and it will wait in vain.
            Ok(_) | Err(_) => {}
        }
    }
}

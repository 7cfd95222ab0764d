//! A server on this machine that plays a script over real sockets, and the least client that can talk to it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::error::{AiError, Cause};
use crate::transport::{HttpRequest, HttpResponse, Transport};

/// Answers each connection with the next of `answers` (status and body), and keeps what was asked.
pub(in crate::auth) struct Server {
    pub(in crate::auth) address: String,
    asked: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(in crate::auth) async fn start(answers: Vec<(u16, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let task = tokio::spawn(async move {
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                let head = format!(
                    "HTTP/1.1 {status} Whatever\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        Self { address, asked, task }
    }

    /// The requests as they came over the wire.
    pub(in crate::auth) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let count = stream.read(&mut piece).await.unwrap();
        assert_ne!(count, 0, "the request was cut off");
        all.extend_from_slice(&piece[..count]);
    }
}

/// HTTP/1.1 without keep-alive, without TLS: enough for a server on this machine.
pub(in crate::auth) struct Plain;

#[async_trait]
impl Transport for Plain {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        let broken = |error: std::io::Error| AiError::Network {
            action: format!("asking {}", request.url),
            source: Cause::new(error),
        };
        let (host, path) = request.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).await.map_err(broken)?;
        let mut head = format!("{} /{path} HTTP/1.1\r\nhost: {host}\r\n", request.method);
        for (name, value) in &request.headers {
            head += &format!("{name}: {}\r\n", value.to_str().unwrap());
        }
        head += &format!("content-length: {}\r\n\r\n", request.body.len());
        stream.write_all(head.as_bytes()).await.map_err(broken)?;
        stream.write_all(&request.body).await.map_err(broken)?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.map_err(broken)?;
        let text = String::from_utf8(all).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers: HeaderMap = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
            .collect();
        let body = Bytes::from(body.to_owned());
        Ok(HttpResponse {
            status: status.parse::<StatusCode>().unwrap(),
            headers,
            body: futures::stream::iter([Ok(body)]).boxed(),
        })
    }
}

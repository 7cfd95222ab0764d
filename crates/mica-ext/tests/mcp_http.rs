//! A server over HTTP, of the second era, that wants a login: discovery, registration, the way through a browser and back,
//! tokens in a file, and new ones when they are old. All of it on this machine.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mica_ext::mcp::auth::{self, FileStore};
use serde_json::{Value, json};
use stage::{Stage, call};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// An authorization server and an MCP server in one.
struct House {
    port: u16,
    /// What was asked: the path, and the token or the grant.
    seen: Mutex<Vec<String>>,
}

impl House {
    async fn open() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let house = Arc::new(Self { port: listener.local_addr().unwrap().port(), seen: Mutex::default() });
        let open = Arc::clone(&house);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&open).serve(stream));
            }
        });
        house
    }

    fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        loop {
            let head = loop {
                if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                    break at + 4;
                }
                let mut buffer = [0; 4_096];
                match stream.read(&mut buffer).await {
                    Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
                    _ => return,
                }
            };
            let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
            let header = |name: &str| {
                let found = text.lines().find_map(|line| {
                    let (key, value) = line.split_once(':')?;
                    key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
                });
                found.unwrap_or_default()
            };
            let length: usize = header("content-length").parse().unwrap_or_default();
            while bytes.len() < head + length {
                let mut buffer = [0; 4_096];
                let read = stream.read(&mut buffer).await.unwrap();
                bytes.extend_from_slice(&buffer[..read]);
            }
            let body = String::from_utf8_lossy(&bytes[head..head + length]).into_owned();
            let first = text.lines().next().unwrap_or_default().to_owned();
            let (status, extra, answer) =
                self.answer(&first, &header("authorization"), &header("mcp-method"), &body);
            let answer = answer.to_string();
            let out = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{extra}\r\n{answer}",
                answer.len()
            );
            if stream.write_all(out.as_bytes()).await.is_err() {
                return;
            }
            bytes.drain(..head + length);
        }
    }

    fn answer(&self, first: &str, token: &str, method: &str, body: &str) -> (&'static str, String, Value) {
        let base = self.base();
        let mut words = first.split(' ');
        let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let note = |what: String| self.seen.lock().unwrap().push(what);
        match (verb, path) {
            (
                "GET",
                "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/mcp",
            ) => (
                "200 OK",
                String::new(),
                json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }),
            ),
            ("GET", path) if path.starts_with("/.well-known/oauth-authorization-server") => (
                "200 OK",
                String::new(),
                json!({
                    "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
                    "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                    "grant_types_supported": ["authorization_code", "refresh_token"],
                }),
            ),
            ("POST", "/register") => {
                let asked: Value = serde_json::from_str(body).unwrap();
                note(format!("register {}", asked["client_name"].as_str().unwrap_or_default()));
                (
                    "201 Created",
                    String::new(),
                    json!({ "client_id": "c1", "redirect_uris": asked["redirect_uris"] }),
                )
            }
            ("POST", "/token") => {
                let grant =
                    body.split('&').find_map(|pair| pair.strip_prefix("grant_type=")).unwrap_or_default();
                let proof = body.contains("code_verifier=");
                note(format!("token {grant} proof={proof}"));
                let (access, expires) = if grant == "refresh_token" { ("tok-2", 3600) } else { ("tok-1", 0) };
                (
                    "200 OK",
                    String::new(),
                    json!({
                        "access_token": access, "token_type": "Bearer", "expires_in": expires, "refresh_token": "r-1",
                    }),
                )
            }
            ("POST", "/mcp") if !token.starts_with("Bearer tok-") => {
                note("mcp without a token".to_owned());
                let challenge = format!(
                    "WWW-Authenticate: Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource\"\r\n"
                );
                ("401 Unauthorized", challenge, json!({ "error": "who are you?" }))
            }
            ("POST", "/mcp") => {
                note(format!("{method} {token}"));
                let request: Value = serde_json::from_str(body).unwrap();
                let version = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
                assert_eq!(version, "2026-07-28", "{request}");
                let result = match request["method"].as_str().unwrap_or_default() {
                    "server/discover" => json!({
                        "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                        "serverInfo": { "name": "house", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
                    }),
                    "tools/list" => json!({ "ttlMs": 0, "cacheScope": "private", "tools": [
                        { "name": "echo", "description": "Says it again.", "inputSchema": { "type": "object" } },
                    ] }),
                    "tools/call" => {
                        json!({ "content": [{ "type": "text", "text": request["params"]["arguments"]["text"] }] })
                    }
                    _ => json!({}),
                };
                let mut result = result;
                result["resultType"] = json!("complete");
                ("200 OK", String::new(), json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
            }
            ("GET", "/mcp") => ("405 Method Not Allowed", String::new(), json!({})),
            _ => ("404 Not Found", String::new(), json!({})),
        }
    }
}

/// What a browser would do with the address: the person agrees, and it goes back.
fn agree(address: &str) {
    let url = reqwest::Url::parse(address).unwrap();
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    assert_eq!(value("code_challenge_method"), "S256");
    let (back, state) = (value("redirect_uri"), value("state"));
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    tokio::spawn(async move {
        let back = reqwest::Url::parse(&back).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap();
        let ask = format!("GET {}?code=k&state={state} HTTP/1.1\r\nHost: x\r\n\r\n", back.path());
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert!(said.contains("You are logged in."), "{said}");
    });
}

#[tokio::test]
async fn a_login_over_http_is_kept_and_renewed() {
    let house = House::open().await;
    let stage = Stage::new();
    let entry = json!({ "house": { "url": format!("{}/mcp", house.base()) } });
    let servers = stage.servers(entry.clone());
    let refused = servers.get("house").unwrap().look().await.unwrap_err();
    assert_eq!(refused.to_string(), "the MCP server \"house\" wants a login: run `mica mcp login house`");
    servers.close(Duration::from_secs(5)).await;

    let config = stage.read(entry.clone()).servers.remove(0);
    auth::login(&config, &stage.given.data, Duration::from_secs(20), agree).await.unwrap();
    let seen = house.seen();
    assert!(seen.contains(&"register mica".to_owned()), "{seen:?}");
    assert!(seen.contains(&"token authorization_code proof=true".to_owned()), "{seen:?}");
    let folder = stage.given.data.join("tokens");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    // Another session uses the token, which is old from the start: a new one is got, and kept.
    let servers = stage.servers(entry);
    let known = servers.get("house").unwrap().look().await.unwrap();
    assert_eq!(known.protocol, "2026-07-28");
    servers.ready().await;
    assert_eq!(call(&servers, "mcp__house__echo", json!({ "text": "hello" })).await, Ok("hello".to_owned()));
    let seen = house.seen();
    assert!(seen.iter().any(|what| what.starts_with("token refresh_token")), "{seen:?}");
    assert!(seen.contains(&"tools/call Bearer tok-2".to_owned()), "{seen:?}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("tok-2"));
    servers.close(Duration::from_secs(5)).await;
    let log = servers.get("house").unwrap().log().read().unwrap();
    assert!(!log.contains("tok-"), "{log}");
    assert!(FileStore::of(&stage.given.data, &config).forget().unwrap());
}

#[tokio::test]
async fn a_login_that_nobody_finishes_changes_nothing() {
    let house = House::open().await;
    let stage = Stage::new();
    let config = stage.read(json!({ "house": { "url": format!("{}/mcp", house.base()) } })).servers.remove(0);
    let late = auth::login(&config, &stage.given.data, Duration::from_millis(300), |_| {}).await;
    assert_eq!(late, Err("nobody came back within 0 s; nothing was changed".to_owned()));
    // Somebody who does not know the state is not the one who was sent.
    let forge = |address: &str| {
        let url = reqwest::Url::parse(address).unwrap();
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(key, value)| {
                let value = if key == "state" { "forged".to_owned() } else { value.into_owned() };
                (key.into_owned(), value)
            })
            .collect();
        let forged =
            reqwest::Url::parse_with_params(&format!("{}{}", house.base(), url.path()), pairs).unwrap();
        agree(forged.as_str());
    };
    let forged = auth::login(&config, &stage.given.data, Duration::from_secs(10), forge).await;
    assert!(forged.is_err());
    assert!(!FileStore::of(&stage.given.data, &config).is_there());
}

//! Logging in to servers that are reached over HTTP: a browser, an address of this machine to come back to, and tokens in a
//! file that only the user reads.
//!
//! Promises: no token is ever shown or logged; the way back is to this machine alone and is answered once; who answered is
//! checked with a proof key and a state, which `rmcp` makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use mica_session::{Readers, Worth, replace_file};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, CredentialStore, OAuthState, StoredCredentials,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::config::{ServerConfig, Transport, digest};
use super::link;
use super::words::line;

/// Bytes of what a browser asks for.
const REQUEST: usize = 16 * 1024;
/// How long a browser has to say it.
const SAYING: Duration = Duration::from_secs(5);

/// The tokens of one server.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// Those of a server. They belong to its address: another one is not sent them.
    pub fn of(data: &Path, config: &ServerConfig) -> Self {
        let address = match &config.transport {
            Transport::Http { url, .. } => url.reveal(),
            Transport::Stdio { .. } => "",
        };
        let mark: String = digest(&[&config.name, address]).chars().take(16).collect();
        Self { path: data.join("tokens").join(format!("{}-{mark}.json", config.tag)) }
    }

    /// Whether there are any.
    pub fn is_there(&self) -> bool {
        self.path.is_file()
    }

    /// Forgets them. Whether there were any.
    ///
    /// # Errors
    /// When they cannot be taken away.
    pub fn forget(&self) -> std::io::Result<bool> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        replace_file(&self.path, text.as_bytes(), Worth::Truth, Readers::Owner)
    }
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|_| {
                AuthError::CredentialStoreError("the kept tokens cannot be read; log in again".to_owned())
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AuthError::CredentialStoreError(error.to_string())),
        }
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_string(&credentials)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.write(&text).map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.forget().map(drop).map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }
}

/// What puts the tokens of a server into requests, and gets new ones when they are old.
pub(super) async fn manager(url: &str, store: FileStore) -> Result<AuthorizationManager, String> {
    let told = |error: AuthError| line(&error.to_string(), 300);
    let mut manager = AuthorizationManager::new_allowing_private_addresses(url).await.map_err(told)?;
    manager.set_credential_store(store);
    if manager.initialize_from_store().await.map_err(told)? {
        Ok(manager)
    } else {
        Err("the kept tokens are of no use any more".to_owned())
    }
}

/// Logs in. `show` is given the address that the person opens in a browser.
///
/// # Errors
/// In words, with what to do.
pub async fn login(
    config: &ServerConfig,
    data: &Path,
    wait: Duration,
    show: impl FnOnce(&str),
) -> Result<(), String> {
    let Transport::Http { url, client, scopes, .. } = &config.transport else {
        return Err(format!("{} is started as a program: there is nothing to log in to", config.name));
    };
    let told = |error: AuthError| link::scrubbed(config, &error.to_string());
    // Chooses who does the cryptography.
    link::client(url.reveal())?;
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(|error| format!("no port to come back to: {error}"))?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let back = format!("http://127.0.0.1:{port}/callback");
    let mut manager =
        AuthorizationManager::new_allowing_private_addresses(url.reveal()).await.map_err(told)?;
    manager.set_credential_store(FileStore::of(data, config));
    let mut state = OAuthState::Unauthorized(manager);
    let mut request =
        AuthorizationRequest::new(&back).with_client_name("mica").with_scopes(scopes.iter().cloned());
    if let Some(client) = client {
        request = request.with_preregistered_client(client);
    }
    state.start_authorization(request).await.map_err(told)?;
    let address = state.get_authorization_url().await.map_err(told)?;
    show(&address);
    let came = tokio::time::timeout(wait, came_back(&listener, port));
    let came = came
        .await
        .map_err(|_| format!("nobody came back within {} s; nothing was changed", wait.as_secs()))??;
    state.handle_callback_url(&came).await.map_err(told)
}

/// Waits for the browser, and answers with where it was sent.
async fn came_back(listener: &TcpListener, port: u16) -> Result<String, String> {
    loop {
        let (mut stream, _) = listener.accept().await.map_err(|error| error.to_string())?;
        let Ok(Some(target)) = tokio::time::timeout(SAYING, asked(&mut stream)).await else { continue };
        let address = format!("http://127.0.0.1:{port}{target}");
        let parsed = reqwest::Url::parse(&address).ok().filter(|url| url.path() == "/callback");
        let Some(parsed) = parsed else {
            answer(&mut stream, "404 Not Found", "There is nothing here.").await;
            continue;
        };
        let value = |name: &str| {
            parsed.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        if let Some(error) = value("error") {
            answer(&mut stream, "200 OK", "It was refused. You can close this window.").await;
            let about = value("error_description").map(|about| format!(": {about}")).unwrap_or_default();
            return Err(line(&format!("it was refused: {error}{about}"), 300));
        }
        if value("code").is_none() {
            answer(&mut stream, "400 Bad Request", "This is not the way back.").await;
            continue;
        }
        answer(&mut stream, "200 OK", "You are logged in. You can close this window.").await;
        return Ok(address);
    }
}

/// What a browser asks for: the target of its request.
async fn asked(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 2_048];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(buffer.get(..read)?);
        if bytes.len() > REQUEST {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let target = text.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    target.starts_with('/').then(|| target.to_owned())
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) {
    let body = format!("<!doctype html><title>mica</title><p>{text}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

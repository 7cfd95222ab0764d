//! A connection to a server that was greeted: over the streams of a program, or over HTTP; in either era of the protocol.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::auth;
use super::config::{ServerConfig, Transport};
use super::given::Given;
use super::handler::{Handler, Shared};
use super::log::Log;
use super::stdio::{self, Program, Watched};
use super::words::line;

/// How long a program has to end by itself when its input is closed.
const CLOSING: Duration = Duration::from_millis(400);
/// How long it is waited to know how a program ended whose output has.
const REASON: Duration = Duration::from_millis(500);
/// How long a connection to an address may take.
const CONNECT: Duration = Duration::from_secs(15);

/// A connection.
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    pub(super) shared: Arc<Shared>,
    /// Fires when there is nobody at the other end any more.
    pub(super) dead: CancellationToken,
    /// Ends it.
    pub(super) stop: CancellationToken,
    pub(super) info: Arc<ServerPeerInfo>,
    why: Why,
}

impl Link {
    /// Why there is nobody any more.
    pub(super) fn why(&self) -> String {
        self.why.told().unwrap_or_else(|| "the connection was closed".to_owned())
    }
}

/// Why a connection ended: the first reason counts.
#[derive(Clone, Default)]
struct Why(Arc<Mutex<Option<String>>>);

impl Why {
    fn tell(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    fn told(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) struct Unlinked {
    pub(super) reason: String,
    /// Whether a login would help.
    pub(super) login: bool,
    /// Whether it may be that it speaks otherwise than it was spoken to.
    other_era: bool,
}

/// What a connection is made with.
pub(super) struct Making<'a> {
    pub(super) config: &'a ServerConfig,
    pub(super) given: &'a Given,
    pub(super) log: &'a Log,
    /// Ends all that is made.
    pub(super) life: &'a CancellationToken,
    /// Those that end with it.
    pub(super) tasks: &'a TaskTracker,
    /// Whether it was seen to be of the first era: then it is not asked whether it is of the second, which some never
    /// answer.
    pub(super) first_era: bool,
}

impl Making<'_> {
    /// Connects and greets.
    pub(super) async fn link(&self) -> Result<Link, Unlinked> {
        let greet = ClientLifecycleMode::Initialize;
        let find_out = || ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let (first, second) = if self.first_era { (greet, find_out()) } else { (find_out(), greet) };
        match self.once(first).await {
            Err(unlinked) if unlinked.other_era => {
                self.log.happened(&format!("{}; it is spoken to in the other way", unlinked.reason));
                self.once(second).await
            }
            done => done,
        }
    }

    async fn once(&self, mode: ClientLifecycleMode) -> Result<Link, Unlinked> {
        match &self.config.transport {
            Transport::Stdio { command, args, env, cwd, confine } => {
                let program = Program { command, args, env, cwd: cwd.as_deref(), confine };
                self.program(&program, mode).await
            }
            Transport::Http { .. } => self.address(mode).await,
        }
    }

    async fn program(&self, program: &Program<'_>, mode: ClientLifecycleMode) -> Result<Link, Unlinked> {
        self.log.begins();
        let (stop, killed, gone, why) =
            (self.life.child_token(), CancellationToken::new(), CancellationToken::new(), Why::default());
        // Whatever happens on the way, the program does not outlive this.
        let guard = stop.clone().drop_guard();
        let mut child = stdio::spawn(program, self.given, killed.clone())
            .await
            .map_err(|reason| Unlinked { reason, login: false, other_era: false })?;
        let (Some(input), Some(output)) = (child.take_input(), child.take_output()) else {
            return Err(Unlinked { reason: "it has no pipes".to_owned(), login: false, other_era: false });
        };
        let (log, told, done) = (self.log.clone(), why.clone(), gone.clone());
        self.tasks.spawn(async move {
            while let Some(chunk) = child.next().await {
                log.printed(&chunk.bytes);
            }
            let ended = child.wait().await;
            told.tell(format!("it {}", ended.how));
            done.cancel();
        });
        let (stopped, ended) = (stop.clone(), gone.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => return,
                () = stopped.cancelled() => {}
            }
            tokio::select! {
                () = ended.cancelled() => {}
                () = tokio::time::sleep(CLOSING) => killed.cancel(),
            }
        });
        let transport = AsyncRwTransport::new_client(Watched::new(output, self.log.clone()), input);
        let shared = Shared::new(&self.given.root, self.log.clone());
        let greeted = serve_client_with_lifecycle_and_ct(
            Handler(Arc::clone(&shared)),
            transport,
            mode,
            stop.child_token(),
        )
        .await;
        match greeted {
            Ok(service) => {
                let link = self.linked(service, shared, stop, why, Some(&gone));
                guard.disarm();
                link
            }
            Err(error) => {
                // How it ended says more than that it did.
                let _ = tokio::time::timeout(REASON, gone.cancelled()).await;
                let mut unlinked = self.unlinked(&error);
                if let Some(how) = why.told() {
                    unlinked.reason = format!("{how} before it could be used");
                    if let Some(last) = self.log.last() {
                        unlinked.reason.push_str(&format!(": {last}"));
                    }
                }
                Err(unlinked)
            }
        }
    }

    async fn address(&self, mode: ClientLifecycleMode) -> Result<Link, Unlinked> {
        let Transport::Http { url, headers, .. } = &self.config.transport else {
            return Err(Unlinked { reason: "it has no address".to_owned(), login: false, other_era: false });
        };
        let broken = |reason: String| Unlinked { reason, login: false, other_era: false };
        let mut custom = HashMap::new();
        for (name, value) in headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<http::HeaderName>(), value.reveal().parse::<http::HeaderValue>())
            {
                custom.insert(name, value);
            }
        }
        let settings = StreamableHttpClientTransportConfig::with_uri(url.reveal()).custom_headers(custom);
        let client = client(url.reveal()).map_err(broken)?;
        let (stop, shared) = (self.life.child_token(), Shared::new(&self.given.root, self.log.clone()));
        let guard = stop.clone().drop_guard();
        let handler = Handler(Arc::clone(&shared));
        let store = auth::FileStore::of(&self.given.data, self.config);
        let greeted = if store.is_there() {
            let manager = auth::manager(url.reveal(), store).await.map_err(|reason| Unlinked {
                reason,
                login: true,
                other_era: false,
            })?;
            let client = rmcp::transport::auth::AuthClient::new(client, manager);
            let transport = StreamableHttpClientTransport::with_client(client, settings);
            serve_client_with_lifecycle_and_ct(handler, transport, mode, stop.child_token()).await
        } else {
            let transport = StreamableHttpClientTransport::with_client(client, settings);
            serve_client_with_lifecycle_and_ct(handler, transport, mode, stop.child_token()).await
        };
        match greeted {
            Ok(service) => {
                let link = self.linked(service, shared, stop, Why::default(), None);
                guard.disarm();
                link
            }
            Err(error) => Err(self.unlinked(&error)),
        }
    }

    /// Looks after a service that was greeted. `gone` fires when its program has ended.
    fn linked(
        &self,
        service: rmcp::service::RunningService<RoleClient, Handler>,
        shared: Arc<Shared>,
        stop: CancellationToken,
        why: Why,
        gone: Option<&CancellationToken>,
    ) -> Result<Link, Unlinked> {
        let peer = service.peer().clone();
        let Some(info) = peer.peer_info() else {
            stop.cancel();
            return Err(Unlinked {
                reason: "it said nothing of itself".to_owned(),
                login: false,
                other_era: false,
            });
        };
        let dead = CancellationToken::new();
        let (fires, ends, told, ended) = (dead.clone(), stop.clone(), why.clone(), gone.cloned());
        self.tasks.spawn(async move {
            let program = async {
                match &ended {
                    Some(gone) => gone.cancelled().await,
                    None => std::future::pending().await,
                }
            };
            let mut waiting = std::pin::pin!(service.waiting());
            tokio::select! {
                biased;
                () = program => {}
                _ = &mut waiting => {
                    if let Some(gone) = &ended {
                        let _ = tokio::time::timeout(REASON, gone.cancelled()).await;
                    }
                }
            }
            told.tell("it closed the connection".to_owned());
            fires.cancel();
            ends.cancel();
        });
        Ok(Link { peer, shared, dead, stop, info, why })
    }

    fn unlinked(&self, error: &ClientInitializeError) -> Unlinked {
        let login = error.is_authorization_required() || error.auth_challenge().is_some();
        let other_era = !login
            && matches!(
                error,
                ClientInitializeError::ConnectionClosed(_)
                    | ClientInitializeError::TransportError { .. }
                    | ClientInitializeError::JsonRpcError(_)
                    | ClientInitializeError::ExpectedInitResult(_)
                    | ClientInitializeError::ExpectedInitResponse(_)
            );
        let reason = match error {
            // What passed it on says nothing that helps.
            ClientInitializeError::TransportError { error, .. } => {
                format!("it cannot be reached: {}", innermost(&*error.error))
            }
            error => error.to_string(),
        };
        Unlinked { reason: scrubbed(self.config, &reason), login, other_era }
    }
}

/// A text without what a person may have written as a secret.
pub(super) fn scrubbed(config: &ServerConfig, text: &str) -> String {
    let mut text = text.to_owned();
    if let Transport::Http { url, shown, headers, .. } = &config.transport {
        text = text.replace(url.reveal(), shown);
        for value in headers.values().map(super::config::Hidden::reveal).filter(|value| value.len() > 3) {
            text = text.replace(value, "…");
        }
    }
    line(&text, 600)
}

/// What broke in the end.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    // It does not name its cause as one.
    let mut cause = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(client)) => client,
        _ => error,
    };
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// What asks an address. Redirects are not followed: they would carry headers with secrets to wherever they point.
pub(super) fn client(url: &str) -> Result<reqwest::Client, String> {
    // Chooses who does the cryptography, as for models.
    mica_ai::http::HttpTransport::new().map_err(|error| error.to_string())?;
    let is_here = reqwest::Url::parse(url).is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    });
    let builder = reqwest::Client::builder();
    let builder = if is_here { builder.no_proxy() } else { builder };
    builder
        .user_agent(concat!("mica/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .build()
        .map_err(|error| error.to_string())
}

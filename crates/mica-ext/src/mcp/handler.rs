//! What a server can ask of this program, and tell it unasked.
//!
//! It is told where the project is, and it can ask the person something while a call of it runs. It cannot ask the model:
//! what the model reads and costs is not a server's to decide.

#![allow(deprecated, reason = "servers of the first era ask for roots and tell their log")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion, Root,
    RootsCapabilities, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::{Notify, mpsc, oneshot};

use super::log::Log;
use super::words::line;

/// Something that a server wants to know from the person.
pub(super) struct Wish {
    pub(super) params: ElicitRequestParams,
    pub(super) reply: oneshot::Sender<ElicitResult>,
}

/// What a connection and those who use it share.
pub(super) struct Shared {
    /// The project, as an address.
    root: String,
    log: Log,
    /// A list of the server is another one now.
    pub(super) changed: Notify,
    /// Who wants to know how far a call is.
    progress: Mutex<HashMap<ProgressToken, mpsc::Sender<String>>>,
    /// The calls that are under way, the newest last: through one of them the person is asked.
    askers: Mutex<Vec<mpsc::Sender<Wish>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(root: &std::path::Path, log: Log) -> Arc<Self> {
        Arc::new(Self {
            root: reqwest::Url::from_directory_path(root).map(String::from).unwrap_or_default(),
            log,
            changed: Notify::new(),
            progress: Mutex::default(),
            askers: Mutex::default(),
        })
    }

    /// The project, for whoever asks.
    pub(super) fn roots(&self) -> ListRootsResult {
        let root = (!self.root.is_empty()).then(|| Root::new(self.root.clone()));
        ListRootsResult::new(root.into_iter().collect())
    }

    /// Tells how far a call is, until what is returned is dropped.
    pub(super) fn follow(self: &Arc<Self>, token: ProgressToken, to: mpsc::Sender<String>) -> Following {
        lock(&self.progress).insert(token.clone(), to);
        Following { shared: Arc::clone(self), token }
    }

    /// Has the person asked through a call that is under way, until what is returned is dropped.
    pub(super) fn ask_through(self: &Arc<Self>, to: mpsc::Sender<Wish>) -> AskedThrough {
        lock(&self.askers).push(to.clone());
        AskedThrough { shared: Arc::clone(self), to }
    }
}

/// Somebody who wants to know how far a call is.
pub(super) struct Following {
    shared: Arc<Shared>,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        lock(&self.shared.progress).remove(&self.token);
    }
}

/// A call that is under way.
pub(super) struct AskedThrough {
    shared: Arc<Shared>,
    to: mpsc::Sender<Wish>,
}

impl Drop for AskedThrough {
    fn drop(&mut self) {
        lock(&self.shared.askers).retain(|other| !other.same_channel(&self.to));
    }
}

/// Answers a server.
pub(super) struct Handler(pub(super) Arc<Shared>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default()),
        );
        capabilities.roots = Some(RootsCapabilities::default());
        let mut info =
            ClientConfig::new(capabilities, Implementation::new("mica", env!("CARGO_PKG_VERSION")));
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.0.roots())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asker = lock(&self.0.askers).last().cloned();
        let declined = ElicitResult::new(ElicitationAction::Decline);
        // A server that wants to know something while nobody asked anything of it wants too much.
        let Some(asker) = asker else { return Ok(declined) };
        let (reply, answer) = oneshot::channel();
        let asked = async {
            asker.send(Wish { params, reply }).await.ok()?;
            answer.await.ok()
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
            answered = asked => Ok(answered.unwrap_or(declined)),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let to = lock(&self.0.progress).get(&params.progress_token).cloned();
        if let Some(to) = to {
            let far = match params.total {
                Some(total) if total > 0.0 => format!("{} of {total}", params.progress),
                _ => params.progress.to_string(),
            };
            let told = match params.message.as_deref() {
                Some(message) => format!("{far}: {}", line(message, 200)),
                None => far,
            };
            // One that floods is heard less often.
            let _ = to.try_send(told);
        }
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
        self.0.log.happened(&format!("it tells: {text}"));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }
}

//! One thing that is asked of a server: its deadline, how far it is, what the server wants to know meanwhile, and its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mica_agent::ToolCx;
use mica_ai::id::CallId;
use rmcp::model::{ClientRequest, ElicitRequestParams, InputRequest, InputResponses, ServerResult};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asking;
use super::error::McpError;
use super::handler::Wish;
use super::link::{Link, scrubbed};
use super::server::Server;

/// How often a server may say that it needs something else before it answers.
const ROUNDS: usize = 8;
/// How long it is waited to know how a server ended.
const CLOSING: std::time::Duration = std::time::Duration::from_secs(1);

/// Who asks.
pub(super) struct Asker<'a> {
    /// The call of the model, if it is one.
    pub(super) cx: Option<&'a ToolCx>,
    /// Fires when nobody waits any more.
    pub(super) cancel: CancellationToken,
}

impl<'a> Asker<'a> {
    /// A call of the model.
    pub(super) fn call(cx: &'a ToolCx) -> Self {
        Self { cx: Some(cx), cancel: cx.cancel.clone() }
    }

    /// Somebody else.
    pub(super) fn person() -> Asker<'static> {
        Asker { cx: None, cancel: CancellationToken::new() }
    }

    fn progress(&self, news: String) {
        if let Some(cx) = self.cx {
            cx.progress(news);
        }
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Asks a server, and answers what it wants to know on the way. `request` makes the request, with what was answered.
pub(super) async fn ask(
    server: &Server,
    asker: &Asker<'_>,
    request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
) -> Result<ServerResult, McpError> {
    let mut link = linked(server, asker).await?;
    let mut until = Instant::now() + server.given().patience.longest_call;
    let (mut answers, mut state) = (None, None);
    for round in 0..ROUNDS {
        let asked = request(answers.clone(), state.clone());
        let result = match once(server, &link, asker, asked, &mut until).await {
            // Nothing was sent: the server had just gone. What it was asked first can be asked of the next one.
            Err(Failed::Unsent) if round == 0 => {
                link = linked(server, asker).await?;
                once(server, &link, asker, request(None, None), &mut until).await
            }
            done => done,
        };
        let result = result.map_err(|failed| match failed {
            Failed::Unsent => died(server, &link),
            Failed::Known(error) => error,
        })?;
        match result {
            ServerResult::InputRequiredResult(wants) => {
                let wishes = wants.input_requests.unwrap_or_default();
                if wishes.is_empty() {
                    if wants.request_state.is_none() {
                        return Err(server.strange("it wants something and does not say what"));
                    }
                    // It wants to be asked again; it is not asked without a pause.
                    tokio::select! {
                        biased;
                        () = asker.cancel.cancelled() => return Err(McpError::Stopped),
                        () = link.dead.cancelled() => return Err(died(server, &link)),
                        () = tokio::time::sleep(std::time::Duration::from_millis(50 << round.min(4))) => {}
                    }
                }
                let mut told = InputResponses::new();
                let began = Instant::now();
                for (key, wish) in wishes {
                    told.insert(key, answered(server, &link, asker, wish).await?);
                }
                // The time that a person took is not the server's.
                until += began.elapsed();
                (answers, state) = ((!told.is_empty()).then_some(told), wants.request_state);
            }
            result => {
                server.answered();
                return Ok(result);
            }
        }
    }
    Err(server.strange(&format!("it wanted something else {ROUNDS} times")))
}

/// Why there is no answer.
enum Failed {
    /// It was not asked.
    Unsent,
    Known(McpError),
}

impl From<McpError> for Failed {
    fn from(error: McpError) -> Self {
        Self::Known(error)
    }
}

async fn linked(server: &Server, asker: &Asker<'_>) -> Result<Arc<Link>, McpError> {
    tokio::select! {
        biased;
        () = asker.cancel.cancelled() => Err(McpError::Stopped),
        link = server.link() => link,
    }
}

/// The connection is closed; how it ended is known a moment later.
async fn closing(link: &Link) {
    let _ = tokio::time::timeout(CLOSING, link.dead.cancelled()).await;
}

/// What a server wants to know before it answers.
async fn answered(
    server: &Server,
    link: &Arc<Link>,
    asker: &Asker<'_>,
    wish: InputRequest,
) -> Result<Value, McpError> {
    let value = match wish {
        InputRequest::Elicitation(request) => {
            let asked = asked(server, asker, request.params);
            let answer = tokio::select! {
                biased;
                () = asker.cancel.cancelled() => return Err(McpError::Stopped),
                () = link.dead.cancelled() => return Err(died(server, link)),
                answer = asked => answer,
            };
            serde_json::to_value(answer)
        }
        InputRequest::ListRoots(_) => serde_json::to_value(link.shared.roots()),
        _ => return Err(server.strange("it wants to ask the model, which servers cannot do here")),
    };
    value.map_err(|error| server.strange(&error.to_string()))
}

async fn asked(server: &Server, asker: &Asker<'_>, params: ElicitRequestParams) -> rmcp::model::ElicitResult {
    let call = asker.cx.map_or_else(|| CallId::from("mcp"), |cx| cx.call.clone());
    let person = Arc::clone(&server.given().person);
    asking::ask(&server.config().name, &call, &*person, asker.cx, &params).await
}

/// Asks once. What a person takes to answer on the way is added to `until`.
async fn once(
    server: &Server,
    link: &Arc<Link>,
    asker: &Asker<'_>,
    request: ClientRequest,
    until: &mut Instant,
) -> Result<ServerResult, Failed> {
    let timeout = server.config().timeout;
    let (wishes, mut wished) = mpsc::channel::<Wish>(1);
    let (news, mut heard) = mpsc::channel(4);
    let _through = link.shared.ask_through(wishes);
    let sent = link.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
    let mut handle = tokio::select! {
        biased;
        () = link.dead.cancelled() => return Err(Failed::Unsent),
        () = asker.cancel.cancelled() => return Err(McpError::Stopped.into()),
        sent = sent => match sent {
            Ok(handle) => handle,
            Err(_) => {
                closing(link).await;
                return Err(Failed::Unsent);
            }
        },
    };
    let _following = link.shared.follow(handle.progress_token.clone(), news);
    let mut deadline = (Instant::now() + timeout).min(*until);
    let mut answering: Option<Answering<'_>> = None;
    let mut asked_at = Instant::now();
    loop {
        let asks = answering.is_some();
        let person = async {
            match answering.as_mut() {
                Some(answering) => answering.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = &mut handle.rx => {
                return match answer {
                    Ok(Ok(result)) => Ok(result),
                    Ok(Err(ServiceError::TransportClosed)) | Err(_) => {
                        closing(link).await;
                        Err(died(server, link).into())
                    }
                    Ok(Err(error)) => Err(failed(server, &error).into()),
                };
            }
            () = link.dead.cancelled() => return Err(died(server, link).into()),
            () = asker.cancel.cancelled() => {
                withdraw(server, handle, "nobody waits for it any more").await;
                return Err(McpError::Stopped.into());
            }
            () = person => {
                answering = None;
                // The time that a person took is not the server's.
                *until += asked_at.elapsed();
                deadline = (Instant::now() + timeout).min(*until);
            }
            Some(wish) = wished.recv(), if !asks => {
                asked_at = Instant::now();
                answering = Some(Box::pin(async move {
                    let answer = asked(server, asker, wish.params).await;
                    let _ = wish.reply.send(answer);
                }));
            }
            Some(news) = heard.recv() => {
                asker.progress(news);
                deadline = (Instant::now() + timeout).min(*until);
            }
            () = tokio::time::sleep_until(deadline), if !asks => {
                withdraw(server, handle, "it took too long").await;
                return Err(McpError::Late { server: server.config().name.clone(), after: timeout }.into());
            }
        }
    }
}

/// Tells a server that nobody waits any more. It is not waited for beyond a moment.
async fn withdraw(server: &Server, handle: RequestHandle<RoleClient>, reason: &str) {
    let told = handle.cancel(Some(reason.to_owned()));
    let _ = tokio::time::timeout(server.given().patience.grace, told).await;
}

fn died(server: &Server, link: &Link) -> McpError {
    McpError::Died { server: server.config().name.clone(), reason: link.why() }
}

fn failed(server: &Server, error: &ServiceError) -> McpError {
    let config = server.config();
    let name = config.name.clone();
    match error {
        ServiceError::McpError(error) => {
            server.answered();
            McpError::Refused { server: name, message: scrubbed(config, &error.message) }
        }
        ServiceError::TransportSend(error) if wants_login(&*error.error) => McpError::Login { server: name },
        other => McpError::Strange { server: name, reason: scrubbed(config, &other.to_string()) },
    }
}

/// Whether what went wrong is that nobody is logged in.
fn wants_login(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<AuthRequiredError>() || error.is::<InsufficientScopeError>() || error.is::<AuthError>()
        {
            return true;
        }
        cause = error.source();
    }
    false
}

//! Plays a script in process: no sockets, and all waits on tokio's clock, so tests can run with time paused.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use http::StatusCode;
use mica_ai::AiError;
use mica_ai::error::{Cause, CutPoint};
use mica_ai::transport::{HttpRequest, HttpResponse, Transport};

use crate::answer::{Head, Piece, wait};
use crate::scenario::Scenario;
use crate::script::{Incoming, Script};

/// A transport that answers as the script says.
#[derive(Debug, Clone)]
pub struct ScriptedTransport {
    script: Arc<Script>,
}

impl ScriptedTransport {
    /// A transport for a scenario.
    pub fn new(scenario: impl Into<Scenario>) -> Self {
        Self::playing(Script::new(scenario))
    }

    /// A transport for a script that others play too.
    pub fn playing(script: Arc<Script>) -> Self {
        Self { script }
    }

    /// The script, for what was asked and what the cache did.
    pub fn script(&self) -> &Arc<Script> {
        &self.script
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        // Only what follows the host is looked at: any endpoint leads here.
        let target = match request.url.split_once("://").map(|(_, rest)| rest) {
            Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => &request.url,
        };
        let incoming = Incoming {
            method: request.method.to_string(),
            target: target.to_owned(),
            headers: request.headers,
            body: request.body,
        };
        let (head, body) = self.script.play(self.script.answer(&incoming));
        let (status, headers) = match head {
            Head::Send { status, headers, after } => {
                wait(after).await;
                (status, headers)
            }
            Head::Reset => return Err(network("reading the response", "connection reset by peer")),
            Head::Refused => return Err(network("connecting", "connection refused")),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = futures::stream::unfold(Some(body), |body| async {
            let mut body = body?;
            match body.next().await {
                Piece::Bytes(bytes) => Some((Ok(bytes), Some(body))),
                Piece::End => None,
                // The reader of the stream knows better where it was cut.
                Piece::Cut => {
                    let source = Some(Cause::new("connection reset by peer"));
                    Some((Err(AiError::StreamCut { when: CutPoint::BetweenEvents, source }), None))
                }
            }
        });
        Ok(HttpResponse { status, headers, body: body.boxed() })
    }
}

fn network(action: &str, why: &'static str) -> AiError {
    AiError::Network { action: action.to_owned(), source: Cause::new(why) }
}

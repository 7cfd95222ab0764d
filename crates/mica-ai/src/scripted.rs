//! Providers for this crate's own tests: streams made of a list of steps.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::error::AiError;
use crate::event::StreamEvent;
use crate::id::MessageId;
use crate::message::{Assistant, Dialect, Origin, StopReason, TextKind};
use crate::model::fixture::model;
use crate::provider::Provider;
use crate::request::Request;
use crate::stream::{ModelStream, Outcome};

/// What a scripted stream does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Wait(Duration),
    Send(StreamEvent),
    Fail(AiError),
}

/// Plays one list of steps for each request.
#[derive(Clone, Default)]
pub(crate) struct Script {
    streams: Arc<Mutex<VecDeque<Vec<Step>>>>,
}

impl Script {
    pub(crate) fn new(streams: Vec<Vec<Step>>) -> Self {
        Self { streams: Arc::new(Mutex::new(streams.into())) }
    }

    pub(crate) fn left(&self) -> usize {
        self.streams.lock().unwrap().len()
    }
}

pub(crate) fn start() -> Step {
    Step::Send(StreamEvent::Start { message: MessageId::from("m") })
}

pub(crate) fn text(text: &str) -> Vec<Step> {
    vec![
        Step::Send(StreamEvent::TextStart { block: 0, kind: TextKind::Answer }),
        Step::Send(StreamEvent::TextDelta { block: 0, text: text.to_owned() }),
    ]
}

pub(crate) fn request() -> Arc<Request> {
    let mut request = Request::new(Arc::new(model(Dialect::Responses)));
    request.answer = MessageId::from("m");
    Arc::new(request)
}

impl Provider for Script {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let steps = self.streams.lock().unwrap().pop_front().expect("one more request than scripted");
        let origin = Origin { dialect: Dialect::Responses, provider: "p".into(), model: "m".into() };
        let mut message = Assistant::empty(request.answer.clone(), origin);
        ModelStream::new(|sink| async move {
            for step in steps {
                match step {
                    Step::Wait(wait) => tokio::select! {
                        () = cancel.cancelled() => {
                            return Outcome::Failed { partial: message, error: AiError::Cancelled };
                        }
                        () = tokio::time::sleep(wait) => {}
                    },
                    Step::Send(event) => {
                        sink.send(event);
                        sink.flush().await;
                    }
                    Step::Fail(error) => return Outcome::Failed { partial: message, error },
                }
            }
            message.stop = StopReason::Stop;
            Outcome::Done(message)
        })
    }
}

/// The events of a stream, one word or two each.
pub(crate) async fn tell(mut stream: ModelStream) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        told.push(match event {
            StreamEvent::Retry(retry) => {
                format!(
                    "retry {}/{} {}ms {}",
                    retry.attempt,
                    retry.attempts,
                    retry.wait.as_millis(),
                    retry.error.kind()
                )
            }
            StreamEvent::Start { .. } => "start".to_owned(),
            StreamEvent::TextStart { .. } => "text".to_owned(),
            StreamEvent::TextDelta { text, .. } => format!("+{text}"),
            StreamEvent::Done { message } => format!("done {:?}", message.stop),
            StreamEvent::Error { partial, error } => format!("{} {:?}", error.kind(), partial.stop),
            other => format!("{other:?}"),
        });
    }
    told
}

//! A provider at the other end of a network: a dialect, an address, a credential and a transport.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::auth::Credential;
use crate::decode::Decoder;
use crate::dialect;
use crate::endpoint::Endpoint;
use crate::error::{AiError, classify};
use crate::event::{Retry, StreamEvent};
use crate::message::{Assistant, Dialect, Origin};
use crate::provider::Provider;
use crate::replay;
use crate::request::Request;
use crate::stream::{ModelStream, Outcome, Sink};
use crate::transport::{HttpRequest, HttpResponse, Transport};

mod repair;

/// A model server, reached over a [`Transport`].
#[derive(Clone)]
pub struct Remote {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Arc<Endpoint>,
    dialect: Dialect,
    headers: HeaderMap,
    credential: Arc<dyn Credential>,
    transport: Arc<dyn Transport>,
    now: fn() -> SystemTime,
    prepared: Mutex<Option<Prepared>>,
}

/// A request that was written down before it is asked. It is held, so nobody else can change it meanwhile.
struct Prepared {
    request: Arc<Request>,
    bytes: bytes::Bytes,
}

/// How long the rest of an error's body is waited for. The status alone says most of it.
const ERROR_BODY: Duration = Duration::from_secs(10);
/// How much of an error's body is read.
const ERROR_SIZE: usize = 256 << 10;
/// How long the end of a body is waited for after the answer is complete, so that the connection can be used again.
const TRAILER: Duration = Duration::from_millis(20);

impl Remote {
    /// Speaks `dialect` at `endpoint`.
    pub fn new(
        endpoint: Arc<Endpoint>,
        dialect: Dialect,
        credential: Arc<dyn Credential>,
        transport: Arc<dyn Transport>,
    ) -> Self {
        // The one clock of this crate that is not tokio's or handed over: dates in `retry-after` are read against the
        // response's own date, and against this only when it has none.
        #[allow(clippy::disallowed_methods)]
        let now = SystemTime::now;
        let headers = fixed_headers(&endpoint, dialect);
        let prepared = Mutex::new(None);
        Self { inner: Arc::new(Inner { endpoint, dialect, headers, credential, transport, now, prepared }) }
    }

    /// The origin that answers from here carry.
    pub fn origin(&self, request: &Request) -> Origin {
        Origin {
            dialect: self.inner.dialect,
            provider: self.inner.endpoint.name.clone(),
            model: request.model.deployment.clone(),
        }
    }
}

impl Inner {
    fn prepared(&self) -> MutexGuard<'_, Option<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a request, if it is the one that was written down.
    fn written(&self, request: &Arc<Request>) -> Option<bytes::Bytes> {
        let mut prepared = self.prepared();
        let is_it = prepared.as_ref().is_some_and(|prepared| Arc::ptr_eq(&prepared.request, request));
        if is_it { prepared.take().map(|prepared| prepared.bytes) } else { None }
    }
}

impl Provider for Remote {
    /// One at a time: where several ask through one provider, those that were overtaken are written down when they ask.
    fn prepare(&self, request: &Arc<Request>) {
        // What is wrong with it is said when it is asked.
        let bytes = dialect::bytes(self.inner.dialect, request, &self.origin(request)).ok();
        *self.inner.prepared() = bytes.map(|bytes| Prepared { request: Arc::clone(request), bytes });
    }

    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let origin = self.origin(&request);
        let call = Call { inner: Arc::clone(&self.inner), origin, request, cancel };
        ModelStream::new(|sink| call.run(sink))
    }
}

/// One answer being fetched.
struct Call {
    inner: Arc<Inner>,
    origin: Origin,
    request: Arc<Request>,
    cancel: CancellationToken,
}

impl Call {
    async fn run(self, sink: Sink) -> Outcome {
        match self.open(&sink).await {
            Ok(body) => self.read(body, &sink).await,
            Err(error) => Outcome::Failed { partial: self.blank(), error },
        }
    }

    fn blank(&self) -> Assistant {
        Assistant::empty(self.request.answer.clone(), self.origin.clone())
    }

    /// Sends the request until the answer begins, repairing once each what can be repaired without asking anybody.
    async fn open(&self, sink: &Sink) -> Result<BoxStream<'static, Result<bytes::Bytes, AiError>>, AiError> {
        let mut bytes = match self.inner.written(&self.request) {
            Some(bytes) => bytes,
            None => dialect::bytes(self.inner.dialect, &self.request, &self.origin)?,
        };
        // The same as a value, to put it right in. Hardly ever needed, so it is made then.
        let mut body = None;
        let mut headers = self.authorised().await?;
        let mut repairs = repair::Repairs::default();
        loop {
            let error = match self.attempt(bytes.clone(), &headers).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let body = match &mut body {
                Some(body) => body,
                none => none.insert(dialect::body(self.inner.dialect, &self.request, &self.origin)?),
            };
            match repairs.next(&error, body) {
                Some(repair::Repair::Body) => bytes = dialect::written(body),
                Some(repair::Repair::WithoutReasoning) => {
                    *body = self.body_without_reasoning()?;
                    bytes = dialect::written(body);
                }
                Some(repair::Repair::FreshCredential) => {
                    self.cancellable(self.inner.credential.rejected()).await?;
                    let fresh = self.authorised().await?;
                    if fresh == headers {
                        return Err(error);
                    }
                    headers = fresh;
                }
                None => return Err(error),
            }
            sink.send(StreamEvent::Retry(Retry { attempt: 1, attempts: 2, wait: Duration::ZERO, error }));
            sink.flush().await;
        }
    }

    fn body_without_reasoning(&self) -> Result<Value, AiError> {
        let mut request = Request::clone(&self.request);
        request.messages = replay::without_reasoning(&request.messages);
        dialect::body(self.inner.dialect, &request, &self.origin)
    }

    async fn authorised(&self) -> Result<HeaderMap, AiError> {
        let mut headers = self.inner.headers.clone();
        self.cancellable(self.inner.credential.authorize(&mut headers)).await??;
        Ok(headers)
    }

    async fn attempt(
        &self,
        body: bytes::Bytes,
        headers: &HeaderMap,
    ) -> Result<BoxStream<'static, Result<bytes::Bytes, AiError>>, AiError> {
        let request = HttpRequest {
            method: Method::POST,
            url: self.inner.endpoint.url(self.inner.dialect, &self.request.model.deployment),
            headers: headers.clone(),
            body,
        };
        tracing::debug!(
            provider = %self.inner.endpoint.name,
            dialect = %self.inner.dialect,
            model = %self.origin.model,
            bytes = request.body.len(),
            "asking the model"
        );
        let response = self.cancellable(self.inner.transport.send(request)).await??;
        if response.status.is_success() && !is_document(&response.headers) {
            return Ok(response.body);
        }
        Err(self.refusal(response).await)
    }

    fn host(&self) -> String {
        let address = self.inner.endpoint.url(self.inner.dialect, &self.request.model.deployment);
        url::Url::parse(&address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// What a response that is no stream means.
    async fn refusal(&self, response: HttpResponse) -> AiError {
        let (status, headers) = (response.status, response.headers.clone());
        let body = match self.cancellable(tokio::time::timeout(ERROR_BODY, response.read(ERROR_SIZE))).await {
            Err(cancelled) => return cancelled,
            Ok(Ok(Ok(body))) => body,
            Ok(Ok(Err(_)) | Err(_)) => Vec::new(),
        };
        let asked = classify::Asked {
            model: self.origin.model.clone(),
            tried: self.inner.credential.describe(),
            hint: self.inner.credential.hint(),
            host: self.host(),
        };
        if !status.is_success() {
            return classify::response(status, &headers, &body, &asked, (self.inner.now)());
        }
        // Gateways answer 200 with an error inside, and servers that do not stream answer with a document.
        if let Ok(Value::Object(document)) = serde_json::from_slice::<Value>(&body)
            && let Some(error) = document.get("error").filter(|error| !error.is_null())
        {
            return classify::in_stream(error);
        }
        AiError::Protocol {
            detail: format!(
                "the endpoint answered with a document instead of an event stream: {}",
                dialect::excerpt(&String::from_utf8_lossy(&body))
            ),
        }
    }

    async fn read(
        &self,
        mut body: BoxStream<'static, Result<bytes::Bytes, AiError>>,
        sink: &Sink,
    ) -> Outcome {
        let mut decoder = Decoder::new(self.inner.dialect, self.blank(), Arc::clone(&self.request.model));
        let end = loop {
            match self.cancellable(body.next()).await {
                Err(cancelled) => break Some(cancelled),
                Ok(None) => break None,
                Ok(Some(Err(error))) => break Some(error),
                Ok(Some(Ok(bytes))) => {
                    let ended = decoder.push(&bytes);
                    sink.send_all(decoder.events());
                    sink.flush().await;
                    if ended {
                        let trailer = async { while let Some(Ok(_)) = body.next().await {} };
                        let _ = tokio::time::timeout(TRAILER, trailer).await;
                        break None;
                    }
                }
            }
        };
        let mut last = Vec::new();
        let outcome = decoder.finish(end, &mut last);
        sink.send_all(&mut last);
        if let Outcome::Failed { error, .. } = &outcome {
            tracing::debug!(kind = error.kind(), "the answer failed");
        }
        outcome
    }

    async fn cancellable<T>(&self, work: impl Future<Output = T>) -> Result<T, AiError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(AiError::Cancelled),
            done = work => Ok(done),
        }
    }
}

/// The headers that are the same for every request. The endpoint's own cannot override what the wire needs.
fn fixed_headers(endpoint: &Endpoint, dialect: Dialect) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        // Checked when the configuration was read.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    dialect::headers(dialect, &mut headers);
    headers
}

/// Whether a response is surely no event stream. Servers that name no type, or a wrong one, are given a chance.
fn is_document(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json") || kind.starts_with("text/html"))
}

/// 401 is the only status for which a fresh credential helps.
pub(crate) fn is_unauthorised(error: &AiError) -> bool {
    matches!(error, AiError::Auth { reply, .. } if reply.status == Some(StatusCode::UNAUTHORIZED.as_u16()))
}

#[cfg(test)]
mod tests;

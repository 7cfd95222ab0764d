//! What is sent when a request was written down before.

use std::sync::Arc;

use async_trait::async_trait;

use super::*;
use crate::auth::NoCredential;
use crate::endpoint::{AuthSettings, EndpointSettings, HostKind};
use crate::error::Cause;
use crate::message::User;
use crate::model::Model;
use crate::transport::HttpRequest;

/// Keeps what is sent, and answers nothing.
#[derive(Default)]
struct Kept(Mutex<Vec<bytes::Bytes>>);

#[async_trait]
impl Transport for Kept {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError> {
        self.0.lock().unwrap().push(request.body);
        Err(AiError::Network { action: "asking".to_owned(), source: Cause::new("nobody is there") })
    }
}

fn remote(transport: &Arc<Kept>) -> Remote {
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("here".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    Remote::new(Arc::new(endpoint), Dialect::Responses, Arc::new(NoCredential), Arc::clone(transport) as _)
}

fn request(text: &str) -> Arc<Request> {
    let mut request = Request::new(Arc::new(Model::assumed("m", Dialect::Responses)));
    request.messages = vec![User::text(text).into()];
    Arc::new(request)
}

async fn ask(remote: &Remote, request: &Arc<Request>) {
    remote.stream(Arc::clone(request), CancellationToken::new()).outcome().await;
}

#[tokio::test]
async fn what_was_prepared_is_sent_for_its_request_alone() {
    let transport = Arc::new(Kept::default());
    let remote = remote(&transport);
    let (one, other) = (request("one"), request("other"));
    remote.prepare(&one);
    assert!(transport.0.lock().unwrap().is_empty(), "nothing leaves before it is asked");
    ask(&remote, &other).await;
    ask(&remote, &one).await;
    // Its bytes are used once: the same request again is written anew.
    ask(&remote, &one).await;
    let bytes = |request: &Arc<Request>| {
        dialect::bytes(Dialect::Responses, request, &remote.origin(request)).unwrap()
    };
    assert_eq!(*transport.0.lock().unwrap(), [bytes(&other), bytes(&one), bytes(&one)]);
    assert!(remote.inner.prepared().is_none());
}

#[tokio::test]
async fn a_request_that_was_prepared_cannot_be_changed_behind_its_bytes() {
    let transport = Arc::new(Kept::default());
    let remote = remote(&transport);
    let mut request = request("before");
    remote.prepare(&request);
    Arc::make_mut(&mut request).messages = vec![User::text("after").into()];
    ask(&remote, &request).await;
    let sent = String::from_utf8(transport.0.lock().unwrap()[0].to_vec()).unwrap();
    assert!(sent.contains("after") && !sent.contains("before"), "{sent}");
}

//! The platform's two identity endpoints, in good and in bad moments.

use super::*;
use crate::auth::EntraCredential;
use crate::auth::fake::loopback::{Plain, Server};
use crate::auth::fake::{NOW, Play, Script, answer, auth, bearer_of, clock, faces};

fn good() -> Play {
    answer(200, format!(r#"{{"access_token":"t","expires_in":"3599","expires_on":"{}"}}"#, NOW + 3599))
}

fn imds(script: &Arc<Script>) -> ManagedIdentity {
    ManagedIdentity::imds(script.clone(), clock())
}

async fn fetch(source: &ManagedIdentity, patience: Patience) -> Result<AccessToken, TokenError> {
    source.fetch(&Scope::foundry(), patience).await
}

#[tokio::test(start_paused = true)]
async fn the_metadata_service_is_asked_as_it_wants() {
    let script = Script::new([good(), good()]);
    assert_eq!(fetch(&imds(&script), Patience::Full).await.unwrap().lifetime, Duration::from_secs(3599));
    fetch(&imds(&script).client_id("id-1"), Patience::Full).await.unwrap();
    let requests = script.requests();
    let base = "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01\
                &resource=https%3A%2F%2Fai.azure.com";
    assert_eq!(requests[0].url, base);
    assert_eq!(requests[0].headers["metadata"], "true");
    assert_eq!(requests[1].url, format!("{base}&client_id=id-1"));
}

#[tokio::test(start_paused = true)]
async fn app_service_is_asked_as_it_wants() {
    let body = format!(r#"{{"access_token":"t","expires_on":"{}","resource":"x"}}"#, NOW + 500);
    let script = Script::new([answer(200, body)]);
    let header = SecretString::from("sesame");
    let source =
        ManagedIdentity::app_service(script.clone(), clock(), "http://127.0.0.1:41/msi/token", header)
            .client_id("id-1");
    assert_eq!(fetch(&source, Patience::Full).await.unwrap().lifetime, Duration::from_secs(500));
    let request = &script.requests()[0];
    assert_eq!(
        request.url,
        "http://127.0.0.1:41/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fai.azure.com&client_id=id-1"
    );
    assert_eq!(request.headers["x-identity-header"], "sesame");
    assert!(request.headers["x-identity-header"].is_sensitive());
    assert!(!format!("{source:?} {request:?}").contains("sesame"));
}

#[tokio::test(start_paused = true)]
async fn statuses_that_pass_are_asked_again_with_growing_pauses() {
    let plays = [404, 410, 429, 500, 503].map(|status| answer(status, "wait"));
    let script = Script::new(plays.into_iter().chain([good()]));
    fetch(&imds(&script), Patience::Full).await.unwrap();
    assert_eq!(script.times(), [0.0, 1.0, 3.0, 7.0, 15.0, 31.0]);
}

#[tokio::test(start_paused = true)]
async fn after_the_last_attempt_the_last_answer_is_told() {
    let script =
        Script::new((0..6).map(|_| answer(410, r#"{"error":"gone","error_description":"Updating"}"#)));
    let error = fetch(&imds(&script), Patience::Full).await.unwrap_err();
    assert_eq!((error.to_string(), script.count()), ("HTTP 410 gone: Updating".to_owned(), 6));
    assert_eq!(
        error.hint,
        "The platform's identity service is busy or being updated. Try again in a minute."
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_identity_is_told_at_once() {
    let body = r#"{"error":"invalid_request","error_description":"Identity not found"}"#;
    let script = Script::new([answer(400, body), answer(400, body)]);
    let error = bearer_of(&EntraCredential::new(Arc::new(imds(&script)))).await.unwrap_err();
    assert_eq!(
        auth(&error),
        (
            "system-assigned managed identity of this virtual machine, scope https://ai.azure.com/.default".to_owned(),
            "HTTP 400 invalid_request: Identity not found".to_owned(),
            "Turn on the system-assigned identity of this machine, or name the client id of a user-assigned one. \
             Check the scope too."
                .to_owned(),
        )
    );
    let error = fetch(&imds(&script).client_id("id-1"), Patience::Full).await.unwrap_err();
    assert!(error.hint.starts_with("Assign the user-assigned identity id-1 to this machine"));
    assert_eq!(script.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn outside_azure_a_probe_costs_two_seconds() {
    let script = Script::new([Play::Silence]);
    let error = fetch(&imds(&script), Patience::Probe).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within 2 s");
    assert!(error.hint.starts_with("There is no metadata service"));
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn in_another_cloud_a_probe_takes_not_found_at_its_word() {
    let script = Script::new([answer(404, "<html>")]);
    fetch(&imds(&script), Patience::Probe).await.unwrap_err();
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn silence_after_an_answer_is_ridden_out() {
    let script = Script::new([answer(503, ""), Play::Silence, Play::Break("reset".to_owned()), good()]);
    fetch(&imds(&script), Patience::Full).await.unwrap();
    assert_eq!(script.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_token_is_told_without_its_contents() {
    let script = Script::new([answer(200, "sesame")]);
    let error = fetch(&imds(&script), Patience::Full).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the identity service did not answer with a token: its answer is not JSON (line 1, column 1)"
    );
}

#[tokio::test(start_paused = true)]
async fn app_service_that_refuses_its_header_does_not_repeat_it() {
    let script = Script::new([answer(401, "bad header sesame")]);
    let header = SecretString::from("sesame");
    let source = ManagedIdentity::app_service(script, clock(), "http://127.0.0.1:41/msi/token", header);
    let error = bearer_of(&EntraCredential::new(Arc::new(source))).await.unwrap_err();
    assert_eq!(auth(&error).1, "HTTP 401: bad header [redacted]");
    assert!(!faces(&error).contains("sesame"));
}

#[tokio::test]
async fn over_a_socket_both_forms_work() {
    let body = format!(r#"{{"access_token":"t","expires_in":"3599","expires_on":"{}"}}"#, NOW + 3599);
    let server = Server::start(vec![(200, body.clone()), (200, body)]).await;
    let vm = ManagedIdentity::imds(Arc::new(Plain), clock()).imds_at(&server.address);
    assert_eq!(bearer_of(&EntraCredential::new(Arc::new(vm))).await.unwrap(), "t");
    let endpoint = format!("{}/msi/token", server.address);
    let app = ManagedIdentity::app_service(Arc::new(Plain), clock(), endpoint, SecretString::from("h"));
    assert_eq!(bearer_of(&EntraCredential::new(Arc::new(app))).await.unwrap(), "t");
    let asked = server.asked();
    assert!(asked[0].contains("\r\nmetadata: true\r\n"), "{}", asked[0]);
    assert!(asked[1].starts_with("GET /msi/token?api-version=2019-08-01&"), "{}", asked[1]);
    assert!(asked[1].contains("\r\nx-identity-header: h\r\n"), "{}", asked[1]);
}

//! What a service principal sends, in process and over a real socket.

use super::*;
use crate::auth::fake::loopback::{Plain, Server};
use crate::auth::fake::{Script, answer, auth, bearer_of, faces, token};
use crate::auth::{Credential, EntraCredential};

const SECRET: &str = "open sesame~&=+%";

fn source(transport: Arc<dyn Transport>) -> ClientSecret {
    ClientSecret::new(transport, "contoso.example", "app-1", SecretString::from(SECRET))
}

#[tokio::test(start_paused = true)]
async fn the_form_is_what_the_endpoint_wants() {
    let script = Script::new([token("t", 60)]);
    source(script.clone()).fetch(&Scope::foundry(), Patience::Full).await.unwrap();
    let expected = [
        ("grant_type", "client_credentials"),
        ("client_id", "app-1"),
        ("scope", "https://ai.azure.com/.default"),
        ("client_secret", SECRET),
    ];
    assert_eq!(script.form(0), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let request = &script.requests()[0];
    assert_eq!(request.method, http::Method::POST);
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_repeats_the_secret_does_not_leak_it() {
    let script = Script::new([answer(400, format!("cannot read {SECRET}"))]);
    let error = bearer_of(&EntraCredential::new(Arc::new(source(script)))).await.unwrap_err();
    assert_eq!(auth(&error).1, "HTTP 400: cannot read [redacted]");
    assert!(!faces(&error).contains("sesame"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_secret_is_not_sent() {
    let script = Script::new([]);
    let source = ClientSecret::new(script.clone(), "t", "c", SecretString::from(""));
    let error = source.fetch(&Scope::foundry(), Patience::Full).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), script.count()), ("the client secret is empty", 0));
}

#[test]
fn the_secret_does_not_print() {
    let source = source(Arc::new(Plain));
    assert_eq!(format!("{source:?}"), "ClientSecret(service principal app-1 of tenant contoso.example)");
}

#[tokio::test]
async fn over_a_socket_a_token_is_fetched_refused_and_fetched_again() {
    let good = |value: &str| (200, format!(r#"{{"access_token":"{value}","expires_in":3600}}"#));
    let bad = r#"{"error":"invalid_client","error_description":"AADSTS7000222: Expired."}"#.to_owned();
    let server = Server::start(vec![good("t-1"), good("t-2"), (401, bad)]).await;
    let source = source(Arc::new(Plain)).authority(Authority::at(&server.address));
    let credential = EntraCredential::new(Arc::new(source));
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    credential.rejected().await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
    credential.rejected().await;
    let error = bearer_of(&credential).await.unwrap_err();
    assert_eq!(auth(&error).1, "HTTP 401 AADSTS7000222: Expired.");
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[0].starts_with("POST /contoso.example/oauth2/v2.0/token HTTP/1.1\r\n"), "{}", asked[0]);
    assert!(asked[0].ends_with("&client_secret=open+sesame%7E%26%3D%2B%25"), "{}", asked[0]);
}

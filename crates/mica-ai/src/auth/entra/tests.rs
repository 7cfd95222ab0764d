//! Tokens in headers: fetched once, renewed in time, dropped when refused.

use super::*;
use crate::auth::ClientSecret;
use crate::auth::fake::{Play, Script, answer, auth, bearer_of, faces, signed, token};
use secrecy::SecretString;

fn credential(script: &Arc<Script>) -> EntraCredential {
    let secret = SecretString::from("sesame");
    EntraCredential::new(Arc::new(ClientSecret::new(script.clone(), "contoso.example", "app-1", secret)))
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

const WRONG_SECRET: &str =
    r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}"#;

#[tokio::test(start_paused = true)]
async fn concurrent_callers_make_one_token_request() {
    let script = Script::new([Play::After(Duration::from_secs(2), Box::new(token("t-1", 3600)))]);
    let credential = credential(&script);
    let all = futures::future::join_all((0..50).map(|_| bearer_of(&credential))).await;
    assert!(all.iter().all(|token| token.as_deref().ok() == Some("t-1")));
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_before_it_ends() {
    let script = Script::new([token("t-1", 3600), token("t-2", 3600)]);
    let credential = credential(&script);
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(3299).await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(1).await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_when_its_issuer_says() {
    let body = r#"{"access_token":"t-1","expires_in":86400,"refresh_in":43200}"#;
    let script = Script::new([answer(200, body), token("t-2", 3600)]);
    let credential = credential(&script);
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(43199).await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(1).await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
}

#[tokio::test(start_paused = true)]
async fn a_failing_endpoint_hurts_only_when_the_token_is_over() {
    let script = Script::new([token("t-1", 3600), answer(401, WRONG_SECRET), answer(401, WRONG_SECRET)]);
    let credential = credential(&script);
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(3400).await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    pass(200).await;
    let error = bearer_of(&credential).await.unwrap_err();
    assert_eq!(
        auth(&error),
        (
            "service principal app-1 of tenant contoso.example, scope https://ai.azure.com/.default"
                .to_owned(),
            "HTTP 401 AADSTS7000215: Invalid client secret provided.".to_owned(),
            "The client secret is wrong. Use the secret's value, not its id, from the app registration's \
             \"Certificates & secrets\"."
                .to_owned(),
        )
    );
    assert!(!faces(&error).contains("sesame"));
    assert_eq!(script.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_dropped() {
    let script = Script::new([token("t-1", 3600), token("t-2", 3600)]);
    let credential: Arc<dyn Credential> = Arc::new(credential(&script));
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    credential.rejected().await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
}

#[tokio::test(start_paused = true)]
async fn a_silent_endpoint_hits_the_deadline() {
    let script = Script::new([Play::Silence, Play::Silence, Play::Silence]);
    let credential = credential(&script).deadline(Duration::from_secs(8));
    let before = tokio::time::Instant::now();
    let (_, said, hint) = auth(&bearer_of(&credential).await.unwrap_err());
    assert_eq!(before.elapsed(), Duration::from_secs(8));
    assert_eq!(said, "no token within 8 s");
    assert_eq!(
        hint,
        "The identity service is slow or out of reach. Check the network and the proxy, then try again."
    );
}

#[tokio::test(start_paused = true)]
async fn another_scope_is_asked_for_and_named() {
    let script = Script::new([token("t-1", 3600)]);
    let credential = credential(&script).scope(Scope::cognitive_services());
    signed(&credential).await.unwrap();
    let scope = ("scope".to_owned(), "https://cognitiveservices.azure.com/.default".to_owned());
    assert!(script.form(0).contains(&scope));
    assert!(credential.describe().ends_with("scope https://cognitiveservices.azure.com/.default"));
    assert!(credential.hint().contains("try https://ai.azure.com/.default"));
}

#[test]
fn the_hint_names_the_role_and_the_other_scope() {
    let hint = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(async { credential(&Script::new([])).hint() });
    for word in [
        "\"Cognitive Services OpenAI User\"",
        "try https://cognitiveservices.azure.com/.default",
        "network rule",
    ] {
        assert!(hint.contains(word), "{word}: {hint}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_with_a_line_break_is_refused() {
    let script = Script::new([answer(200, r#"{"access_token":"ses\name","expires_in":60}"#)]);
    let error = bearer_of(&credential(&script)).await.unwrap_err();
    assert_eq!(auth(&error).1, "the token holds characters that a header cannot carry");
    assert!(!faces(&error).contains("ses"));
}

#[tokio::test(start_paused = true)]
async fn neither_secret_nor_token_prints() {
    let script = Script::new([token("tok-en", 3600)]);
    let credential = credential(&script);
    bearer_of(&credential).await.unwrap();
    let text = format!("{credential:?} {credential:#?} {} {}", credential.describe(), credential.hint());
    assert!(!text.contains("sesame") && !text.contains("tok-en"), "{text}");
}

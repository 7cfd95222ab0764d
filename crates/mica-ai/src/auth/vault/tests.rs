//! A key from a vault: read, kept, read again.

use super::*;
use crate::auth::fake::loopback::{Plain, Server};
use crate::auth::fake::{Play, Script, Source, answer, auth, faces, signed};

const VAULT: &str = "https://example.vault.azure.net";

fn secret(value: &str) -> Play {
    answer(200, format!(r#"{{"value":"{value}","id":"{VAULT}/secrets/openai/1"}}"#))
}

fn refusal(status: u16, code: &str) -> Play {
    answer(status, format!(r#"{{"error":{{"code":"E","message":"No.","innererror":{{"code":"{code}"}}}}}}"#))
}

fn vault(script: &Arc<Script>, source: &Arc<Source>) -> KeyVaultKey {
    KeyVaultKey::new(script.clone(), source.clone(), format!("{VAULT}/"), "openai", HeaderStyle::ApiKey)
}

fn identity() -> Arc<Source> {
    Source::new("identity", [Ok("tok-1"), Ok("tok-2")])
}

async fn key(credential: &KeyVaultKey) -> String {
    let headers = signed(credential).await.unwrap();
    assert_eq!(headers[0].0, "api-key");
    headers[0].1.clone()
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn the_secret_is_read_once_with_a_token_for_vaults() {
    let (script, source) = (Script::new([secret("key-1")]), identity());
    let credential = vault(&script, &source);
    let all = futures::future::join_all((0..20).map(|_| key(&credential))).await;
    assert_eq!(all, ["key-1"; 20]);
    let requests = script.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].url, format!("{VAULT}/secrets/openai?api-version=7.4"));
    assert_eq!(requests[0].headers["authorization"], "Bearer tok-1");
    assert!(requests[0].headers["authorization"].is_sensitive());
    assert_eq!(source.asked()[0].0, Scope::key_vault());
    assert_eq!(source.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_version_and_another_cloud_can_be_named() {
    let (script, source) = (Script::new([secret("key-1")]), identity());
    let scope = Scope::named("https://vault.usgovcloudapi.net/.default");
    let credential = vault(&script, &source).version("abc123").scope(scope.clone());
    key(&credential).await;
    assert_eq!(script.requests()[0].url, format!("{VAULT}/secrets/openai/abc123?api-version=7.4"));
    assert_eq!(source.asked()[0].0, scope);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_read_again() {
    let (script, source) = (Script::new([secret("key-1"), secret("key-2")]), identity());
    let credential = vault(&script, &source);
    assert_eq!(key(&credential).await, "key-1");
    credential.rejected().await;
    assert_eq!(key(&credential).await, "key-2");
    assert_eq!(source.asked().len(), 1, "the token for the vault was not at fault");
}

#[tokio::test(start_paused = true)]
async fn after_its_lifetime_the_key_is_read_again_and_kept_when_that_fails() {
    let (script, source) = (Script::new([secret("key-1"), secret("key-2")]), identity());
    let credential = vault(&script, &source).lifetime(Duration::from_secs(600));
    assert_eq!(key(&credential).await, "key-1");
    pass(599).await;
    assert_eq!(key(&credential).await, "key-1");
    pass(1).await;
    assert_eq!(key(&credential).await, "key-2");
    pass(600).await;
    script.add(refusal(403, "ForbiddenByRbac"));
    assert_eq!(key(&credential).await, "key-2");
    pass(600).await;
    script.add(refusal(403, "ForbiddenByRbac"));
    signed(&credential).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_replaced_once() {
    let (script, source) = (Script::new([refusal(401, "X"), secret("key-1")]), identity());
    assert_eq!(key(&vault(&script, &source)).await, "key-1");
    assert_eq!(script.requests()[1].headers["authorization"], "Bearer tok-2");
    let script = Script::new([refusal(401, "X"), refusal(401, "X")]);
    let (_, said, hint) = auth(&signed(&vault(&script, &identity())).await.unwrap_err());
    assert_eq!(said, "HTTP 401 X: No.");
    assert!(hint.starts_with("The vault did not accept the token."), "{hint}");
}

#[tokio::test(start_paused = true)]
async fn bad_moments_are_ridden_out_once() {
    for play in [answer(429, ""), answer(503, ""), Play::Break("reset".to_owned()), Play::Silence] {
        let script = Script::new([play, secret("key-1")]);
        assert_eq!(key(&vault(&script, &identity())).await, "key-1");
    }
    let script = Script::new([answer(503, ""), answer(503, "still down")]);
    let (_, said, _) = auth(&signed(&vault(&script, &identity())).await.unwrap_err());
    assert_eq!(said, "HTTP 503: still down");
}

#[tokio::test(start_paused = true)]
async fn refusals_say_what_to_do() {
    let check = async |status, code, begins: &str| {
        let script = Script::new([refusal(status, code)]);
        let error = signed(&vault(&script, &identity())).await.unwrap_err();
        let (tried, said, hint) = auth(&error);
        assert_eq!(
            tried,
            "secret openai of key vault https://example.vault.azure.net read with identity, scope \
             https://vault.azure.net/.default"
        );
        assert_eq!(said, format!("HTTP {status} {code}: No."));
        assert!(hint.starts_with(begins), "{hint}");
        assert!(!faces(&error).contains("tok-1"));
    };
    check(403, "ForbiddenByRbac", "Give the identity the role \"Key Vault Secrets User\"").await;
    check(403, "ForbiddenByFirewall", "The vault's firewall keeps this machine out.").await;
    check(403, "SecretDisabled", "Enable the secret in the vault").await;
    check(404, "SecretNotFound", "Check the name of the secret").await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_token_is_told_as_such() {
    let script = Script::new([]);
    let source = Source::new("identity", [Err("signed out")]);
    let (tried, said, hint) = auth(&signed(&vault(&script, &source)).await.unwrap_err());
    assert_eq!(tried, "identity, scope https://vault.azure.net/.default");
    assert_eq!((said.as_str(), hint.as_str(), script.count()), ("signed out", "Mend identity.", 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_secret_is_told_without_its_contents() {
    for (body, why) in [
        (r#"{"value":["sesame"]}"#, "the vault's answer holds no secret"),
        ("sesame", "the vault's answer holds no secret"),
        (r#"{"value":" "}"#, "the secret is empty"),
        (
            r#"{"value":"ses\name"}"#,
            "the key holds characters that a header cannot carry, such as a line break",
        ),
    ] {
        let error = signed(&vault(&Script::new([answer(200, body)]), &identity())).await.unwrap_err();
        assert_eq!(auth(&error).1, why);
        assert!(!faces(&error).contains("ses"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_token_goes_to_no_other_place() {
    let (script, source) = (Script::new([]), identity());
    let make = |vault: &str, name: &str| {
        KeyVaultKey::new(script.clone(), source.clone(), vault, name, HeaderStyle::Bearer)
    };
    let check = async |credential: KeyVaultKey, why: &str| {
        assert_eq!(auth(&signed(&credential).await.unwrap_err()).1, why);
    };
    check(make("http://example.vault.azure.net", "a"), "the vault's address is not an https address").await;
    check(make(VAULT, "../keys/a"), "that is not the name or version of a secret").await;
    check(make(VAULT, "a").version("x?y"), "that is not the name or version of a secret").await;
    assert_eq!((script.count(), source.asked().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn neither_key_nor_token_prints() {
    let credential = vault(&Script::new([secret("key-1")]), &identity());
    key(&credential).await;
    let text = format!("{credential:?} {credential:#?} {} {}", credential.describe(), credential.hint());
    assert!(!text.contains("key-1") && !text.contains("tok-1"), "{text}");
}

#[tokio::test]
async fn over_a_socket_the_key_is_read() {
    let server = Server::start(vec![(200, r#"{"value":"key-1"}"#.to_owned())]).await;
    let style = HeaderStyle::XApiKeyAndApiKey;
    let credential = KeyVaultKey::new(Arc::new(Plain), identity(), &server.address, "openai", style);
    let headers = signed(&credential).await.unwrap();
    assert_eq!(
        headers,
        [("x-api-key", "key-1"), ("api-key", "key-1")].map(|(n, v)| (n.to_owned(), v.to_owned()))
    );
    assert!(server.asked()[0].contains("\r\nauthorization: Bearer tok-1\r\n"));
}

//! The federated token: read each time, and missed with a reason.

use super::*;
use crate::auth::fake::{Script, answer, auth, bearer_of, faces, token};
use crate::auth::{Credential, EntraCredential};

fn source(script: &Arc<Script>, path: PathBuf) -> WorkloadIdentity {
    WorkloadIdentity::new(script.clone(), "contoso.example", "app-1", Arc::new(TokenFile(path)))
}

/// Tests may write what the library only reads.
#[expect(clippy::disallowed_methods, reason = "a fixture, not a file of the product")]
fn put(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn a_rotated_file_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let script = Script::new([token("t-1", 3600), token("t-2", 3600)]);
    let credential = EntraCredential::new(Arc::new(source(&script, path.clone())));
    put(&path, "first.jwt\n");
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    put(&path, "second.jwt");
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-1");
    credential.rejected().await;
    assert_eq!(bearer_of(&credential).await.unwrap(), "t-2");
    let expected = |assertion: &str| {
        [
            ("grant_type", "client_credentials"),
            ("client_id", "app-1"),
            ("scope", "https://ai.azure.com/.default"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    assert_eq!(script.form(0), expected("first.jwt"));
    assert_eq!(script.form(1), expected("second.jwt"));
}

#[tokio::test]
async fn a_missing_or_empty_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let script = Script::new([]);
    let credential = EntraCredential::new(Arc::new(source(&script, path.clone())));
    let (tried, said, hint) = auth(&bearer_of(&credential).await.unwrap_err());
    let shown = path.display();
    assert_eq!(
        tried,
        format!(
            "workload identity app-1 of tenant contoso.example (token file {shown}), scope https://ai.azure.com/.default"
        )
    );
    assert!(said.starts_with(&format!("the federated token file {shown} cannot be read: ")), "{said}");
    assert!(hint.contains("azure.workload.identity/use"), "{hint}");
    put(&path, " \n");
    let (_, said, _) = auth(&bearer_of(&credential).await.unwrap_err());
    assert_eq!(said, format!("the federated token file {shown} is empty"));
    assert_eq!(script.count(), 0);
}

#[tokio::test]
async fn the_assertion_does_not_leak() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    put(&path, "sesame.jwt");
    let script =
        Script::new([answer(400, r#"{"error":"bad","error_description":"AADSTS700024: sesame.jwt"}"#)]);
    let source = source(&script, path);
    assert!(!format!("{source:?}").contains("sesame"));
    let error = bearer_of(&EntraCredential::new(Arc::new(source))).await.unwrap_err();
    assert!(!faces(&error).contains("sesame"));
    assert_eq!(auth(&error).1, "HTTP 400 AADSTS700024: [redacted]");
}

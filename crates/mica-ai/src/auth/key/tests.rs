//! Keys in their headers.

use super::*;
use crate::auth::fake::{auth, faces, signed};

fn key(text: &str, style: HeaderStyle) -> ApiKey {
    ApiKey::new(SecretString::from(text), style)
}

#[tokio::test]
async fn each_style_has_its_headers() {
    let check = async |style, expected: &[(&str, &str)]| {
        let headers = signed(&key(" sesame\n", style)).await.unwrap();
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(headers, expected);
    };
    check(HeaderStyle::ApiKey, &[("api-key", "sesame")]).await;
    check(HeaderStyle::Bearer, &[("authorization", "Bearer sesame")]).await;
    check(HeaderStyle::XApiKey, &[("x-api-key", "sesame")]).await;
    check(HeaderStyle::XApiKeyAndApiKey, &[("x-api-key", "sesame"), ("api-key", "sesame")]).await;
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_named_but_not_shown() {
    for (text, why) in [
        ("ses\name", "the key holds characters that a header cannot carry, such as a line break"),
        (" \n", "the key is empty"),
    ] {
        let credential = key(text, HeaderStyle::ApiKey).found_in("SOME_KEY");
        let error = signed(&credential).await.unwrap_err();
        let (tried, said, hint) = auth(&error);
        assert_eq!(tried, "API key from SOME_KEY (header api-key)");
        assert_eq!(said, why);
        assert_eq!(hint, "Set the key again, without quotes or line breaks.");
        assert!(!faces(&error).contains("ame\""), "{error}");
    }
}

#[test]
fn a_key_does_not_print() {
    let credential = key("sesame", HeaderStyle::Bearer).found_in("SOME_KEY");
    let text = format!("{credential:?} {credential:#?} {} {}", credential.describe(), credential.hint());
    assert!(!text.contains("sesame"), "{text}");
}

#[test]
fn the_hint_for_azure_keys_names_what_azure_does_to_keys() {
    let hint = key("k", HeaderStyle::ApiKey).hint();
    for word in ["disabled by policy", "Mythos", "Entra ID", "network rule"] {
        assert!(hint.contains(word), "{word}: {hint}");
    }
}

#[tokio::test]
async fn having_no_credential_adds_nothing() {
    assert_eq!(signed(&NoCredential).await.unwrap(), []);
    assert_eq!(NoCredential.describe(), "no credential");
}

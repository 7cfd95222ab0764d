//! The spellings of a token, and what must not be quoted.

use secrecy::ExposeSecret;

use super::*;

fn read(body: &str) -> Result<(String, u64, Option<u64>), String> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let token = AccessToken::read(body.as_bytes(), Some(now))?;
    let seconds = token.refresh_in.map(|wait| wait.as_secs());
    Ok((token.secret.expose_secret().to_owned(), token.lifetime.as_secs(), seconds))
}

#[test]
fn every_spelling_is_read() {
    let check = |body: &str, lifetime: u64, refresh_in: Option<u64>| {
        assert_eq!(read(body), Ok(("t".to_owned(), lifetime, refresh_in)), "{body}");
    };
    // The token endpoint.
    check(r#"{"access_token":"t","expires_in":3599,"ext_expires_in":3599}"#, 3599, None);
    check(r#"{"access_token":"t","expires_in":86399,"refresh_in":43199}"#, 86399, Some(43199));
    // The metadata service: numbers as text, and both kinds.
    check(r#"{"access_token":"t","expires_in":"600","expires_on":"1"}"#, 600, None);
    // App Service: the end as a date.
    check(r#"{"access_token":"t","expires_on":"1000500","refresh_on":"1000100"}"#, 500, Some(100));
    // The Azure CLI, new and old; the old one gives a local time of an unknown zone.
    check(r#"{"accessToken":"t","expires_on":1000700,"expiresOn":"2001-01-01 00:00:00.000000"}"#, 700, None);
    check(r#"{"accessToken":"t","expiresOn":"2001-01-01 00:00:00.000000"}"#, 300, None);
    // Nonsense about the time is not worth failing for.
    check(r#"{"access_token":"t","expires_on":"5"}"#, 0, None);
    check(r#"{"access_token":"t","expires_in":18446744073709551615}"#, u64::MAX, None);
    check(r#"{"access_token":"t","expires_in":-1,"refresh_in":[]}"#, 300, None);
    check(r#"{"access_token":"t","expires_in":100,"refresh_in":100}"#, 100, None);
}

#[test]
fn what_is_not_a_token_is_named_by_position_and_field_alone() {
    let check = |body: &str, why: &str| assert_eq!(read(body), Err(why.to_owned()), "{body}");
    check("", "its answer is not JSON (line 1, column 0)");
    check(r#"{"access_token":"sesame"#, "its answer is not JSON (line 1, column 23)");
    check("sesame", "its answer is not JSON (line 1, column 1)");
    check(r#""sesame""#, "its answer holds no access token");
    check(r#"{"access_token":["sesame"]}"#, "its answer holds no access token");
    check(r#"{"access_token":""}"#, "its answer holds no access token");
}

#[test]
fn a_scope_has_a_resource() {
    assert_eq!(Scope::default().resource(), "https://ai.azure.com");
    assert_eq!(Scope::named("api://thing").resource(), "api://thing");
}

#[test]
fn a_token_does_not_print() {
    let token = AccessToken::read(br#"{"access_token":"sesame"}"#, None).unwrap();
    assert!(!format!("{token:?}").contains("sesame"));
}

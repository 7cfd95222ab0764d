//! Reading refusals, and keeping secrets out of them.

use super::*;

fn refusal(status: u16, body: &str) -> String {
    let answer = Answer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.as_bytes().to_vec(),
    };
    answer.refusal(&[&SecretString::from("open sesame!")]).to_string()
}

#[test]
fn every_service_refuses_in_its_own_way() {
    let check = |status, body: &str, expected: &str| assert_eq!(refusal(status, body), expected, "{body}");
    check(
        401,
        r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret. Trace ID: 1 Correlation ID: 2","error_codes":[7000215],"correlation_id":"c-1"}"#,
        "HTTP 401 AADSTS7000215: Invalid client secret. [request c-1]",
    );
    check(
        400,
        "{\"error\":\"invalid_request\",\"error_description\":\"Identity not found\\r\\nTrace ID: 1\"}",
        "HTTP 400 invalid_request: Identity not found",
    );
    check(400, r#"{"statusCode":400,"message":"No identity"}"#, "HTTP 400: No identity");
    check(
        403,
        r#"{"error":{"code":"Forbidden","message":"Not allowed","innererror":{"code":"ForbiddenByRbac"}}}"#,
        "HTTP 403 ForbiddenByRbac: Not allowed",
    );
    check(404, r#"{"error":{"code":"SecretNotFound","message":"Gone"}}"#, "HTTP 404 SecretNotFound: Gone");
    check(502, "<html><body>Bad gateway</body></html>", "HTTP 502: a web page instead of an answer");
    check(503, "", "HTTP 503: (no message)");
    check(500, "plain words\nand more", "HTTP 500: plain words");
}

#[test]
fn a_refusal_that_repeats_the_secret_is_blanked() {
    let check = |body: &str, expected: &str| assert_eq!(refusal(400, body), expected, "{body}");
    check("bad: open sesame!", "HTTP 400: bad: [redacted]");
    check("bad: client_secret=open+sesame%21", "HTTP 400: bad: client_secret=[redacted]");
    check(r#"{"error":"open sesame!","error_description":"no"}"#, "HTTP 400 [redacted]: no");
    // Cut in the middle of the secret, had it not been blanked before.
    let long = format!("{}open sesame!", "x".repeat(LONGEST_QUOTE - 4));
    assert!(!refusal(400, &long).contains("open"));
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let text = refusal(400, &"ö".repeat(1000));
    assert_eq!(text.chars().filter(|letter| *letter == 'ö').count(), LONGEST_QUOTE);
}

#[test]
fn codes_are_found_inside_the_words_of_others() {
    assert_eq!(find_aadsts("ERROR: AADSTS70043: The refresh token"), Some("AADSTS70043"));
    assert_eq!(find_aadsts("AADSTS"), None);
    assert_eq!(find_aadsts("nothing"), None);
}

#[test]
fn secrets_travel_over_tls_or_stay_on_the_machine() {
    for good in ["https://a.b/c", "http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]:8/x"] {
        assert!(may_carry_secrets(good), "{good}");
    }
    for bad in ["http://a.b/c", "http://127.0.0.1.evil.example/", "ftp://a/b", "a.b/c", "https://", ""] {
        assert!(!may_carry_secrets(bad), "{bad}");
    }
}

#[test]
fn a_request_does_not_print_its_body_or_its_secret_headers() {
    let mut request = post_form("https://a.b/c".to_owned(), &[("client_secret", "sesame")]);
    request.headers.insert("authorization", sensitive("Bearer sesame").unwrap());
    let text = format!("{request:?} {request:#?}");
    assert!(!text.contains("sesame"), "{text}");
}

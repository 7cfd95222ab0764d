//! Waits, in all the ways they are asked for.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{in_error, outright, wait};

/// Sat, 25 Jul 2026 12:00:00 GMT
const NOW: Duration = Duration::from_secs(1_784_980_800);

#[track_caller]
fn check(pairs: &[(&'static str, &'static str)], expected: Option<f64>) {
    let headers: HeaderMap = pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    let found = wait(&headers, SystemTime::UNIX_EPOCH + NOW);
    assert_eq!(found, expected.map(Duration::from_secs_f64), "{pairs:?}");
}

#[test]
fn asked_outright() {
    check(&[], None);
    check(&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1.5));
    check(&[("retry-after-ms", "0.5")], Some(0.0005));
    check(&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(9.0));
    check(&[("retry-after", " 7 ")], Some(7.0));
    check(&[("retry-after", "0.25")], Some(0.25));
    check(&[("retry-after", "0")], Some(0.0));
    check(&[("retry-after", "86400")], Some(86_400.0));
    check(&[("retry-after", "12s")], Some(12.0));
    for nonsense in ["-1", "NaN", "inf", "1e300", "soon", "", "Sat, 99 Foo 2026"] {
        check(&[("retry-after", nonsense)], None);
    }
}

#[test]
fn dates_go_by_the_providers_clock() {
    let date = "Sat, 25 Jul 2026 12:00:30 GMT";
    check(&[("retry-after", date)], Some(30.0));
    check(&[("retry-after", date), ("date", "Sat, 25 Jul 2026 12:00:20 GMT")], Some(10.0));
    check(&[("retry-after", date), ("date", "Sat, 25 Jul 2026 12:09:00 GMT")], Some(0.0));
    check(&[("retry-after", date), ("date", "today")], Some(30.0));
}

#[test]
fn spelled_resets() {
    for (text, seconds) in [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("13", 13.0),
        ("0.4", 0.4),
        ("1m30.951s", 90.951),
    ] {
        let value = HeaderValue::from_static(text);
        let headers: HeaderMap =
            [(HeaderName::from_static("x-ratelimit-reset-tokens"), value)].into_iter().collect();
        assert_eq!(wait(&headers, SystemTime::UNIX_EPOCH), Some(Duration::from_secs_f64(seconds)), "{text}");
    }
    for nonsense in ["1x", "s", "1s later", "-4s", "1e400"] {
        let value = HeaderValue::from_static(nonsense);
        let headers: HeaderMap =
            [(HeaderName::from_static("x-ratelimit-reset-tokens"), value)].into_iter().collect();
        assert_eq!(wait(&headers, SystemTime::UNIX_EPOCH), None, "{nonsense}");
    }
}

#[test]
fn the_quota_that_is_used_up_decides() {
    check(
        &[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-remaining-tokens", "500"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        Some(1.0),
    );
    // A daily limit with requests left is not the cause, however far its reset.
    check(
        &[
            ("x-ratelimit-remaining-requests", "199"),
            ("x-ratelimit-reset-requests", "23h59m"),
            ("x-ratelimit-remaining-tokens", "500"),
            ("x-ratelimit-reset-tokens", "6s"),
        ],
        Some(6.0),
    );
    check(&[("x-ratelimit-remaining-requests", "199"), ("x-ratelimit-reset-requests", "23h59m")], None);
    check(&[("x-ratelimit-reset-requests", "2s"), ("x-ratelimit-reset-tokens", "20ms")], Some(2.0));
    check(
        &[("retry-after", "3"), ("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")],
        Some(3.0),
    );
}

#[test]
fn resets_as_dates() {
    check(
        &[
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-07-25T12:00:42Z"),
        ],
        Some(42.0),
    );
    check(
        &[
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-07-25T14:00:10+02:00"),
            ("anthropic-ratelimit-output-tokens-remaining", "8000"),
            ("anthropic-ratelimit-output-tokens-reset", "2026-07-25T13:00:00Z"),
        ],
        Some(10.0),
    );
    check(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1784980815")], Some(15.0));
    check(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1784980801500")], Some(1.5));
    check(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "5")], Some(5.0));
}

#[test]
fn counters_are_no_outright_wait() {
    let headers: HeaderMap =
        [(HeaderName::from_static("x-ratelimit-reset-tokens"), HeaderValue::from_static("1s"))]
            .into_iter()
            .collect();
    assert_eq!(outright(&headers, SystemTime::UNIX_EPOCH), None);
}

#[test]
fn waits_in_texts() {
    for (text, seconds) in [
        ("Please try again in 1.898s. Visit https://example.com", Some(1.898)),
        ("Please try again in 20ms.", Some(0.02)),
        ("Try again in 1m30s", Some(90.0)),
        ("Please retry after 6 seconds.", Some(6.0)),
        ("please Retry in 2 minutes", Some(120.0)),
        ("Quota exceeded. Please retry in 37.5s.", Some(37.5)),
        ("try again in about 1 hour", Some(3600.0)),
        ("İstanbul: try again in 3s", Some(3.0)),
        ("try again in a while", None),
        ("retry after 6", None),
        ("limit 500s of audio", None),
        ("", None),
    ] {
        assert_eq!(in_error(&Value::Null, text), seconds.map(Duration::from_secs_f64), "{text}");
    }
}

#[test]
fn waits_in_details() {
    let error = json!({ "details": [{ "reason": "x" }, { "retryDelay": "12.5s" }] });
    assert_eq!(in_error(&error, "Please retry in 99s"), Some(Duration::from_millis(12_500)));
    assert_eq!(in_error(&json!({ "details": "none" }), ""), None);
}

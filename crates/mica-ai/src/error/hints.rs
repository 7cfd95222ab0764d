//! How long a provider asks to wait, in all the ways they say it. Long waits pass through: what is too long is the
//! retry policy's to say.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use serde_json::Value;

/// The wait a response's headers ask for: outright, or as the time when the quota that is used up fills again.
/// `now` is used for dates when the response has no `date` of its own.
pub fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    outright(headers, now).or_else(|| reset(headers, now))
}

/// The wait that is asked for outright: `retry-after-ms`, which is exact, else `retry-after`, in seconds or as a
/// date.
pub fn outright(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = text(headers, "retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok()) {
        return Some(wait);
    }
    let value = text(headers, "retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let Ok(date) = httpdate::parse_http_date(value) {
        return Some(until(date, headers, now));
    }
    spelled(value).map(|(wait, _)| wait)
}

/// What counts a quota: when it fills again, what is left of it, and whether one request takes one of it.
struct Counter {
    reset: &'static str,
    remaining: &'static str,
    counts_requests: bool,
}

const COUNTERS: &[Counter] = &[
    Counter {
        reset: "x-ratelimit-reset-requests",
        remaining: "x-ratelimit-remaining-requests",
        counts_requests: true,
    },
    Counter {
        reset: "x-ratelimit-reset-tokens",
        remaining: "x-ratelimit-remaining-tokens",
        counts_requests: false,
    },
    Counter { reset: "x-ratelimit-reset", remaining: "x-ratelimit-remaining", counts_requests: true },
    Counter {
        reset: "anthropic-ratelimit-requests-reset",
        remaining: "anthropic-ratelimit-requests-remaining",
        counts_requests: true,
    },
    Counter {
        reset: "anthropic-ratelimit-tokens-reset",
        remaining: "anthropic-ratelimit-tokens-remaining",
        counts_requests: false,
    },
    Counter {
        reset: "anthropic-ratelimit-input-tokens-reset",
        remaining: "anthropic-ratelimit-input-tokens-remaining",
        counts_requests: false,
    },
    Counter {
        reset: "anthropic-ratelimit-output-tokens-reset",
        remaining: "anthropic-ratelimit-output-tokens-remaining",
        counts_requests: false,
    },
];

/// The longest wait of the quotas that can be the cause.
///
/// A daily limit on requests has a reset of many hours on every answer, so a counter of requests with some left is
/// never the cause. One of tokens can be: the request may need more than what is left.
fn reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let left = |counter: &Counter| text(headers, counter.remaining).and_then(|left| left.parse::<f64>().ok());
    let present = || COUNTERS.iter().filter(|counter| headers.contains_key(counter.reset));
    let wait = |counter: &Counter| moment(text(headers, counter.reset)?, headers, now);
    let used_up = present().filter(|counter| left(counter).is_some_and(|left| left <= 0.0));
    used_up.filter_map(wait).max().or_else(|| {
        present().filter(|counter| !counter.counts_requests || left(counter).is_none()).filter_map(wait).max()
    })
}

/// A time in one of the forms of reset headers: `6m0s`, seconds, seconds or milliseconds since 1970, RFC 3339.
fn moment(value: &str, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    const YEAR_2001: f64 = 1e9;
    if let Ok(number) = value.parse::<f64>() {
        if number < YEAR_2001 {
            return Duration::try_from_secs_f64(number).ok();
        }
        let seconds = if number < YEAR_2001 * 1000.0 { number } else { number / 1000.0 };
        let date = SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        return Some(until(date, headers, now));
    }
    if let Ok(date) = value.parse::<jiff::Timestamp>() {
        return Some(until(SystemTime::from(date), headers, now));
    }
    if let Ok(date) = httpdate::parse_http_date(value) {
        return Some(until(date, headers, now));
    }
    spelled(value).filter(|(_, rest)| rest.is_empty()).map(|(wait, _)| wait)
}

/// How long until a date, by the provider's clock where it gave one: ours may be wrong.
fn until(date: SystemTime, headers: &HeaderMap, now: SystemTime) -> Duration {
    let theirs = text(headers, "date").and_then(|value| httpdate::parse_http_date(value).ok());
    date.duration_since(theirs.unwrap_or(now)).unwrap_or_default()
}

/// The wait that an error's text or details ask for: `Please try again in 1.898s`, `Please retry after 6 seconds`,
/// and the `retryDelay` of Google.
pub(super) fn in_error(error: &Value, message: &str) -> Option<Duration> {
    let details = error["details"].as_array().into_iter().flatten();
    let detail = details.filter_map(|detail| detail["retryDelay"].as_str()).find_map(spelled);
    detail.or_else(|| in_text(message)).map(|(wait, _)| wait)
}

fn in_text(message: &str) -> Option<(Duration, &str)> {
    ["try again in ", "retry after ", "retry in "].iter().find_map(|mark| {
        // Lower-casing ASCII keeps the positions.
        let at = message.to_ascii_lowercase().find(mark)? + mark.len();
        let rest = message.get(at..)?;
        spelled(rest.strip_prefix("about ").unwrap_or(rest))
    })
}

/// A duration with units at the beginning of a text (`1s`, `6m0s`, `20ms`, `1h2m3.5s`, `6 seconds`), and the rest.
fn spelled(text: &str) -> Option<(Duration, &str)> {
    let mut rest = text.trim_start();
    let mut total = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<f64>() else { break };
        let after = rest[digits..].trim_start();
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let Some(seconds) = unit(&after[..letters]) else { break };
        let part = Duration::try_from_secs_f64(number * seconds).ok()?;
        total = Some(total.unwrap_or(Duration::ZERO).checked_add(part)?);
        rest = &after[letters..];
    }
    total.map(|total| (total, rest))
}

/// The seconds of a unit.
fn unit(name: &str) -> Option<f64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;

//! Applies faults: to events first, then to the bytes they become.

use std::time::Duration;

use bytes::Bytes;
use mica_ai::Dialect;
use serde_json::json;

use crate::answer::{Beat, Body, Tail};
use crate::fault::{At, Fault, StreamError, Then, Where};
use crate::scenario::Pacing;
use crate::wire::{Frame, Part};

/// The body of a streamed answer, spoiled or not. Faults of the head are not looked at here.
pub(crate) fn stream(
    dialect: Dialect,
    mut frames: Vec<Frame>,
    pacing: Pacing,
    fault: Option<&Fault>,
) -> Body {
    let at = |at: At| index(&frames, at);
    let Some(fault) = fault else {
        return Body { beats: beats(&frames, pacing), tail: Tail::End };
    };
    let mut tail = Tail::End;
    match fault {
        Fault::Cut { at: point, place, then } => {
            tail = match then {
                Then::CleanEnd => Tail::End,
                Then::Broken => Tail::Cut,
            };
            let end = at(*point);
            let mut beats = beats(&frames[..end], pacing);
            if *place == Where::Inside {
                // Half of the next event; of the last one when there is no next.
                if let Some(frame) = frames.get(end).or(frames.last()) {
                    let bytes = frame.bytes();
                    let half = bytes.len() / 2;
                    beats.push(Beat::now(bytes[..half].to_vec()));
                }
            }
            return Body { beats, tail };
        }
        Fault::Stall { at: point } => {
            return Body { beats: beats(&frames[..at(*point)], pacing), tail: Tail::Stall };
        }
        Fault::KeepAliveOnly { every_ms } => {
            return Body { beats: Vec::new(), tail: Tail::Repeat(keep_alive(*every_ms)) };
        }
        Fault::KeepAliveThenStall { comments, every_ms } => {
            let mut beats = beats(&frames[..at(At::Middle)], pacing);
            beats.extend(std::iter::repeat_n(keep_alive(*every_ms), *comments));
            return Body { beats, tail: Tail::Stall };
        }
        Fault::InvalidUtf8 => {
            let middle = at(At::Middle);
            let mut beats = beats(&frames, pacing);
            beats.insert(middle, Beat::now(&b"data: {\"text\":\"\xff\xfe\"}\n\n"[..]));
            return Body { beats, tail };
        }
        Fault::InvalidJson => {
            let middle = at(At::Middle).min(frames.len().saturating_sub(1));
            if let Some(frame) = frames.get(middle).cloned() {
                let broken = Frame { data: format!("{{oops {}", frame.data), ..frame };
                frames.insert(middle, broken);
            }
        }
        Fault::HugeEvent { mib } => {
            let middle = at(At::Middle);
            frames.insert(middle, unknown(dialect, &"x".repeat(mib << 20)));
        }
        Fault::UnknownEvent => {
            let middle = at(At::Middle);
            frames.insert(middle, unknown(dialect, "x"));
        }
        Fault::DuplicateTerminal => frames.extend(frames.last().cloned()),
        Fault::MissingTerminal => frames.truncate(at(At::BeforeFinish)),
        Fault::MissingLast => {
            frames.pop();
        }
        Fault::AfterTerminal => {
            let more = frames.iter().rfind(|frame| frame.part == Part::Output).cloned();
            frames.extend(more);
        }
        Fault::InStream { error, at: point } => {
            frames.truncate(at(*point));
            let events = in_stream(dialect, *error, frames.len());
            frames.extend(events);
        }
        Fault::SplitUtf8
        | Fault::ByteByByte
        | Fault::CrLf
        | Fault::Cr
        | Fault::OddFraming
        | Fault::SlowDrip { .. } => return reframed(&frames, pacing, fault),
        Fault::Html
        | Fault::Http(_)
        | Fault::SlowHead { .. }
        | Fault::JsonInstead
        | Fault::EmptyBody
        | Fault::Reset
        | Fault::Refused => {}
    }
    Body { beats: beats(&frames, pacing), tail }
}

/// The body of an unstreamed answer: it can be cut, stalled and dripped; the faults of events do not apply.
pub(crate) fn whole(body: String, pacing: Pacing, fault: Option<&Fault>) -> Body {
    let first = Duration::from_millis(pacing.first_ms);
    let half = Beat { delay: first, bytes: Bytes::from(body.clone().into_bytes()).slice(..body.len() / 2) };
    match fault {
        Some(Fault::Cut { then: Then::Broken, .. }) => Body { beats: vec![half], tail: Tail::Cut },
        Some(Fault::Cut { then: Then::CleanEnd, .. }) => Body { beats: vec![half], tail: Tail::End },
        Some(Fault::Stall { .. }) => Body { beats: vec![half], tail: Tail::Stall },
        Some(Fault::SlowDrip { tick_ms }) => {
            Body { beats: drip(body.as_bytes(), Duration::from_millis(*tick_ms)), tail: Tail::End }
        }
        Some(Fault::ByteByByte) => Body { beats: drip(body.as_bytes(), Duration::ZERO), tail: Tail::End },
        _ => Body { beats: vec![Beat { delay: first, bytes: body.into() }], tail: Tail::End },
    }
}

/// Faults of how events are written and not of what they say.
fn reframed(frames: &[Frame], pacing: Pacing, fault: &Fault) -> Body {
    let mut beats = beats(frames, pacing);
    match fault {
        Fault::CrLf => lines(&mut beats, b"\r\n"),
        Fault::Cr => lines(&mut beats, b"\r"),
        Fault::OddFraming => {
            for beat in &mut beats {
                let text = String::from_utf8_lossy(&beat.bytes);
                let text = text.replace("\ndata: ", "\ndata:");
                let text = text.strip_prefix("data: ").map_or(text.clone(), |rest| format!("data:{rest}"));
                beat.bytes = text.into();
            }
            beats.insert(0, Beat::now(&b"\xEF\xBB\xBF: welcome\nretry: 3000\nid: 1\n\n"[..]));
        }
        Fault::SplitUtf8 => {
            let all: Vec<u8> = beats.iter().flat_map(|beat| beat.bytes.iter().copied()).collect();
            // A leading byte of a multi-byte character ends its chunk; what continues it begins the next.
            beats = all.chunk_by(|left, _| *left < 0xC0).map(|chunk| Beat::now(chunk.to_vec())).collect();
        }
        Fault::ByteByByte | Fault::SlowDrip { .. } => {
            let tick = match fault {
                Fault::SlowDrip { tick_ms } => Duration::from_millis(*tick_ms),
                _ => Duration::ZERO,
            };
            let all: Vec<u8> = beats.iter().flat_map(|beat| beat.bytes.iter().copied()).collect();
            beats = drip(&all, tick);
        }
        _ => {}
    }
    Body { beats, tail: Tail::End }
}

fn beats(frames: &[Frame], pacing: Pacing) -> Vec<Beat> {
    frames
        .iter()
        .enumerate()
        .map(|(number, frame)| {
            let first = if number == 0 { pacing.first_ms } else { 0 };
            let delay = if frame.paced { pacing.delay_ms } else { 0 };
            Beat { delay: Duration::from_millis(first + delay), bytes: frame.bytes().into() }
        })
        .collect()
}

fn drip(bytes: &[u8], tick: Duration) -> Vec<Beat> {
    let all = Bytes::copy_from_slice(bytes);
    (0..all.len()).map(|at| Beat { delay: tick, bytes: all.slice(at..=at) }).collect()
}

fn lines(beats: &mut [Beat], end: &[u8]) {
    for beat in beats {
        let mut bytes = Vec::with_capacity(beat.bytes.len() + 8);
        for byte in &beat.bytes {
            if *byte == b'\n' { bytes.extend_from_slice(end) } else { bytes.push(*byte) }
        }
        beat.bytes = bytes.into();
    }
}

fn keep_alive(every_ms: u64) -> Beat {
    Beat { delay: Duration::from_millis(every_ms), bytes: Bytes::from_static(b": keep-alive\n\n") }
}

/// The index of the first event that a fault keeps back.
fn index(frames: &[Frame], at: At) -> usize {
    let opening = frames.iter().take_while(|frame| frame.part == Part::Opening).count();
    let finish = frames.iter().position(|frame| frame.part == Part::Finish).unwrap_or(frames.len());
    match at {
        At::Start => 0,
        At::BeforeOutput => opening,
        At::Middle => (opening + (finish - opening).div_ceil(2)).min(finish),
        At::BeforeFinish => finish,
        At::Event(count) => count.min(frames.len()),
    }
}

fn unknown(dialect: Dialect, padding: &str) -> Frame {
    let (event, data) = match dialect {
        Dialect::Chat => (None, json!({ "object": "future.thing", "choices": [], "padding": padding })),
        Dialect::Responses | Dialect::Messages => {
            (Some("future.thing".to_owned()), json!({ "type": "future.thing", "padding": padding }))
        }
    };
    Frame { event, data: data.to_string(), part: Part::Output, paced: false }
}

/// An error inside a stream. Responses and Chat name it by a code, Messages by a type.
fn in_stream(dialect: Dialect, error: StreamError, sequence: usize) -> Vec<Frame> {
    let frame = |event: Option<&str>, data: serde_json::Value| Frame {
        event: event.map(str::to_owned),
        data: data.to_string(),
        part: Part::Finish,
        paced: false,
    };
    let (code, kind, message) = match error {
        StreamError::RateLimited | StreamError::FailedRateLimited => {
            ("rate_limit_exceeded", "rate_limit_error", "Rate limit reached. Please try again in 2s.")
        }
        StreamError::Overloaded => {
            ("server_is_overloaded", "overloaded_error", "The server is overloaded or not ready yet.")
        }
        StreamError::ServerError => {
            ("server_error", "api_error", "The server had an error while processing your request.")
        }
    };
    match (dialect, error) {
        (Dialect::Responses, StreamError::FailedRateLimited) => {
            let response = json!({
                "id": "resp_failed", "object": "response", "status": "failed",
                "error": { "code": code, "message": message }, "output": [], "usage": null,
            });
            let event = "response.failed";
            vec![frame(
                Some(event),
                json!({ "type": event, "sequence_number": sequence, "response": response }),
            )]
        }
        (Dialect::Responses, _) => vec![frame(
            Some("error"),
            json!({ "type": "error", "sequence_number": sequence, "code": code, "message": message, "param": null }),
        )],
        (Dialect::Messages, _) => vec![frame(
            Some("error"),
            json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_011CScripted" }),
        )],
        (Dialect::Chat, _) => {
            let kind = if code == "rate_limit_exceeded" { "requests" } else { "server_error" };
            vec![frame(
                None,
                json!({ "error": { "message": message, "type": kind, "param": null, "code": code } }),
            )]
        }
    }
}

#[cfg(test)]
mod tests;

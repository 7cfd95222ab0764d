//! Every fault does to the bytes what it says.

use serde_json::{Value, json};

use super::*;
use crate::scenario::Turn;
use crate::wire::Stage;

const TEXT: &str = "Größe — ein paar Wörter 🦀 für den Test.";

fn frames(dialect: Dialect) -> Vec<Frame> {
    let turn = Turn::new().thinking("Hm.").text(TEXT);
    let request = json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true } });
    let stage = Stage {
        usage: Some(mica_ai::Usage { input: 7, output: 3, ..Default::default() }),
        ..Stage::new(&turn, &request)
    };
    crate::wire::stream(dialect, stage)
}

fn spoiled(dialect: Dialect, fault: &Fault) -> Body {
    stream(dialect, frames(dialect), Pacing::default(), Some(fault))
}

fn bytes(body: &Body) -> Vec<u8> {
    body.beats.iter().flat_map(|beat| beat.bytes.iter().copied()).collect()
}

fn clean(dialect: Dialect) -> Vec<u8> {
    frames(dialect).iter().flat_map(Frame::bytes).collect()
}

/// The `data` of each event of a body.
fn data(body: &Body) -> Vec<String> {
    let text = String::from_utf8(bytes(body)).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

#[track_caller]
fn on_all(fault: &Fault, check: impl Fn(Dialect, Body, Vec<u8>)) {
    for dialect in Dialect::ALL {
        check(dialect, spoiled(dialect, fault), clean(dialect));
    }
}

#[test]
fn without_a_fault_the_frames_are_sent_one_by_one() {
    for dialect in Dialect::ALL {
        let body = stream(dialect, frames(dialect), Pacing::default(), None);
        assert_eq!(bytes(&body), clean(dialect));
        assert_eq!((body.beats.len(), body.tail), (frames(dialect).len(), Tail::End));
    }
}

#[test]
fn cuts_end_where_they_say_and_as_they_say() {
    for (then, tail) in [(Then::CleanEnd, Tail::End), (Then::Broken, Tail::Cut)] {
        for at in [At::Start, At::BeforeOutput, At::Middle, At::BeforeFinish, At::Event(2)] {
            on_all(&Fault::Cut { at, place: Where::Between, then }, |dialect, body, clean| {
                let sent = bytes(&body);
                assert!(clean.starts_with(&sent) && sent.len() < clean.len(), "{dialect} {at:?}");
                assert!(sent.is_empty() || sent.ends_with(b"\n\n"), "{dialect} {at:?}");
                assert_eq!(sent.is_empty(), at == At::Start);
                assert_eq!(body.tail, tail);
            });
            on_all(&Fault::Cut { at, place: Where::Inside, then }, |dialect, body, clean| {
                let sent = bytes(&body);
                assert!(clean.starts_with(&sent) && sent.len() < clean.len(), "{dialect} {at:?}");
                assert!(!sent.is_empty() && !sent.ends_with(b"\n"), "{dialect} {at:?}");
                assert_eq!(body.tail, tail);
            });
        }
    }
}

#[test]
fn a_cut_before_the_finish_leaves_all_output_and_no_end() {
    let fault = Fault::Cut { at: At::BeforeFinish, place: Where::Between, then: Then::CleanEnd };
    on_all(&fault, |dialect, body, _| {
        let text = String::from_utf8(bytes(&body)).unwrap();
        let output = frames(dialect).iter().filter(|frame| frame.part != Part::Finish).count();
        assert_eq!(body.beats.len(), output, "{dialect}");
        for end in
            ["response.completed", "message_delta", "message_stop", "\"finish_reason\":\"stop\"", "[DONE]"]
        {
            assert!(!text.contains(end), "{dialect} {end}");
        }
    });
}

#[test]
fn stalls_and_keep_alives_never_end() {
    on_all(&Fault::Stall { at: At::Middle }, |_, body, clean| {
        assert!(clean.starts_with(&bytes(&body)) && !body.beats.is_empty());
        assert_eq!(body.tail, Tail::Stall);
    });
    on_all(&Fault::KeepAliveOnly { every_ms: 50 }, |_, body, _| {
        assert!(body.beats.is_empty());
        assert_eq!(body.tail, Tail::Repeat(keep_alive(50)));
    });
    on_all(&Fault::KeepAliveThenStall { comments: 3, every_ms: 50 }, |_, body, _| {
        assert_eq!(body.tail, Tail::Stall);
        assert_eq!(body.beats.iter().filter(|beat| beat.bytes[0] == b':').count(), 3);
        assert!(body.beats.last().unwrap().bytes.starts_with(b": keep-alive"));
    });
}

#[test]
fn garbage_is_garbage() {
    on_all(&Fault::InvalidUtf8, |_, body, _| assert!(String::from_utf8(bytes(&body)).is_err()));
    on_all(&Fault::InvalidJson, |dialect, body, _| {
        let bad = data(&body)
            .iter()
            .filter(|data| *data != "[DONE]" && serde_json::from_str::<Value>(data).is_err())
            .count();
        assert_eq!(bad, 1, "{dialect}");
    });
}

#[test]
fn reframing_changes_how_the_same_events_are_written() {
    on_all(&Fault::CrLf, |_, body, clean| {
        let text = String::from_utf8(bytes(&body)).unwrap();
        assert_eq!(text.replace("\r\n", "\n").into_bytes(), clean);
        assert!(!text.replace("\r\n", "").contains('\n'));
    });
    on_all(&Fault::Cr, |_, body, clean| {
        let text = String::from_utf8(bytes(&body)).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(text.replace('\r', "\n").into_bytes(), clean);
    });
    on_all(&Fault::OddFraming, |dialect, body, _| {
        let sent = bytes(&body);
        assert!(sent.starts_with(b"\xEF\xBB\xBF: welcome\n"), "{dialect}");
        assert!(!String::from_utf8(sent).unwrap().contains("data: "), "{dialect}");
    });
}

#[test]
fn splits_fall_inside_characters_and_lose_nothing() {
    on_all(&Fault::SplitUtf8, |dialect, body, clean| {
        assert_eq!(bytes(&body), clean);
        let multi = String::from_utf8(clean).unwrap().chars().filter(|c| c.len_utf8() > 1).count();
        assert_eq!(body.beats.len(), multi + 1, "{dialect}: one cut for each multi-byte character");
        let all_but_last = &body.beats[..body.beats.len() - 1];
        assert!(all_but_last.iter().all(|beat| std::str::from_utf8(&beat.bytes).is_err()));
    });
    on_all(&Fault::ByteByByte, |_, body, clean| {
        assert_eq!(bytes(&body), clean);
        assert!(body.beats.iter().all(|beat| beat.bytes.len() == 1 && beat.delay.is_zero()));
    });
    on_all(&Fault::SlowDrip { tick_ms: 3 }, |_, body, clean| {
        assert_eq!(bytes(&body), clean);
        assert!(body.beats.iter().all(|beat| beat.bytes.len() == 1 && beat.delay.as_millis() == 3));
    });
}

#[test]
fn extra_events_are_added_and_nothing_else_changes() {
    on_all(&Fault::HugeEvent { mib: 1 }, |_, body, clean| {
        assert!(bytes(&body).len() > clean.len() + (1 << 20));
        assert!(body.beats.iter().any(|beat| beat.bytes.len() > 1 << 20));
    });
    on_all(&Fault::UnknownEvent, |dialect, body, _| {
        let seen = data(&body).iter().filter(|data| data.contains("future.thing")).count();
        assert_eq!(seen, 1, "{dialect}");
    });
    on_all(&Fault::DuplicateTerminal, |dialect, body, clean| {
        let last = frames(dialect).last().unwrap().bytes();
        assert_eq!(bytes(&body), [clean, last].concat());
    });
    on_all(&Fault::AfterTerminal, |_, body, clean| {
        assert!(bytes(&body).starts_with(&clean) && bytes(&body).len() > clean.len());
    });
}

#[test]
fn missing_ends_are_missing() {
    on_all(&Fault::MissingTerminal, |dialect, body, _| {
        let text = bytes(&body);
        let expected: Vec<u8> = frames(dialect)
            .iter()
            .filter(|frame| frame.part != Part::Finish)
            .flat_map(Frame::bytes)
            .collect();
        assert_eq!(text, expected);
        assert_eq!(body.tail, Tail::End);
    });
    on_all(&Fault::MissingLast, |dialect, body, clean| {
        let last = frames(dialect).last().unwrap().bytes();
        assert_eq!([bytes(&body), last].concat(), clean);
    });
}

#[test]
fn errors_inside_a_stream_have_the_dialects_form() {
    let last = |dialect, error, at| {
        let body = spoiled(dialect, &Fault::InStream { error, at });
        serde_json::from_str::<Value>(data(&body).last().unwrap()).unwrap()
    };
    let limited = |dialect| last(dialect, StreamError::RateLimited, At::BeforeOutput);
    assert_eq!(limited(Dialect::Responses)["code"], "rate_limit_exceeded");
    assert_eq!(limited(Dialect::Responses)["type"], "error");
    assert_eq!(limited(Dialect::Messages)["error"]["type"], "rate_limit_error");
    assert_eq!(limited(Dialect::Chat)["error"]["code"], "rate_limit_exceeded");
    let failed = last(Dialect::Responses, StreamError::FailedRateLimited, At::Middle);
    assert_eq!(failed["type"], "response.failed");
    assert_eq!(failed["response"]["error"]["code"], "rate_limit_exceeded");
    let overloaded = last(Dialect::Messages, StreamError::Overloaded, At::Middle);
    assert_eq!(overloaded["error"]["type"], "overloaded_error");
}

#[test]
fn an_error_before_output_comes_before_any_output() {
    on_all(&Fault::InStream { error: StreamError::Overloaded, at: At::BeforeOutput }, |dialect, body, _| {
        let opening = frames(dialect).iter().filter(|frame| frame.part == Part::Opening).count();
        assert_eq!(body.beats.len(), opening + 1, "{dialect}");
    });
    on_all(&Fault::InStream { error: StreamError::Overloaded, at: At::Middle }, |dialect, body, _| {
        let text = String::from_utf8(bytes(&body)).unwrap();
        assert!(text.contains("Hm."), "{dialect}: some output came first");
    });
}

#[test]
fn unstreamed_answers_are_cut_stalled_and_dripped() {
    let body = |fault: &Fault| whole("0123456789".to_owned(), Pacing::default(), Some(fault));
    let cut = |then| Fault::Cut { at: At::Middle, place: Where::Inside, then };
    assert_eq!(bytes(&body(&cut(Then::Broken))), b"01234");
    assert_eq!(body(&cut(Then::Broken)).tail, Tail::Cut);
    assert_eq!(body(&Fault::Stall { at: At::Middle }).tail, Tail::Stall);
    assert_eq!(body(&Fault::SlowDrip { tick_ms: 1 }).beats.len(), 10);
}

//! What is written of an answer is what is told again.

use std::time::Duration;

use mica_ai::error::{Cause, CutPoint};
use mica_ai::event::Retry;
use mica_ai::id::MessageId;

use super::*;

#[test]
fn every_error_says_the_same_again() {
    let reply = || {
        Box::new(Reply {
            status: Some(429),
            code: Some("slow".to_owned()),
            message: "Slow down.".to_owned(),
            param: Some("input".to_owned()),
            request_id: None,
        })
    };
    let after = Some(Duration::from_millis(1500));
    let errors = [
        AiError::RateLimited { after, reply: reply() },
        AiError::Overloaded { after: None, reply: reply() },
        AiError::ContextOverflow { limit: Some(3), sent: Some(4), reply: reply() },
        AiError::ContentFiltered { categories: Vec::new(), reply: reply() },
        AiError::Refused { reply: reply() },
        AiError::Auth { tried: "a key".to_owned(), hint: "Get one.".to_owned(), reply: reply() },
        AiError::NotFound { model: "m".to_owned(), reply: reply() },
        AiError::StaleReasoning { reply: reply() },
        AiError::Billing { reply: reply() },
        AiError::BadRequest { reply: reply() },
        AiError::Network { action: "connecting".to_owned(), source: Cause::new("reset") },
        AiError::StreamCut { when: CutPoint::InsideEvent, source: None },
        AiError::Idle { limit: Duration::from_secs(3) },
        AiError::Deadline { limit: Duration::from_secs(4) },
        AiError::Protocol { detail: "odd".to_owned() },
        AiError::Cancelled,
    ];
    for error in errors {
        let event =
            StreamEvent::Retry(Retry { attempt: 1, attempts: 2, wait: Duration::from_millis(5), error });
        let told = Told::from(&event);
        let written = serde_json::to_string(&told).unwrap();
        let read: Told = serde_json::from_str(&written).unwrap();
        let again = read.event(&MessageId::from("m"));
        assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&event).unwrap());
        let (StreamEvent::Retry(one), StreamEvent::Retry(other)) = (&event, &again) else { unreachable!() };
        assert_eq!(one.error.retry(), other.error.retry(), "{written}");
        assert_eq!(one.error.for_user(), other.error.for_user(), "{written}");
    }
}

#[track_caller]
fn unreadable(text: &str, line: usize, problem: &str) {
    match Cassette::parse(text, Covers::default()) {
        Err((found, said)) => assert_eq!((found, said.as_str()), (line, problem), "{text}"),
        Ok(_) => panic!("{text} is read"),
    }
}

#[test]
fn what_is_no_cassette_is_refused_with_its_line() {
    let head = "{\"cassette\":1,\"model\":\"m\",\"dialect\":\"chat\"}\n";
    let begins =
        "a cassette begins with its head, and each request with an `ask`: record it again with --record";
    unreadable("", 1, "the file is empty: record it with --record");
    unreadable("{\"ask\":1}\n", 1, "this is no line of a cassette: record it again with --record");
    unreadable(&format!("{head}{head}"), 2, begins);
    unreadable(&format!("{head}{{\"event\":{{\"type\":\"start\"}}}}\n"), 2, begins);
    unreadable(
        &format!("{head}{{\"ask\":1,\"key\":\"k\",\"keeps\":2}}\n"),
        2,
        "the request before has no 2 parts: record it again with --record",
    );
    unreadable(
        "{\"cassette\":9,\"model\":\"m\",\"dialect\":\"chat\"}\n",
        1,
        "cassettes have version 1, and this is 9: record it again with --record",
    );
}

#[test]
fn the_first_difference_is_named() {
    let part = |part: &str, value: serde_json::Value| Part { part: part.to_owned(), value };
    let check = |one: &[Part], other: &[Part], expect: &str| assert_eq!(difference(one, other), expect);
    let tool = |text: &str| part("tool a", serde_json::json!({ "description": text, "schema": {} }));
    let (a, b) = (part("system 1", "one".into()), part("message 1 user", "two".into()));
    check(&[tool("x")], &[tool("y")], "tool a changed in \"description\": recorded \"x\", now \"y\"");
    let one = std::slice::from_ref::<Part>;
    let others = |names: &[&str]| -> Vec<Part> {
        names.iter().map(|name| part(&format!("tool {name}"), serde_json::Value::Null)).collect()
    };
    check(&others(&["b", "c"]), &others(&["a", "b", "d"]), "the tools are others (new: a, d; gone: c)");
    check(&others(&["b"]), &others(&["a", "b"]), "the tools are others (new: a)");
    check(one(&a), one(&b), "there is message 1 user where system 1 was");
    check(&[a.clone(), b.clone()], one(&a), "message 1 user is not there any more");
    check(one(&a), &[a.clone(), b], "message 1 user is new: \"two\"");
    check(one(&a), one(&a), "nothing is different but the digest: the file was changed by hand");
    let long = |end: &str| part("system 1", format!("{}{end}", "x".repeat(100)).into());
    check(
        &[long("y and more of it and more of it and more of it")],
        &[long("z")],
        "system 1 changed in it: recorded \"…xxxxxxxxxxxxxxxxxxxxy and more of it and more of it and more…\", now \
         \"…xxxxxxxxxxxxxxxxxxxxz\"",
    );
}

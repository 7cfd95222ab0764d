//! What may be asked again, kind by kind.

use std::time::Duration;

use super::{After, AiError, Cause, CutPoint, Reply};

fn every_kind() -> Vec<(AiError, Option<After>)> {
    let reply = || Reply::local("x");
    let second = Duration::from_secs(1);
    let rate = AiError::RateLimited { after: Some(second), reply: reply() };
    vec![
        (rate.clone(), Some(After::Asked(second))),
        (AiError::RateLimited { after: None, reply: reply() }, Some(After::Backoff)),
        (AiError::Overloaded { after: Some(second), reply: reply() }, Some(After::Asked(second))),
        (AiError::Overloaded { after: None, reply: reply() }, Some(After::Backoff)),
        (AiError::Network { action: "connect".into(), source: Cause::new("reset") }, Some(After::Backoff)),
        (AiError::StreamCut { when: CutPoint::BetweenEvents, source: None }, Some(After::Backoff)),
        (AiError::Idle { limit: second }, Some(After::Backoff)),
        (AiError::WaitTooLong { wait: second, cap: second, source: Box::new(rate) }, None),
        (AiError::ContextOverflow { limit: None, sent: None, reply: reply() }, None),
        (AiError::ContentFiltered { categories: Vec::new(), reply: reply() }, None),
        (AiError::Refused { reply: reply() }, None),
        (AiError::Auth { tried: "key".into(), hint: "hint".into(), reply: reply() }, None),
        (AiError::NotFound { model: "m".into(), reply: reply() }, None),
        // Helped by sending the conversation without its old reasoning, which is another request.
        (AiError::StaleReasoning { reply: reply() }, None),
        (AiError::Billing { reply: reply() }, None),
        (AiError::BadRequest { reply: reply() }, None),
        (AiError::Deadline { limit: second }, None),
        (AiError::Cancelled, None),
        (AiError::Protocol { detail: "x".into() }, None),
    ]
}

#[test]
fn what_may_be_asked_again() {
    for (error, expected) in every_kind() {
        assert_eq!(error.retry(), expected, "{}", error.kind());
    }
}

#[test]
fn only_an_overflow_asks_for_shortening() {
    for (error, _) in every_kind() {
        assert_eq!(error.is_overflow(), error.kind() == "context_overflow");
    }
}

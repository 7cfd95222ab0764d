//! Every reason for a miss, and no alarm without one.

use std::sync::Arc;

use mica_ai::model::{Effort, Model};
use mica_ai::{Content, Dialect, Message, User};

use super::*;
use crate::breakpoints::MarkSettings;

fn facts(kind: CacheKind) -> CacheFacts {
    CacheFacts { kind, minimum: 1024, max_marks: 4, lookback: 20, ttl_minutes: vec![5] }
}

fn request(kind: CacheKind) -> Request {
    let mut model = Model::assumed("m", Dialect::Messages);
    model.cache = facts(kind);
    let mut request = Request::new(Arc::new(model));
    request.system = vec!["static ".repeat(2_000), "org ".repeat(300)];
    for id in ["m1", "m2", "m3"] {
        let content = vec![Content::text(format!("{id} {}", "word ".repeat(300)))];
        request.messages.push(Message::User(User { id: id.into(), content }));
    }
    request.cache.marks = breakpoints::plan(&request, &Measure::of(&request), MarkSettings::default());
    request
}

fn sent(request: &Request, seconds: u64) -> Sent {
    Sent::new(request, &Measure::of(request), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

const BEFORE: Usage = Usage {
    input: 5_000,
    cache_read: 0,
    cache_write: 5_000,
    cache_write_long: 0,
    output: 10,
    reasoning: 0,
    cost: None,
};

/// The reason after a change of the second request, sent after so many seconds, that read nothing.
fn reason(kind: CacheKind, seconds: u64, change: impl FnOnce(&mut Request)) -> Option<Reason> {
    let first = request(kind);
    let mut second = first.clone();
    change(&mut second);
    let (first, second) = (sent(&first, 0), sent(&second, seconds));
    let usage = Usage { input: 5_100, cache_write: 5_100, ..Usage::default() };
    check(Some((&first, &BEFORE)), &second, &usage, &facts(kind), None).reason
}

#[test]
fn what_changed_is_named() {
    let kind = CacheKind::Marks;
    let changed = |index, segment, from: Option<&str>| {
        Some(Reason::Changed { index, segment, from: from.map(MessageId::from) })
    };
    assert_eq!(reason(kind, 1, |request| request.system[0].push('!')), changed(0, Name::Static, None));
    assert_eq!(reason(kind, 1, |request| request.system[1].push('!')), changed(1, Name::Org, None));
    let messages = || Name::Messages { through: "m1".into() };
    assert_eq!(
        reason(kind, 1, |request| {
            request.messages[0] = Message::User(User { id: "m1".into(), content: vec![Content::text("?")] });
        }),
        changed(2, messages(), Some("m1"))
    );
    let through = Name::Messages { through: "m3".into() };
    assert_eq!(reason(kind, 1, |request| drop(request.messages.remove(1))), changed(3, through, Some("m2")));
    assert_eq!(reason(kind, 1, |request| request.effort = Some(Effort::Max)), Some(Reason::SettingsChanged));
    assert_eq!(
        reason(kind, 1, |request| {
            request.model = Arc::new(Model { deployment: "other".into(), ..(*request.model).clone() });
        }),
        Some(Reason::ModelChanged)
    );
}

#[test]
fn what_did_not_change_is_explained_otherwise() {
    assert_eq!(reason(CacheKind::Marks, 301, |_| {}), Some(Reason::Expired { elapsed: 301, ttl: 300 }));
    assert_eq!(reason(CacheKind::Marks, 299, |_| {}), Some(Reason::Unexplained));
    assert_eq!(reason(CacheKind::Prefix, 1, |_| {}), Some(Reason::Unexplained));
    assert_eq!(reason(CacheKind::None, 1, |_| {}), None);
}

fn plain(before: Usage, usage: Usage, rewritten: Option<&str>, marks: bool) -> CacheCheck {
    let mut first = request(CacheKind::Marks);
    let second = sent(&first, 1);
    if !marks {
        first.cache.marks.clear();
    }
    let first = sent(&first, 0);
    check(Some((&first, &before)), &second, &usage, &facts(CacheKind::Marks), rewritten)
}

#[test]
fn small_differences_are_no_news() {
    let usage = Usage { input: 5_100, cache_read: 4_800, ..Usage::default() };
    assert_eq!(plain(BEFORE, usage, None, true).reason, None);
    let usage = Usage { input: 5_100, cache_read: 4_000, ..Usage::default() };
    let check = plain(BEFORE, usage, None, true);
    assert!(check.is_miss());
    assert_eq!(check.shortfall(), 1_000);
}

#[test]
fn silence_is_not_a_miss_of_the_cache() {
    let silent = Usage { input: 5_000, ..Usage::default() };
    assert_eq!(plain(silent, silent, None, true).reason, Some(Reason::NotReported));
    let small = Usage { input: 900, cache_write: 0, ..Usage::default() };
    assert_eq!(plain(small, silent, None, true).reason, Some(Reason::BelowMinimum { minimum: 1024 }));
    let written = Usage { input: 5_000, cache_write: 5_000, ..Usage::default() };
    assert_eq!(plain(BEFORE, written, None, false).reason, Some(Reason::NotMarked));
}

#[test]
fn a_first_request_is_no_miss() {
    let alone = sent(&request(CacheKind::Marks), 0);
    let first = check(None, &alone, &BEFORE, &facts(CacheKind::Marks), None);
    assert_eq!(first.reason, Some(Reason::FirstRequest));
    assert!(!first.is_miss());
}

#[test]
fn a_change_on_purpose_is_called_that() {
    let first = request(CacheKind::Marks);
    let mut second = first.clone();
    second.messages.remove(0);
    let (first, second) = (sent(&first, 0), sent(&second, 1));
    let usage = Usage { input: 3_000, cache_write: 3_000, ..Usage::default() };
    let check = check(Some((&first, &BEFORE)), &second, &usage, &facts(CacheKind::Marks), Some("compaction"));
    assert_eq!(check.reason, Some(Reason::Rewritten { by: "compaction".into() }));
}

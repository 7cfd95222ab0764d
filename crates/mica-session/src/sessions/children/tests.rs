//! Where sessions of subagents are, who sees them, and when they go.

#![allow(clippy::disallowed_methods, reason = "the tests do to files what others might")]

use mica_ai::{Message, User};
use tempfile::TempDir;

use super::*;
use crate::entry::{Body, RunId};
use crate::files::Durability;

/// Folders of sessions in which it is always `hour` o'clock.
fn at(folder: &TempDir, hour: i64) -> Sessions {
    Sessions::new(folder.path(), move || time(hour))
}

fn time(hour: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + hour * 3_600).unwrap()
}

fn parent(sessions: &Sessions) -> PathBuf {
    let mut session = sessions.create("/home/user/orders".as_ref(), None).unwrap();
    session.append(Message::from(User::text("look at the orders")), Durability::Lazy).unwrap();
    session.path().to_owned()
}

/// A subagent that was sent, and whether its run came to an end.
fn child(sessions: &Sessions, parent: &Path, text: &str, ended: bool) -> SessionId {
    let of = sessions.summary(parent).unwrap().id;
    let of = ChildOf { session: of, run: RunId::from("run-1"), call: "call-1".to_owned() };
    let mut session = sessions.draft_child(parent, "/home/user/orders".as_ref(), None, of.clone());
    assert!(!session.path().exists());
    session.append(Body::RunStart { run: RunId::from("run-2") }, Durability::Lazy).unwrap();
    session.append(Message::from(User::text(text)), Durability::Lazy).unwrap();
    if ended {
        let end = Body::RunEnd { run: RunId::from("run-2"), outcome: "completed".to_owned() };
        session.append(end, Durability::Lazy).unwrap();
    }
    assert_eq!(session.header().child_of, Some(of));
    session.header().id
}

fn titles(children: &[Summary]) -> Vec<&str> {
    children.iter().map(Summary::title).collect()
}

#[test]
fn they_are_found_and_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = at(&folder, 0);
    let path = parent(&sessions);
    let id = child(&sessions, &path, "find them", true);
    assert_eq!(titles(&sessions.list(None).sessions), ["look at the orders"]);
    assert_eq!(titles(&sessions.children(&path)), ["find them"]);
    let found = sessions.find(&id.short()).unwrap();
    assert_eq!(sessions.child(&path, &id.short()).unwrap(), found);
    assert!(matches!(sessions.child(&path, "00000000"), Err(SessionError::NotFound { .. })));
    sessions.delete(&path).unwrap();
    assert!(!found.exists(), "a child goes with its parent");
}

#[test]
fn they_go_an_hour_after_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = parent(&at(&folder, 0));
    let ended = child(&at(&folder, 1), &path, "ended", true);
    child(&at(&folder, 1), &path, "cut off", false);
    child(&at(&folder, 2), &path, "later", true);
    let sessions = at(&folder, 2);
    let hour = SignedDuration::from_hours(1);
    let open = sessions.open(&sessions.child(&path, &ended.short()).unwrap(), Access::Write).unwrap();
    assert_eq!(sessions.sweep_children(None, hour, time(2)), []);
    drop(open);
    assert_eq!(sessions.sweep_children(Some(&path), hour, time(2)), [ended]);
    let mut left = sessions.children(&path);
    left.sort_by_key(|child| child.title().to_owned());
    assert_eq!(titles(&left), ["cut off", "later"]);
}

//! Folders of sessions: lists, forks, names, deletion and retention.

#![allow(clippy::disallowed_methods, reason = "the tests do to files what others might")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::SignedDuration;
use mica_ai::message::{Block, Content, Text};
use mica_ai::{Message, User};
use tempfile::TempDir;

use super::*;
use crate::entry::Body;
use crate::files::Durability;
use crate::line::tests::{answer, picture};

/// A folder of sessions in which every look at the clock is a second later.
fn folder() -> (TempDir, Sessions) {
    let folder = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicI64::new(1_800_000_000));
    let clock = move || Timestamp::from_second(seconds.fetch_add(1, Ordering::SeqCst)).unwrap();
    let sessions = Sessions::new(folder.path(), clock);
    (folder, sessions)
}

fn begun(sessions: &Sessions, project: &str, text: &str) -> PathBuf {
    let mut session = sessions.create(project.as_ref(), None).unwrap();
    session.append(Message::from(User::text(text)), Durability::Lazy).unwrap();
    session.path().to_owned()
}

fn titles(sessions: &Sessions, project: Option<&str>) -> Vec<String> {
    let listing = sessions.list(project.map(Path::new));
    assert!(listing.unreadable.is_empty());
    listing.sessions.iter().map(|summary| summary.title().to_owned()).collect()
}

#[test]
fn lists_are_by_project_and_newest_first() {
    let (folder, sessions) = folder();
    assert!(titles(&sessions, None).is_empty());
    let one = begun(&sessions, "/home/user/a", "one");
    begun(&sessions, "/home/user/b", "two");
    begun(&sessions, "/home/user/a", "three");
    assert_eq!(titles(&sessions, None), ["three", "two", "one"]);
    assert_eq!(titles(&sessions, Some("/home/user/a")), ["three", "one"]);
    sessions.rename(&one, "uno").unwrap();
    assert_eq!(titles(&sessions, None), ["uno", "three", "two"]);
    // What is no session is told, and hides nothing.
    let stray = one.with_file_name("20260101T000000Z_01890a5d-ac96-774b-bcce-b302099a8057.jsonl");
    fs::write(&stray, "nothing").unwrap();
    fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
    let listing = sessions.list(None);
    assert_eq!((listing.sessions.len(), listing.unreadable.len()), (3, 1));
}

#[test]
fn a_summary_is_the_same_with_and_without_an_index() {
    let (_folder, sessions) = folder();
    let path = begun(&sessions, "/home/user/a", "one");
    let mut session = sessions.open(&path, Access::Write).unwrap();
    session.append(answer(Vec::new()), Durability::Lazy).unwrap();
    session.rename("named").unwrap();
    let while_open = sessions.summary(&path).unwrap();
    drop(session);
    let with = sessions.summary(&path).unwrap();
    fs::remove_file(paths::index(&path)).unwrap();
    assert_eq!(sessions.summary(&path).unwrap(), with);
    assert_eq!(while_open, with);
    assert_eq!(with.entries, Some(3));
    assert_eq!(with.name.as_deref(), Some("named"));
    assert_eq!(with.opening.as_deref(), Some("one"));
    assert_eq!(with.model.as_deref(), Some("claude-sonnet-4-6"));
    assert_eq!(with.bytes, fs::metadata(&path).unwrap().len());
    assert!(with.changed > with.created);
}

#[test]
fn a_long_session_without_an_index_is_summed_up_from_its_ends() {
    let (_folder, sessions) = folder();
    let path = begun(&sessions, "/home/user/a", "one");
    let mut session = sessions.open(&path, Access::Write).unwrap();
    let text = Text { text: "word ".repeat(2000), ..Text::default() };
    for _ in 0..150 {
        session.append(answer(vec![Block::Text(text.clone())]), Durability::Lazy).unwrap();
    }
    session.rename("long").unwrap();
    drop(session);
    let with = sessions.summary(&path).unwrap();
    assert!(with.bytes > 1024 * 1024);
    fs::remove_file(paths::index(&path)).unwrap();
    assert_eq!(
        sessions.summary(&path).unwrap(),
        Summary { entries: None, turns: None, labels: None, ..with }
    );
}

#[test]
fn sessions_are_found_by_the_beginning_of_their_id() {
    let (_folder, sessions) = folder();
    let one = begun(&sessions, "/home/user/a", "one");
    begun(&sessions, "/home/user/b", "two");
    let id = paths::id_in_name(&one).unwrap().to_string();
    assert_eq!(sessions.find(&id).unwrap(), one);
    assert_eq!(sessions.find(&id[..id.len() - 1].to_uppercase()).unwrap(), one);
    assert!(matches!(sessions.find("0").unwrap_err(), SessionError::Ambiguous { count: 2, .. }));
    assert!(matches!(sessions.find("xyz").unwrap_err(), SessionError::NotFound { .. }));
}

#[test]
fn a_fork_is_the_path_with_its_marks_and_blobs() {
    let (_folder, sessions) = folder();
    let mut session = sessions.create("/home/user/a".as_ref(), Some("origin")).unwrap();
    let image = "QUJD".repeat(8192);
    let user = User { id: "u".into(), content: vec![Content::text("see"), picture(&image)] };
    let first = session.append(Message::from(user), Durability::Lazy).unwrap();
    let second = session.append(Message::from(User::text("two")), Durability::Lazy).unwrap();
    session.append(Message::from(User::text("three")), Durability::Lazy).unwrap();
    session.label(first, Some("start")).unwrap();
    session.navigate(Some(first)).unwrap();
    let other = session.append(Message::from(User::text("other")), Durability::Lazy).unwrap();
    session.label(other, Some("elsewhere")).unwrap();

    let fork = sessions.fork(&session, second).unwrap();
    let path: Vec<EntryId> = fork.tree().branch().iter().map(|node| node.id).collect();
    assert_eq!(path, [first, second]);
    assert_eq!(fork.branch().unwrap(), session.entries(path).unwrap());
    assert_eq!(fork.tree().labels().collect::<Vec<_>>(), [(first, "start")]);
    assert_eq!(fork.name(), Some("origin"));
    let from = ForkedFrom { session: session.header().id, entry: second };
    assert_eq!(fork.header().forked_from, Some(from));
    assert_ne!(fork.header().id, session.header().id);
    // It stands on its own.
    let origin = session.path().to_owned();
    drop(session);
    sessions.delete(&origin).unwrap();
    assert_eq!(fork.branch().unwrap().notices, []);
    let label = fork.tree().nodes().iter().find(|node| node.kind.is_aside()).unwrap().id;
    assert!(matches!(sessions.fork(&fork, label), Err(SessionError::Tree(TreeError::Aside { .. }))));
}

#[test]
fn deleting_leaves_nothing_and_waits_for_nobody() {
    let (_folder, sessions) = folder();
    let path = begun(&sessions, "/home/user/a", "one");
    let other = begun(&sessions, "/home/user/a", "two");
    let mut session = sessions.open(&path, Access::Write).unwrap();
    let user = User { id: "u".into(), content: vec![picture(&"QUJD".repeat(8192))] };
    session.append(Message::from(user), Durability::Lazy).unwrap();
    assert!(matches!(sessions.delete(&path).unwrap_err(), SessionError::Locked { .. }));
    drop(session);
    fs::write(paths::sidecar(&path, "torn-1"), "x").unwrap();
    fs::create_dir(paths::spill(&path)).unwrap();
    fs::write(paths::spill(&path).join("long"), "x").unwrap();
    sessions.delete(&path).unwrap();
    let mut left: Vec<PathBuf> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, [other.clone(), paths::index(&other)]);
    assert!(matches!(sessions.delete(&path).unwrap_err(), SessionError::NotFound { .. }));
}

#[test]
fn retention_says_what_goes_before_it_goes() {
    let (_folder, sessions) = folder();
    let paths: Vec<PathBuf> =
        ["one", "two", "three"].iter().map(|text| begun(&sessions, "/home/user/a", text)).collect();
    begun(&sessions, "/home/user/b", "four");
    let now = Timestamp::from_second(1_800_000_100).unwrap();
    let plan = |retention: Retention| -> Vec<(String, Why)> {
        let goes = sessions.plan(&retention, now).goes;
        goes.iter().map(|goes| (goes.session.title().to_owned(), goes.why)).collect()
    };
    assert_eq!(plan(Retention::default()), []);
    let two = Retention { sessions: Some(2), ..Retention::default() };
    assert_eq!(plan(two.clone()), [("one".to_owned(), Why::Many)]);
    let bytes = fs::metadata(&paths[2]).unwrap().len();
    let small = Retention { bytes: Some(bytes), ..Retention::default() };
    assert_eq!(plan(small), [("two".to_owned(), Why::Large), ("one".to_owned(), Why::Large)]);
    let young = Retention { unchanged_for: Some(SignedDuration::from_secs(97)), ..Retention::default() };
    assert_eq!(plan(young), [("one".to_owned(), Why::Old)]);

    let one_each = Retention { sessions: Some(1), ..Retention::default() };
    let doomed = sessions.plan(&one_each, now).goes;
    assert_eq!(doomed.len(), 2);
    // Between the plan and the deed, somebody goes on with one and has the other one open.
    sessions.rename(&paths[0], "still needed").unwrap();
    let open = sessions.open(&paths[1], Access::Write).unwrap();
    let left = sessions.carry_out(doomed.clone());
    assert_eq!(left.len(), 1);
    assert!(matches!(left[0].1, SessionError::Locked { .. }));
    drop(open);
    assert!(sessions.carry_out(doomed).is_empty());
    assert_eq!(titles(&sessions, None), ["still needed", "four", "three"]);
}

#[test]
fn marked_and_open_sessions_stay_and_count_for_nothing() {
    let (_folder, sessions) = folder();
    let paths: Vec<PathBuf> =
        ["marked", "open", "old", "new"].iter().map(|text| begun(&sessions, "/home/user/a", text)).collect();
    let mut marked = sessions.open(&paths[0], Access::Write).unwrap();
    let target = marked.tree().leaf().unwrap();
    marked.label(target, Some("keep")).unwrap();
    drop(marked);
    // Marks are found with the index and without.
    fs::remove_file(paths::index(&paths[0])).unwrap();
    assert_eq!(sessions.summary(&paths[0]).unwrap().labels, Some(vec!["keep".to_owned()]));
    sessions.open(&paths[3], Access::Write).unwrap().rename("new").unwrap();
    let open = sessions.open(&paths[1], Access::Write).unwrap();
    let now = Timestamp::from_second(1_800_000_100).unwrap();
    let one = Retention { sessions: Some(1), ..Retention::default() };
    let titles = |plan: Plan| {
        let goes: Vec<String> = plan.goes.iter().map(|goes| goes.session.title().to_owned()).collect();
        let spared: Vec<(String, Spared)> =
            plan.spared.iter().map(|(goes, why)| (goes.session.title().to_owned(), *why)).collect();
        (goes, spared)
    };
    let (goes, spared) = titles(sessions.plan(&one, now));
    assert_eq!(goes, ["old"]);
    assert_eq!(spared, [("marked".to_owned(), Spared::Labelled), ("open".to_owned(), Spared::Open)]);
    drop(open);
    let mut marked = sessions.open(&paths[0], Access::Write).unwrap();
    marked.label(target, None).unwrap();
    drop(marked);
    // The one that changed last stays now, and nothing else has a reason to.
    let (goes, spared) = titles(sessions.plan(&one, now));
    assert_eq!((goes.len(), spared.len()), (3, 0), "{goes:?}");
}

#[test]
fn lists_know_turns_and_marks_however_many() {
    let (_folder, sessions) = folder();
    let path = begun(&sessions, "/home/user/a", "one");
    let mut session = sessions.open(&path, Access::Write).unwrap();
    let mut names = Vec::new();
    for number in 0..300 {
        let said = session.append(answer(Vec::new()), Durability::Lazy).unwrap();
        names.push(format!("mark {number:03}"));
        session.label(said, names.last().map(String::as_str)).unwrap();
    }
    drop(session);
    let summary = sessions.summary(&path).unwrap();
    assert_eq!((summary.turns, summary.entries), (Some(300), Some(601)));
    assert_eq!(summary.labels, Some(names), "in the order of what they mark");
    // Without the index the file says the same.
    fs::remove_file(paths::index(&path)).unwrap();
    assert_eq!(sessions.summary(&path).unwrap(), summary);
}

#[test]
fn extensions_keep_what_is_theirs() {
    let (_folder, sessions) = folder();
    let mut session = sessions.create("/home/user/a".as_ref(), None).unwrap();
    let body =
        Body::Custom { custom: "todo/list".to_owned(), value: serde_json::json!({"b": [1], "a": null}) };
    let at = session.append(body.clone(), Durability::Lazy).unwrap();
    assert_eq!(session.entry(at).unwrap().body, body);
}

#[test]
fn a_draft_leaves_nothing_until_something_is_said() {
    let (_folder, sessions) = folder();
    let mut draft = sessions.draft("/home/user/a".as_ref(), Some("Plans"));
    let (id, path) = (draft.header().id, draft.path().to_owned());
    assert_eq!((draft.access(), draft.is_draft(), draft.name()), (Access::Write, true, Some("Plans")));
    assert!(draft.live().unwrap().entries.is_empty());
    assert!(draft.unfinished().unwrap().is_nothing());
    draft.sync().unwrap();
    assert_eq!(draft.navigate(None).unwrap(), None);
    // An entry that is refused leaves nothing either.
    let mut nowhere = sessions.create("/home/user/b".as_ref(), None).unwrap();
    let stranger = nowhere.append(Message::from(User::text("x")), Durability::Lazy).unwrap();
    drop(nowhere);
    assert!(draft.label(stranger, Some("mark")).is_err());
    assert!(draft.append(Body::Unknown { kind: "x".to_owned(), line: Vec::new() }, Durability::Now).is_err());
    assert!(!path.exists() && !path.parent().unwrap().exists());
    assert_eq!(titles(&sessions, Some("/home/user/a")), Vec::<String>::new());
    assert!(sessions.find(&id.to_string()).is_err());

    let first = draft.append(Message::from(User::text("one")), Durability::Lazy).unwrap();
    assert!(!draft.is_draft());
    let second = draft.append(Message::from(User::text("two")), Durability::Now).unwrap();
    assert_eq!(draft.entries([first, second]).unwrap().entries.len(), 2);
    assert_eq!(titles(&sessions, Some("/home/user/a")), ["Plans"]);
    assert_eq!(sessions.find(&id.to_string()).unwrap(), path);
    assert!(matches!(sessions.open(&path, Access::Write), Err(SessionError::Locked { .. })), "it is locked");
    drop(draft);
    let again = sessions.open(&path, Access::Write).unwrap();
    assert_eq!((again.header().id, again.tree().len(), again.notices().len()), (id, 2, 0));
}

#[test]
fn what_others_put_beside_a_session_goes_with_it() {
    let (_folder, sessions) = folder();
    let (one, other) = (begun(&sessions, "/home/user/a", "one"), begun(&sessions, "/home/user/a", "two"));
    for path in [&one, &other] {
        fs::create_dir(path.with_extension("spill")).unwrap();
        fs::write(path.with_extension("spill").join("000001-grep.txt"), "large").unwrap();
    }
    sessions.delete(&one).unwrap();
    assert!(!one.with_extension("spill").exists());
    assert!(other.with_extension("spill").exists() && other.exists());
}

//! Sessions on disk: what was appended is there, whatever happened to the file.

#![allow(clippy::disallowed_methods, reason = "the tests do to files what others might")]

use std::fs;
use std::io::Write;

use jiff::Timestamp;
use mica_ai::User;
use mica_ai::message::{Block, Content};
use proptest::prelude::*;
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::*;
use crate::entry::{Compaction, Version};
use crate::line::tests::{answer, body, call, picture};
use crate::node::Kind;
use crate::sessions::Sessions;
use crate::upcast::Upcaster;

fn noon() -> Timestamp {
    "2026-03-04T12:00:00Z".parse().unwrap()
}

fn folder() -> (TempDir, Sessions) {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path().join("sessions"), noon);
    (folder, sessions)
}

fn begun(sessions: &Sessions) -> Session {
    sessions.create("/home/user/orders".as_ref(), None).unwrap()
}

fn say(session: &mut Session, text: &str) -> EntryId {
    session.append(Message::from(User::text(text)), Durability::Now).unwrap()
}

fn texts(session: &Session) -> Vec<String> {
    session.tree().branch().iter().map(|node| node.preview.to_string()).collect()
}

/// A closed session of three messages.
fn three(sessions: &Sessions) -> (PathBuf, [EntryId; 3]) {
    let mut session = begun(sessions);
    let ids = ["one", "two", "three"].map(|text| say(&mut session, text));
    (session.path().to_owned(), ids)
}

#[test]
fn the_first_message_is_on_disk_at_once() {
    let (_folder, sessions) = folder();
    let mut session = begun(&sessions);
    say(&mut session, "hello");
    let file = fs::read_to_string(session.path()).unwrap();
    assert_eq!(file.lines().count(), 2);
    assert!(file.ends_with('\n'));
    // Readers are always allowed.
    assert_eq!(texts(&sessions.open(session.path(), Access::Read).unwrap()), ["hello"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_what_was_said() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, sessions) = folder();
    let mut session = begun(&sessions);
    let user = User { id: "u".into(), content: vec![picture(&"QUJD".repeat(8192))] };
    session.append(Message::from(user), Durability::Now).unwrap();
    let path = session.path().to_owned();
    drop(session);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let blobs = paths::blobs(&path);
    let blob = fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    for file in [&path, &paths::index(&path), &blob] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    for made in [folder.path().join("sessions").as_path(), path.parent().unwrap(), &blobs] {
        assert_eq!(mode(made), 0o700, "{}", made.display());
    }
}

#[test]
fn where_the_conversation_stands_is_stored() {
    let (_folder, sessions) = folder();
    let (path, [one, two, three]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    assert_eq!(session.navigate(Some(one)).unwrap(), Some(three));
    session.navigate(Some(one)).unwrap();
    assert_eq!(session.tree().len(), 4);
    drop(session);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    assert_eq!(session.tree().leaf(), Some(one));
    say(&mut session, "other");
    assert_eq!(texts(&session), ["one", "other"]);
    session.navigate(None).unwrap();
    say(&mut session, "anew");
    assert_eq!(texts(&session), ["anew"]);
    session.navigate(Some(two)).unwrap();
    assert_eq!(texts(&session), ["one", "two"]);
}

#[test]
fn a_compaction_is_undone_by_going_back() {
    let (_folder, sessions) = folder();
    let (path, [_, two, three]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    let before = session.live().unwrap();
    let compaction = Compaction {
        summary: "sum".to_owned(),
        first_kept: Some(two),
        tokens_before: 90,
        reason: "full".to_owned(),
        ..Compaction::default()
    };
    let at = session.append(Body::Compaction(compaction.clone()), Durability::Now).unwrap();
    let four = say(&mut session, "four");
    let ids: Vec<EntryId> = session.live().unwrap().entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [at, two, three, four]);
    assert_eq!(session.entry(at).unwrap().body, Body::Compaction(compaction));
    session.navigate(Some(three)).unwrap();
    assert_eq!(session.live().unwrap(), before);
}

#[test]
fn undoing_a_compaction_keeps_what_came_after_it() {
    let (_folder, sessions) = folder();
    let (path, [_, two, _]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    assert_eq!(session.uncompact().unwrap(), None, "there is nothing to undo");
    let compaction = Compaction { summary: "sum".to_owned(), first_kept: Some(two), ..Compaction::default() };
    let at = session.append(Body::Compaction(compaction), Durability::Now).unwrap();
    let four = say(&mut session, "four");
    session.label(four, Some("here")).unwrap();
    let picture = User { id: "p".into(), content: vec![picture(&"QUJD".repeat(8192))] };
    session.append(Message::from(picture.clone()), Durability::Now).unwrap();
    let left = session.tree().leaf();

    assert_eq!(session.uncompact().unwrap(), Some(at));
    assert_eq!(texts(&session), ["one", "two", "three", "four", ""]);
    let live = session.live().unwrap();
    assert_eq!(
        live.messages().last(),
        Some(&Message::from(picture)),
        "with what is kept outside of the file"
    );
    let copy = session.tree().branch()[3].id;
    assert_eq!((session.tree().label(copy), session.tree().label(four)), (Some("here"), Some("here")));
    // Nothing is gone: the branch with the compaction is still there.
    session.navigate(left).unwrap();
    assert_eq!(session.live().unwrap().entries[0].id, at);
}

#[test]
fn a_branch_that_is_left_can_leave_a_word() {
    let (_folder, sessions) = folder();
    let (path, [one, _, three]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    let said = session.navigate_with(Some(one), "two led nowhere").unwrap().unwrap();
    assert_eq!(session.tree().leaf(), Some(said));
    let Body::BranchSummary(summary) = session.entry(said).unwrap().body else { panic!("not a summary") };
    assert_eq!((summary.from, summary.summary.as_str()), (three, "two led nowhere"));
    assert_eq!(texts(&session), ["one", "two led nowhere"]);
}

#[test]
fn entries_are_found_by_the_ends_of_their_ids() {
    let (_folder, sessions) = folder();
    let (path, [one, two, three]) = three(&sessions);
    let session = sessions.open(&path, Access::Read).unwrap();
    let found = |given: &str| session.tree().find(given).iter().map(|node| node.id).collect::<Vec<_>>();
    assert_eq!(found(&two.to_string()), [two]);
    assert_eq!(found(&three.short()), [three]);
    assert_eq!(found("0"), [one, two, three]);
    assert_eq!(found("nothing"), []);
}

#[test]
fn a_torn_tail_is_moved_away() {
    let (_folder, sessions) = folder();
    let (path, _) = three(&sessions);
    for (number, tail) in [&b"{\"id\":\"018"[..], b"\0\0\0\0", b"{\"id\0\0", b" "].into_iter().enumerate() {
        let whole = fs::read(&path).unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(tail).unwrap();
        let reader = sessions.open(&path, Access::Read).unwrap();
        assert_eq!(reader.notices(), [Notice::UnfinishedTail { bytes: tail.len() as u64 }]);
        let mut session = sessions.open(&path, Access::Write).unwrap();
        let saved = paths::sidecar(&path, &format!("torn-{}", number + 1));
        assert_eq!(session.notices(), [Notice::TornTail { bytes: tail.len() as u64, saved: saved.clone() }]);
        assert_eq!(fs::read(&saved).unwrap(), tail);
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(texts(&session).len(), 3 + number);
        say(&mut session, "more");
        drop(session);
        assert_eq!(sessions.open(&path, Access::Write).unwrap().notices(), []);
    }
}

#[test]
fn a_line_that_lacks_only_its_line_break_is_kept() {
    let (_folder, sessions) = folder();
    let (path, _) = three(&sessions);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let session = sessions.open(&path, Access::Write).unwrap();
    assert_eq!(session.notices(), [Notice::TailCompleted]);
    assert_eq!(texts(&session), ["one", "two", "three"]);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_malformed_line_in_the_middle_is_kept_in_its_place() {
    let (_folder, sessions) = folder();
    let (path, [one, _, three]) = three(&sessions);
    let text = fs::read_to_string(&path).unwrap();
    let spoilt: String = text.replace("\"two\"", "\"tw\u{0}");
    fs::write(&path, &spoilt).unwrap();
    let offset = spoilt.lines().take(2).map(|line| line.len() as u64 + 1).sum();
    for round in 0..2 {
        let mut session = sessions.open(&path, Access::Write).unwrap();
        let malformed = session.tree().nodes()[1].clone();
        assert_eq!((malformed.kind, malformed.parent), (Kind::Malformed, Some(one)));
        assert_eq!(session.notices()[0], Notice::Malformed { entry: malformed.id, offset });
        assert_eq!(session.tree().node(three).unwrap().parent, Some(malformed.id));
        assert_eq!(session.entry(three).unwrap().parent, Some(malformed.id));
        assert_eq!(session.tree().branch().len(), 3 + round);
        match session.entry(malformed.id).unwrap().body {
            Body::Malformed { line, .. } => assert_eq!(line, spoilt.lines().nth(2).unwrap().as_bytes()),
            other => panic!("{other:?}"),
        }
        assert_eq!(session.live().unwrap().messages().count(), 2 + round);
        say(&mut session, "on");
    }
    assert!(fs::read_to_string(&path).unwrap().starts_with(&spoilt));
}

#[test]
fn branches_of_an_entry_that_was_damaged_stay_its_branches() {
    let (_folder, sessions) = folder();
    let (path, [_, two, _]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    session.navigate(Some(two)).unwrap();
    let four = say(&mut session, "four");
    drop(session);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"two\"", "\"two")).unwrap();
    let session = sessions.open(&path, Access::Read).unwrap();
    let malformed = session.tree().nodes()[1].id;
    assert_eq!(session.tree().node(four).unwrap().parent, Some(malformed));
    assert_eq!(session.tree().children(Some(malformed)).filter(|node| !node.kind.is_aside()).count(), 2);
}

#[test]
fn an_id_that_is_taken_makes_a_malformed_entry() {
    let (_folder, sessions) = folder();
    let (path, [_, _, three]) = three(&sessions);
    let text = fs::read_to_string(&path).unwrap();
    let twice = format!("{text}{}\n", text.lines().nth(1).unwrap());
    fs::write(&path, twice).unwrap();
    let session = sessions.open(&path, Access::Read).unwrap();
    let last = session.tree().nodes()[3].clone();
    assert_eq!((last.kind, last.parent), (Kind::Malformed, Some(three)));
    assert!(matches!(session.entry(last.id).unwrap().body, Body::Malformed { .. }));
}

#[test]
fn names_of_entries_that_are_not_there_are_told() {
    let (_folder, sessions) = folder();
    let (path, [_, two, _]) = three(&sessions);
    let mut session = sessions.open(&path, Access::Write).unwrap();
    session.navigate(Some(two)).unwrap();
    session.label(two, Some("good")).unwrap();
    drop(session);
    let lost = EntryId::fresh(noon());
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.replace(&format!("\"target\":\"{two}\""), &format!("\"target\":\"{lost}\"")))
        .collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let session = sessions.open(&path, Access::Read).unwrap();
    let nodes = session.tree().nodes();
    assert_eq!(
        session.notices(),
        [3, 4].map(|number: usize| Notice::Misplaced { entry: nodes[number].id, names: lost })
    );
    assert_eq!(texts(&session), ["one", "two", "three"]);
}

#[test]
fn what_is_no_session_is_left_alone() {
    let (folder, sessions) = folder();
    let path = folder.path().join("x.jsonl");
    for content in ["", "{}", "{}\n", "hello\n", "{\"kind\":\"session\",\"version\":\"1.0\"", "\0\0\0\0\n"] {
        fs::write(&path, content).unwrap();
        for access in [Access::Read, Access::Write] {
            match sessions.open(&path, access).unwrap_err() {
                SessionError::NotASession { .. } => {}
                other => panic!("{content:?}: {other}"),
            }
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_newer_major_version_is_refused_and_a_newer_minor_one_is_not() {
    let (_folder, sessions) = folder();
    let (path, _) = three(&sessions);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"1.0\"", "\"1.7\"", 1)).unwrap();
    assert_eq!(sessions.open(&path, Access::Write).unwrap().header().version, Version { major: 1, minor: 7 });
    fs::write(&path, text.replacen("\"1.0\"", "\"2.0\"", 1)).unwrap();
    let error = sessions.open(&path, Access::Read).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{} has format version 2.0, and this program reads 1.0: open it with a newer program",
            path.display()
        )
    );
}

/// A version that never was: it said `type`, `at` and `cwd`, and had the text of a user without content.
const ZERO: &[Upcaster] = &[Upcaster {
    from: 0,
    line: |object: &mut Map<String, Value>| {
        for (old, new) in [("type", "kind"), ("at", "time"), ("cwd", "project")] {
            if let Some(value) = object.shift_remove(old) {
                object.insert(new.to_owned(), value);
            }
        }
        if let Some(text) = object.shift_remove("text") {
            let content = serde_json::json!([{"type": "text", "text": text}]);
            object.insert(
                "message".to_owned(),
                serde_json::json!({"role": "user", "id": object["id"], "content": content}),
            );
        }
    },
}];

#[test]
fn an_older_version_is_brought_up_to_date() {
    let (folder, sessions) = folder();
    let sessions = sessions.with_steps(ZERO);
    let path = folder.path().join("old.jsonl");
    let old = include_str!("fixtures/version-0.jsonl");
    fs::write(&path, old).unwrap();

    let reader = sessions.open(&path, Access::Read).unwrap();
    assert_eq!(texts(&reader), ["hello", "vote", "again"]);
    assert_eq!(reader.live().unwrap().messages().count(), 2);
    assert_eq!(sessions.summary(&path).unwrap().title(), "hello");
    assert_eq!(fs::read_to_string(&path).unwrap(), old);

    let mut session = sessions.open(&path, Access::Write).unwrap();
    let kept = paths::sidecar(&path, "v0-1");
    let from = Version { major: 0, minor: 4 };
    assert_eq!(session.notices(), [Notice::Upcast { from, kept: kept.clone() }]);
    assert_eq!(fs::read_to_string(kept).unwrap(), old);
    assert_eq!(session.header().version, Version::CURRENT);
    // What nobody knows came through, field by field.
    let vote = session.tree().nodes()[1].id;
    match session.entry(vote).unwrap().body {
        Body::Unknown { kind, line } => {
            assert_eq!(kind, "vote");
            let line: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(line["for"], "b");
        }
        other => panic!("{other:?}"),
    }
    say(&mut session, "new");
    drop(session);
    assert_eq!(texts(&sessions.open(&path, Access::Read).unwrap()), ["hello", "vote", "again", "new"]);
    // Without the step it is a version that cannot be read.
    fs::write(&path, old).unwrap();
    let plain = Sessions::new(folder.path(), noon);
    assert!(matches!(plain.open(&path, Access::Read).unwrap_err(), SessionError::Version { .. }));
}

#[test]
fn one_writes_and_the_others_are_told() {
    let (_folder, sessions) = folder();
    let session = begun(&sessions);
    let error = sessions.open(session.path(), Access::Write).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{} is open in another program (process {}): close it there, or open it for reading",
            session.path().display(),
            std::process::id()
        )
    );
    let mut reader = sessions.open(session.path(), Access::Read).unwrap();
    let refused = reader.rename("x").unwrap_err();
    assert!(matches!(refused, SessionError::ReadOnly { .. }));
    let path = session.path().to_owned();
    drop(session);
    sessions.open(&path, Access::Write).unwrap();
}

#[test]
fn a_full_disk_is_told_and_the_session_goes_on() {
    let (_folder, sessions) = folder();
    let mut session = begun(&sessions);
    say(&mut session, "one");
    let before = fs::read(session.path()).unwrap();
    struct Full(File, bool);
    impl crate::files::Log for Full {
        fn write_at(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
            if std::mem::replace(&mut self.1, false) {
                crate::files::Log::write_at(&mut self.0, offset, &bytes[..bytes.len() / 2])?;
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            crate::files::Log::write_at(&mut self.0, offset, bytes)
        }
        fn set_len(&mut self, length: u64) -> std::io::Result<()> {
            self.0.set_len(length)
        }
        fn sync(&mut self) -> std::io::Result<()> {
            self.0.sync_data()
        }
    }
    let file = crate::files::open_log(session.path()).unwrap();
    *session.appender().unwrap() = Appender::new(Full(file, true), before.len() as u64);
    let error = session.append(Message::from(User::text("lost")), Durability::Now).unwrap_err();
    assert!(error.is_disk_full());
    assert_eq!(
        error.to_string(),
        format!(
            "the entry was not saved in {}: no storage space. Make room and try again",
            session.path().display()
        )
    );
    assert_eq!(fs::read(session.path()).unwrap(), before);
    say(&mut session, "two");
    assert_eq!(texts(&session), ["one", "two"]);
    let path = session.path().to_owned();
    drop(session);
    assert_eq!(texts(&sessions.open(&path, Access::Read).unwrap()), ["one", "two"]);
}

#[test]
fn large_payloads_are_beside_the_session_and_come_back() {
    let (_folder, sessions) = folder();
    let mut session = begun(&sessions);
    let image = "QUJD".repeat(8192);
    let user = User { id: "u".into(), content: vec![Content::text("see"), picture(&image)] };
    let at = session.append(Message::from(user.clone()), Durability::Now).unwrap();
    assert!(fs::metadata(session.path()).unwrap().len() < 1024);
    assert_eq!(session.entry(at).unwrap().body, Body::from(Message::from(user.clone())));
    let blobs: Vec<PathBuf> =
        fs::read_dir(paths::blobs(session.path())).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(blobs.len(), 1);
    assert_eq!(fs::read_to_string(&blobs[0]).unwrap(), image);
    // The same payload again is no second file.
    session.append(Message::from(user), Durability::Now).unwrap();
    assert_eq!(fs::read_dir(paths::blobs(session.path())).unwrap().count(), 1);
    fs::remove_file(&blobs[0]).unwrap();
    let hash = blobs[0].file_name().unwrap().to_str().unwrap().to_owned();
    let live = session.live().unwrap();
    assert_eq!(live.notices[0], Notice::BlobLost { entry: at, hash });
    assert_eq!(live.entries.len(), 2);
}

#[test]
fn an_entry_that_is_too_large_is_refused() {
    let (_folder, sessions) = folder();
    let sessions = sessions.with_limits(Limits { line: 200, ..Limits::default() });
    let mut session = begun(&sessions);
    let error = session.rename(&"x".repeat(200)).unwrap_err();
    assert!(matches!(error, SessionError::TooLarge { limit: 200, .. }));
    assert_eq!(session.tree().len(), 0);
}

#[test]
fn an_unfinished_turn_is_told_when_the_session_is_opened_again() {
    let (_folder, sessions) = folder();
    let mut session = begun(&sessions);
    say(&mut session, "go");
    session.append(Body::RunStart { run: "r".into() }, Durability::Lazy).unwrap();
    session.append(Body::TurnOpen { run: Some("r".into()) }, Durability::Lazy).unwrap();
    let asked = answer(vec![Block::ToolCall(call("1"))]);
    let at = session.append(asked, Durability::Now).unwrap();
    let path = session.path().to_owned();
    drop(session);
    let unfinished = sessions.open(&path, Access::Read).unwrap().unfinished().unwrap();
    let expect = Unfinished { run: Some("r".into()), turn: None, answer: Some(at), calls: vec![call("1")] };
    assert_eq!(unfinished, expect);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the file is cut, the whole lines before the cut are there and a writer can go on.
    #[test]
    fn any_cut_leaves_all_whole_lines(bodies in proptest::collection::vec(body(), 1..12), cut in 0.0..1.0_f64) {
        let (_folder, sessions) = folder();
        let mut session = begun(&sessions);
        let header = fs::metadata(session.path()).unwrap().len();
        // Bodies name entries that are not there; those are refused, and that is fine.
        let ids: Vec<EntryId> =
            bodies.into_iter().filter_map(|body| session.append(body, Durability::Lazy).ok()).collect();
        let entries = session.entries(ids.iter().copied()).unwrap();
        let path = session.path().to_owned();
        drop(session);
        let bytes = fs::read(&path).unwrap();
        let at = header as usize + ((bytes.len() as u64 - header) as f64 * cut) as usize;
        fs::write(&path, &bytes[..at]).unwrap();
        let mut session = sessions.open(&path, Access::Write).unwrap();
        let whole = bytes[..at].iter().filter(|byte| **byte == b'\n').count() - 1;
        // A line that lacks only its line break is whole, too.
        let whole = whole + usize::from(bytes.get(at) == Some(&b'\n') && at > header as usize && bytes[at - 1] != b'\n');
        prop_assert_eq!(session.tree().len(), whole);
        prop_assert_eq!(&session.entries(ids[..whole].iter().copied()).unwrap().entries[..], &entries.entries[..whole]);
        say(&mut session, "on");
        let expect: Vec<Node> = session.tree().nodes().to_vec();
        drop(session);
        prop_assert_eq!(sessions.open(&path, Access::Read).unwrap().tree().nodes().to_vec(), expect);
    }
}

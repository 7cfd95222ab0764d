//! The store through its public surface: what it holds, what it refuses, and what happens once.

use std::path::PathBuf;

use mica_domain::{RecordError, Records};
use serde_json::{Map, Value, json};

use super::*;

/// The moment that test desks are filled at: a Sunday evening.
pub(crate) fn now() -> Timestamp {
    "2026-11-15T19:00:00Z".parse().unwrap()
}

/// A desk with the data that comes along.
pub(crate) fn filled() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("desk.db")).unwrap();
    assert!(seed::fill(&store, now()).unwrap());
    (folder, store)
}

pub(crate) fn hand(key: Option<&str>) -> Hand {
    Hand { who: "member:maya".to_owned(), at: now(), key: key.map(str::to_owned) }
}

fn fields(value: impl Into<Value>) -> Map<String, Value> {
    value.into().as_object().unwrap().clone()
}

#[test]
fn the_desk_that_comes_along() {
    let (_folder, store) = filled();
    let count = |table: &str| -> i64 {
        store
            .look(|c| Ok(c.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?))
            .unwrap()
    };
    let tables =
        ["members", "agents", "companies", "contacts", "threads", "tasks", "articles", "article_index"];
    assert_eq!(tables.map(count), [4, 2, 12, 40, 60, 25, 15, 15]);
    assert!(!seed::fill(&store, now()).unwrap(), "a desk that has members is left alone");
    let broken: i64 = store
        .look(|c| Ok(c.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?))
        .unwrap();
    assert_eq!(broken, 0);
}

#[test]
fn the_same_clock_gives_the_same_desk() {
    let (_one, one) = filled();
    let (_two, two) = filled();
    let dump = |store: &Store| {
        store
            .look(|c| threads::search(c, &threads::Search { limit: Some(50), ..Default::default() }))
            .unwrap()
    };
    assert_eq!(dump(&one), dump(&two));
}

#[test]
fn every_list_has_a_limit() {
    let (_folder, store) = filled();
    let (found, all) = store
        .look(|c| threads::search(c, &threads::Search { limit: Some(9999), ..Default::default() }))
        .unwrap();
    assert_eq!((found.len(), all), (50, 60));
    let (found, all) = store.look(|c| entities::search(c, &entities::Search::default())).unwrap();
    assert_eq!((found.len(), all), (10, 52));
}

#[test]
fn records_by_words() {
    let (_folder, store) = filled();
    let find = |search: entities::Search| -> Vec<String> {
        let (found, _) = store.look(|c| entities::search(c, &search)).unwrap();
        found.into_iter().map(|entity| entity.id).collect()
    };
    let words = |words: &str| entities::Search { words: words.to_owned(), ..Default::default() };
    assert_eq!(find(words("ana silva")), ["contact:ana-silva", "contact:ana-silva-reyes"]);
    assert_eq!(
        find(words("acme logistics")),
        [
            "company:acme-logistics",
            "contact:ana-silva",
            "contact:bram-de-wit",
            "contact:chiara-russo",
            "contact:dmitri-volkov",
            "contact:elin-berg"
        ]
    );
    assert_eq!(find(words("100%")), Vec::<String>::new(), "signs mean themselves");
    let at_risk = entities::Search { status: Some("at risk".to_owned()), ..Default::default() };
    assert_eq!(find(at_risk), ["company:initech"]);
}

#[test]
fn a_change_names_what_it_changed() {
    let (_folder, store) = filled();
    let changes = fields(json!({ "status": "At-Risk", "owner": "Jonas", "tier": "key" }));
    let (before, after) = store
        .change(|tx| entities::update(tx, &hand(Some("k")), "company:acme-logistics", &changes))
        .unwrap();
    assert_eq!((before.version, after.version), (1, 2));
    assert_eq!(after.get("status"), Some("at risk"));
    assert_eq!(after.get("owner"), Some("member:jonas"));
    let entry = store.look(|c| activity::newest(c, Some("company:acme-logistics"), None)).unwrap().remove(0);
    assert_eq!((entry.verb.as_str(), entry.who.as_str(), entry.at), ("updated", "member:maya", now()));
    assert_eq!(
        entry.detail,
        json!({
            "before": { "status": "active", "owner": "member:priya" },
            "after": { "status": "at risk", "owner": "member:jonas" }
        })
    );
    // What changes nothing is no change.
    let (_, same) =
        store.change(|tx| entities::update(tx, &hand(None), "company:acme-logistics", &changes)).unwrap();
    assert_eq!(same.version, 2);
    assert_eq!(store.look(|c| activity::newest(c, None, None)).unwrap().len(), 1);
}

#[test]
fn what_a_record_refuses() {
    let (_folder, store) = filled();
    for (id, changes, expect) in [
        (
            "company:acme-logistics",
            json!({ "shoe": "x" }),
            "a company has no field \"shoe\"; it has name, domain, city, tier, status, owner, about",
        ),
        (
            "company:acme-logistics",
            json!({ "tier": "gold" }),
            "tier cannot be \"gold\"; it is one of key, standard, small",
        ),
        ("company:acme-logistics", json!({ "name": " " }), "a name cannot be empty"),
        ("company:acme-logistics", json!({ "city": ["x"] }), "city must be a text"),
        (
            "contact:ana-silva",
            json!({ "email": "nobody" }),
            "\"nobody\" is no address; write name@example.org",
        ),
        (
            "contact:ana-silva",
            json!({ "company": "company:nowhere" }),
            "there is no record \"company:nowhere\"",
        ),
        ("contact:nobody", json!({}), "there is no record \"contact:nobody\""),
        ("id'; DROP TABLE contacts; --", json!({}), "there is no record \"id'; DROP TABLE contacts; --\""),
    ] {
        let error = store.change(|tx| entities::update(tx, &hand(None), id, &fields(changes))).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    assert_eq!(store.look(|c| activity::newest(c, None, None)).unwrap(), []);
}

#[test]
fn a_deleted_record_is_found_by_its_id_only() {
    let (_folder, store) = filled();
    let gone = store.change(|tx| entities::delete(tx, &hand(None), "contact:ana-silva")).unwrap();
    assert!(gone.deleted);
    assert_eq!(store.look(|c| entities::get(c, "contact:ana-silva")).unwrap().name, "Ana Silva");
    let words = entities::Search { words: "ana silva".to_owned(), ..Default::default() };
    assert_eq!(store.look(|c| entities::search(c, &words)).unwrap().1, 1);
    let error =
        store.change(|tx| entities::update(tx, &hand(None), "contact:ana-silva", &Map::new())).unwrap_err();
    assert_eq!(error.to_string(), "contact:ana-silva was deleted");
}

#[tokio::test]
async fn a_call_happens_once_by_its_key() {
    let (_folder, store) = filled();
    let create = |key: &str| {
        let new = tasks::New { title: "Ring Ana".to_owned(), ..Default::default() };
        store.once("create_task", hand(Some(key)), move |tx, hand| {
            let task = tasks::create(tx, hand, &new)?;
            Ok(Done { text: task.id.clone(), details: json!({ "tasks": [task] }) })
        })
    };
    let first = create("run/1").await.unwrap();
    assert_eq!(first.text, "task:026");
    assert_eq!(create("run/1").await.unwrap(), first);
    assert_eq!(create("run/2").await.unwrap().text, "task:027");
    let count: i64 =
        store.look(|c| Ok(c.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))?)).unwrap();
    assert_eq!(count, 27);
}

#[tokio::test]
async fn what_failed_changed_nothing_and_leaves_its_key_free() {
    let (_folder, store) = filled();
    let failed = store
        .once("create_task", hand(Some("k")), |tx, hand| {
            tasks::create(tx, hand, &tasks::New { title: "One".to_owned(), ..Default::default() })?;
            Err(DeskError::invalid("no"))
        })
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "no");
    let again = store
        .once("create_task", hand(Some("k")), |tx, hand| {
            let task =
                tasks::create(tx, hand, &tasks::New { title: "Two".to_owned(), ..Default::default() })?;
            Ok(Done { text: task.id, details: Value::Null })
        })
        .await;
    assert_eq!(again.unwrap().text, "task:026", "the number was not used up");
}

#[tokio::test]
async fn documents_compare_and_set_and_outlive_the_process() {
    let (folder, store) = filled();
    assert_eq!(store.get("bundle", "b").await, Ok(None));
    assert_eq!(store.put("bundle", "b", &json!({ "n": 1 }), None).await, Ok(1));
    let conflict = RecordError::Conflict { kind: "bundle".to_owned(), id: "b".to_owned() };
    assert_eq!(store.put("bundle", "b", &json!(2), None).await, Err(conflict.clone()));
    assert_eq!(store.put("bundle", "b", &json!(2), Some(1)).await, Ok(2));
    assert_eq!(store.put("bundle", "b", &json!(3), Some(1)).await, Err(conflict));
    assert_eq!(store.put("bundle", "a", &json!(4), None).await, Ok(1));
    drop(store);
    let store = Store::open(folder.path().join("desk.db")).unwrap();
    let listed = store.list("bundle").await.unwrap();
    let listed: Vec<_> = listed.iter().map(|(id, kept)| (id.as_str(), kept.version, &kept.doc)).collect();
    assert_eq!(listed, [("a", 1, &json!(4)), ("b", 2, &json!(2))]);
}

#[test]
fn mail_can_be_taken_back_for_a_while() {
    let (_folder, store) = filled();
    let thread = store.look(|c| threads::get(c, "thread:1053")).unwrap();
    let address = store.look(|c| mail::recipient(c, &thread)).unwrap();
    let sent = store.change(|tx| mail::send(tx, &hand(None), &thread, &address, " Hello Ana ")).unwrap();
    assert_eq!(
        (sent.id.as_str(), sent.state.as_str(), sent.body.as_str()),
        ("mail:001", "queued", " Hello Ana ")
    );
    assert_eq!(sent.subject, format!("Re: {}", thread.subject));
    let count = |_: &()| store.look(|c| threads::messages(c, &thread.id, None)).unwrap().1;
    let with = count(&());
    assert_eq!(store.look(|c| threads::get(c, &thread.id)).unwrap().status, "waiting");
    let late = Hand { at: now() + mail::WINDOW, ..hand(None) };
    let error = store.change(|tx| mail::unsend(tx, &late, "mail:001")).unwrap_err();
    assert_eq!(error.to_string(), "mail:001 has left already, or was taken back");
    assert_eq!(store.change(|tx| mail::unsend(tx, &hand(None), "mail:001")).unwrap().state, "unsent");
    assert_eq!(count(&()), with - 1);
    assert_eq!(store.look(|c| threads::get(c, &thread.id)).unwrap().status, "open");
    assert_eq!(
        store.change(|tx| mail::leave(tx, now() + mail::WINDOW)).unwrap(),
        0,
        "what was taken back never leaves"
    );
}

#[test]
fn mail_goes_to_people_of_the_thread_only() {
    let (_folder, store) = filled();
    let thread = store.look(|c| threads::get(c, "thread:1053")).unwrap();
    let is_part = |address: &str| store.look(|c| mail::is_part(c, &thread, address)).unwrap();
    assert!(is_part("ana.silva@acme-logistics.test"));
    assert!(is_part("Bram.de-wit@acme-logistics.test"), "a colleague");
    assert!(is_part("maya@labelry.test"), "a member");
    assert!(!is_part("audit@outside.test"));
    assert!(!is_part("farid.haddad@globex-pharma.test"));
    assert!(!is_part("ana.silva@\u{430}cme-logistics.test"), "a letter that only looks alike");
    assert!(!is_part("Ana <ana.silva@acme-logistics.test>"), "no address");
    for (status, may) in [("left", false), ("do not contact", false), ("active", true)] {
        let change = "UPDATE contacts SET status = ?1 WHERE email = 'bram.de-wit@acme-logistics.test'";
        store.change(|tx| Ok(tx.execute(change, [status])?)).unwrap();
        assert_eq!(is_part("bram.de-wit@acme-logistics.test"), may, "a colleague: {status}");
    }
}

/// Anybody can write the number of a thread into a subject: that makes them nobody that mail goes to.
#[test]
fn who_writes_in_a_thread_has_no_part_in_it_by_that() {
    let (_folder, store) = filled();
    let say = |thread: &str, author: &str| {
        let hand = Hand { who: author.to_owned(), ..hand(None) };
        store
            .change(|tx| threads::say(tx, &hand, thread, author, "Cc: evil@x.test\nReply-To: evil@x.test"))
            .unwrap()
            .known
    };
    for (author, known) in [
        ("contact:ana-silva", true),
        ("contact:bram-de-wit", true),
        ("contact:farid-haddad", false),
        ("mallory@evil.test", false),
        ("maya@labelry.test", false),
        ("ana.silva@acme-logistics.test", true),
        ("member:maya", true),
    ] {
        assert_eq!(say("thread:1053", author), known, "{author}");
    }
    let thread = store.look(|c| threads::get(c, "thread:1053")).unwrap();
    for address in ["mallory@evil.test", "evil@x.test", "farid.haddad@globex-pharma.test"] {
        assert!(!store.look(|c| mail::is_part(c, &thread, address)).unwrap(), "{address}");
    }
    assert_eq!(store.look(|c| mail::recipient(c, &thread)).unwrap(), "ana.silva@acme-logistics.test");
    let heard = store.look(|c| threads::every_message(c, "thread:1053")).unwrap();
    let heard: Vec<&str> = heard.iter().map(|message| message.author.as_str()).collect();
    assert!(!heard.contains(&"mallory@evil.test") && heard.contains(&"contact:bram-de-wit"), "{heard:?}");
    // Whoever began a thread has a part in it, and who came later has not.
    let stranger = Hand { who: "new@nobody.test".to_owned(), ..hand(None) };
    let begun =
        store.change(|tx| threads::begin(tx, &stranger, None, "new@nobody.test", "Hi", "Hello")).unwrap();
    assert!(!say(&begun.id, "mallory@evil.test") && say(&begun.id, "new@nobody.test"));
    for (address, may) in [("new@nobody.test", true), ("mallory@evil.test", false)] {
        assert_eq!(store.look(|c| mail::is_part(c, &begun, address)).unwrap(), may, "{address}");
    }
    let waits = threads::Search { unanswered: true, limit: Some(50), ..Default::default() };
    let (waiting, _) = store.look(|c| threads::search(c, &waits)).unwrap();
    assert!(waiting.iter().any(|thread| thread.id == begun.id), "who is in no list waits, too");
}

/// What somebody wrote is kept as they wrote it.
#[test]
fn words_are_kept_letter_for_letter() {
    let (_folder, store) = filled();
    let text = "  snake_case  and\ttabs \\n C:\\new\r\n\u{202e}x\u{1b}[31m \n";
    let thread = store.look(|c| threads::get(c, "thread:1053")).unwrap();
    store
        .change(|tx| {
            assert_eq!(notes::add(tx, &hand(None), "thread:1053", text)?.body, text);
            assert_eq!(mail::draft(tx, &hand(None), &thread, "a@b.test", text)?.body, text);
            assert_eq!(mail::send(tx, &hand(None), &thread, "a@b.test", text)?.body, text);
            assert_eq!(threads::say(tx, &hand(None), "thread:1053", "contact:ana-silva", text)?.body, text);
            let about = fields(json!({ "about": text }));
            let (_, after) = entities::update(tx, &hand(None), "company:initech", &about)?;
            assert_eq!(after.get("about"), Some(text));
            let task =
                tasks::New { title: "snake_case".to_owned(), detail: text.to_owned(), ..Default::default() };
            let task = tasks::create(tx, &hand(None), &task)?;
            assert_eq!((task.title.as_str(), task.detail.as_str()), ("snake_case", text));
            Ok(())
        })
        .unwrap();
    assert_eq!(store.look(|c| notes::about(c, "thread:1053", None)).unwrap()[0].body, text);
}

#[test]
fn articles_are_held_kept_and_put_back() {
    let (_folder, store) = filled();
    let edit = |run: &str, old: &str, new: &str| {
        let edit = articles::Edit::Replace { old: old.to_owned(), new: new.to_owned() };
        store
            .change(|tx| articles::write(tx, &hand(None), "article:returns", run, None, Some(&edit)))
            .map(|(_, after)| after.version)
    };
    assert_eq!(edit("r1", "within 30 days", "within 45 days").unwrap(), 2);
    assert_eq!(edit("r1", "within 45 days", "within 50 days").unwrap(), 3);
    assert_eq!(
        edit("r2", "50", "60").unwrap_err().to_string(),
        "article:returns is being edited by member:maya; nothing was changed. Try again when they are done"
    );
    let offered = store.change(|tx| articles::release(tx, "r1", false, "the run was stopped")).unwrap();
    assert_eq!(offered.len(), 1);
    assert_eq!((offered[0].state.as_str(), offered[0].why.as_str()), ("offered", "the run was stopped"));
    let back = store.change(|tx| articles::undo(tx, &hand(None), &offered[0].id)).unwrap();
    assert!(back.body.contains("within 30 days"), "{}", back.body);
    let twice = store.change(|tx| articles::undo(tx, &hand(None), &offered[0].id)).unwrap_err();
    assert_eq!(twice.to_string(), "article:returns was put back already");
    // Somebody else's words are not overwritten.
    edit("r3", "within 30 days", "within 31 days").unwrap();
    let kept = store.change(|tx| articles::release(tx, "r3", true, "")).unwrap();
    assert_eq!(kept[0].state, "kept");
    edit("r4", "within 31 days", "within 32 days").unwrap();
    store.change(|tx| articles::release(tx, "r4", true, "")).unwrap();
    let error = store.change(|tx| articles::undo(tx, &hand(None), &kept[0].id)).unwrap_err();
    assert_eq!(error.to_string(), "article:returns was changed by somebody else since; look at it first");
    assert_eq!(
        edit("r5", "the", "x").unwrap_err().to_string(),
        "article:returns says \"the\" 6 times; quote more of it"
    );
}

#[test]
fn articles_by_words() {
    let (_folder, store) = filled();
    let find = |words: &str, internal| -> Vec<String> {
        let found = store.look(|c| articles::search(c, words, internal, None)).unwrap();
        found.into_iter().map(|found| found.id).collect()
    };
    assert_eq!(find("refund freight", true), ["article:returns"]);
    assert_eq!(find("jamming printers", true)[0], "article:paper-jam");
    assert_eq!(find("promise", false), ["article:firmware-update"]);
    assert_eq!(find("journalists", false), Vec::<String>::new(), "what is internal is not for customers");
    assert_eq!(find("journalists", true), ["article:escalation"]);
    assert_eq!(find("\" * ( ^ -", true), Vec::<String>::new(), "signs mean nothing");
}

#[test]
fn who_may_do_what() {
    let (_folder, store) = filled();
    let may = |who: &str, right: &str| store.look(|c| team::rights(c, who)).unwrap().allow(right);
    assert!(may("member:maya", "agents.write"));
    assert!(may("member:priya", "mail.send") && !may("member:priya", "agents.write"));
    assert!(may("member:tomas", "notes.write") && !may("member:tomas", "records.write"));
    assert!(may("agent:triage", "mail.draft") && !may("agent:triage", "mail.send"));
    assert!(store.look(|c| team::rights(c, "member:nobody")).is_err());
}

#[test]
fn files_that_are_no_desk() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    #[allow(clippy::disallowed_methods, reason = "a test makes the file it reads")]
    let garbage = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).unwrap();
    let open = |name: &str| {
        Store::open_patiently(path(name), Duration::from_millis(20))
            .err()
            .map(|error| error.to_string().replace(&path("").display().to_string(), ""))
    };
    garbage("garbage.db", &[7; 4096]);
    assert_eq!(
        open("garbage.db").unwrap(),
        "garbage.db is damaged (file is not a database); move it away and a fresh desk is made, or bring a copy back"
    );
    assert_eq!(
        open("no/such/desk.db").unwrap(),
        "no/such/desk.db cannot be opened: unable to open database file: no/such/desk.db"
    );
    Connection::open(path("other.db")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert_eq!(open("other.db").unwrap(), "other.db is a database, but none of a desk; name another folder");
    drop(Store::open(path("newer.db")).unwrap());
    Connection::open(path("newer.db")).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    assert_eq!(
        open("newer.db").unwrap(),
        "newer.db is of version 99, and this program knows up to 2; use a newer mica"
    );
    let store = Store::open_patiently(path("busy.db"), Duration::from_millis(20)).unwrap();
    let other = Connection::open(path("busy.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.change(|_| Ok(())).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "busy.db is locked by another program, and was not free in time; close that program, or try again"
        ),
        "{error}"
    );
    assert_eq!(store.look(|c| Ok(team::members(c)?.len())).unwrap(), 0, "others can still look");
}

/// Who writes from outside cannot say that they are of the desk.
#[test]
fn senders_are_contacts_or_addresses() {
    for (from, address) in [
        ("bob@example.org", "bob@example.org"),
        (" Bob@Example.org ", "bob@example.org"),
        ("contact:ana-silva", "contact:ana-silva"),
        ("Ana Silva", "Ana Silva"),
        ("<bob@example.org>", "bob@example.org"),
        ("Ana Silva <mallory@evil.org>", "mallory@evil.org"),
        ("\"ana.silva@acme-logistics.test\" <mallory@evil.org>", "mallory@evil.org"),
        ("ana.silva@acme-logistics.test <mallory@evil.org>", "mallory@evil.org"),
    ] {
        assert_eq!(mail::checked_sender(from).unwrap(), address);
    }
    for from in [
        "member:maya@evil.org",
        "agent:x@evil.org",
        "a b@c.org",
        "@c.org",
        "a@",
        "a@b",
        "a@b@c.org",
        "a@b\nc.org",
        "a@b.org, c@d.org",
        "a@b.org <x>",
        "\u{430}na@b.org",
        "ana@b\u{200b}.org",
        "\u{ff41}na@b.org",
    ] {
        assert!(mail::checked_sender(from).is_err(), "{from:?}");
    }
    assert_eq!(
        mail::checked_sender("\u{430}na@b.org").unwrap_err().to_string(),
        "\"аna@b.org\" is no address: it has the letter U+0430, which may only look like a plain one"
    );
}

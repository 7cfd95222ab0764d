//! What a domain remembers, in a session that is opened again.

#![allow(clippy::disallowed_methods, reason = "tests have a clock")]

use crate::{Domain, DomainHooks, Memory, Surroundings};
use mica_session::{Access, Message, Sessions};

use super::*;

struct Notes;

impl Domain for Notes {
    fn name(&self) -> &str {
        "notes"
    }
}

fn at(page: &str) -> Surroundings {
    Surroundings { page: Some(page.to_owned()), ..Surroundings::default() }
}

#[tokio::test]
async fn what_a_domain_remembers_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path(), jiff::Timestamp::now);
    let keeper = Keeper::new(sessions.draft(folder.path(), None));
    let path = keeper.session().path().to_owned();
    assert_eq!(keeper.remembered("notes"), None);
    let hooks =
        DomainHooks::new(std::sync::Arc::new(Notes), &at("one")).keeping(std::sync::Arc::new(keeper.clone()));
    hooks.record(Record::TurnOpen).await.unwrap();
    hooks.message(&at("two"));
    hooks.run_ended(&mica_agent::Outcome::Completed).await.unwrap();
    keeper.keep("others", &json!({ "page": "elsewhere" })).await.unwrap();
    let fork_at = keeper.session().tree().leaf().unwrap();
    let said: Message = mica_ai::User::text("hello").into();
    keeper.append(said.into(), Durability::Now).await.unwrap();
    drop(hooks);
    drop(keeper);

    let open = sessions.open(&path, Access::Write).unwrap();
    let fork = sessions.fork(&open, fork_at).unwrap();
    for session in [open, fork] {
        let keeper = Keeper::new(session);
        let kept = keeper.remembered("notes").unwrap();
        assert_eq!(kept, json!({ "page": "two", "kept": {}, "run": {} }));
        let here = Surroundings::default();
        let (again, unreadable) = DomainHooks::restored(std::sync::Arc::new(Notes), &here, &kept);
        assert_eq!((again.snapshot().page.as_deref(), unreadable), (Some("two"), None));
        // What means nothing any more stays where it is.
        keeper.keep("notes", &json!("garbage")).await.unwrap();
        let kept = keeper.remembered("notes").unwrap();
        let (fresh, unreadable) = DomainHooks::restored(std::sync::Arc::new(Notes), &here, &kept);
        assert_eq!(fresh.snapshot(), crate::State::default());
        assert!(unreadable.unwrap().to_string().contains("it begins anew"));
        assert_eq!(keeper.remembered("notes").unwrap(), json!("garbage"));
    }
}

/// Somebody said yes, the call began, and the process died: it may have had its effect, so nobody is asked again.
#[tokio::test]
async fn a_question_whose_call_has_begun_is_not_asked_again() {
    use mica_ai::id::CallId;
    use mica_ai::message::ToolCall;

    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path(), jiff::Timestamp::now);
    let keeper = Keeper::new(sessions.draft(folder.path(), None));
    let said: Message = mica_ai::User::text("send it").into();
    keeper.append(said.into(), Durability::Now).await.unwrap();
    let path = keeper.session().path().to_owned();
    let call = ToolCall {
        id: CallId::from("c1"),
        name: "send".to_owned(),
        arguments: mica_ai::arguments::Arguments::from_value(&json!({})),
    };
    let ask = Ask::new(call, json!({}), "it leaves the house".to_owned(), None);
    let begins = |run: &str| Event {
        seq: 1,
        run: run.into(),
        kind: EventKind::CallStart {
            call: CallId::from("c1"),
            tool: "send".to_owned(),
            label: "send".to_owned(),
            arguments: json!({}),
        },
    };
    // A call that nobody was asked about writes nothing.
    assert!(!keeper.hears(&begins("r1").kind));
    keeper.waits(std::slice::from_ref(&ask), &Tally::default()).await.unwrap();
    drop(keeper);

    let keeper = Keeper::new(sessions.open(&path, Access::Write).unwrap());
    assert_eq!(
        keeper.waiting().unwrap().asks,
        std::slice::from_ref(&ask),
        "it is asked again as long as nothing has begun"
    );
    assert!(keeper.hears(&begins("r1").kind));
    keeper.event(begins("r1")).await;
    assert!(!keeper.hears(&begins("r1").kind), "once is enough");
    drop(keeper);

    let keeper = Keeper::new(sessions.open(&path, Access::Write).unwrap());
    assert_eq!(keeper.waiting(), None);
    keeper.waits(std::slice::from_ref(&ask), &Tally::default()).await.unwrap();
    assert_eq!(keeper.waiting().unwrap().asks, [ask], "another question is another question");
}

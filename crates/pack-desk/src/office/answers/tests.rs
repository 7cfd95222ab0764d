//! Agents in threads: who said what, answers that are given once, and messages that come meanwhile.

use std::sync::{Mutex, PoisonError};

use mica_agent::{Event, EventKind, Listener};
use mica_domain::autonomy::Autonomy;

use super::*;
use crate::office::Inbound;
use crate::office::tests::{Played, played};
use crate::store::Hand;

const SCRIPT: &str = r#"
name = "answers"

[[turns]]
when = { user_contains = "First", tool_results = 0 }
steps = [{ call = { name = "search_articles", args = { query = "labels" } } }]

[[turns]]
when = { user_contains = "First", tool_results = 1 }
steps = [{ text = "To the first." }]

[otherwise]
steps = [{ text = "To the others." }]
"#;

const AGENT: &str = "agent:sweep";

impl Played {
    async fn mail(&self, body: &str, thread: Option<&str>) -> String {
        let mail = Inbound {
            from: "contact:ana-silva".to_owned(),
            subject: "Labels".to_owned(),
            body: body.to_owned(),
            thread: thread.map(str::to_owned),
        };
        self.office.inbound(mail).await.unwrap().id
    }

    fn hand(&self, who: &str) -> Hand {
        Hand { who: who.to_owned(), at: (self.office.means().now)(), key: None }
    }

    fn give(&self, thread: &str, to: &str) {
        let change = threads::Change { assignee: Some(to.to_owned()), ..Default::default() };
        let hand = self.hand("member:maya");
        self.office.means().store.change(|tx| threads::update(tx, &hand, thread, &change)).unwrap();
    }

    fn drafts(&self, thread: &str) -> Vec<String> {
        let drafts = self.office.means().store.look(|c| mail::drafts(c, Some(thread), Some(50))).unwrap();
        drafts.into_iter().rev().map(|draft| draft.body).collect()
    }
}

/// Lets mail come in while the first call goes on, and has the agent called for each.
#[derive(Default)]
struct Meanwhile(Mutex<Option<(Office, String)>>, Mutex<Vec<Option<Attended>>>);

#[async_trait]
impl Listener for Meanwhile {
    async fn event(&self, event: Event) {
        if !matches!(event.kind, EventKind::CallStart { .. }) {
            return;
        }
        let Some((office, thread)) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        for body in ["Second", "Third", "Fourth"] {
            let mail = Inbound {
                from: "contact:ana-silva".to_owned(),
                body: body.to_owned(),
                thread: Some(thread.clone()),
                ..Inbound::default()
            };
            office.inbound(mail).await.unwrap();
            let attended = office.answer_in(&thread).await.unwrap();
            self.1.lock().unwrap().push(attended);
        }
    }
}

#[tokio::test]
async fn three_messages_during_one_turn_are_all_answered_and_none_twice() {
    let meanwhile = Arc::new(Meanwhile::default());
    let played = played(SCRIPT, vec![Arc::clone(&meanwhile) as Arc<dyn Listener>]);
    let thread = played.mail("First", None).await;
    assert_eq!(played.office.answer_in(&thread).await.unwrap(), None, "no agent has it");
    played.give(&thread, AGENT);
    *meanwhile.0.lock().unwrap() = Some((played.office.clone(), thread.clone()));
    let attended = played.office.answer_in(&thread).await.unwrap();
    assert_eq!(attended, Some(Attended::Done { answers: 2 }));
    assert_eq!(*meanwhile.1.lock().unwrap(), vec![Some(Attended::Handed); 3]);
    assert_eq!(played.drafts(&thread), ["To the first.", "To the others."]);
    let last = format!("{:?}", played.model.requests().last().unwrap());
    for word in ["First", "Second", "Third", "Fourth"] {
        assert_eq!(last.matches(word).count(), 1, "{word}: {last}");
    }
    // Another process finds nothing left to answer.
    let played = played.restarted().await;
    assert_eq!(played.office.answer_in(&thread).await.unwrap(), Some(Attended::Done { answers: 0 }));
    assert_eq!(played.model.requests().len(), 3);
}

#[tokio::test]
async fn answers_are_sent_only_by_who_is_trusted_and_may() {
    let auto = Autonomy::all(ApprovalMode::Capture).with(reply_to_thread::NAME, ApprovalMode::Auto);
    for (agent, trusted, sent) in [
        ("agent:sweep", Some(auto.clone()), true),
        ("agent:sweep", None, false),
        // It may not send, whatever it is trusted with.
        ("agent:triage", Some(auto), false),
    ] {
        let mut played = played(SCRIPT, Vec::new());
        if let Some(trusted) = trusted {
            played.office = played.office.answering(trusted);
        }
        let thread = played.mail("First", None).await;
        played.give(&thread, agent);
        assert_eq!(played.office.answer_in(&thread).await.unwrap(), Some(Attended::Done { answers: 1 }));
        let outbox = played.office.means().store.look(|c| mail::outbox(c, None)).unwrap();
        assert_eq!(
            outbox.iter().map(|mail| mail.body.as_str()).collect::<Vec<_>>(),
            if sent { vec!["To the first."] } else { vec![] }
        );
        assert_eq!(played.drafts(&thread).is_empty(), sent);
        // A sent answer comes back with its key, and is not answered.
        assert_eq!(played.office.answer_in(&thread).await.unwrap(), Some(Attended::Done { answers: 0 }));
        let said = played.office.means().store.look(|c| messages(c, &thread, None)).unwrap();
        let keys = said.iter().filter(|message| matches!(message.by, By::Own { key: Some(_) })).count();
        assert_eq!(keys, usize::from(sent));
    }
}

#[tokio::test]
async fn an_answer_with_a_key_that_was_used_is_not_given_again() {
    let played = played(SCRIPT, Vec::new());
    let thread = played.mail("First", None).await;
    let threads = Threads { office: played.office.clone(), agent: AGENT.to_owned(), sends: false };
    let reply =
        Reply { key: "reply/1".to_owned(), text: "Once.".to_owned(), to: "message:1061-1".to_owned() };
    threads.reply(&thread, &reply).await.unwrap();
    threads.reply(&thread, &reply).await.unwrap();
    assert_eq!(played.drafts(&thread), ["Once."]);
}

#[tokio::test]
async fn what_was_said_comes_in_order_with_who_said_it() {
    let played = played(SCRIPT, Vec::new());
    let store = &played.office.means().store;
    let thread = played.mail("First", None).await;
    let hand = played.hand("member:jonas");
    store.change(|tx| notes::add(tx, &hand, &thread, "They pay late.")).unwrap();
    played.clock.by(jiff::SignedDuration::from_secs(1));
    let hand = played.hand("member:jonas");
    let sent = store.change(|tx| {
        let kept = threads::get(tx, &thread)?;
        mail::send(tx, &hand, &kept, "ana@example.test", "I look.")
    });
    let by = |after: Option<&str>| -> Vec<(String, By)> {
        let all = store.look(|c| messages(c, &thread, after)).unwrap();
        all.into_iter().map(|message| (message.text, message.by)).collect()
    };
    let ana = By::Inbound { name: "Ana Silva".to_owned() };
    let jonas = "Jonas Lindqvist".to_owned();
    let note = ("They pay late.".to_owned(), By::Note { name: jonas.clone() });
    let reply = ("I look.".to_owned(), By::Teammate { name: jonas });
    assert_eq!(by(None), [("First".to_owned(), ana.clone()), note.clone(), reply.clone()]);
    let name = thread.trim_start_matches("thread:");
    assert_eq!(by(Some(&format!("message:{name}-1"))), [note, reply]);
    // Mail that was taken back leaves its number unused: what comes next is something else.
    let hand = played.hand("member:jonas");
    store.change(|tx| mail::unsend(tx, &hand, &sent.unwrap().id)).unwrap();
    played.mail("Second", Some(&thread)).await;
    let last = store.look(|c| threads::every_message(c, &thread)).unwrap();
    assert_eq!(last.last().map(|message| message.id.clone()), Some(format!("message:{name}-3")));
}

#[tokio::test]
async fn a_thread_that_was_given_to_somebody_else_is_theirs() {
    let played = played(SCRIPT, Vec::new());
    let thread = played.mail("First", None).await;
    played.give(&thread, AGENT);
    let agent = played.office.thread_agent(AGENT).await.unwrap();
    played.give(&thread, "member:jonas");
    assert_eq!(agent.attend(&thread).await.unwrap(), Attended::Done { answers: 0 });
    assert_eq!(played.office.answer_in(&thread).await.unwrap(), None);
    assert!(played.model.requests().is_empty());
}

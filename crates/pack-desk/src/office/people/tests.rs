//! Questions at the desk while others work there: what they rest on, who answers for them, and what was meant.

use jiff::SignedDuration;
use mica_agent::{Args, Ask, Outcome, Preview};
use mica_domain::approvals::{ApprovalError, Choice, Person, trail};
use mica_domain::{Copilot, CopilotError, Rights, Said, Surroundings};
use rusqlite::Transaction;
use serde_json::json;

use crate::office::tests::{Played, played};
use crate::store::articles::Edit;
use crate::store::{Hand, Result, Store, articles, entities, tasks, team, threads};

const WHO: &str = "member:maya";

/// A desk where the copilot calls a tool once, as TOML, and is done then.
fn calling(tool: &str, args: &str) -> Played {
    let script = format!(
        "name = \"asks\"\n\n[[turns]]\nwhen = {{ tool_results = 0 }}\nsteps = [{{ call = {{ name = \"{tool}\", args = {args} }} }}]\n\n\
         [otherwise]\nsteps = [{{ text = \"Done.\" }}]\n"
    );
    played(&script, Vec::new())
}

async fn asked(played: &Played, page: &str) -> (Copilot, Ask) {
    let copilot = played.office.chat(WHO, "c").await.unwrap();
    let said =
        Said { text: "Do it.".to_owned(), surroundings: Some(Surroundings::on(page)), ..Said::default() };
    let turned = copilot.say(said).await.unwrap();
    let Outcome::Suspended { mut asks } = turned.outcome else { panic!("{:?}", turned.outcome) };
    (copilot, asks.remove(0))
}

fn maya() -> Person {
    Person::new(WHO, Rights::All)
}

fn yes() -> Choice {
    Choice::Approve { edits: Args::new() }
}

/// A colleague, who has opened the desk in a process of their own.
fn colleague(played: &Played, change: fn(&Transaction<'_>, &Hand) -> Result<()>) {
    let store = Store::open(played.office.means().store.path()).unwrap();
    let hand = Hand { who: "member:jonas".to_owned(), at: (played.office.means().now)(), key: None };
    store.change(|tx| change(tx, &hand)).unwrap();
}

struct Case {
    tool: &'static str,
    page: &'static str,
    args: &'static str,
    /// What a colleague does meanwhile.
    meanwhile: fn(&Transaction<'_>, &Hand) -> Result<()>,
    changed: &'static [&'static str],
}

fn fields(value: &serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().unwrap().clone()
}

fn paused(tx: &Transaction<'_>, hand: &Hand) -> Result<()> {
    entities::update(tx, hand, "company:initech", &fields(&json!({ "status": "paused" }))).map(drop)
}

fn written(tx: &Transaction<'_>, hand: &Hand) -> Result<()> {
    threads::say(tx, hand, "thread:1001", "contact:elin-berg", "It works again.").map(drop)
}

const CASES: &[Case] = &[
    Case {
        tool: "update_record",
        page: "records",
        args: r#"{ record = "company:initech", changes = { status = "lost" } }"#,
        meanwhile: paused,
        changed: &["company:initech: version 1 → version 2", "status of company:initech: at risk → paused"],
    },
    Case {
        tool: "bulk_update_records",
        page: "records",
        args: r#"{ records = ["company:initech", "company:stark-bikes"], changes = { status = "lost" } }"#,
        meanwhile: paused,
        changed: &["company:initech: version 1 → version 2", "status of company:initech: at risk → paused"],
    },
    Case {
        tool: "create_record",
        page: "records",
        args: r#"{ kind = "company", name = "Nakatomi" }"#,
        meanwhile: |tx, hand| {
            entities::create(tx, hand, entities::Kind::Company, &fields(&json!({ "name": "Nakatomi" })))
                .map(drop)
        },
        changed: &["records like it: nothing → company:nakatomi"],
    },
    Case {
        tool: "reply_to_thread",
        page: "inbox",
        args: r#"{ thread = "thread:1001", mode = "send", body = "On it." }"#,
        meanwhile: written,
        changed: &["messages in thread:1001: 3 → 4", "thread:1001: version 1 → version 2"],
    },
    Case {
        tool: "update_thread",
        page: "inbox",
        args: r#"{ thread = "thread:1001", status = "closed" }"#,
        meanwhile: written,
        changed: &["messages in thread:1001: 3 → 4", "thread:1001: version 1 → version 2"],
    },
    Case {
        tool: "create_task",
        page: "tasks",
        args: r#"{ title = "Call", thread = "thread:1001" }"#,
        meanwhile: written,
        changed: &["messages in thread:1001: 3 → 4", "thread:1001: version 1 → version 2"],
    },
    Case {
        tool: "create_task",
        page: "tasks",
        args: r#"{ title = "Call", about = "company:initech" }"#,
        meanwhile: paused,
        changed: &["company:initech: version 1 → version 2"],
    },
    Case {
        tool: "edit_article",
        page: "kb",
        args: r#"{ article = "article:returns", title = "Sending back" }"#,
        meanwhile: |tx, hand| {
            let body = Edit::Body("New words.".to_owned());
            articles::write(tx, hand, "article:returns", "tom", None, Some(&body))?;
            articles::release(tx, "tom", true, "").map(drop)
        },
        changed: &["article:returns: version 1 → version 2"],
    },
    Case {
        tool: "set_agent_prompt",
        page: "agents",
        args: r#"{ agent = "agent:triage", prompt = "Be brief." }"#,
        meanwhile: |tx, hand| team::set_prompt(tx, hand, "agent:triage", "Be long.").map(drop),
        changed: &["agent:triage: version 1 → version 2"],
    },
];

/// Everything that was done by somebody, as the desk has it.
fn done_by(played: &Played, who: &str) -> usize {
    let newest =
        |connection: &rusqlite::Connection| crate::store::activity::newest(connection, None, Some(50));
    let all = played.office.means().store.look(newest).unwrap();
    all.iter().filter(|entry| entry.who == who && entry.at >= (played.office.means().now)()).count()
}

#[tokio::test]
async fn no_tool_of_the_desk_overwrites_what_a_colleague_did_while_a_question_waited() {
    for case in CASES {
        let label = format!("{} {}", case.tool, case.args);
        let played = calling(case.tool, case.args);
        let (copilot, ask) = asked(&played, case.page).await;
        played.clock.by(SignedDuration::from_hours(3));
        colleague(&played, case.meanwhile);
        match copilot.decide([(&ask, yes())], &maya()).await {
            Err(CopilotError::Approval(ApprovalError::Changed { changes, .. })) => {
                assert_eq!(changes, case.changed, "{label}");
            }
            other => panic!("{label}: {other:?}"),
        }
        assert_eq!(done_by(&played, WHO), 0, "{label}");
        // In another process, too; and then it is done by whoever says yes to what is there.
        drop(copilot);
        let played = played.restarted().await;
        let copilot = played.office.chat(WHO, "c").await.unwrap();
        let now = copilot.questions().await.unwrap().remove(0);
        assert_ne!(now.shown, ask.shown, "{label}");
        let answered = copilot.decide([(&now, yes())], &maya()).await.unwrap();
        assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed), "{label}");
        assert_ne!(done_by(&played, WHO), 0, "{label}");
    }
}

#[tokio::test]
async fn a_deadline_and_whom_it_is_for_are_what_they_were_when_it_was_asked() {
    let args = r#"{ title = "Call", assignee = "me", deadline = "tomorrow 5pm" }"#;
    let played = calling("create_task", args);
    let (copilot, ask) = asked(&played, "tasks").await;
    let due = ask.arguments["deadline"].as_str().unwrap().to_owned();
    assert_eq!((ask.arguments["assignee"].as_str(), due.as_str()), (Some(WHO), "2026-11-16T17:00:00+01:00"));
    let Some(Preview::Text { text, .. }) = &ask.preview else { panic!("{:?}", ask.preview) };
    assert_eq!(text, "For: member:maya\nDue: Mon 2026-11-16 17:00\n");
    drop(copilot);
    played.clock.by(SignedDuration::from_hours(3 * 24));
    let played = played.restarted().await;
    let copilot = played.office.chat(WHO, "c").await.unwrap();
    copilot.decide([(&ask, yes())], &maya()).await.unwrap();
    let (made, _) = played
        .office
        .means()
        .store
        .look(|c| tasks::search(c, &tasks::Search { assignee: Some(WHO.to_owned()), ..Default::default() }))
        .unwrap();
    let made = made.iter().find(|task| task.title == "Call").unwrap();
    assert_eq!(made.deadline.unwrap(), due.parse().unwrap());
}

#[tokio::test]
async fn what_somebody_approved_is_refused_when_they_lost_the_right_before_it_was_done() {
    let played = calling("update_record", CASES[0].args);
    let (copilot, ask) = asked(&played, "records").await;
    let asks = [ask];
    copilot.approvals().decide(&asks, [(asks[0].call.id.clone(), yes())], &maya()).await.unwrap();
    drop(copilot);
    let store = played.office.means().store.clone();
    store.change(|tx| Ok(tx.execute("UPDATE members SET role = 'viewer' WHERE id = ?1", [WHO])?)).unwrap();
    let played = played.restarted().await;
    let copilot = played.office.chat(WHO, "c").await.unwrap();
    copilot.expire().await.unwrap();
    assert_eq!(done_by(&played, WHO), 0);
    let entries = trail(&store).await.unwrap();
    assert_eq!(entries[0].trace.by, WHO);
    let company = store.look(|connection| entities::get(connection, "company:initech")).unwrap();
    assert_eq!(company.get("status"), Some("at risk"));
}

//! Tools that capture: what the model reads, what is kept, and what is not done.

use std::sync::Mutex;

use mica_agent::{Agent, Approval, Context, Effect, Hooks, Outcome};
use mica_ai::{Content, Dialect, Message, Model};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};

use super::*;
use crate::act::Minted;
use crate::autonomy::AutonomyGate;
use crate::rights::Rights;
use crate::side::{Loose, Side};

type Log = Arc<Mutex<Vec<String>>>;

struct Logging {
    spec: ToolSpec,
    log: Log,
}

#[async_trait]
impl Tool for Logging {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        self.log.lock().unwrap().push(format!("{} {}", self.spec.name, Value::Object(args)));
        Ok(ToolOutput::text("true").with_details(json!({ "found": true })))
    }
}

fn tool(log: &Log, name: &str, access: Access, approval: Approval) -> Logging {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "task": { "type": "string" },
            "mode": { "enum": ["send", "draft"] },
        },
        "additionalProperties": false,
    });
    let mut spec = ToolSpec::new(name, format!("Does {name}."), schema);
    (spec.access, spec.approval, spec.effect) = (access, approval, Effect::Keyed);
    Logging { spec, log: Arc::clone(log) }
}

fn tools(log: &Log) -> ToolSet {
    use Access::{Read, Write};
    use Approval::{Needed, NotNeeded};
    [
        tool(log, "create_task", Write, Needed),
        tool(log, "link", Write, Needed),
        tool(log, "reply", Write, NotNeeded),
        tool(log, "delete", Write, Needed),
        tool(log, "break", Write, Needed),
        tool(log, "note", Write, NotNeeded),
        tool(log, "tag", Write, NotNeeded),
        tool(log, "find", Read, NotNeeded),
    ]
    .into_iter()
    .collect()
}

fn acts() -> Vec<Act> {
    let minted = |what: &'static str| {
        move |args: &Args, minting: &Minting| Minted {
            text: format!("{what} {}", args.get("title").and_then(Value::as_str).unwrap_or("-")),
            details: json!({ what: { "id": minting.id } }),
        }
    };
    let nothing =
        |_: &Args, _: &Minting| Minted { text: "linked".to_owned(), details: json!({ "ok": true }) };
    vec![
        Act::of("create_task")
            .minting(minted("task"))
            .needing("tasks.write")
            .amending("title")
            .shown_as("task"),
        Act::of("link").minting(nothing),
        Act::of("reply")
            .minting(minted("mail"))
            .asking_when(|args| Ok(args.get("mode") != Some(&json!("draft")))),
        Act::of("break").minting(|_, _| panic!("no")),
        Act::of("note").minting(minted("note")),
    ]
}

struct Stage {
    log: Log,
    book: Arc<Book>,
    agent: Agent,
}

fn stage(autonomy: Autonomy, turns: Vec<Turn>) -> Stage {
    let log = Log::default();
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let book = Book::new(side);
    let scenario = turns.into_iter().fold(Scenario::new(), Scenario::turn).turn(Turn::new().text("Done."));
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.tools = wrapped(tools(&log), &acts(), &autonomy, &book);
    let judge = Arc::new(Judge::new(acts(), autonomy));
    // An agent that may do nothing may propose everything.
    let gate = AutonomyGate::new(judge, Rights::none()).capturing(Arc::clone(&book));
    let agent = Agent::new(context, vec![Arc::new(gate) as Arc<dyn Hooks>]);
    Stage { log, book, agent }
}

async fn results(agent: &Agent) -> Vec<String> {
    let messages = agent.with(|cx| cx.messages.clone()).await.unwrap();
    let results = messages.iter().filter_map(|message| match message {
        Message::ToolResult(result) => match &result.content[0] {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    results.collect()
}

fn capture() -> Autonomy {
    Autonomy::all(ApprovalMode::Capture)
}

#[test]
fn for_the_model_the_tools_are_the_same() {
    let log = Log::default();
    let book = Book::new(Arc::new(Loose::default()));
    let plain = tools(&log);
    let before = plain.definitions().clone();
    let around = wrapped(plain, &acts(), &capture(), &book);
    assert_eq!(**around.definitions(), *before);
    assert!(book.covers("find"));
    // Nothing is wrapped where nothing is captured.
    let book = Book::new(Arc::new(Loose::default()));
    let plain = wrapped(tools(&log), &acts(), &Autonomy::all(ApprovalMode::Auto), &book);
    assert!(!book.covers("create_task") && **plain.definitions() == *before);
}

#[tokio::test(start_paused = true)]
async fn gated_calls_are_predicted_and_build_on_each_other() {
    let turns = vec![
        Turn::new().call("create_task", json!({ "title": "Call back" })),
        Turn::new()
            .call("link", json!({ "task": "temp_1" }))
            .call("reply", json!({ "title": "I made temp_1 for you.", "mode": "send" }))
            .call("reply", json!({ "title": "later", "mode": "draft" })),
        Turn::new()
            .call("find", json!({ "task": "temp_1" }))
            .call("find", json!({ "title": "temp_1 or so" })),
        Turn::new()
            .call("note", json!({ "task": "temp_3", "title": "see" }))
            .call("note", json!({ "title": "plain" })),
    ];
    let Stage { log, book, agent } = stage(capture(), turns);
    let outcome = agent.prompt("Work.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let predicted = |tool: &str, text: &str| {
        format!(
            "Proposed, not done: {tool} awaits a person's approval, and they may say no. Nothing has changed. If it is \
             approved, this is predicted to come of it:\n{text}\nSay that you propose it, not that it was done."
        )
    };
    let uses = |id: &str| format!(" Use {id} as the id of what this would make, in calls that build on it.");
    assert_eq!(
        results(&agent).await,
        [
            predicted("create_task", "task Call back") + &uses("temp_1"),
            predicted("link", "linked"),
            predicted("reply", "mail I made temp_1 for you.") + &uses("temp_3"),
            "true".to_owned(),
            "temp_1 does not exist yet: create_task would make it once a person approves. This is predicted, not \
             found:\ntask Call back\n{\"task\":{\"id\":\"temp_1\"}}"
                .to_owned(),
            "true".to_owned(),
            predicted("note", "note see") + &uses("temp_4"),
            "true".to_owned(),
        ]
    );
    // What nobody is asked about, and builds on nothing, is done.
    assert_eq!(
        *log.lock().unwrap(),
        [
            r#"reply {"title":"later","mode":"draft"}"#,
            r#"find {"title":"temp_1 or so"}"#,
            r#"note {"title":"plain"}"#,
        ]
    );
    let actions = book.actions().unwrap();
    let shape: Vec<_> = actions
        .iter()
        .map(|action| {
            (action.id.as_str(), action.tool.as_str(), action.needs.join(" "), action.makes.join(" "))
        })
        .collect();
    assert_eq!(
        shape,
        [
            ("temp_1", "create_task", String::new(), "/task/id".to_owned()),
            ("temp_2", "link", "temp_1".to_owned(), String::new()),
            ("temp_3", "reply", "temp_1".to_owned(), "/mail/id".to_owned()),
            ("temp_4", "note", "temp_3".to_owned(), "/note/id".to_owned()),
        ]
    );
    let first = &actions[0];
    assert_eq!((first.right.as_deref(), first.card.as_deref()), (Some("tasks.write"), Some("task")));
    assert_eq!((first.amendable.as_slice(), first.effect), (["title".to_owned()].as_slice(), Effect::Keyed));
    assert_eq!(first.digest, "create_task (title: Call back)");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_captured_is_refused_with_a_reason() {
    let check = async |turn: Turn, expect: &str| {
        let Stage { log, book, agent } = stage(capture(), vec![turn]);
        agent.prompt("Work.").await.unwrap();
        let said = results(&agent).await.pop().unwrap();
        assert!(said.starts_with(expect), "{said}");
        assert_eq!(*log.lock().unwrap(), Vec::<String>::new());
        assert!(book.actions().unwrap().iter().all(|action| action.tool == "link"), "{expect}");
    };
    let call = |tool: &str, args: Value| Turn::new().call(tool, args);
    check(
        call("delete", json!({})),
        "delete needs a person's approval, nobody is there, and what it would come to",
    )
    .await;
    check(
        call("break", json!({})),
        "What break would come to could not be said, so nothing was captured or done.",
    )
    .await;
    check(call("create_task", json!({ "titel": "x" })), "The arguments of create_task do not fit its schema")
        .await;
    check(
        call("link", json!({ "task": "temp_7" })),
        "temp_7 stands for nothing; the ids that can be used are: there are none yet",
    )
    .await;
    // What makes nothing has no id.
    let both = call("link", json!({})).call("link", json!({ "task": "temp_1" }));
    check(both, "temp_1 cannot be used as an id: link makes nothing new.").await;
    // A write that nobody is asked about, on what does not exist, and that cannot be predicted.
    let both = call("link", json!({})).call("tag", json!({ "task": "temp_1" }));
    check(both, "tag needs a person's approval").await;
}

#[tokio::test(start_paused = true)]
async fn arguments_that_cannot_be_read_are_not_taken_for_none() {
    // It would be a draft, if it were whole; without arguments it would be sent.
    for (raw, runs) in [(r#"{"mode":"draft""#, 0), ("[]", 0), ("{}", 1)] {
        let turn = Turn::new().step(Step::Call(Call::raw("reply", raw)));
        let Stage { log, book, agent } = stage(Autonomy::all(ApprovalMode::Auto), vec![turn.clone()]);
        agent.prompt("Work.").await.unwrap();
        assert_eq!(log.lock().unwrap().len(), runs, "{raw:?}");
        assert_eq!(book.actions().unwrap().len(), 0);
        let Stage { log, book, agent } = stage(capture(), vec![turn]);
        agent.prompt("Work.").await.unwrap();
        assert_eq!((log.lock().unwrap().len(), book.actions().unwrap().len()), (0, runs), "{raw:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_tool_has_its_own_mode() {
    let autonomy = Autonomy::all(ApprovalMode::Pause)
        .with("create_task", ApprovalMode::Capture)
        .with("link", ApprovalMode::Auto);
    let turns = vec![
        Turn::new().call("create_task", json!({ "title": "a" })).call("link", json!({ "title": "b" })),
        // Auto, but on what does not exist yet: it has to wait, too.
        Turn::new().call("link", json!({ "task": "temp_1" })),
        Turn::new().call("delete", json!({ "title": "c" })),
    ];
    let Stage { log, book, agent } = stage(autonomy, turns);
    let outcome = agent.prompt("Work.").await.unwrap();
    let Outcome::Suspended { asks } = outcome else { panic!("{outcome:?}") };
    assert_eq!(asks.iter().map(|ask| ask.call.name.as_str()).collect::<Vec<_>>(), ["delete"]);
    assert_eq!(*log.lock().unwrap(), [r#"link {"title":"b"}"#]);
    let ids: Vec<_> = book.actions().unwrap().into_iter().map(|action| (action.id, action.tool)).collect();
    assert_eq!(ids, [("temp_1".into(), "create_task".into()), ("temp_2".to_owned(), "link".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn ids_of_earlier_runs_are_told_from_those_of_this_one() {
    let turns = vec![
        Turn::new().call("create_task", json!({ "title": "a" })),
        Turn::new().text("Proposed."),
        Turn::new().call("link", json!({ "task": "temp_1" })),
        Turn::new().call("create_task", json!({ "title": "b" })),
    ];
    let Stage { book, agent, .. } = stage(capture(), turns);
    agent.prompt("Work.").await.unwrap();
    let bundles = super::super::Bundles::new(Arc::new(crate::records::InMemory::default()));
    book.end(&bundles, "", super::super::testing::at(1)).await.unwrap().unwrap();
    agent.prompt("More.").await.unwrap();
    let said = results(&agent).await;
    assert!(said[1].starts_with("temp_1 was proposed in an earlier run"), "{}", said[1]);
    assert!(said[2].contains("Use temp_2 as the id"), "{}", said[2]);
}

#[tokio::test(start_paused = true)]
async fn tools_behind_others_are_captured_too() {
    let log = Log::default();
    let deferred =
        mica_tools::Deferred::new(vec![Arc::new(tool(&log, "create_task", Access::Write, Approval::Needed))]);
    let mut plain = ToolSet::default();
    for tool in deferred.tools() {
        plain.add(tool);
    }
    let book = Book::new(Arc::new(Loose::default()));
    let around = wrapped(plain, &acts(), &capture(), &book);
    let found = around.find("create_task").unwrap();
    assert!(book.covers("create_task"));
    assert!(Arc::ptr_eq(&found, &around.find("create_task").unwrap()), "made once");
    let cx = ToolCx::new("r".into(), "c".into(), tokio_util::sync::CancellationToken::new(), |_| {});
    let made = found.call(json!({ "title": "x" }).as_object().unwrap().clone(), &cx).await.unwrap();
    assert!(is_captured(made.details.as_ref()));
    let captured = json!({
        "action": "temp_1", "digest": "create_task (title: x)", "would": { "task": { "id": "temp_1" } },
    });
    assert_eq!(made.details, Some(json!({ "captured": captured })));
    assert_eq!((log.lock().unwrap().len(), book.actions().unwrap().len()), (0, 1));
}

/// A tool whose schema comes from a type drops what it does not know: that is said before anybody approves it.
#[tokio::test]
async fn what_a_tool_would_drop_is_not_captured() {
    let log = Log::default();
    let mut open = tool(&log, "create_task", Access::Write, Approval::Needed);
    open.spec.schema.as_object_mut().unwrap().remove("additionalProperties");
    let book = Book::new(Arc::new(Loose::default()));
    let set = wrapped([open].into_iter().collect(), &acts(), &capture(), &book);
    let cx = ToolCx::new("run".into(), "call".into(), Default::default(), |_| {});
    let args = json!({ "title": "Call back", "tasks": "all" });
    let made = set.find("create_task").unwrap().call(args.as_object().unwrap().clone(), &cx).await;
    let words = "\"tasks\" is no argument of create_task. Did you mean \"task\"? It takes: title, task, mode. Nothing was \
                 captured or done.";
    assert_eq!(made.unwrap_err().message, words);
    assert_eq!(book.actions().unwrap(), []);
    assert_eq!(*log.lock().unwrap(), [] as [String; 0]);
}

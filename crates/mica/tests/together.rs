//! What the agent and a person do together, through the real binary: a list of what is to be done, questions, and plans.
//! Over the pipe, in runs that nobody watches, and across restarts.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::path::PathBuf;

use mica_testkit::{Call, Scenario, Step, Turn};
use serde_json::{Value, json};
use stage::Stage;
use stage::pipe::Pipe;

fn calls(name: &str, args: Value) -> Turn {
    Turn::new().call(name, args)
}

fn says(text: &str) -> Turn {
    Turn::new().text(text)
}

fn script<const N: usize>(turns: [Turn; N]) -> Scenario {
    turns.into_iter().fold(Scenario::new(), Scenario::turn)
}

fn todo(content: &str, status: &str) -> Value {
    json!({ "content": content, "status": status })
}

fn storage() -> Value {
    let options = json!([{ "label": "SQLite", "description": "one file" }, { "label": "Postgres" }]);
    json!({ "header": "Storage", "question": "Where are orders kept?", "options": options })
}

/// The messages of a request, as text.
fn sent(stage: &Stage, request: usize) -> String {
    stage.server.captured()[request].json["messages"].to_string()
}

/// The last message of a request, as text.
fn last(stage: &Stage, request: usize) -> String {
    let captured = stage.server.captured();
    captured[request].json["messages"].as_array().unwrap().last().unwrap().to_string()
}

/// The folder of the plans of the only session.
fn plans(stage: &Stage) -> PathBuf {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let projects = list(stage.folder.path().join("home/data/sessions"));
    let mut files = projects.flat_map(|project| list(project.path())).map(|file| file.path());
    let session = files.find(|file| file.extension().is_some_and(|end| end == "jsonl")).unwrap();
    session.with_extension("plans")
}

const ALLOW: fn() -> Value = || json!({ "answer": "allow" });

#[tokio::test]
async fn a_list_is_told_kept_and_carried_on() {
    let list = json!([todo("Look", "completed"), todo("Add tests", "in_progress")]);
    let scenario = script([calls("todo_write", json!({ "todos": list })), says("Begun.")])
        .otherwise(says("Still at it."));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["--mode", "ask"]);
    pipe.begin("go").await;
    assert_eq!(pipe.outcome().await, "completed", "also where nothing can be changed");
    let end = pipe.events.iter().find(|event| event["type"] == "call_end").unwrap();
    assert_eq!((&end["status"], &end["details"]["todos"]), (&json!("ok"), &list));
    assert!(last(&stage, 1).contains("Noted: 1 of 2 done."), "{}", last(&stage, 1));
    pipe.leave().await;
    // Another process goes on with it: the next message carries the list once, the one after does not.
    let mut pipe = Pipe::open(&stage, &["--continue"]);
    assert_eq!(pipe.state("todos").await, list);
    for text in ["and?", "and now?"] {
        pipe.begin(text).await;
        assert_eq!(pipe.outcome().await, "completed");
    }
    assert!(last(&stage, 2).contains(r"[x] Look\n[>] Add tests"), "{}", last(&stage, 2));
    assert!(!last(&stage, 3).contains("Add tests"), "{}", last(&stage, 3));
    let system = |request: usize| stage.server.captured()[request].json["messages"][0].clone();
    assert_eq!(system(0), system(3), "the system prompt knows nothing of it");
    assert!(!system(0).to_string().contains("Add tests"));
}

#[tokio::test]
async fn a_list_that_changed_since_it_was_said_survives_a_compaction() {
    let list = |status: &str| json!({ "todos": [todo("Add tests", status), todo("Clean up", "pending")] });
    let long = "words ".repeat(9000);
    let scenario = script([
        calls("todo_write", list("pending")),
        says(&long),
        says(&long),
        calls("todo_write", list("in_progress")),
        says(&long),
        // The summary, and the answer after it.
        says("## Goal\nTests."),
        says("Here."),
    ])
    .otherwise(says("Here."));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &[]);
    for text in ["one", "two", "three"] {
        pipe.begin(text).await;
        assert_eq!(pipe.outcome().await, "completed");
    }
    pipe.ask(json!({ "method": "compact" })).await;
    pipe.begin("four").await;
    assert_eq!(pipe.outcome().await, "completed");
    let windows: Vec<&Value> = pipe.events.iter().filter(|event| event["type"] == "window").collect();
    assert!(windows.iter().any(|event| event["change"]["kind"] == "compaction"), "{windows:?}");
    let after = sent(&stage, 6);
    assert!(after.contains("<summary"), "{after}");
    assert!(
        after.contains(r"[>] Add tests\n[ ] Clean up"),
        "the list as it is now: {}",
        &after[..2000.min(after.len())]
    );
    pipe.leave().await;
    // The window of a session that is opened again has the same bytes.
    let mut pipe = Pipe::open(&stage, &["--continue"]);
    pipe.begin("five").await;
    assert_eq!(pipe.outcome().await, "completed");
    let captured = stage.server.captured();
    let (before, now) = (&captured[6].json["messages"], &captured[7].json["messages"]);
    let count = before.as_array().unwrap().len();
    assert_eq!(now.as_array().unwrap()[..count], before.as_array().unwrap()[..]);
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let parts = json!({ "header": "Parts", "question": "Which?", "options": [{ "label": "A" }, { "label": "B" }], "multi_select": true });
    let questions = json!([storage(), parts]);
    let scenario = script([
        Turn::new().step(Step::Call(
            Call::new("ask_user_question", json!({ "questions": questions })).with_id("q1"),
        )),
        Turn::new().step(Step::Call(
            Call::new("ask_user_question", json!({ "questions": [storage()] })).with_id("q2"),
        )),
        says("Good."),
    ]);
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("go").await;
    let asked = pipe.event("question").await;
    assert_eq!((&asked["call"], &asked["questions"][1]["multi_select"]), (&json!("q1"), &json!(true)));
    assert_eq!(pipe.state("questions").await[0]["call"], "q1");
    let answers = |first: Value| json!([first, { "chosen": ["A", "B"], "text": "but not now" }]);
    let answer = |call: &str, answers: Value| json!({ "method": "answer", "call": call, "answers": answers });
    for (request, error) in [
        (answer("q9", json!([])), "the call q9 asks nothing"),
        (answer("q1", json!([])), "2 questions were asked and 0 answers were given"),
        (
            answer("q1", answers(json!({ "chosen": ["Oracle"] }))),
            "Storage: there is no choice \"Oracle\"; the choices are SQLite, Postgres",
        ),
    ] {
        assert_eq!(pipe.ask(request).await["error"]["message"], error);
    }
    assert_eq!(pipe.ask(answer("q1", answers(json!({ "chosen": ["SQLite"] })))).await["result"], json!({}));
    pipe.event("question").await;
    let decline = json!({ "method": "decline", "call": "q2", "reason": "you choose" });
    assert_eq!(pipe.ask(decline).await["result"], json!({}));
    assert_eq!(pipe.outcome().await, "completed");
    assert_eq!(pipe.state("questions").await, json!([]));
    let kinds: Vec<&str> = pipe
        .events
        .iter()
        .filter(|event| event["call"] == "q1")
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["call_start", "question", "question_over", "call_end"]);
    let seqs: Vec<u64> = pipe.events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "without gaps");
    assert!(
        last(&stage, 1).contains(
            r"The person answered:\n- Where are orders kept? SQLite\n- Which? A, B; and in their own words: but not now"
        ),
        "{}",
        last(&stage, 1)
    );
    assert!(last(&stage, 2).contains("you choose"), "{}", last(&stage, 2));
}

#[tokio::test]
async fn a_question_is_withdrawn_by_an_interrupt_and_by_an_abort() {
    let ask = || {
        Turn::new().step(Step::Call(
            Call::new("ask_user_question", json!({ "questions": [storage()] })).with_id("q"),
        ))
    };
    let stage = Stage::new(script([ask(), ask()])).await;
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("go").await;
    pipe.event("question").await;
    pipe.ask(json!({ "method": "interrupt", "text": "Take SQLite." })).await;
    pipe.event("question_over").await;
    pipe.event("question").await;
    assert!(
        sent(&stage, 1).contains("The question was withdrawn before it was answered."),
        "{}",
        sent(&stage, 1)
    );
    assert!(last(&stage, 1).contains("Take SQLite."), "{}", last(&stage, 1));
    pipe.ask(json!({ "method": "abort" })).await;
    assert_eq!(pipe.outcome().await, "aborted");
    assert_eq!(pipe.state("questions").await, json!([]));
}

#[tokio::test]
async fn a_question_that_was_open_when_the_program_was_killed_is_settled() {
    let list = json!({ "todos": [todo("Decide", "in_progress")] });
    let ask = || {
        let args = json!({ "questions": [storage()] });
        Turn::new().step(Step::Call(Call::new("ask_user_question", args).with_id("q")))
    };
    let stage = Stage::new(script([calls("todo_write", list), ask(), ask(), says("SQLite it is.")])).await;
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("go").await;
    pipe.event("question").await;
    pipe.program.kill().await.unwrap();
    let mut pipe = Pipe::open(&stage, &["--continue"]);
    assert_eq!(pipe.state("todos").await[0]["content"], "Decide");
    assert_eq!(pipe.state("questions").await, json!([]));
    pipe.begin("ask me again").await;
    pipe.event("question").await;
    let answer = json!({ "method": "answer", "call": "q", "answers": [{ "chosen": ["SQLite"] }] });
    assert_eq!(pipe.ask(answer).await["result"], json!({}));
    assert_eq!(pipe.outcome().await, "completed");
    assert!(
        sent(&stage, 2).contains("No result: the run ended before this call did."),
        "{}",
        sent(&stage, 2)
    );
    assert!(last(&stage, 3).contains("Where are orders kept? SQLite"), "{}", last(&stage, 3));
}

#[tokio::test]
async fn nobody_there_is_said_and_the_model_goes_on() {
    let scenario =
        script([calls("ask_user_question", json!({ "questions": [storage()] })), says("I took SQLite.")]);
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "go"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I took SQLite.\n"), "{}", ran.err);
    assert!(ran.err.contains("✗ ask_user_question: Nobody is there to answer"), "{}", ran.err);
    assert!(last(&stage, 1).contains("say in your answer what you assumed"), "{}", last(&stage, 1));
}

/// A write to the project, and one to a plan.
fn writes(path: &str) -> Turn {
    calls("file_write", json!({ "path": path, "content": "# Retries\n\n1. Add them.\n" }))
}

#[tokio::test]
async fn planning_takes_effect_inside_the_run() {
    let enter = Turn::new()
        .step(Step::Call(Call::new("enter_plan_mode", json!({ "title": "Add retries" })).with_id("enter")))
        .step(Step::Call(
            Call::new("file_write", json!({ "path": "early.txt", "content": "x" })).with_id("early"),
        ));
    let scenario = script([
        enter,
        writes("b.txt"),
        calls("exit_plan_mode", json!({})),
        // The plan is given in words, because the script does not know the folder.
        calls("exit_plan_mode", json!({ "plan": "# Retries\n\n1. Add them.\n" })),
        calls("exit_plan_mode", json!({ "plan": "# Retries\n\n1. Add them.\n2. Test them.\n" })),
        writes("b.txt"),
        calls("exit_plan_mode", json!({})),
        says("Done."),
    ]);
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("go").await;
    let both = pipe.event("approval_asked").await["ask"].clone();
    let early = pipe.event("approval_asked").await["ask"].clone();
    let allow = |ask: &Value| json!({ "call": ask["call"]["id"], "shown": ask["shown"], "answer": "allow" });
    let decisions = json!([allow(&both), allow(&early)]);
    pipe.ask(json!({ "method": "approve", "decisions": decisions })).await;
    let refused = pipe.decide(json!({ "answer": "deny", "reason": "say how it is tested" })).await;
    let preview = json!({ "kind": "text", "title": "Retries", "text": "# Retries\n\n1. Add them.\n" });
    assert_eq!(refused["preview"], preview);
    assert_eq!(pipe.state("mode").await, "plan", "a no changes nothing");
    let presented = pipe.decide(ALLOW()).await;
    assert!(presented["preview"]["text"].as_str().unwrap().contains("2. Test them."));
    // From here on things can be changed: the write is asked about as ever.
    let write = pipe.decide(ALLOW()).await;
    assert_eq!(write["call"]["name"], "file_write");
    assert_eq!(pipe.outcome().await, "completed");
    assert_eq!(pipe.state("mode").await, "edit");

    let project = |name: &str| stage.project().join(name).exists();
    assert_eq!((project("early.txt"), project("b.txt")), (false, true));
    let first = sent(&stage, 1);
    assert!(first.contains("Plan mode is on") && first.contains("changed what may be done"), "{first}");
    assert!(last(&stage, 2).contains("file_write is not available in plan mode"), "{}", last(&stage, 2));
    assert!(last(&stage, 3).contains("There is no plan yet."), "{}", last(&stage, 3));
    assert!(last(&stage, 4).contains("The person declined: say how it is tested"), "{}", last(&stage, 4));
    assert!(last(&stage, 5).contains("carry the plan out now"), "{}", last(&stage, 5));
    assert!(last(&stage, 7).contains("The mode is edit, not plan"), "{}", last(&stage, 7));
    // Only the plan that was agreed to is kept.
    let kept: Vec<PathBuf> =
        std::fs::read_dir(plans(&stage)).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].to_str().unwrap().ends_with("-retries.md"), "{kept:?}");
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "# Retries\n\n1. Add them.\n2. Test them.\n");
    // The tools are the same in every request: the cached prompt is never given up for a mode.
    let tools: Vec<Value> =
        stage.server.captured().iter().map(|request| request.json["tools"].clone()).collect();
    assert!(tools.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn in_plan_mode_files_are_written_below_the_plans_only_and_read_there() {
    // Where plans go is told with the message; the second run writes there.
    let stage = Stage::new(Scenario::new().otherwise(says("Seen."))).await;
    let mut pipe = Pipe::open(&stage, &["--mode", "plan"]);
    pipe.begin("plan it").await;
    assert_eq!(pipe.outcome().await, "completed");
    pipe.leave().await;
    let folder = plans(&stage).canonicalize().unwrap_or_else(|_| {
        let plans = plans(&stage);
        plans.parent().unwrap().canonicalize().unwrap().join(plans.file_name().unwrap())
    });
    let told = sent(&stage, 0);
    assert!(told.contains("The mode is plan"), "{told}");
    assert!(told.contains(&format!("in {}, the only folder", folder.display())), "{told}");
    assert!(!folder.exists(), "nothing was planned yet");

    let plan = folder.join("2026-03-01-retries.md").display().to_string();
    let edit = json!({ "path": plan, "old": "Add them", "new": "Add retries" });
    let scenario = script([
        writes(&plan),
        calls("file_edit", edit),
        calls("file_read", json!({ "path": plan })),
        writes("a-file.txt"),
        writes(&folder.join("../../escape.md").display().to_string()),
        calls("exit_plan_mode", json!({})),
        says("Agreed."),
    ]);
    let other = mica_testkit::ScriptedServer::start(scenario).await.unwrap();
    let mut pipe = Pipe::to(&stage, &other.url("/v1"), &["--continue"]);
    assert_eq!(pipe.state("mode").await, "plan", "the mode is kept");
    pipe.begin("go on").await;
    let presented = pipe.decide(ALLOW()).await;
    assert_eq!(presented["call"]["name"], "exit_plan_mode", "nobody is asked about the plan's own file");
    assert_eq!(presented["preview"]["text"], "# Retries\n\n1. Add retries.\n");
    assert_eq!(pipe.outcome().await, "completed");
    let last = |request: usize| {
        let captured = other.captured();
        captured[request].json["messages"].as_array().unwrap().last().unwrap().to_string()
    };
    assert!(last(3).contains("1. Add retries."), "{}", last(3));
    assert!(last(4).contains("not available in plan mode"), "{}", last(4));
    assert!(last(5).contains("not available in plan mode"), "{}", last(5));
    assert!(!stage.project().join("a-file.txt").exists());
    pipe.leave().await;
    let mut pipe = Pipe::open(&stage, &["--continue"]);
    assert_eq!(pipe.state("mode").await, "edit", "what was agreed to is kept, too");
}

#[tokio::test]
async fn a_plan_that_waits_is_agreed_to_after_a_restart() {
    let plan = json!({ "plan": "# Retries\n\n1. Add them.\n" });
    let scenario = script([
        calls("enter_plan_mode", json!({ "title": "Retries" })),
        calls("exit_plan_mode", plan),
        writes("b.txt"),
        says("Done."),
    ]);
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "go"]).await;
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("mica: enter_plan_mode: Retries needs an approval"), "{}", ran.err);
    // Somebody agrees to plan first, and leaves when the plan is presented.
    let mut pipe = Pipe::open(&stage, &["--continue"]);
    let asks = pipe.state("asks").await;
    let decisions = json!([{ "call": asks[0]["call"]["id"], "shown": asks[0]["shown"], "answer": "allow" }]);
    pipe.send(json!({ "id": "run", "method": "resume", "decisions": decisions })).await;
    pipe.event("approval_asked").await;
    assert_eq!(pipe.state("mode").await, "plan");
    pipe.leave().await;
    let captured = stage.server.captured().len();
    assert_eq!(captured, 2);
    // The pipe was closed, so that run was stopped. A run that nobody watches presents the plan again, and waits.
    let scenario = script([
        calls("exit_plan_mode", json!({ "plan": "# Retries\n\n1. Add them.\n" })),
        writes("b.txt"),
        says("Done."),
    ]);
    let other = mica_testkit::ScriptedServer::start(scenario).await.unwrap();
    let flags = ["--base-url", &other.url("/v1"), "--model", "scripted"];
    let ran = stage.mica(&[&["-c", "-p", "present it"], &flags[..]].concat()).await;
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("mica: exit_plan_mode: Retries needs an approval"), "{}", ran.err);
    assert!(ran.err.contains("\n  1. Add them.\n"), "the plan is there to be read: {}", ran.err);
    let ran = stage.mica(&[&["-c", "--yes"], &flags[..]].concat()).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
    assert!(stage.project().join("b.txt").exists(), "in edit mode, in the same run");
    assert!(ran.err.contains("… edit mode"), "{}", ran.err);
}

#[tokio::test]
async fn a_run_that_is_not_kept_cannot_wait_and_is_refused_with_a_reason() {
    let plan = json!({ "plan": "# Retries" });
    let scenario = script([calls("exit_plan_mode", plan.clone()), says("It is only a plan.")]);
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "go", "--no-session", "--mode", "plan"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "It is only a plan.\n"), "{}", ran.err);
    assert!(
        last(&stage, 1).contains("Refused without asking a person: nobody watches this run"),
        "{}",
        last(&stage, 1)
    );
    // Each of several gets its own.
    let both = calls("enter_plan_mode", json!({ "title": "Retries" }))
        .call("file_write", json!({ "path": "b.txt", "content": "b" }));
    let stage = Stage::new(script([both, says("Nothing was done.")])).await;
    let ran = stage.ask(&["-p", "go", "--no-session"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Nothing was done.\n"), "{}", ran.err);
    let told = stage.server.captured()[1].json["messages"].to_string();
    for reason in ["nobody watches this run", "nobody is there to approve it"] {
        assert_eq!(told.matches(reason).count(), 1, "{reason}: {told}");
    }
    // A rule answers beforehand.
    let scenario = script([calls("exit_plan_mode", plan), writes("b.txt"), says("Done.")]);
    let stage = Stage::new(scenario).await;
    let allow = ["--allow", "exit_plan_mode", "--allow", "file_write"];
    let ran = stage.ask(&[&["-p", "go", "--no-session", "--mode", "plan"], &allow[..]].concat()).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(stage.project().join("b.txt").exists());
}

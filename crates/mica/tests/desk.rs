//! The help desk through the real binary: its cases, and what people type.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

mod stage;

use std::path::{Path, PathBuf};

use mica_testkit::{Fault, Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-desk/evals").canonicalize().unwrap()
}

fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    // What cases play from lies beside them.
    let is_case = |path: &Path| path.extension().is_some_and(|kind| kind == "toml");
    entries.map(|path| if path.is_dir() { files(&path) } else { usize::from(is_case(&path)) }).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_passes() {
    let count = files(&folder());
    assert!(count >= 70, "{count}");
    let stage = Stage::new(Scenario::new()).await;
    let folder = folder().display().to_string();
    let ran = stage.mica(&["eval", &folder, "--jobs", "2", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(stage.project().join("report.json")).unwrap()).unwrap();
    let cases = report["cases"].as_array().unwrap();
    for case in cases {
        assert_eq!(case["status"], "passed", "{case}");
    }
    assert_eq!(cases.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_the_process() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let asked = stage.mica(&with(&["-p", "Mark Initech as active."])).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    assert!(asked.err.contains("-status: at risk\n  +status: active"), "{}", asked.err);
    let waiting = stage.mica(&with(&["-p", "/waiting"])).await;
    assert!(waiting.out.starts_with("update_record Initech (company:initech) (+1 -1)"), "{}", waiting.out);
    let shown = stage.mica(&with(&["-p", "/show company:initech"])).await;
    assert!(shown.out.contains("status: at risk"), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_told_with_what_would_be_right() {
    let stage = Stage::new(Scenario::new()).await;
    for (arguments, code, expect) in [
        (["--as", "nobody"], 1, "there is no member \"nobody\"; did you mean member:jonas"),
        (["--page", "inbx"], 1, "there is no page \"inbx\"; did you mean inbox? (the pages are: inbox"),
        (["--open", "thread:9"], 1, "there is no thread \"thread:9\""),
        (["-p", "/pge inbox"], 1, "there is no command /pge; did you mean /page?"),
        (["-p", "/approve nothing"], 1, "nothing"),
        (["-p", "/inbound nobody"], 1, "write for example: /inbound contact:ana-silva"),
        (["-p", "/clock -2h"], 1, "time goes forward only"),
        (["-p", "/clock +99999999999999d"], 1, "is no time that could pass; write for example /clock +2h"),
        (["-p", "/clock +9000y"], 1, "is too far"),
        (["-p", "/approve"], 1, "something is missing; write for example: /approve ID"),
        (["-p", "/snooze thread:1"], 1, "there is no proposal, and no question, \"thread:1\""),
        (["--approve", "q9"], 1, "there is no question \"q9\": nothing is asked in this conversation"),
        (["--mode", "plan"], 2, "--mode means nothing at the desk; what may be done is up to the member"),
        (["--allow", "shell"], 2, "--allow means nothing at the desk"),
        (["--resume", "abc"], 2, "--resume means nothing at the desk; the desk keeps conversations by name"),
        (["--pack", "mi"], 2, "--pack means nothing at the desk"),
        (["--extension", "a.ts"], 2, "--extension means nothing at the desk"),
        (["--model", "m"], 2, "--scripted asks no model, so --model means nothing"),
        (["--format", "json"], 2, "--format json is for what is done once"),
        (["-p", "  "], 2, "-p needs something to say, or a command (/help lists them)"),
    ] {
        let mut all = vec!["desk", "--data", "desk", "--scripted"];
        all.extend(arguments);
        let ran = stage.mica(&all).await;
        assert_eq!(ran.code, Some(code), "{arguments:?} {}{}", ran.out, ran.err);
        assert!(ran.err.contains(expect), "{arguments:?} {}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_its_name() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with =
        |more: &[&str]| -> Vec<String> { desk.iter().chain(more).map(|word| (*word).to_owned()).collect() };
    async fn runs(stage: &Stage, arguments: Vec<String>) -> stage::Ran {
        stage.mica(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    }
    let asked = runs(&stage, with(&["-p", "Mark Initech as active."])).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    let name = asked.err.split("its name: ").nth(1).and_then(|rest| rest.lines().next()).unwrap().to_owned();
    let how = format!(
        "desk: it waits for an answer:\n  mica desk --data desk --scripted --approve {name}\n  mica desk --data desk --scripted \
         --reject {name} --why 'TEXT'\n"
    );
    assert!(asked.err.contains(&how), "{}", asked.err);
    let seen = runs(&stage, with(&["--format", "json", "-p", "/waiting"])).await;
    let seen: Value = serde_json::from_str(&seen.out).unwrap();
    assert_eq!(seen["waiting"][0]["name"], name.as_str());
    assert_eq!(seen["waiting"][0]["call"]["name"], "update_record");
    assert_eq!(seen["waiting"][0]["may"], true);
    let wrong = runs(&stage, with(&["--approve", "q7"])).await;
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains(&format!("there is no question \"q7\"; asked is: {name}")), "{}", wrong.err);
    let no = runs(&stage, with(&["--reject", "q1", "--why", "not yet"])).await;
    assert_eq!(no.code, Some(0), "{}{}", no.out, no.err);
    // The tour says what was done, and that was nothing.
    assert!(
        no.out.starts_with("That was not done.\n\n- update_record: ") && no.out.contains("not yet"),
        "{}",
        no.out
    );
    assert!(
        stage
            .does(&["desk", "--data", "desk", "--scripted", "-p", "/show company:initech"])
            .await
            .contains("at risk")
    );
    let again = runs(&stage, with(&["-p", "Mark Initech as active.", "--format", "json"])).await;
    assert_eq!(again.code, Some(4), "{}", again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["did"][0]["ended"], "suspended");
    let yes = runs(&stage, with(&["--approve", again["waiting"][0]["name"].as_str().unwrap()])).await;
    assert_eq!(yes.code, Some(0), "{}{}", yes.out, yes.err);
    assert!(yes.out.contains("standard, active"), "{}", yes.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_is_refused_what_they_may_not() {
    let stage = Stage::new(Scenario::new()).await;
    for (line, right) in [
        ("/assign thread:1053 triage", "mail.sort"),
        ("/unsend mail:001", "mail.send"),
        ("/undo 0001", "kb.write"),
        ("/sweep", "mail.sort"),
        ("/clock +1d", "agents.write"),
    ] {
        let ran = stage.mica(&["desk", "--data", "desk", "--scripted", "--as", "tomas", "-p", line]).await;
        let name = line.split(' ').next().unwrap();
        assert_eq!(ran.code, Some(1), "{line} {}{}", ran.out, ran.err);
        let expect = format!("desk: member:tomas may not do that: {name} needs the right {right}\n");
        assert!(ran.err.ends_with(&expect), "{line} {}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_breaks_nothing() {
    let stage = Stage::new(Scenario::new()).await;
    let program = env!("CARGO_BIN_EXE_mica");
    let home = stage.folder.path().join("home");
    let ran = tokio::process::Command::new("sh")
        .env("MICA_HOME", &home)
        .current_dir(stage.project())
        .arg("-c")
        .arg(format!("{{ '{program}' desk --data desk --scripted -p /help -p /inbox -p /runs; echo \"code $?\" >&2; }} | head -1"))
        .output()
        .await
        .unwrap();
    let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert_eq!(out, "Lines are said to the copilot. @thread:1001 in a line mentions something.\n");
    assert!(err.ends_with("code 0\n") && !err.contains("panicked"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_triggered_is_on_record_for_the_next_process() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let mail = "/inbound contact:ana-silva | Printer is down | It stopped printing.";
    let came = stage.mica(&with(&["-p", mail])).await;
    assert_eq!(came.code, Some(0), "{}{}", came.out, came.err);
    assert!(came.err.starts_with("desk: no model is asked, a script answers"), "{}", came.err);
    assert!(came.out.contains("agent:triage looked at thread:1061 (completed)"), "{}", came.out);
    let runs = stage.mica(&with(&["-p", "/runs"])).await.out;
    assert!(runs.starts_with("next: "), "{runs}");
    assert!(
        runs.contains("new-mail  agent:triage  completed  thread:1061\n  I read it, tagged it"),
        "{runs}"
    );
    assert!(runs.contains("  proposes 1 action: /bundle fire/new-mail/message:1061-1\n"), "{runs}");
    // A day passes: the night's sweep is made up for, once, and each thread has a bundle of its own.
    let night = stage.mica(&with(&["-p", "/clock +24h", "-p", "/clock +1s", "-p", "/runs"])).await.out;
    // What each of them proposes is said once.
    assert_eq!(
        night.matches("[ ] temp_2 Task: Answer the thread that was left alone\n").count(),
        5,
        "{night}"
    );
    assert_eq!(night.matches("Proposed, not done").count(), 0, "{night}");
    assert_eq!(night.matches("nightly-sweep  agent:sweep  completed").count(), 1, "{night}");
    assert_eq!(night.matches("quiet-thread  agent:sweep  completed").count(), 5, "{night}");
    let done = stage.mica(&with(&["-p", "/approve fire/new-mail/message:1061-1"])).await;
    assert!(done.out.contains("new-mail: approved\n  [x] temp_1"), "{}{}", done.out, done.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_answers_the_thread_that_it_has() {
    let stage = Stage::new(Scenario::new()).await;
    let mut all = vec!["desk", "--data", "desk", "--scripted"];
    for line in ["/assign thread:1053 triage", "/assign thread:1053 triage", "/show thread:1053"] {
        all.extend(["-p", line]);
    }
    let ran = stage.mica(&all).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("the agent that has thread:1053 answered").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("by agent:triage, not sent:\n  Hello,").count(), 1, "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_in_time_is_a_no() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let asked = stage.mica(&with(&["-p", "Mark Initech as active."])).await;
    assert!(asked.err.contains("  an answer counts until "), "{}", asked.err);
    let late = stage.mica(&with(&["-p", "/clock +192h", "-p", "/waiting"])).await;
    assert!(late.out.ends_with("nothing is asked\n"), "{}{}", late.out, late.err);
    let shown = stage.mica(&with(&["-p", "/show company:initech"])).await;
    assert!(shown.out.contains("status: at risk"), "{}", shown.out);
}

/// Runs the program with something on its standard input.
async fn piped(stage: &Stage, arguments: &[&str], input: &[u8]) -> stage::Ran {
    use tokio::io::AsyncWriteExt as _;
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .current_dir(stage.project())
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input).await.unwrap();
    drop(stdin);
    let ran = child.wait_with_output().await.unwrap();
    stage::Ran {
        code: ran.status.code(),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

const SCRIPTED: &[&str] = &["desk", "--data", "desk", "--scripted"];

fn scripted<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SCRIPTED.iter().copied().chain(more.iter().copied()).collect()
}

fn changes() -> Turn {
    Turn::new()
        .call("update_record", json!({ "record": "company:initech", "changes": { "status": "active" } }))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_approved_and_failed_is_said_and_is_no_success() {
    let stage = Stage::new(Scenario::new()).await;
    stage.does(&scripted(&["-p", "/sweep"])).await;
    let empty = "/approve thread:1027 temp_2 title=''";
    let failed = stage.mica(&scripted(&["-p", empty, "-p", "/inbox"])).await;
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    let rows: Vec<&str> = failed.out.lines().collect();
    assert!(rows[0].ends_with("quiet-thread: approved in part, but 1 failed"), "{}", failed.out);
    assert!(rows[2].starts_with("  [✗ A task has a title of 1 to 200 letters."), "{}", failed.out);
    assert!(rows[3].ends_with("@thread:1027 temp_2 tries again"), "{}", failed.out);
    assert_eq!(rows.len(), 4, "{}", failed.out);
    let said = failed.err.lines().skip(1).collect::<Vec<_>>();
    assert_eq!(
        said,
        [
            "desk: temp_2 (create_task) was not done: A task has a title of 1 to 200 letters. Nothing was done.",
            "desk: this was not said or done any more: \"/inbox\""
        ]
    );
    let data = stage.mica(&scripted(&["--format", "json", "-p", empty])).await;
    assert_eq!(data.code, Some(1), "{}{}", data.out, data.err);
    let data: Value = serde_json::from_str(&data.out).unwrap();
    assert_eq!(
        data["did"][0]["error"],
        "temp_2 (create_task) was not done: A task has a title of 1 to 200 letters. Nothing was done."
    );
    // Tried again as it was proposed, it is done.
    let done = stage.does(&scripted(&["-p", "/approve thread:1027"])).await;
    assert!(done.lines().next().unwrap().ends_with("quiet-thread: approved"), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_approved_and_failed_is_no_success() {
    let reply = Turn::new().call("create_task", json!({ "title": "x".repeat(300), "assignee": "me" }));
    let stage = Stage::new(Scenario::new().turn(reply).turn(Turn::new().text("That did not work."))).await;
    let asked = stage.ask(&["desk", "--data", "desk", "-p", "Make a task."]).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    let failed = stage.ask(&["desk", "--data", "desk", "--approve", "q1", "--format", "json"]).await;
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    let data: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(data["did"][0]["ended"], "completed");
    assert_eq!(data["did"][0]["text"], "That did not work.");
    let error = data["did"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("create_task was approved, and failed: "), "{error}");
}

/// The command that is printed is what a person copies into a shell.
#[tokio::test(flavor = "multi_thread")]
async fn the_printed_command_answers_as_it_is() {
    let scenario = Scenario::new().turn(changes()).turn(Turn::new().text("It is active now."));
    let stage = Stage::new(scenario).await;
    let asked = stage
        .ask(&[
            "desk",
            "--data",
            "it's my desk",
            "--as",
            "jonas",
            "--conversation",
            "$HOME; x",
            "--zone",
            "Asia/Tokyo",
            "--dialect",
            "chat",
            "--max-turns",
            "9",
            "-p",
            "Mark Initech.",
        ])
        .await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    let printed = asked.err.lines().find(|line| line.contains(" --approve ")).unwrap().trim();
    let url = stage.server.url("/v1");
    let name = printed.rsplit(' ').next().unwrap();
    assert_eq!(
        printed,
        format!(
            "mica desk --data 'it'\\''s my desk' --as jonas --conversation '$HOME; x' --zone Asia/Tokyo --model scripted --dialect chat \
             --base-url {url} --max-turns 9 --approve {name}"
        )
    );
    let program = env!("CARGO_BIN_EXE_mica");
    let ran = tokio::process::Command::new("sh")
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .current_dir(stage.project())
        .args(["-c", &format!("mica() {{ '{program}' \"$@\"; }}; {printed}")])
        .output()
        .await
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "It is active now.\n");
    let shown =
        stage.does(&["desk", "--data", "it's my desk", "--scripted", "-p", "/show company:initech"]).await;
    assert!(shown.contains("status: active"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_not_lost_to_the_next_prompt() {
    let stage = Stage::new(Scenario::new()).await;
    let said =
        ["-p", "Mark Initech as active.", "-p", "/page inbox", "-p", "Find Ana Silva.", "-p", "/tasks"];
    let asked = stage.mica(&scripted(&said)).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    // A command withdraws nothing, and is done; what would be said is not, nor what stands behind it.
    assert_eq!(asked.out, "on the page inbox\n");
    let last = asked.err.lines().last().unwrap();
    assert_eq!(last, "desk: this was not said or done any more: \"Find Ana Silva.\", \"/tasks\"");
    let waiting = stage.mica(&scripted(&["-p", "/waiting", "--format", "json"])).await;
    let waiting: Value = serde_json::from_str(&waiting.out).unwrap();
    assert_eq!(waiting["waiting"].as_array().unwrap().len(), 1);
    // Said by itself it withdraws what was asked before, and that is in the data, too.
    let other = stage.mica(&scripted(&["-p", "Find Ana Silva.", "--format", "json"])).await;
    let other: Value = serde_json::from_str(&other.out).unwrap();
    assert_eq!(other["did"][0]["withdrawn"], json!(["update_record"]));
    let both = ["-p", "Mark Initech as active.", "-p", "Find Ana Silva.", "--format", "json"];
    let both = stage.mica(&scripted(&both)).await;
    assert_eq!(both.code, Some(4), "{}", both.err);
    let both: Value = serde_json::from_str(&both.out).unwrap();
    assert_eq!(both["unsaid"], json!(["Find Ana Silva."]));
    assert_eq!(both["did"].as_array().unwrap().len(), 1);
    // What answers it in between keeps the rest going.
    let name = both["waiting"][0]["name"].as_str().unwrap().to_owned();
    let answered = ["-p", "/inbox", "-p", &format!("/approve {name}"), "-p", "Find Ana Silva."];
    let answered = stage.mica(&scripted(&answered)).await;
    assert_eq!(answered.code, Some(0), "{}{}", answered.out, answered.err);
    assert!(answered.out.contains("This is who fits."), "{}", answered.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_what_failed_says_why() {
    let refuses = Turn::new().fault(Fault::Http("openai_401".into()));
    let stage = Stage::new(Scenario::new().turn(refuses)).await;
    let failed =
        stage.ask(&["desk", "--data", "desk", "--format", "json", "-p", "hello", "-p", "more"]).await;
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    let data: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(data["did"][0]["ended"], "failed");
    let error = data["did"][0]["error"].as_str().unwrap();
    assert_eq!(failed.err.trim_end(), format!("desk: {error}"));
    assert_eq!(data["unsaid"], json!(["more"]));
    // Also when nothing could be said at all.
    let nobody = stage.mica(&scripted(&["--as", "nobody", "--format", "json", "-p", "/inbox"])).await;
    assert_eq!(nobody.code, Some(1));
    let data: Value = serde_json::from_str(&nobody.out).unwrap();
    assert!(data["error"].as_str().unwrap().starts_with("there is no member \"nobody\""), "{data}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_kept_although_nothing_was_said() {
    let stage = Stage::new(Scenario::new()).await;
    async fn place(stage: &Stage) -> String {
        stage.does(&scripted(&["-p", "/page"])).await
    }
    stage.does(&scripted(&["-p", "/page inbox", "-p", "/open thread:1053"])).await;
    assert_eq!(
        place(&stage).await,
        "on the page inbox, open: thread:1053 Second printer for the cold store\n"
    );
    stage.does(&scripted(&["-p", "/close"])).await;
    assert_eq!(place(&stage).await, "on the page inbox\n");
    stage.does(&scripted(&["--page", "kb", "-p", "/inbox"])).await;
    assert_eq!(place(&stage).await, "on the page kb\n");
    stage.does(&scripted(&["-p", "/page none"])).await;
    assert_eq!(place(&stage).await, "on no page\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_can_be_taken_back_is_offered() {
    let edits = |old: &str, new: &str| Turn::new().call("edit_article", json!({ "old": old, "new": new }));
    let scenario = Scenario::new()
        .turn(edits("within 30 days", "within 31 days"))
        .turn(Turn::new().text("31."))
        .turn(edits("within 31 days", "within 32 days"))
        .turn(Turn::new().text("32."));
    let stage = Stage::new(scenario).await;
    let open = ["desk", "--data", "desk", "--page", "kb", "--open", "article:returns", "--yes"];
    for said in ["one", "two"] {
        let ran = stage.ask(&[&open[..], &["-p", said]].concat()).await;
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    }
    let list = stage.does(&scripted(&["-p", "/undo"])).await;
    let rows: Vec<(&str, &str)> = list.lines().filter_map(|row| row.split_once("  ")).collect();
    let (newest, oldest) = (rows[0], rows[1]);
    assert_eq!(newest.1, "article:returns: the run ended well");
    let not_now =
        "cannot be taken back now: article:returns was changed by somebody else since; look at it first";
    assert_eq!(oldest.1, format!("article:returns: {not_now}"));
    assert_eq!(rows.len(), 2);
    // It is as it says.
    let refused = stage.fails(&scripted(&["-p", &format!("/undo {}", oldest.0)])).await;
    assert!(refused.ends_with("was changed by somebody else since; look at it first\n"), "{refused}");
    stage.does(&scripted(&["-p", &format!("/undo {}", newest.0)])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_is_taken_line_by_line_and_ends_with_how_it_went() {
    let stage = Stage::new(Scenario::new()).await;
    for (input, code, expect) in [
        (&b"/page inbox\n/page none"[..], 0, "> /page none\non no page\n"),
        (b"\n\n   \n", 0, ""),
        (
            b"/pge inbox\n/page\n",
            1,
            "✗ there is no command /pge; did you mean /page? (/help lists them)\n> /page\n",
        ),
        (
            b"/note company:initech Gr\xfc\xdfe\n/page\n",
            1,
            "✗ a line is no text in UTF-8, and was not taken: /note",
        ),
        (b"Mark Initech as active.\n", 4, "left waiting; it is asked again next time\n"),
        (b"y\n/show company:initech\n", 0, "status: active"),
    ] {
        let ran = piped(&stage, SCRIPTED, input).await;
        let shown = String::from_utf8_lossy(input);
        assert_eq!(ran.code, Some(code), "{shown:?} {}{}", ran.out, ran.err);
        assert!(ran.out.contains(expect), "{shown:?} {}{}", ran.out, ran.err);
        assert!(!ran.out.contains('\x1b'), "{shown:?} {}", ran.out);
    }
    let long = format!("/note company:initech {}\n/page\n", "x".repeat(2 << 20));
    let ran = piped(&stage, SCRIPTED, long.as_bytes()).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains("✗ a line of 2097174 bytes is too long, and was not taken"), "{}", ran.out);
}

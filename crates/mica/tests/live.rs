//! What can be changed in a session that lives, and what it goes on with: the model, the mode, approvals; and that a
//! session in which nothing was said is none. The real binary, over a pipe.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use mica_testkit::{At, Fault, Scenario, ScriptedServer, Turn};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";

struct Stage {
    folder: tempfile::TempDir,
    server: ScriptedServer,
}

impl Stage {
    /// Two models at one endpoint; the settings name the first.
    async fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start(scenario).await.unwrap();
        for below in ["project", "home/config"] {
            std::fs::create_dir_all(folder.path().join(below)).unwrap();
        }
        std::fs::write(folder.path().join("project/pic.png"), PIXEL).unwrap();
        let stage = Self { folder, server };
        stage.configure(&["blind-one", "seeing-two"]);
        stage
    }

    fn configure(&self, models: &[&str]) {
        let url = self.server.url("/v1");
        let mut settings = format!(
            "model = \"blind-one\"\nmode = \"edit\"\n[[endpoints]]\nname = \"here\"\nkind = \"local\"\nbase_url = \"{url}\"\n"
        );
        for model in models {
            let (images, context) = if *model == "seeing-two" { (true, 64_000) } else { (false, 200_000) };
            settings += &format!(
                "[models.\"{model}\"]\ndialect = \"chat\"\ncontext = {context}\nmax_output = 4000\nimages = {images}\n\
                 cache.kind = \"prefix\"\ncache.minimum = 128\ncache.ttl_minutes = [5]\n"
            );
        }
        std::fs::write(self.folder.path().join("home/config/config.toml"), settings).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .current_dir(self.folder.path().join("project"))
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn rpc(&self, arguments: &[&str]) -> Pipe {
        let mut command = self.command(&["rpc"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = command.spawn().unwrap();
        let output = BufReader::new(program.stdout.take().unwrap()).lines();
        Pipe { input: program.stdin.take().unwrap(), output, program }
    }

    /// All files of sessions, with what is beside them.
    fn files(&self) -> Vec<PathBuf> {
        let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let projects = list(self.folder.path().join("home/data/sessions"));
        projects.flat_map(|project| list(project.path())).map(|file| file.path()).collect()
    }

    /// The entries of the only session, of some kinds.
    fn entries(&self, kinds: &[&str]) -> Vec<Value> {
        let file = self.files().into_iter().find(|file| file.extension().is_some_and(|end| end == "jsonl"));
        let text = std::fs::read_to_string(file.unwrap()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| kinds.contains(&line["kind"].as_str().unwrap())).collect()
    }

    fn asked(&self) -> Vec<String> {
        let captured = self.server.captured();
        captured.iter().map(|request| request.json["model"].as_str().unwrap().to_owned()).collect()
    }
}

struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    program: Child,
}

impl Pipe {
    async fn send(&mut self, request: Value) {
        self.input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(100), self.output.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    /// Sends a request and waits for its answer.
    async fn ask(&mut self, mut request: Value) -> Value {
        request["id"] = json!("ask");
        self.send(request).await;
        self.until(|line| line["id"] == "ask").await
    }

    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.next().await;
            if wanted(&line) {
                return line;
            }
        }
    }

    async fn leave(mut self) {
        drop(self.input);
        assert_eq!(self.program.wait().await.unwrap().code(), Some(0));
    }
}

fn prompt(text: &str) -> Value {
    json!({ "method": "prompt", "text": text })
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[tokio::test]
async fn a_model_is_switched_between_runs_and_stays_switched() {
    let look = || Turn::new().call("file_read", json!({ "path": "pic.png" }));
    let scenario = Scenario::new()
        .turn(look())
        .turn(Turn::new().text("I cannot see it."))
        .turn(look())
        .turn(Turn::new().text("A dot."))
        .otherwise(Turn::new().text("Still here."));
    let stage = Stage::new(scenario).await;
    let mut pipe = stage.rpc(&[]);
    assert_eq!(pipe.ask(prompt("look")).await["result"]["outcome"], "completed");
    let wrong = pipe.ask(json!({ "method": "model", "name": "seeing-tow" })).await;
    assert_eq!(
        message(&wrong),
        "there is no model \"seeing-tow\"; did you mean seeing-two? A name that is not listed is asked for with its \
         endpoint: here/seeing-tow"
    );
    assert_eq!(pipe.ask(json!({ "method": "state" })).await["result"]["model"], "blind-one");
    assert_eq!(stage.entries(&["model_change"]), [""; 0], "nothing changed");

    let switched = pipe.ask(json!({ "method": "model", "name": "seeing-two" })).await;
    assert_eq!(
        (&switched["result"]["model"], &switched["result"]["context"]),
        (&json!("seeing-two"), &json!(64_000))
    );
    let changes = stage.entries(&["model_change"]);
    assert_eq!(
        (&changes[0]["endpoint"], &changes[0]["model"], &changes[0]["dialect"]),
        (&json!("here"), &json!("seeing-two"), &json!("chat"))
    );
    assert_eq!(pipe.ask(prompt("look again")).await["result"]["outcome"], "completed");
    assert_eq!(stage.asked(), ["blind-one", "blind-one", "seeing-two", "seeing-two"]);
    let captured = stage.server.captured();
    assert!(!captured[1].json.to_string().contains("data:image/png"), "the first one cannot see");
    assert!(captured[3].json.to_string().contains("data:image/png"), "the second one can");
    let (before, after) = (&captured[1].json["messages"], &captured[2].json["messages"]);
    let count = before.as_array().unwrap().len();
    assert_eq!(
        after.as_array().unwrap()[1..count],
        before.as_array().unwrap()[1..],
        "the conversation goes along"
    );
    let usage = pipe.ask(json!({ "method": "usage" })).await;
    assert_eq!(usage["result"]["window"]["of"], 64_000, "{usage}");
    // The reason is told before the second turn of the run.
    pipe.leave().await;
    let (code, out, err) = stage.run(&["-c", "-p", "who are you?"]).await;
    assert_eq!((code, out.as_str()), (Some(0), "Still here.\n"));
    assert!(!err.contains("mica:"), "nothing to notice: {err}");
    assert_eq!(stage.asked()[4], "seeing-two", "it goes on with the model it was switched to");
    let (code, _, err) = stage.run(&["-c", "-p", "and now?", "--model", "blind-one"]).await;
    assert_eq!((code, stage.asked()[5].as_str()), (Some(0), "blind-one"), "a flag wins: {err}");
    assert_eq!(stage.run(&["-c", "-p", "and now?"]).await.0, Some(0));
    assert_eq!(stage.asked()[6], "blind-one", "and stays");
    assert_eq!(stage.entries(&["model_change"]).len(), 2);
}

#[tokio::test]
async fn the_cache_that_is_missed_says_that_the_model_changed() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Yes."))).await;
    let mut pipe = stage.rpc(&[]);
    pipe.ask(prompt("one")).await;
    pipe.ask(json!({ "method": "model", "name": "seeing-two" })).await;
    pipe.ask(prompt("two")).await;
    let cache = pipe.ask(json!({ "method": "usage" })).await["result"]["cache"].clone();
    assert_eq!((&cache["reason"], &cache["read"]), (&json!("model_changed"), &json!(0)), "{cache}");
    pipe.send(json!({ "id": 9, "method": "prompt", "text": "three" })).await;
    let told = pipe.until(|line| line["event"]["type"] == "window").await;
    assert_eq!(told["event"]["change"]["reason"], "the model changed, and each has a cache of its own");
}

#[tokio::test]
async fn a_model_that_is_gone_gives_way_to_the_settings_with_a_notice() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Yes."))).await;
    assert_eq!(
        stage.run(&["-p", "one", "--base-url", &stage.server.url("/v1"), "--model", "other"]).await.0,
        Some(0)
    );
    let (code, _, err) = stage.run(&["-c", "-p", "two"]).await;
    assert_eq!(
        (code, err.lines().next()),
        (
            Some(0),
            Some(
                "mica: the session was switched to flags/other, which cannot be asked (there is no endpoint \"flags\" any \
             more); it goes on with blind-one"
            )
        )
    );
    assert_eq!(stage.asked(), ["other", "blind-one"]);
}

#[tokio::test]
async fn no_model_is_switched_while_a_run_goes_on() {
    let stalls = Turn::new().text("half").fault(Fault::Stall { at: At::BeforeFinish });
    let stage = Stage::new(Scenario::new().turn(stalls)).await;
    let mut pipe = stage.rpc(&[]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "go" })).await;
    let refused = pipe.ask(json!({ "method": "model", "name": "seeing-two" })).await;
    assert_eq!(
        message(&refused),
        "a run is going on, and the model is switched between runs: wait for its end, or stop it"
    );
    assert_eq!(pipe.ask(json!({ "method": "model" })).await["result"]["model"], "blind-one");
}

#[tokio::test]
async fn the_mode_is_kept_and_a_flag_wins() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Yes."))).await;
    let mut pipe = stage.rpc(&["--mode", "ask"]);
    pipe.ask(prompt("one")).await;
    assert_eq!(pipe.ask(json!({ "method": "mode", "mode": "plan" })).await["result"], json!({}));
    pipe.ask(json!({ "method": "mode", "mode": "plan" })).await;
    pipe.leave().await;
    let mode = async |arguments: &[&str]| {
        let mut pipe = stage.rpc(arguments);
        let mode = pipe.ask(json!({ "method": "state" })).await["result"]["mode"].clone();
        pipe.leave().await;
        mode
    };
    assert_eq!(mode(&["-c"]).await, "plan");
    assert_eq!(mode(&["-c", "--mode", "edit"]).await, "edit");
    assert_eq!(mode(&[]).await, "edit", "another session has its own");
    assert_eq!(mode(&["-c"]).await, "plan", "nothing was said in edit mode");
    let modes: Vec<Value> =
        stage.entries(&["mode_change"]).iter().map(|entry| entry["mode"].clone()).collect();
    assert_eq!(modes, ["ask", "plan"]);
    assert_eq!(stage.entries(&["mode_change", "message"])[0]["kind"], "mode_change", "before what was said");
    // A fork has it, too.
    let (_, id, _) = stage.run(&["sessions", "list", "--json"]).await;
    let id = serde_json::from_str::<Value>(&id).unwrap()[0]["id"].as_str().unwrap().to_owned();
    let (_, fork, _) = stage.run(&["sessions", "fork", &id]).await;
    assert_eq!(mode(&["--resume", fork.trim()]).await, "plan");
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_is_none() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Yes."))).await;
    let mut pipe = stage.rpc(&["--model", "seeing-two"]);
    let id = pipe.ask(json!({ "method": "state" })).await["result"]["session"].clone();
    pipe.ask(json!({ "method": "mode", "mode": "plan" })).await;
    pipe.ask(json!({ "method": "model", "name": "blind-one" })).await;
    assert!(message(&pipe.ask(json!({ "method": "fork" })).await).contains("the session is empty"));
    assert_eq!(stage.files(), Vec::<PathBuf>::new());
    let listed = pipe.ask(json!({ "method": "sessions" })).await;
    assert_eq!(listed["result"]["sessions"], json!([]));
    // What was set before is there once something is said, as it was last.
    pipe.ask(prompt("hello")).await;
    let kept: Vec<Value> = stage.entries(&["session", "model_change", "mode_change", "message"]);
    let kinds: Vec<&str> = kept.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "mode_change", "model_change", "message", "message"]);
    assert_eq!(
        (&kept[0]["id"], &kept[1]["mode"], &kept[2]["model"]),
        (&id, &json!("plan"), &json!("blind-one"))
    );
    let locked = stage.run(&["-c", "-p", "two"]).await;
    assert_eq!(locked.0, Some(1), "one writer at a time");
    pipe.leave().await;
    assert!(!stage.files().iter().any(|file| file.extension().is_some_and(|end| end == "lock")));
}

#[tokio::test]
async fn an_approval_is_for_what_was_shown() {
    let writes = |name: &str| Turn::new().call("file_write", json!({ "path": name, "content": "x" }));
    let stage = Stage::new(Scenario::new().turn(writes("a.txt")).turn(Turn::new().text("Done."))).await;
    let mut pipe = stage.rpc(&[]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "write" })).await;
    let asked = pipe.until(|line| line["event"]["type"] == "approval_asked").await["event"]["ask"].clone();
    let (call, shown) = (asked["call"]["id"].as_str().unwrap(), asked["shown"].as_str().unwrap());
    let approve = |decision: Value| json!({ "method": "approve", "decisions": [decision] });
    let answer = pipe.ask(approve(json!({ "call": call, "answer": "allow" }))).await;
    assert_eq!(
        message(&answer),
        format!("say what is allowed: \"shown\" of the question about {call} is \"{shown}\"")
    );
    let answer = pipe.ask(approve(json!({ "call": call, "shown": "00", "answer": "allow" }))).await;
    assert_eq!(
        message(&answer),
        format!(
            "the call {call} is still asked about: what was allowed (shown \"00\") is not what it would run with (shown \
             \"{shown}\")"
        )
    );
    let answer = pipe.ask(approve(json!({ "call": "other", "answer": "deny", "reason": "no" }))).await;
    assert_eq!(message(&answer), "nothing is asked about the call other");
    let asks = pipe.ask(json!({ "method": "state" })).await["result"]["asks"].clone();
    assert_eq!(asks[0]["shown"], shown, "it is still asked");
    assert!(!stage.folder.path().join("project/a.txt").exists());
    assert_eq!(
        pipe.ask(approve(json!({ "call": call, "shown": shown, "answer": "allow" }))).await["result"],
        json!({})
    );
    pipe.until(|line| line["id"] == 1).await;
    assert!(stage.folder.path().join("project/a.txt").exists());
}

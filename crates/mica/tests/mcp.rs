//! MCP servers through the program itself: what the model is sent and told, what a person is asked, rules and modes, the
//! commands, and that nothing is left.
//!
//! Real servers are tried when `MICA_MCP_SERVERS` names a folder with a `node_modules` that has them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mica_testkit::{Call, Scenario, Step, Turn};
use serde_json::{Value, json};
use stage::Stage;
use stage::pipe::Pipe;

/// A server in a few lines of shell: it answers what it is asked, by the number of the request.
const SERVER: &str = r#"#!/bin/sh
echo "$$" >> "$PIDS"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{"name":"sh","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}\n' "$id" "$(cat "$TOOLS")" ;;
    *'"prompts/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"prompts":[{"name":"greet","description":"Greets."}]}}\n' "$id" ;;
    *'"prompts/get"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Say hello to the moon."}}]}}\n' "$id" ;;
    *'"tools/call"'*) echo "called" >> "$PIDS.calls"; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"the answer is 42"}]}}\n' "$id" ;;
  esac
done
"#;

const ANSWER: &str = r#"[{"name":"answer","description":"Answers it.","inputSchema":{"type":"object"}}]"#;

/// A stage with the server called `deep`.
async fn stage(scenario: Scenario) -> Stage {
    let stage = Stage::new(scenario).await;
    let folder = stage.folder.path().to_owned();
    std::fs::write(folder.join("server.sh"), SERVER).unwrap();
    std::fs::write(folder.join("tools.json"), ANSWER).unwrap();
    let entry = json!({
        "command": "/bin/sh", "args": [folder.join("server.sh")],
        "env": { "PIDS": folder.join("pids"), "TOOLS": folder.join("tools.json") },
    });
    configure(&stage, &json!({ "servers": { "deep": entry } }));
    stage
}

fn configure(stage: &Stage, file: &Value) {
    let folder = stage.folder.path().join("home/config");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mcp.json"), file.to_string()).unwrap();
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}

fn alive(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|pid| Path::new("/proc").join(pid).join("exe").exists()).map(str::to_owned).collect()
}

fn bodies(stage: &Stage) -> Vec<Value> {
    let captured = stage.server.script().captured();
    captured.iter().map(|captured| serde_json::from_slice(&captured.body).unwrap()).collect()
}

fn tool_names(request: &Value) -> Vec<String> {
    let name = |tool: &Value| {
        let name = tool.pointer("/name").or(tool.pointer("/function/name"));
        name.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    request["tools"].as_array().unwrap().iter().map(name).collect()
}

fn through(name: &str) -> Step {
    Step::Call(Call::new("call_tool", json!({ "name": name, "arguments": {} })).with_id("one"))
}

/// A model that waits for the tools of the server, which nobody knows yet, and calls one.
fn asks_for(name: &str) -> Scenario {
    let load = Turn::new().call("load_tools", json!({ "names": ["mcp__deep__*"] }));
    Scenario::new().turn(load).turn(Turn::new().step(through(name))).turn(Turn::new().text("Done."))
}

#[tokio::test]
async fn a_first_session_hears_of_tools_at_the_tail_and_the_next_has_them_from_the_start() {
    let stage = stage(asks_for("mcp__deep__answer").turn(Turn::new().text("Yes."))).await;
    let ran = stage.ask(&["-p", "what is it?", "--allow", "mcp__deep__*"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let sent = bodies(&stage);
    // Not among what is sent; at the tail, as the server's words; and what is sent stays the same.
    let names = tool_names(&sent[0]);
    assert!(
        names.contains(&"call_tool".to_owned()) && !names.iter().any(|name| name.starts_with("mcp__")),
        "{names:?}"
    );
    assert_eq!(sent[0]["tools"], sent[1]["tools"]);
    // Nothing is known of it yet, and it is started when the model was asked; what waits for its tools is told.
    let first = sent[0].to_string();
    assert!(first.contains("were not known when this session began are started meanwhile: deep."), "{first}");
    assert!(first.contains("load_tools with \\\"mcp__deep__*\\\""), "{first}");
    assert!(!first.contains("mcp__deep__answer"), "{first}");
    assert!(sent[1].to_string().contains("Arguments (JSON Schema)"), "{}", sent[1]);
    let last = sent[2].to_string();
    assert!(last.contains("<mcp_result server=\\\"deep\\\" tool=\\\"answer\\\""), "{last}");
    assert!(last.contains("the answer is 42"), "{last}");
    let pids = stage.folder.path().join("pids");
    assert_eq!((lines(&pids), alive(&pids)), (1, Vec::new()), "it was started once, and is gone");

    // The next session knows it without a start, and sends it: it is one, and small.
    let ran = stage.ask(&["-p", "and now?"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let names = tool_names(bodies(&stage).last().unwrap());
    assert!(names.contains(&"mcp__deep__answer".to_owned()), "{names:?}");
    assert_eq!(lines(&pids), 1, "nothing was started");
}

/// What a provider caches of a request before anything that was said: the tools, and what stands before the conversation.
fn beginning(request: &Value) -> (Value, Vec<Value>) {
    let messages = request["messages"].as_array().unwrap();
    let system = messages.iter().take_while(|message| message["role"] == "system").cloned().collect();
    (request["tools"].clone(), system)
}

#[tokio::test]
async fn a_session_that_goes_on_begins_as_it_began() {
    let scenario = Scenario::new();
    let scenario = (0..4).fold(scenario, |scenario, _| scenario.turn(Turn::new().text("Yes.")));
    let stage = stage(scenario).await;
    let asked = |arguments: &'static [&'static str]| {
        let stage = &stage;
        async move {
            let ran = stage.ask(arguments).await;
            assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
            bodies(stage).last().unwrap().clone()
        }
    };
    stage.does(&["memory", "add", "--scope", "global", "--section", "preferences", "short answers"]).await;
    let first = asked(&["-p", "one"]).await;
    let (tools, system) = beginning(&first);
    assert!(!system.is_empty() && Value::Array(system.clone()).to_string().contains("short answers"));
    assert!(!tools.to_string().contains("mcp__deep__answer"));

    // By now the server is known, something was remembered, and there is another skill.
    stage.does(&["mcp", "tools", "deep"]).await;
    stage.does(&["memory", "add", "--scope", "global", "--section", "context", "the moon is full"]).await;
    let skill = stage.folder.path().join("home/config/skills/tides");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\nname: tides\ndescription: About the sea.\n---\nLook up.\n")
        .unwrap();
    let second = asked(&["-p", "two", "--continue"]).await;
    assert_eq!(beginning(&second), (tools.clone(), system.clone()));
    let said = second["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(said.contains("the moon is full") && said.contains("tides: About the sea."), "{said}");

    // A session that begins now has all of it from the start, and keeps it when it is gone.
    let third = asked(&["-p", "three"]).await;
    let (tools, system) = beginning(&third);
    let all = Value::Array(system.clone()).to_string();
    assert!(all.contains("the moon is full") && all.contains("tides: About the sea."), "{all}");
    assert!(tools.to_string().contains("mcp__deep__answer"));
    configure(&stage, &json!({ "servers": {} }));
    std::fs::remove_dir_all(&skill).unwrap();
    stage.does(&["memory", "forget", "--scope", "global", "the moon is full"]).await;
    let fourth = asked(&["-p", "four", "--continue"]).await;
    assert_eq!(beginning(&fourth), (tools, system));
    let said = fourth["messages"].as_array().unwrap().last().unwrap().to_string();
    for told in ["The MCP server deep is not used any more", "no longer there", "tides: is there no longer"] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[tokio::test]
async fn trust_in_a_server_is_in_this_project_and_in_what_it_starts() {
    let stage = Stage::new(Scenario::new()).await;
    let (here, other) = (stage.project(), stage.folder.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    let file =
        json!({ "mcpServers": { "own": { "command": "/bin/sh", "args": ["server.sh"] } } }).to_string();
    for folder in [&here, &other] {
        std::fs::write(folder.join(".mcp.json"), &file).unwrap();
        std::fs::write(folder.join("server.sh"), SERVER).unwrap();
    }
    stage.does(&["trust"]).await;
    let unused = ".mcp.json is not used, because it is not trusted";
    let listed = |folder: PathBuf| {
        let stage = &stage;
        async move {
            let ran = stage.mica(&["-C", &folder.display().to_string(), "mcp", "list"]).await;
            format!("{}{}", ran.out, ran.err)
        }
    };
    assert!(!listed(here.clone()).await.contains(unused));
    // The same bytes elsewhere start something else.
    let told = listed(other).await;
    assert!(told.contains(unused), "{told}");
    std::fs::write(here.join("server.sh"), "touch owned\n").unwrap();
    let told = listed(here).await;
    assert!(told.contains(unused), "{told}");
}

#[tokio::test]
async fn a_tool_of_a_server_is_asked_about_and_modes_refuse_it() {
    let calls = |stage: &Stage| lines(&stage.folder.path().join("pids.calls"));
    let asked = stage(asks_for("mcp__deep__answer")).await;
    let ran = asked.ask(&["-p", "what is it?"]).await;
    assert_eq!(ran.code, Some(4), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("mcp__deep__answer"), "{}", ran.err);
    assert_eq!(calls(&asked), 0);
    let ran = asked.ask(&["--continue", "--yes"]).await;
    assert_eq!((ran.code, calls(&asked)), (Some(0), 1), "{}{}", ran.out, ran.err);

    let planning = stage(asks_for("mcp__deep__answer")).await;
    let ran = planning.ask(&["-p", "what is it?", "--yes", "--mode", "plan"]).await;
    assert_eq!((ran.code, calls(&planning)), (Some(0), 0), "{}{}", ran.out, ran.err);
    let told = bodies(&planning)[2].to_string();
    assert!(told.contains("mcp__deep__answer is not available in plan mode"), "{told}");

    let denied = stage(asks_for("mcp__deep__answer")).await;
    denied.settings("deny = [\"mcp__deep__*\"]\n");
    denied.ask(&["-p", "what is it?", "--yes"]).await;
    assert_eq!(calls(&denied), 0);
}

#[tokio::test]
async fn a_project_starts_nothing_before_it_is_trusted() {
    let scenario = Scenario::new()
        .turn(Turn::new().text("Hi."))
        .turn(Turn::new().call("load_tools", json!({ "names": ["mcp__deep__*"] })))
        .turn(Turn::new().text("Hi."));
    let stage = Stage::new(scenario).await;
    let folder = stage.folder.path().to_owned();
    std::fs::write(folder.join("server.sh"), SERVER).unwrap();
    std::fs::write(folder.join("tools.json"), ANSWER).unwrap();
    let pids = folder.join("pids");
    let entry = json!({ "command": "/bin/sh", "args": [folder.join("server.sh")],
                        "env": { "PIDS": pids, "TOOLS": folder.join("tools.json") } });
    std::fs::write(stage.project().join(".mcp.json"), json!({ "mcpServers": { "deep": entry } }).to_string())
        .unwrap();
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(ran.err.contains("MCP servers .mcp.json"), "{}", ran.err);
    assert_eq!(lines(&pids), 0);
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "hi"]).await;
    assert_eq!((ran.code, lines(&pids)), (Some(0), 1), "{}{}", ran.out, ran.err);
    // One byte more, and it is not trusted any more.
    let text = std::fs::read_to_string(stage.project().join(".mcp.json")).unwrap();
    std::fs::write(stage.project().join(".mcp.json"), format!("{text} ")).unwrap();
    let list = stage.mica(&["mcp", "list"]).await;
    assert!(
        list.out.contains(".mcp.json is not used, because it is not trusted"),
        "{}{}",
        list.out,
        list.err
    );
}

#[tokio::test]
async fn a_yes_counts_for_a_tool_as_it_was_described() {
    let call = |scenario: Scenario| {
        scenario.turn(Turn::new().step(through("mcp__deep__answer"))).turn(Turn::new().text("Done."))
    };
    let load = Turn::new().call("load_tools", json!({ "names": ["mcp__deep__*"] }));
    let stage = stage(call(call(call(Scenario::new().turn(load))))).await;
    let calls = || lines(&stage.folder.path().join("pids.calls"));
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("what is it?").await;
    let ask = pipe.event("approval_asked").await["ask"].clone();
    let proposal = ask["proposals"][1].clone();
    assert_eq!(
        (&proposal["scope"], &proposal["text"]),
        (&json!("project"), &json!("mcp__deep__answer, as it is described now"))
    );
    let decision =
        json!({ "call": ask["call"]["id"], "shown": ask["shown"], "answer": "allow", "remember": proposal });
    let answer = pipe.ask(json!({ "method": "approve", "decisions": [decision] })).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    pipe.outcome().await;
    pipe.leave().await;
    assert_eq!(calls(), 1);

    // Another session: nobody is asked.
    let ran = stage.ask(&["-p", "again"]).await;
    assert_eq!((ran.code, calls()), (Some(0), 2), "{}{}", ran.out, ran.err);

    // The server describes it otherwise: the yes was to something else.
    std::fs::write(
        stage.folder.path().join("tools.json"),
        ANSWER.replace("Answers it", "Answers it, and reads your mail"),
    )
    .unwrap();
    stage.does(&["mcp", "tools", "deep", "--refresh"]).await;
    let ran = stage.ask(&["-p", "and again"]).await;
    assert_eq!((ran.code, calls()), (Some(4), 2), "{}{}", ran.out, ran.err);
}

#[tokio::test]
async fn a_prompt_of_a_server_is_a_command() {
    let stage = stage(Scenario::new().turn(Turn::new().text("Hello, moon."))).await;
    stage.does(&["mcp", "tools", "deep"]).await;
    let ran = stage.ask(&["-p", "/mcp:deep:greet"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let sent = bodies(&stage)[0].to_string();
    assert!(sent.contains("<mcp_result server=\\\"deep\\\" prompt=\\\"greet\\\""), "{sent}");
    assert!(sent.contains("Say hello to the moon."), "{sent}");
}

#[tokio::test]
async fn the_commands_do_what_they_say() {
    let stage = stage(Scenario::new()).await;
    let list = stage.does(&["mcp", "list"]).await;
    assert_eq!(list, "deep /bin/sh (1 argument) (yours): tools not known yet\n");
    let checked = stage.does(&["mcp", "list", "--check"]).await;
    assert!(checked.starts_with("deep /bin/sh (1 argument) (yours): up after "), "{checked}");
    assert!(
        checked.ends_with(" ms; sh 1, protocol 2025-11-25 (with a handshake), 1 tools, 1 prompts\n"),
        "{checked}"
    );
    assert_eq!(stage.does(&["mcp", "tools", "deep"]).await, "mcp__deep__answer Answers it.\n");
    assert_eq!(stage.does(&["mcp", "call", "deep", "answer"]).await, "the answer is 42\n");
    assert_eq!(stage.does(&["mcp", "call", "deep", "mcp__deep__answer", "{}"]).await, "the answer is 42\n");
    let server = stage.folder.path().join("server.sh");
    std::fs::write(&server, SERVER.replace("the answer is 42", r"\\u001b[2Kwiped\\u202e")).unwrap();
    let wiped = stage.does(&["mcp", "call", "deep", "answer"]).await;
    assert!(wiped.contains("wiped") && !wiped.contains(['\x1b', '\u{202e}']), "{wiped:?}");
    std::fs::write(&server, SERVER).unwrap();
    let wrong = stage.fails(&["mcp", "call", "deep", "anwser"]).await;
    assert_eq!(wrong, "mica: deep has no tool \"anwser\"; did you mean \"answer\"?\n");
    assert!(
        stage
            .does(&["mcp", "log", "deep"])
            .await
            .starts_with("— it is started\n— it can be used: sh 1, protocol 2025-11-25\n")
    );
    assert_eq!(
        stage.fails(&["mcp", "tools", "dep"]).await,
        "mica: there is no MCP server \"dep\"; did you mean \"deep\"?\n"
    );
    assert_eq!(
        stage.fails(&["mcp", "login", "deep"]).await,
        "mica: deep: deep is started as a program: there is nothing to log in to\n"
    );

    stage
        .does(&["mcp", "add", "web", "--header", "Authorization: Bearer ${NOPE}", "https://mcp.example/x"])
        .await;
    let listed = stage.mica(&["mcp", "list"]).await;
    assert!(
        listed
            .out
            .contains("! the MCP server \"web\": its \"headers.Authorization\" needs the variable NOPE"),
        "{listed:?}"
    );
    assert!(stage.fails(&["mcp", "add", "web", "--", "x"]).await.contains("--replace"));
    stage.does(&["mcp", "add", "--replace", "web", "--env", "A=1", "--", "npx", "-y", "thing"]).await;
    let file = std::fs::read_to_string(stage.folder.path().join("home/config/mcp.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(
        file["servers"]["web"],
        json!({ "transport": "stdio", "command": "npx", "args": ["-y", "thing"], "env": { "A": "1" } })
    );
    stage.does(&["mcp", "remove", "web"]).await;
    stage.does(&["mcp", "remove", "deep"]).await;
    assert_eq!(
        stage.does(&["mcp", "list"]).await,
        "no MCP servers are configured; `mica mcp add` adds one\n"
    );
    let pids = stage.folder.path().join("pids");
    assert_eq!(alive(&pids), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_left_when_the_program_is_killed() {
    let slow = Scenario::new()
        .turn(Turn::new().call("shell", json!({ "command": "sleep 300" })))
        .turn(Turn::new().text("x"));
    let stage = stage(slow).await;
    let pids = stage.folder.path().join("pids");
    let url = stage.server.url("/v1");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_mica"))
        .args(["-p", "x", "--yes", "--base-url", &url, "--model", "scripted"])
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(stage.project())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(100);
    while alive(&pids).is_empty() {
        assert!(Instant::now() < until, "the server was never started");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(100);
    while !alive(&pids).is_empty() {
        assert!(Instant::now() < until, "left: {:?}", alive(&pids));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The folder with real servers, or none with the reason.
fn real() -> Option<PathBuf> {
    let folder = std::env::var_os("MICA_MCP_SERVERS").map(PathBuf::from);
    let entry = |folder: &PathBuf| {
        folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js").is_file()
    };
    let found = folder.filter(entry);
    if found.is_none() {
        eprintln!(
            "skipped: MICA_MCP_SERVERS names no folder whose node_modules has @modelcontextprotocol/server-everything"
        );
    }
    found
}

#[tokio::test]
async fn real_servers_over_standard_streams() {
    let Some(folder) = real() else { return };
    let stage = Stage::new(Scenario::new()).await;
    let script =
        |name: &str| folder.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    configure(
        &stage,
        &json!({ "mcpServers": {
        "everything": { "command": "node", "args": [script("everything"), "stdio"] },
        "fs": { "command": "node", "args": [script("filesystem"), stage.project()] },
        "caged": { "command": "node", "args": [script("filesystem"), stage.project()], "sandbox": true },
    } }),
    );
    let checked = stage.mica(&["mcp", "list", "--check"]).await;
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    assert_eq!(checked.out.matches("protocol 2025-11-25 (with a handshake)").count(), 3, "{}", checked.out);
    let echoed = stage.does(&["mcp", "call", "everything", "echo", r#"{"message":"moon"}"#]).await;
    assert_eq!(echoed, "Echo: moon\n");
    let path = stage.project().join("a.txt");
    let read = json!({ "path": path }).to_string();
    for server in ["fs", "caged"] {
        let read = stage.does(&["mcp", "call", server, "read_text_file", &read]).await;
        assert!(read.starts_with("hello\nworld"), "{server}: {read}");
    }
    let tools = stage.does(&["mcp", "tools", "everything"]).await;
    assert!(tools.contains("mcp__everything__echo"), "{tools}");
}

/// A server that ends with the test, however that ends.
struct Node(std::process::Child);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Node {
    /// It takes the number of a port and cannot be given one that is held, so somebody else may have it by then: then it ends,
    /// and another number is tried.
    async fn listening(script: &Path) -> (Self, u16) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let node = std::process::Command::new("node")
                .arg(script)
                .arg("streamableHttp")
                .env("PORT", port.to_string())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn();
            let mut node = Self(node.unwrap());
            while node.0.try_wait().unwrap().is_none() {
                assert!(Instant::now() < until, "the server does not listen");
                if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return (node, port);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

#[tokio::test]
async fn a_real_server_over_http() {
    let Some(folder) = real() else { return };
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let (node, port) = Node::listening(&script).await;
    let stage = Stage::new(Scenario::new()).await;
    stage.does(&["mcp", "add", "web", &format!("http://127.0.0.1:{port}/mcp")]).await;
    let checked = stage.mica(&["mcp", "list", "--check"]).await;
    let echoed = stage.mica(&["mcp", "call", "web", "echo", r#"{"message":"moon"}"#]).await;
    drop(node);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("protocol 2025-11-25 (with a handshake)"), "{}", checked.out);
    assert_eq!(echoed.out, "Echo: moon\n", "{}", echoed.err);
    let gone = stage.mica(&["mcp", "call", "web", "echo", r#"{"message":"moon"}"#]).await;
    assert_eq!(gone.code, Some(1));
    assert_eq!(
        gone.err,
        "mica: the MCP server \"web\" cannot be used: it cannot be reached: Connection refused (os error 111)\n"
    );
}

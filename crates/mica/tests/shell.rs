//! Running commands: the tool itself in the real sandbox, and the program with a model that calls it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use mica_agent::{RunId, Tool, ToolCx, ToolError, ToolOutput};
use mica_ai::Content;
use mica_ai::id::CallId;
use mica_context::SpillFolder;
use mica_context::spill::SpillLimits;
use mica_policy::Mode;
use mica_policy::mode::ModeSwitch;
use mica_policy::shell::{Place, ShellGate, ShellRules, Unseen};
use mica_sandbox::{Around, Boundary, Places, Sandbox, Stub, Tier};
use mica_testkit::{Scenario, Turn, When};
use mica_tools::shell::{COMMAND, FOLDER, NAME, NETWORK};
use mica_tools::{FileChange, FileUse, Ground, Journal, Shell, ShellSettings, TaskLimits, Tasks, Workspace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod stage;

use stage::Stage;

/// The sandbox of this machine, with the program as its stub.
struct Here {
    project: PathBuf,
    path: String,
    sandbox: Sandbox,
}

#[async_trait]
impl Ground for Here {
    async fn sandbox(&self) -> Result<Sandbox, ToolError> {
        Ok(self.sandbox.clone())
    }

    fn boundary(&self) -> Result<Boundary, ToolError> {
        let environment = [("PATH".to_owned(), self.path.clone())].into();
        let around = Around { home: None, environment: &environment, temporary: &std::env::temp_dir() };
        Ok(Boundary::project(&self.project, &around, &Places::builtin().unwrap()).unwrap())
    }
}

/// A journal that writes down what it hears, or refuses.
#[derive(Default)]
struct Heard {
    lines: Mutex<Vec<&'static str>>,
    refuses: bool,
}

impl Journal for Heard {
    fn changed(&self, _: FileChange) {}

    fn command_begins(&self, _: &RunId, _: &CallId) -> Result<(), String> {
        self.lines.lock().unwrap().push("begins");
        if self.refuses { Err("the disk is full".to_owned()) } else { Ok(()) }
    }

    fn command_ended(&self, _: &RunId, _: &CallId) -> Vec<PathBuf> {
        self.lines.lock().unwrap().push("ended");
        vec![PathBuf::from("/changed")]
    }
}

/// A project, and the tools on it.
struct Bench {
    folder: tempfile::TempDir,
    shell: Shell,
    tasks: Tasks,
    journal: Arc<Heard>,
    cancel: CancellationToken,
    news: Arc<Mutex<String>>,
}

impl Bench {
    async fn new() -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        Self::with(ShellSettings::default(), path, Heard::default()).await
    }

    async fn with(settings: ShellSettings, path: String, journal: Heard) -> Self {
        let sandbox = Sandbox::negotiate(Stub::at(env!("CARGO_BIN_EXE_mica"))).await;
        Self::on(sandbox, settings, path, journal)
    }

    fn on(sandbox: Sandbox, settings: ShellSettings, path: String, journal: Heard) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let project = project.canonicalize().unwrap();
        let journal = Arc::new(journal);
        let workspace =
            Workspace::new(&project).unwrap().with_journal(Arc::clone(&journal) as Arc<dyn Journal>);
        let root = project.display().to_string();
        let place = Place {
            cwd: root.clone(),
            root,
            temp: vec!["/tmp".to_owned()],
            home: None,
            disk: Arc::new(Unseen),
        };
        let gate =
            ShellGate::new(NAME, COMMAND, place, ShellRules::builtin().unwrap(), ModeSwitch::new(Mode::Edit))
                .with_folder(FOLDER)
                .with_network(NETWORK, Vec::new());
        let logs = SpillFolder::new(folder.path().join("spill"), SpillLimits::default());
        let tasks = Tasks::new(Arc::new(logs), Arc::new(SystemTime::now), TaskLimits::default());
        let ground = Arc::new(Here { project, path, sandbox });
        let shell = Shell::new(&workspace, ground, gate, &tasks, settings);
        Self { folder, shell, tasks, journal, cancel: CancellationToken::new(), news: Arc::default() }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    async fn whole(&self, args: Value) -> Result<ToolOutput, String> {
        self.call(&self.shell, args).await
    }

    async fn call(&self, tool: &dyn Tool, args: Value) -> Result<ToolOutput, String> {
        let news = Arc::clone(&self.news);
        let cx = ToolCx::new(RunId::fresh(), CallId::from("call-1"), self.cancel.clone(), move |text| {
            news.lock().unwrap().push_str(&text);
        });
        let Value::Object(args) = args else { panic!("arguments are an object") };
        tool.call(args, &cx).await.map_err(|error| error.message)
    }

    /// What the model reads, with times left out.
    async fn run(&self, args: Value) -> String {
        match self.whole(args).await {
            Ok(output) => timeless(&text(&output)),
            Err(message) => format!("error: {message}"),
        }
    }

    async fn command(&self, command: &str) -> String {
        self.run(json!({ "command": command })).await
    }
}

fn text(output: &ToolOutput) -> String {
    match output.content.as_slice() {
        [Content::Text { text }] => text.clone(),
        other => panic!("one text, not {other:?}"),
    }
}

/// Replaces "1.2 s" and "12 s" with "N s".
fn timeless(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        let number = word.trim_end();
        let is_number =
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        out.push_str(&if is_number && number.contains('.') {
            word.replace(number, "N")
        } else {
            word.to_owned()
        });
    }
    out
}

/// A command that sleeps long, and that nobody else gives: other suites may run on this machine at the same time.
fn nap(seconds: u32) -> String {
    format!("sleep {seconds}.{:08}", std::process::id())
}

/// Whether a process runs that has this text in its command line.
fn runs(mark: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let own = std::process::id().to_string();
    entries
        .filter(|entry| *entry.file_name() != *own)
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(mark))
}

/// Waits until something holds, or fails the test.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(100), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn how_it_ended_is_told() {
    let bench = Bench::new().await;
    let cases = [
        ("echo hello", "hello\n[exit code 0 after N s]"),
        ("true", "[it printed nothing]\n[exit code 0 after N s]"),
        ("echo out; echo err >&2; exit 3", "out\nerr\n[exit code 3 after N s]"),
        ("kill -SEGV $$", "[it printed nothing]\n[ended by signal 11 (SIGSEGV: it crashed), after N s]"),
        ("printf 'a\\033[31mb\\033[0m 10%%\\r 50%%\\rdone\\n'", "done\n[exit code 0 after N s]"),
        ("printf 'caf\\351 \\377\\376\\000\\n'", "caf\u{fffd} \u{fffd}\n[exit code 0 after N s]"),
        ("--version", "bash: --version: command not found"),
        ("cat", "[it printed nothing]\n[exit code 0 after N s]"),
        ("echo $0 $TERM $NO_COLOR", "bash dumb 1\n[exit code 0 after N s]"),
    ];
    for (command, expected) in cases {
        let told = bench.command(command).await;
        let told =
            if command == "--version" { told.lines().next().unwrap().replace("line 1: ", "") } else { told };
        assert_eq!(told, expected, "{command}");
    }
    assert_eq!(bench.command(" ").await, "error: There is no command in it. Nothing was run.");
}

#[tokio::test]
async fn output_is_told_as_it_comes() {
    let bench = Bench::new().await;
    let output = bench.whole(json!({ "command": "echo one; echo two >&2; echo three" })).await.unwrap();
    let mut heard: Vec<String> = bench.news.lock().unwrap().lines().map(str::to_owned).collect();
    heard.sort();
    assert_eq!(heard, ["one", "three", "two"]);
    let details = output.details.unwrap();
    assert_eq!(details["exit_code"], 0);
    assert_eq!(details["command"], "echo one; echo two >&2; echo three");
}

#[tokio::test]
async fn five_megabytes_are_kept_from_both_ends() {
    let bench = Bench::new().await;
    let output = bench
        .whole(json!({ "command": "echo first; yes 0123456789012345678901234567890123456789012345678 | head -c 5000000; echo; echo last" }))
        .await
        .unwrap();
    let text = text(&output);
    assert!(text.starts_with("first\n0123456789"), "{text:.100}");
    assert!(text.len() < 30 << 10, "{}", text.len());
    let log = PathBuf::from(output.details.unwrap()["log"].as_str().unwrap());
    let end = format!("\nlast\n[All of it is in {}.]\n[exit code 0 after N s]", log.display());
    assert!(timeless(&text).ends_with(&end), "{}", &text[text.len() - 300..]);
    let whole = std::fs::read_to_string(&log).unwrap();
    assert_eq!(whole.len(), "first\n".len() + 5_000_000 + "\nlast\n".len());
    assert!(log.starts_with(bench.folder.path().join("spill")));
}

#[tokio::test]
async fn binary_output_is_readable() {
    let bench = Bench::new().await;
    let told = bench.command("head -c 300000 /bin/bash; echo; echo end").await;
    assert!(told.len() < 30 << 10, "{}", told.len());
    assert!(told.chars().all(|sign| sign == '\n' || sign == '\t' || !sign.is_control()), "{told:?}");
    assert!(told.contains("GNU") && told.contains("\nend\n"), "{told}");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_and_its_output_kept() {
    let bench = Bench::new().await;
    let start = Instant::now();
    let told = bench.run(json!({ "command": "echo begun; sleep 300", "timeout_seconds": 5 })).await;
    assert_eq!(
        told,
        "begun\n[stopped: its time of 5 s was up. What it printed until then is above, and what it did stays done. Ask for \
         more time with timeout_seconds (at most 600), or run it with background: true]"
    );
    assert!(start.elapsed() < Duration::from_secs(110));
    let told = bench.run(json!({ "command": "echo x", "timeout_seconds": 9999 })).await;
    assert_eq!(told, "x\n[exit code 0 after N s]\n[timeout_seconds was 9999; 600 is the most.]");
}

#[tokio::test]
async fn what_a_command_leaves_running_is_ended_with_it() {
    let bench = Bench::new().await;
    let start = Instant::now();
    // It holds the pipe, and would for ten minutes.
    let told = bench.command(&format!("{} & (setsid {} &) ; echo done", nap(612), nap(613))).await;
    assert_eq!(told, "done\n[exit code 0 after N s]");
    assert!(start.elapsed() < Duration::from_secs(110), "{:?}", start.elapsed());
    assert!(!runs(&nap(612)) && !runs(&nap(613)));
}

#[tokio::test]
async fn a_call_that_is_stopped_ends_the_command() {
    let bench = Bench::new().await;
    let cancel = bench.cancel.clone();
    let stop = async {
        until("the command runs", || bench.news.lock().unwrap().contains("begun")).await;
        cancel.cancel();
    };
    let command = format!("mkdir made; echo begun; {}", nap(614));
    let (told, ()) = tokio::join!(bench.command(&command), stop);
    assert_eq!(told, "begun\n[stopped from outside after N s; what it did until then stays done]");
    assert!(!runs(&nap(614)));
    assert_eq!(*bench.journal.lines.lock().unwrap(), ["begins", "ended"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_the_command_and_tells_the_journal() {
    let bench = Bench::new().await;
    {
        let calling = bench.whole(json!({ "command": format!("mkdir made; echo begun; {}", nap(615)) }));
        tokio::pin!(calling);
        tokio::select! {
            _ = &mut calling => panic!("it ended"),
            () = until("the command runs", || bench.news.lock().unwrap().contains("begun")) => {}
        }
        // As the engine does it: the call is told to stop, and not waited for.
        bench.cancel.cancel();
    }
    until("the journal hears of the end", || bench.journal.lines.lock().unwrap().len() == 2).await;
    assert!(!runs(&nap(615)));
}

#[tokio::test]
async fn in_the_background_it_is_read_and_stopped() {
    let bench = Bench::new().await;
    let begun = bench
        .whole(json!({ "command": format!("mkdir made; echo begun; {}", nap(616)), "background": true, "description": "Serve" }))
        .await
        .unwrap();
    assert_eq!(
        text(&begun),
        "It runs in the background as shell-1, for 14400 s at most. Its output: `task_output` with id shell-1; to stop \
         it: `kill_task`."
    );
    assert_eq!(begun.details, Some(json!({ "task": { "id": "shell-1" } })));
    let tools = mica_tools::task_tools(&bench.tasks);
    let (output, kill) = (&*tools[0], &*tools[1]);
    let news =
        bench.call(output, json!({ "id": "shell-1", "wait_seconds": 60, "until": "news" })).await.unwrap();
    assert!(text(&news).starts_with("shell-1 (Serve): running for "), "{}", text(&news));
    assert!(text(&news).ends_with(" s.\n\nbegun"), "{}", text(&news));
    assert!(runs(&nap(616)));
    let killed = text(&bench.call(kill, json!({ "id": "shell-1" })).await.unwrap());
    assert!(killed.starts_with("shell-1 has ended: it was stopped, after "), "{killed}");
    assert!(!runs(&nap(616)));
    assert_eq!(*bench.journal.lines.lock().unwrap(), ["begins", "ended"]);
    // One that ends by itself, with what it changed.
    bench.whole(json!({ "command": "echo x > f; exit 4", "background": true })).await.unwrap();
    let ended = bench.call(output, json!({ "id": "shell-2", "wait_seconds": 60 })).await.unwrap();
    assert!(
        text(&ended).starts_with("shell-2 (echo x > f; exit 4): ended with code 4 after "),
        "{}",
        text(&ended)
    );
    assert_eq!(FileUse::of(ended.details.as_ref()).changed, [Path::new("/changed")]);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_tasks() {
    let bench = Bench::new().await;
    bench.whole(json!({ "command": nap(617), "background": true })).await.unwrap();
    until("the command runs", || runs(&nap(617))).await;
    let Bench { shell, tasks, .. } = bench;
    drop((shell, tasks));
    until("the command ends", || !runs(&nap(617))).await;
}

#[tokio::test]
async fn only_what_may_write_is_journalled() {
    let bench = Bench::new().await;
    assert_eq!(bench.command("ls").await, "[it printed nothing]\n[exit code 0 after N s]");
    assert!(bench.journal.lines.lock().unwrap().is_empty());
    let wrote = bench.whole(json!({ "command": "echo x > written" })).await.unwrap();
    assert_eq!(std::fs::read_to_string(bench.project().join("written")).unwrap(), "x\n");
    assert_eq!(*bench.journal.lines.lock().unwrap(), ["begins", "ended"]);
    assert_eq!(FileUse::of(wrote.details.as_ref()).changed, [Path::new("/changed")]);
}

#[tokio::test]
async fn every_tier_that_confines_keeps_its_word() {
    let best = Sandbox::negotiate(Stub::at(env!("CARGO_BIN_EXE_mica"))).await;
    for tier in [Tier::Landlock, Tier::Namespaces] {
        let Ok(sandbox) = best.at_tier(tier) else {
            eprintln!("not tried: the tier {tier} is not reached here");
            continue;
        };
        let path = format!("bin:{}", std::env::var("PATH").unwrap_or_default());
        let bench = Bench::on(sandbox, ShellSettings::default(), path, Heard::default());
        let own = bench.project().join("bin");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("ls"), "#!/bin/sh\necho x > written && echo wrote\n").unwrap();
        std::fs::set_permissions(own.join("ls"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let told = bench.command("ls").await;
        let expected = format!("[the sandbox (tier {tier}) did not let it write");
        assert!(told.contains(&expected) && !bench.project().join("written").exists(), "{told}");
        let told = bench.command("echo x > made; echo y > $TMPDIR/t && cat $TMPDIR/t").await;
        assert_eq!(told, "y\n[exit code 0 after N s]", "{tier}");
        assert!(bench.project().join("made").exists());
        let told = bench.command(&format!("{} & echo done", nap(619))).await;
        assert_eq!(told, "done\n[exit code 0 after N s]", "{tier}");
        assert!(!runs(&nap(619)), "{tier}");
    }
}

#[tokio::test]
async fn denials_are_explained() {
    let bench = Bench::new().await;
    let told = bench.command("echo x > /usr/mica-test; mkdir made && echo made").await;
    assert!(told.contains("made\n"), "the project is writable: {told}");
    assert!(
        told.contains("did not let it write /usr/mica-test. Write inside the project or in $TMPDIR;"),
        "{told}"
    );
    assert!(!Path::new("/usr/mica-test").exists());
}

#[tokio::test]
async fn the_folder_is_inside_the_project() {
    let bench = Bench::new().await;
    std::fs::create_dir(bench.project().join("sub")).unwrap();
    std::fs::write(bench.project().join("file"), "").unwrap();
    let told = bench.run(json!({ "command": "pwd", "cwd": "sub" })).await;
    assert_eq!(told, format!("{}\n[exit code 0 after N s]", bench.project().join("sub").display()));
    for outside in ["..", "/", "file", "missing"] {
        let told = bench.run(json!({ "command": "pwd", "cwd": outside })).await;
        assert!(told.starts_with("error: "), "{outside}: {told}");
    }
}

#[tokio::test]
async fn without_bash_sh_runs_it() {
    let bench = Bench::with(ShellSettings::default(), "bin".to_owned(), Heard::default()).await;
    let bin = bench.project().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    let told = bench.command("echo hello").await;
    assert_eq!(told, "hello\n[there is no bash here, so sh ran it]\n[exit code 0 after N s]");
}

#[tokio::test]
async fn nothing_runs_that_cannot_be_recorded() {
    let path = std::env::var("PATH").unwrap_or_default();
    let journal = Heard { refuses: true, ..Heard::default() };
    let bench = Bench::with(ShellSettings::default(), path, journal).await;
    let told = bench.command("mkdir made").await;
    assert_eq!(
        told,
        "error: The command was not run, because what it changes could not be recorded: the disk is full."
    );
    assert!(!bench.project().join("made").exists());
    assert_eq!(bench.command("echo looks").await, "looks\n[exit code 0 after N s]");
}

#[tokio::test]
async fn hosts_are_checked_and_granted() {
    let bench = Bench::new().await;
    let told = bench.run(json!({ "command": "echo x", "network": ["http://example.org/"] })).await;
    assert!(told.starts_with("error: ") && told.ends_with("Nothing was run."), "{told}");
    if Sandbox::negotiate(Stub::at(env!("CARGO_BIN_EXE_mica"))).await.tier() == Tier::Namespaces {
        let told =
            bench.run(json!({ "command": "echo ${HTTPS_PROXY:+proxy}", "network": ["example.org"] })).await;
        assert_eq!(told, "proxy\n[exit code 0 after N s]");
    }
}

// The program, with a model that calls the tool.

fn calls(command: &str) -> Scenario {
    calls_with(json!({ "command": command }))
}

fn calls_with(args: Value) -> Scenario {
    Scenario::new().turn(Turn::new().call("shell", args)).turn(Turn::new().text("Done."))
}

/// What the model was told about its call.
async fn told(scenario: Scenario, settings: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let stage = Stage::new(scenario).await;
    if !settings.is_empty() {
        stage.settings(settings);
    }
    let ran = stage.ask(&[&["-p", "do it"], arguments].concat()).await;
    let captured = stage.server.captured();
    let Some(second) = captured.get(1) else { return (ran.code, String::new()) };
    let last = second.json["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool", "{}", ran.err);
    (ran.code, timeless(last["content"].as_str().unwrap_or(&last["content"].to_string())))
}

#[tokio::test]
async fn what_only_looks_runs_unasked_in_every_mode() {
    for mode in ["edit", "plan", "ask"] {
        let (code, result) = told(calls("cat a.txt | head -1"), "", &["--mode", mode]).await;
        assert_eq!((code, result.as_str()), (Some(0), "hello\n[exit code 0 after N s]"), "{mode}");
    }
}

#[tokio::test]
async fn what_changes_something_is_asked_about_and_refused_in_other_modes() {
    // Nobody is there, so the run waits.
    let (code, result) = told(calls("touch made"), "", &[]).await;
    assert_eq!((code, result.as_str()), (Some(4), ""));
    let (code, result) = told(calls("touch made"), "", &["--mode", "plan"]).await;
    assert_eq!(code, Some(0));
    assert!(
        result.starts_with("The command was not run: Not in plan mode, where commands only look."),
        "{result}"
    );
    let (code, result) = told(calls("touch made && ls"), "", &["--yes"]).await;
    assert_eq!((code, result.as_str()), (Some(0), "a.txt\nmade\n[exit code 0 after N s]"));
}

#[tokio::test]
async fn rules_are_held_against_commands() {
    let allow = &["--allow", "shell(git *)"];
    let (code, result) = told(calls("git init -q . && echo made"), "", allow).await;
    assert_eq!((code, result.as_str()), (Some(0), "made\n[exit code 0 after N s]"));
    let (code, _) = told(calls("git status; touch made"), "", allow).await;
    assert_eq!(code, Some(4), "what stands behind it is asked about");
    let (code, result) = told(calls("git status; rm -rf /"), "", &["--yes"]).await;
    assert_eq!(code, Some(0));
    assert!(result.starts_with("The command was not run: / is outside the project"), "{result}");
    let (code, result) = told(calls("ls; git push"), "deny = [\"shell(git push)\"]", &["--yes"]).await;
    assert_eq!(code, Some(0));
    assert!(result.contains("the rule \"deny shell(git push)\" forbids it"), "{result}");
    let (code, result) = told(calls("ls"), "deny = [\"shell\"]", &["--yes"]).await;
    assert_eq!(code, Some(0));
    assert!(result.contains("the rule \"deny shell\" forbids this call"), "{result}");
}

#[tokio::test]
async fn unconfined_commands_are_all_asked_about() {
    let none = "[shell]\ntier = \"none\"";
    let (code, _) = told(calls("ls"), none, &[]).await;
    assert_eq!(code, Some(4));
    let (code, result) = told(calls("ls"), none, &["--yes"]).await;
    assert_eq!((code, result.as_str()), (Some(0), "a.txt\n[exit code 0 after N s]"));
    // A project cannot say so.
    let stage = Stage::new(calls("ls")).await;
    std::fs::create_dir(stage.project().join(".mica")).unwrap();
    std::fs::write(stage.project().join(".mica/config.toml"), none).unwrap();
    assert_eq!(stage.mica(&["trust"]).await.code, Some(0));
    let explained = stage.mica(&["config", "explain", "shell.tier"]).await;
    assert!(explained.out.starts_with("\"best\"  from built in (counts)\n"), "{}", explained.out);
    assert!(explained.out.contains("what confines commands is yours to say"), "{}", explained.out);
}

#[tokio::test]
async fn a_task_in_the_background_ends_with_the_program() {
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .call("shell", json!({ "command": format!("echo begun; {}", nap(618)), "background": true })),
        )
        .turn(
            Turn::new().call("task_output", json!({ "id": "shell-1", "wait_seconds": 60, "until": "news" })),
        )
        .turn(Turn::new().text("Done."));
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "do it", "--yes", "--no-session"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let last = stage.server.captured()[2].json["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(last["content"].to_string().contains("begun"), "{last}");
    until("the command ends", || !runs(&nap(618))).await;
    assert!(
        !stage.folder.path().join("home/data/scratch").read_dir().is_ok_and(|mut left| left.next().is_some())
    );
}

/// What a subagent begins in the background ends with it, also without a session; and no id is given twice.
#[tokio::test]
async fn a_task_of_a_subagent_ends_with_it_and_has_an_id_of_its_own() {
    let told = |words: &str, results: usize| {
        let when =
            When { user_contains: Some(words.to_owned()), tool_results: Some(results), ..When::default() };
        Turn { when: Some(when), ..Turn::new() }
    };
    let begins = |command: &str| json!({ "command": format!("echo begun; {command}"), "background": true });
    let begun = |id: &str| json!({ "id": id, "wait_seconds": 60, "until": "news" });
    let errand = json!({ "profile": "general", "description": "serve", "prompt": "serve it" });
    let scenario = Scenario::new()
        .turn(told("begin", 0).call("shell", begins(&nap(705))))
        .turn(told("begin", 1).call("create_subagent", errand))
        .turn(told("begin", 2).call("shell", begins(&nap(706))))
        .turn(told("begin", 3).call("task_output", json!({ "id": "shell-3", "wait_seconds": 15 })))
        .turn(told("begin", 4).text("Done."))
        .turn(told("serve it", 0).call("shell", begins(&nap(707))))
        .turn(told("serve it", 1).call("task_output", begun("shell-2")))
        .turn(told("serve it", 2).text("It is served."));
    let stage = Stage::new(scenario).await;
    let arguments = ["-p", "begin", "--yes", "--no-session"];
    let (ran, ()) = tokio::join!(
        stage.ask(&arguments),
        until("the subagent's ends before the program", || runs(&nap(706)) && !runs(&nap(707)))
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
    let requests: Vec<String> =
        stage.server.captured().iter().map(|request| request.json["messages"].to_string()).collect();
    let own = requests.last().unwrap();
    assert!(own.contains("shell-1") && own.contains("shell-3 (") && !own.contains("shell-2"), "{own}");
    let mut theirs = requests.iter().filter(|request| request.contains("\"content\":\"serve it"));
    assert!(theirs.next_back().unwrap().contains("shell-2 ("), "{requests:?}");
}

#[tokio::test]
async fn the_prompt_speaks_of_commands() {
    let stage = Stage::new(Scenario::new().turn(Turn::new().text("Hello."))).await;
    stage.ask(&["-p", "hi"]).await;
    let sent = &stage.server.captured()[0].json;
    let system = sent["messages"][0]["content"].to_string();
    assert!(system.contains("Use `shell` for builds, tests"), "{system}");
    let names: Vec<&str> = sent["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(["kill_task", "shell", "task_output"].iter().all(|name| names.contains(name)), "{names:?}");
}

//! What people undo and redo: the real binary, a scripted model that edits files, and somebody else who does as well.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::time::Duration;

use mica_testkit::{At, Fault, Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

fn edit(old: &str, new: &str) -> Turn {
    Turn::new().call("file_edit", json!({ "path": "a.txt", "old": old, "new": new }))
}

/// Two runs: one edits a file, the other edits it again and makes one in a new folder.
fn two_runs() -> Scenario {
    Scenario::new()
        .turn(edit("world", "mica"))
        .turn(Turn::new().text("One."))
        .turn(edit("mica", "moon"))
        .turn(Turn::new().call("file_write", json!({ "path": "new/b.txt", "content": "b\n" })))
        .turn(Turn::new().text("Two."))
        .turn(Turn::new().text("Three."))
}

async fn after_two_runs() -> Stage {
    let stage = Stage::new(two_runs()).await;
    for (flags, prompt) in [(&["--yes"][..], "make it mica"), (&["--yes", "-c"][..], "now the  moon, please")]
    {
        let ran = stage.ask(&[flags, &["-p", prompt]].concat()).await;
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    assert_eq!((text(&stage, "a.txt"), text(&stage, "new/b.txt")), (some("hello\nmoon\n"), some("b\n")));
    stage
}

fn text(stage: &Stage, path: &str) -> Option<String> {
    std::fs::read_to_string(stage.project().join(path)).ok()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

async fn runs(stage: &Stage) -> Value {
    serde_json::from_str(&stage.does(&["undo", "--list", "--format", "json"]).await).unwrap()
}

/// What a command changed goes back like what a tool did: content, a new file, one that is gone. Where nothing confines
/// commands, none runs, and there is nothing to take back.
#[tokio::test]
async fn promise_8_what_a_command_changed_is_undone_and_redone() {
    let line = "echo moon > a.txt; mkdir sub; echo b > sub/b.txt; rm gone.txt";
    let command = Turn::new().call("shell", json!({ "command": line }));
    let stage = Stage::new(Scenario::new().turn(command).turn(Turn::new().text("Done."))).await;
    std::fs::write(stage.project().join("gone.txt"), "kept\n").unwrap();
    let before = text(&stage, "a.txt");
    let ran = stage.ask(&["--yes", "-p", "by command"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if text(&stage, "a.txt") == before {
        assert!(ran.err.contains("Commands cannot be run here"), "{}", ran.err);
        return;
    }
    let now = || ["a.txt", "sub/b.txt", "gone.txt"].map(|path| text(&stage, path));
    assert_eq!(now(), [some("moon\n"), some("b\n"), None]);
    stage.does(&["undo"]).await;
    assert_eq!(now(), [before, None, some("kept\n")]);
    assert!(!stage.project().join("sub").exists());
    stage.does(&["redo"]).await;
    assert_eq!(now(), [some("moon\n"), some("b\n"), None]);
}

#[tokio::test]
async fn promise_8_runs_are_listed_undone_and_redone() {
    let stage = after_two_runs().await;
    let listed = runs(&stage).await;
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let [second, first] = ids[..] else { panic!("{listed}") };
    let short = |id: &str| id[id.len() - 8..].to_owned();
    assert_eq!(listed[0]["words"], "now the moon, please");
    assert_eq!((&listed[0]["files"][0]["path"], &listed[0]["bytes"]), (&json!("a.txt"), &json!(11)));
    let table = stage.does(&["undo", "--list"]).await;
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["id", "age", "session", "files", "size", "run"]);
    assert_eq!(rows[1][0], short(second));
    assert_eq!(rows[1][3..], ["3", "11", "B", "now", "the", "moon,", "please"]);
    assert_eq!(rows[2][3..], ["1", "12", "B", "make", "it", "mica"]);

    let would = stage.does(&["undo", "--dry-run"]).await;
    assert_eq!(
        would,
        format!(
            "would undo run {} (now the moon, please)\n  restore     a.txt\n  remove      new\n  remove      new/b.txt\n",
            short(second)
        )
    );
    assert_eq!(text(&stage, "a.txt"), some("hello\nmoon\n"), "looking changes nothing");
    let did = stage.does(&["undo"]).await;
    assert_eq!(
        did,
        format!(
            "undid run {} (now the moon, please)\n  restore     a.txt\n  remove      new\n  remove      new/b.txt\n`mica \
             redo` takes this back\n",
            short(second)
        )
    );
    assert_eq!(text(&stage, "a.txt"), some("hello\nmica\n"));
    assert!(!stage.project().join("new").exists());
    assert_eq!(runs(&stage).await[0]["undone"], true);
    stage.does(&["undo"]).await;
    assert_eq!(text(&stage, "a.txt"), some("hello\nworld\n"));
    let nothing = stage.fails(&["undo"]).await;
    assert_eq!(
        nothing,
        "mica: there is nothing to undo: no run changed files that are not what they were before\n"
    );
    stage.does(&["redo"]).await;
    stage.does(&["redo"]).await;
    assert_eq!((text(&stage, "a.txt"), text(&stage, "new/b.txt")), (some("hello\nmoon\n"), some("b\n")));
    assert!(stage.fails(&["redo"]).await.contains("nothing to redo"));

    // Everything since the first run, by the end of its id, and one file of it.
    let did = stage.does(&["undo", &short(first)]).await;
    assert!(did.starts_with(&format!("undid 2 runs, from {} (make it mica) on\n", short(first))), "{did}");
    assert_eq!(text(&stage, "a.txt"), some("hello\nworld\n"));
    stage.does(&["redo", "--file", "new"]).await;
    assert_eq!((text(&stage, "a.txt"), text(&stage, "new/b.txt")), (some("hello\nworld\n"), some("b\n")));
    assert!(stage.fails(&["undo", "ffffffff"]).await.contains("no run that changed files has an id"));
    assert!(stage.fails(&["undo", "--file", "../elsewhere"]).await.contains("only what is in the project"));
}

#[tokio::test]
async fn promise_8_what_a_person_edited_is_not_clobbered() {
    let stage = after_two_runs().await;
    std::fs::write(stage.project().join("a.txt"), "hello\nmoon\nand a line of mine\n").unwrap();
    let refused = stage.fails(&["undo"]).await;
    assert_eq!(
        refused,
        "mica: nothing was touched, because 1 file was changed since by someone else\n  a.txt: it was edited since: +1 −0 \
         lines\n--skip-conflicts restores the others, --file FILE only some, --force all: what is there now comes back with \
         `mica redo`\n"
    );
    assert_eq!(text(&stage, "new/b.txt"), some("b\n"), "all or nothing");
    let ran = stage.mica(&["undo", "--format", "json"]).await;
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &value["done"]), (Some(1), &json!(false)));
    assert_eq!(value["conflicts"][0]["path"], "a.txt");

    let did = stage.does(&["undo", "--skip-conflicts"]).await;
    assert!(did.contains("  left alone  a.txt: it was edited since: +1 −0 lines\n"), "{did}");
    assert_eq!(text(&stage, "new/b.txt"), None);
    stage.does(&["redo"]).await;
    stage.does(&["undo", "--force"]).await;
    assert_eq!((text(&stage, "a.txt"), text(&stage, "new/b.txt")), (some("hello\nmica\n"), None));
    stage.does(&["redo"]).await;
    assert_eq!(text(&stage, "a.txt"), some("hello\nmoon\nand a line of mine\n"), "and it comes back");
}

#[tokio::test]
async fn promise_8_the_model_is_told_what_was_restored() {
    let stage = after_two_runs().await;
    stage.does(&["undo"]).await;
    let ran = stage.ask(&["-c", "-p", "and now?"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sent = stage.server.captured();
    let messages = sent.last().unwrap().json["messages"].as_array().unwrap().clone();
    let last = messages.last().unwrap().to_string();
    assert!(last.contains("and now?") && last.contains("the user took changes of yours back"), "{last}");
    assert!(last.contains("new/b.txt"), "{last}");
    let before = messages[..messages.len() - 1].iter().map(Value::to_string).collect::<String>();
    assert!(!before.contains("took changes of yours back"), "it is said where it happened");
}

#[tokio::test]
async fn promise_8_a_run_that_was_killed_is_undone() {
    let scenario = Scenario::new()
        .turn(edit("world", "mica"))
        .turn(Turn::new().text("I am still thinking").fault(Fault::Stall { at: At::Middle }));
    let stage = Stage::new(scenario).await;
    let url = stage.server.url("/v1");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .current_dir(stage.project())
        .args(["--yes", "-p", "make it mica", "--base-url", &url, "--model", "scripted"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let changed = async {
        while stage.server.captured().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(100), changed).await.unwrap();
    let busy = stage.fails(&["undo"]).await;
    assert!(busy.contains("a run is going on in this project"), "{busy}");
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(text(&stage, "a.txt"), some("hello\nmica\n"));
    stage.does(&["undo"]).await;
    assert_eq!(text(&stage, "a.txt"), some("hello\nworld\n"));
    stage.does(&["redo"]).await;
    assert_eq!(text(&stage, "a.txt"), some("hello\nmica\n"));
}

#[tokio::test]
async fn promise_8_undo_data_outlives_its_session_and_goes_when_it_is_old() {
    let stage = after_two_runs().await;
    let list: Value = serde_json::from_str(&stage.does(&["sessions", "list", "--json"]).await).unwrap();
    stage.does(&["sessions", "rm", list[0]["id"].as_str().unwrap()]).await;
    assert_eq!(runs(&stage).await.as_array().unwrap().len(), 2);
    // Tidying is due once a day, and room for nothing keeps the newest run.
    stage.settings("[undo]\nmax_size = \"1B\"\n");
    let folder = stage.folder.path().join("home/data/undo");
    let _ = std::fs::remove_file(folder.join("tidied"));
    let ran = stage.ask(&["-p", "anything?"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.join("tidied").exists());
    assert_eq!(runs(&stage).await.as_array().unwrap().len(), 1);
    stage.does(&["undo"]).await;
    assert_eq!(text(&stage, "a.txt"), some("hello\nmica\n"));
    stage.settings("[undo]\nmax_file = \"many\"\n");
    assert!(stage.fails(&["undo"]).await.contains("undo.max_file is wrong"));
}

#[tokio::test]
async fn promise_8_an_undo_that_is_killed_at_any_instant_is_finished_by_the_next() {
    let stage = Stage::new(Scenario::new().turn(Turn::new().text("Nothing."))).await;
    let file = |number: usize| stage.project().join(format!("d{}/f{number}", number % 7));
    let all = |stage: &Stage| -> Vec<Option<String>> {
        (0..300).map(|number| text(stage, file(number).to_str().unwrap())).collect()
    };
    for number in 0..300 {
        std::fs::create_dir_all(file(number).parent().unwrap()).unwrap();
        std::fs::write(file(number), format!("{number} before")).unwrap();
    }
    let before = all(&stage);
    let undo = mica_session::undo::Undo::new(
        &stage.folder.path().join("home/data/undo"),
        &stage.project(),
        jiff::Timestamp::now,
    )
    .unwrap();
    let run = mica_session::RunId::from("a-run-of-a-command");
    undo.command_begins(&run, "call").unwrap();
    for number in 0..300 {
        match number % 3 {
            0 => std::fs::remove_file(file(number)).unwrap(),
            _ => std::fs::write(file(number), format!("{number} after")).unwrap(),
        }
    }
    assert_eq!(undo.command_ended("call").unwrap().changed.len(), 300);
    drop(undo);
    let after = all(&stage);
    let mut cut = 0;
    // On a busy machine a kill may come too late again and again: there are more tries until one has met it.
    for delay in 0..40 {
        if delay >= 8 && cut > 0 {
            break;
        }
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .env("MICA_HOME", stage.folder.path().join("home"))
            .current_dir(stage.project())
            .arg("undo")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Until the first file is back, and a little longer each time.
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while !file(0).exists() && std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        let until = std::time::Instant::now() + Duration::from_micros(300 * (delay % 8));
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        let _ = program.kill();
        program.wait().unwrap();
        cut += usize::from(![&before, &after].contains(&&all(&stage)));
        // It is finished, or done, or there is nothing left to do.
        let ran = stage.mica(&["undo"]).await;
        assert!(ran.code == Some(0) || ran.err.contains("nothing to undo"), "{}", ran.err);
        assert_eq!(all(&stage), before, "after {delay}");
        stage.does(&["redo"]).await;
        assert_eq!(all(&stage), after, "after {delay}");
    }
    assert!(cut > 0, "no kill fell into the middle of the deed");
}

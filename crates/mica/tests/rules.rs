//! `mica rules`: what was remembered for a project and its sessions, and taking it back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_session::{Body, Durability};
use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

async fn quiet() -> Stage {
    Stage::new(Scenario::new()).await
}

impl Stage {
    fn approvals(&self) -> std::path::PathBuf {
        self.folder.path().join("home/config/shell-approvals.json")
    }

    /// Writes what was remembered for this project and for another.
    fn remembers(&self, rows: &Value) {
        let project = self.project().display().to_string();
        let other = json!([{ "prefix": ["git", "push"], "scope": "project" }]);
        std::fs::create_dir_all(self.approvals().parent().unwrap()).unwrap();
        std::fs::write(self.approvals(), json!({ project: rows, "/elsewhere": other }).to_string()).unwrap();
    }
}

/// What a list shows before the commands that are known.
fn head(list: &str) -> &str {
    list.split("\nRun without asking").next().unwrap()
}

#[tokio::test]
async fn a_projects_approvals_are_listed_judged_by_and_taken_back() {
    let stage = quiet().await;
    assert_eq!(head(&stage.does(&["rules", "list"]).await), "Remembered for this project:\n  nothing\n");
    stage.remembers(&json!([
        { "prefix": ["mvn", "test"], "scope": "project" },
        { "scope": "project", "key": "web: example.org", "text": "pages of example.org" },
    ]));
    assert_eq!(
        head(&stage.does(&["rules", "list"]).await),
        "Remembered for this project:\n  mvn test\n  pages of example.org\n"
    );
    let judged = stage.does(&["rules", "judge", "mvn test -q"]).await;
    assert!(judged.starts_with("safe: "), "{judged}");
    let judged = stage.does(&["rules", "judge", "mvn test -q", "--mode", "plan"]).await;
    assert!(judged.starts_with("blocked: "), "{judged}");
    let missing = stage.fails(&["rules", "forget", "git", "push"]).await;
    assert!(missing.contains("nothing is remembered for \"git push\" in this project"), "{missing}");
    assert_eq!(
        stage.does(&["rules", "forget", "mvn", "test"]).await,
        "Commands that begin with \"mvn test\" are asked about again.\n"
    );
    assert_eq!(
        stage.does(&["rules", "forget", "web: example.org"]).await,
        "Asked about again: pages of example.org.\n"
    );
    let left: Value = serde_json::from_str(&std::fs::read_to_string(stage.approvals()).unwrap()).unwrap();
    assert_eq!(left, json!({ "/elsewhere": [{ "prefix": ["git", "push"], "scope": "project" }] }));
    assert!(stage.does(&["rules", "judge", "mvn test"]).await.starts_with("ask: "));
}

#[tokio::test]
async fn a_sessions_approvals_are_listed_with_its_id_and_taken_back() {
    let stage = quiet().await;
    let mut session = stage.said("build it", 1);
    let id = session.header().id;
    for (whose, key, text) in [
        (id.to_string(), "shell: mvn test", "commands that begin with: mvn test"),
        (id.to_string(), "file changes", "all changes to files in this project"),
        // Copied by a fork, it is not this session's.
        ("another".to_owned(), "shell: git push", "commands that begin with: git push"),
    ] {
        let remember = json!({ "scope": "session", "key": key, "text": text });
        let value = json!({ "session": whose, "remember": remember });
        session.append(Body::Custom { custom: "mica.approval".to_owned(), value }, Durability::Now).unwrap();
    }
    drop(session);
    stage.said("something else", 2);
    let short = id.short();
    assert_eq!(
        head(&stage.does(&["rules", "list"]).await),
        format!(
            "Remembered for this project:\n  nothing\n\nRemembered for sessions of this project:\n  {short}  build it\n    \
             mvn test\n    all changes to files in this project\n"
        )
    );
    let listed: Value =
        serde_json::from_str(&stage.does(&["rules", "list", "--format", "json"]).await).unwrap();
    assert_eq!(listed["remembered"], json!([]));
    assert_eq!(
        listed["sessions"],
        json!([{ "session": id.to_string(), "title": "build it", "remembered": [
            { "prefix": ["mvn", "test"], "scope": "session" },
            { "scope": "session", "key": "file changes", "text": "all changes to files in this project" },
        ]}])
    );
    assert!(stage.does(&["rules", "judge", "mvn test"]).await.starts_with("ask: "), "it is for one session");
    let short = short.to_string();
    let missing = stage.fails(&["rules", "forget", "--session", &short, "git", "push"]).await;
    assert!(missing.contains("nothing is remembered for \"git push\" in this session"), "{missing}");
    stage.does(&["rules", "forget", "--session", &short, "mvn", "test"]).await;
    stage.does(&["rules", "forget", "--session", &short, "file changes"]).await;
    assert_eq!(head(&stage.does(&["rules", "list"]).await), "Remembered for this project:\n  nothing\n");
}

#[tokio::test]
async fn a_damaged_file_is_said_and_allows_nothing() {
    let stage = Stage::new(Scenario::new().turn(Turn::new().text("Hello."))).await;
    stage.remembers(&json!([]));
    std::fs::write(stage.approvals(), "{").unwrap();
    for arguments in [&["rules", "list"][..], &["rules", "forget", "mvn", "test"]] {
        let said = stage.fails(arguments).await;
        assert!(said.contains("shell-approvals.json is damaged; mend or delete it"), "{said}");
    }
    let ran = stage.ask(&["-p", "hello"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Hello.\n"));
    assert!(ran.err.contains("mica: approvals for this project do not count: "), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(stage.approvals()).unwrap(), "{");
}

#[tokio::test]
async fn nothing_in_a_project_allows_anything() {
    let write = || Turn::new().call("file_write", json!({ "path": "b.txt", "content": "x" }));
    let scenario = Scenario::new().turn(write()).turn(write());
    let stage = Stage::new(scenario).await;
    let project = stage.project();
    let text = json!({ project.display().to_string(): [
        { "scope": "session", "key": "file changes", "text": "" },
        { "prefix": ["mvn", "test"], "scope": "project" },
    ]})
    .to_string();
    for place in ["shell-approvals.json", ".mica/shell-approvals.json", ".mica/config/shell-approvals.json"] {
        let path = project.join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &text).unwrap();
    }
    assert!(stage.does(&["rules", "judge", "mvn test"]).await.starts_with("ask: "));
    assert_eq!(stage.ask(&["-p", "write"]).await.code, Some(4));
    // Also in the user's own file, changes to files are for a session only.
    std::fs::create_dir_all(stage.approvals().parent().unwrap()).unwrap();
    std::fs::write(stage.approvals(), &text).unwrap();
    assert!(stage.does(&["rules", "judge", "mvn test"]).await.starts_with("safe: "));
    assert_eq!(stage.ask(&["-p", "write"]).await.code, Some(4));
}

#[tokio::test]
async fn tables_of_the_user_are_checked_by_their_examples_and_used() {
    let call = json!({ "command": "frob a.txt" });
    let scenario = Scenario::new().turn(Turn::new().call("shell", call)).turn(Turn::new().text("Done."));
    let stage = Stage::new(scenario).await;
    let rules = stage.folder.path().join("home/config/rules");
    std::fs::create_dir_all(&rules).unwrap();
    let table =
        "[[command]]\nnames = [\"frob\"]\neffect = \"look\"\noperands = [\"read\"]\nsafe = [\"frob a\"]\n";
    assert!(stage.does(&["rules", "judge", "frob a.txt"]).await.starts_with("ask: "));
    std::fs::write(rules.join("own.toml"), table).unwrap();
    std::fs::write(rules.join("notes.md"), "no table").unwrap();
    assert!(stage.does(&["rules", "judge", "frob a.txt"]).await.starts_with("safe"));
    assert!(stage.does(&["rules", "judge", "frob .env"]).await.starts_with("blocked: "));
    // A table that means something else than its author thinks: nothing runs, and both say why.
    std::fs::write(rules.join("own.toml"), table.replace("safe =", "blocked =")).unwrap();
    let why = "the shell rules say that \"frob a\" is blocked, but it is judged safe (frob)";
    let told = stage.fails(&["rules", "judge", "ls"]).await;
    assert!(told.contains(why) && told.contains("home/config/rules cannot be used"), "{told}");
    let ran = stage.ask(&["-p", "frob it", "--yes"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let last = stage.server.captured()[1].json["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("is blocked, but it is judged safe"), "{last}");
}

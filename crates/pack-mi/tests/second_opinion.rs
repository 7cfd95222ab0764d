//! Another language server is asked: one that answers, ones that do what no server should, and a real one.
//!
//! The real one is named by `MICA_TEST_LANGUAGE_SERVER` (see `cargo xtask test`); without it that test says so and passes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mica_tools::Ground;
use pack_mi::checking::Checker;
use pack_mi::second_opinion::{LanguageServer, Opinion, SecondOpinion};
use stage::{Stage, stand_in};

fn server(mode: &str) -> LanguageServer {
    let command = vec![stand_in().display().to_string(), "language-server".to_owned(), mode.to_owned()];
    LanguageServer {
        name: "other".to_owned(),
        deadline: Duration::from_secs(20),
        ..LanguageServer::new(command)
    }
}

fn opinion(stage: &Stage, server: LanguageServer) -> SecondOpinion {
    SecondOpinion::new(server, Arc::clone(&stage.ground) as Arc<dyn Ground>, &stage.project())
}

fn shown(opinion: &Opinion) -> Vec<String> {
    match opinion {
        Opinion::Found(found) => found.iter().map(ToString::to_string).collect(),
        Opinion::Late => vec!["late".to_owned()],
        Opinion::None(why) => vec![why.clone()],
    }
}

async fn staged() -> Option<Stage> {
    let stage = Stage::new();
    stage.is_confined().await.then_some(stage)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_server_finds_is_told() {
    let Some(stage) = staged().await else { return };
    let second = opinion(&stage, server("good"));
    let path = stage.project().join("a b/Ä.xml");
    let found = second.diagnostics(&path, "<a>\n  TODO\n</a>").await;
    assert_eq!(shown(&found), ["2:3: warning: Something is left to do [other todo]"]);
    // The same file again, and another one.
    assert_eq!(shown(&second.diagnostics(&path, "<a/>").await), Vec::<String>::new());
    assert_eq!(shown(&second.diagnostics(&stage.project().join("b.xml"), "TODO TODO").await).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_here_is_not_said_again() {
    let Some(stage) = staged().await else { return };
    stage.put("pom.xml", "<project/>");
    let path = stage.put(
        "src/main/wso2mi/artifacts/sequences/S.xml",
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S\">\n  <logg/>\n  <!-- TODO -->\n</sequence>\n",
    );
    let checked = Checker::new(stage.project()).changed(&[path]);
    assert!(!checked[0].found.is_empty());
    let missing = opinion(&stage, LanguageServer::new(vec!["/no/such/server".to_owned()]));
    assert_eq!(
        missing.about(&checked).await.as_deref(),
        Some(
            "[No second opinion: server cannot be asked: /no/such/server is not installed here, or not on the path.]"
        )
    );
    assert_eq!(missing.about(&checked).await, None);
    let told = opinion(&stage, server("good")).about(&checked).await.unwrap();
    assert_eq!(
        told,
        "other also says:\n  src/main/wso2mi/artifacts/sequences/S.xml:3:8: warning: Something is left to do [other todo]"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_break_are_started_again_a_few_times() {
    let Some(stage) = staged().await else { return };
    let path = stage.project().join("a.xml");
    for (mode, first) in [
        (
            "babbles",
            "other cannot be asked: it does not speak the protocol (it printed \"Starting the language server …\\n\")",
        ),
        ("crashes", "other cannot be asked: it ended"),
        ("crashes-once-asked", "other broke: it ended"),
        ("endless", "other broke: its message of 4000000000 bytes is too large"),
    ] {
        let second = opinion(&stage, LanguageServer { restarts: 1, ..server(mode) });
        assert_eq!(shown(&second.diagnostics(&path, "a").await), [first], "{mode}");
        assert_eq!(shown(&second.diagnostics(&path, "a").await), [first], "{mode}");
        let why = first.split(": ").skip(1).collect::<Vec<_>>().join(": ");
        let given_up = format!("other broke 2 times and is not started any more; the last time: {why}");
        assert_eq!(shown(&second.diagnostics(&path, "a").await), [given_up], "{mode}");
    }
    // One that breaks now and then is asked on.
    let second = opinion(&stage, server("crashes-second"));
    assert_eq!(shown(&second.diagnostics(&path, "TODO").await).len(), 1);
    assert_eq!(shown(&second.diagnostics(&path, "TODO").await), ["other broke: it ended"]);
    assert_eq!(
        shown(&second.diagnostics(&path, "TODO").await),
        ["1:1: warning: Something is left to do [other todo]"]
    );
    let nothing = opinion(&stage, LanguageServer::new(vec!["/no/such/server".to_owned()]));
    let told = shown(&nothing.diagnostics(&path, "a").await);
    assert!(told[0].starts_with("server cannot be asked: /no/such/server is not installed here"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_longer_than_the_deadline() {
    let Some(stage) = staged().await else { return };
    let path = stage.project().join("a.xml");
    for mode in ["silent", "slow"] {
        let second = opinion(&stage, LanguageServer { deadline: Duration::from_millis(700), ..server(mode) });
        for _ in 0..3 {
            let began = Instant::now();
            assert_eq!(second.diagnostics(&path, "TODO").await, Opinion::Late, "{mode}");
            assert!(began.elapsed() < Duration::from_secs(30), "{mode}: {:?}", began.elapsed());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_is_bounded() {
    let Some(stage) = staged().await else { return };
    let second = opinion(&stage, server("huge"));
    let path = stage.project().join("a.xml");
    let Opinion::Found(found) = second.diagnostics(&path, "a").await else { panic!("no answer") };
    assert_eq!(found.len(), 200);
    assert!(found.iter().all(|one| one.message.len() < 1_010));
    let large = second.diagnostics(&path, &"x".repeat(3 << 20)).await;
    assert_eq!(shown(&large), ["the file is too large to be sent"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_is_asked() {
    let Some(script) = std::env::var_os("MICA_TEST_LANGUAGE_SERVER") else {
        println!(
            "SKIP: MICA_TEST_LANGUAGE_SERVER names no vscode-json-language-server; cargo xtask test --peers sets it up"
        );
        return;
    };
    let Some(stage) = staged().await else { return };
    let script = Path::new(&script).canonicalize().unwrap().display().to_string();
    let mut real = LanguageServer::new(vec!["node".to_owned(), script, "--stdio".to_owned()]);
    (real.name, real.language, real.deadline) =
        ("json".to_owned(), "json".to_owned(), Duration::from_secs(30));
    let second = opinion(&stage, real);
    let path = stage.project().join("a.json");
    assert_eq!(shown(&second.diagnostics(&path, "{\"a\": 1}").await), Vec::<String>::new());
    assert_eq!(
        shown(&second.diagnostics(&path, "{\n  \"a\": 1,\n}\n").await),
        ["2:9: error: Trailing comma [json 519]"]
    );
    assert_eq!(shown(&second.diagnostics(&path, "{}").await), Vec::<String>::new());
}

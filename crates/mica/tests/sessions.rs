//! What people do with sessions: look, mark, name, go back, undo, prune. The real binary, on a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_ai::{Message, User};
use mica_session::entry::Compaction;
use mica_session::{Access, Body, Durability, EntryId, Session};
use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

fn say(session: &mut Session, text: &str) -> EntryId {
    session.append(Message::from(User::text(text)), Durability::Now).unwrap()
}

fn answers(texts: &[&str]) -> Scenario {
    texts.iter().fold(Scenario::new(), |scenario, text| scenario.turn(Turn::new().text(*text)))
}

/// The one session there is, as a program sees its tree.
async fn tree(stage: &Stage, id: &str) -> Value {
    serde_json::from_str(&stage.does(&["sessions", "tree", id, "--format", "json"]).await).unwrap()
}

async fn only(stage: &Stage) -> String {
    let list: Value = serde_json::from_str(&stage.does(&["sessions", "list", "--json"]).await).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    list[0]["id"].as_str().unwrap().to_owned()
}

/// The short id of the entry that begins so.
fn entry(tree: &Value, preview: &str) -> String {
    let entries = tree["entries"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["preview"].as_str().unwrap().starts_with(preview));
    let id = found.unwrap_or_else(|| panic!("no {preview:?} in {tree}"))["id"].as_str().unwrap();
    id[id.len() - 8..].to_owned()
}

#[tokio::test]
async fn going_back_makes_a_branch_that_the_model_does_not_see() {
    let stage = Stage::new(answers(&["One.", "Two.", "Three."])).await;
    assert_eq!(stage.ask(&["-p", "first"]).await.code, Some(0));
    assert_eq!(stage.ask(&["-c", "-p", "second"]).await.code, Some(0));
    let id = only(&stage).await;
    let one = entry(&tree(&stage, &id).await, "One.");
    let said =
        stage.does(&["sessions", "goto", &id[28..], &one, "--summary", "the second way led nowhere"]).await;
    assert!(
        said.starts_with(&format!("the conversation goes on at {one} (mica: One.)\nit was at ")),
        "{said}"
    );
    let ran = stage.ask(&["-c", "-p", "third"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Three.\n"), "{}", ran.err);
    let sent = stage.server.captured()[2].json["messages"].to_string();
    assert!(
        sent.contains("One.") && sent.contains("the second way led nowhere") && sent.contains("third"),
        "{sent}"
    );
    assert!(!sent.contains("Two."), "{sent}");

    let text = stage.does(&["sessions", "tree", &id]).await;
    let shape: Vec<String> = text
        .lines()
        .skip(1)
        .map(|line| format!("{}{}", &line[..2], line.get(10..).unwrap_or_default()))
        .collect();
    assert_eq!(
        shape,
        [
            "*   model     scripted",
            "*   you       first",
            "*   mica      One.",
            "      you       second",
            "      mica      Two.",
            "*     left      the second way led nowhere",
            "*     you       third",
            ">     mica      Three.",
        ]
    );
    // And back, by the place that was told.
    let back = said.split("it was at ").nth(1).unwrap().split(':').next().unwrap().to_owned();
    stage.does(&["sessions", "goto", &id, &back]).await;
    let now = tree(&stage, &id).await;
    assert!(now["leaf"].as_str().unwrap().ends_with(&back), "{now}");
    stage.does(&["sessions", "goto", &id, "start"]).await;
    assert_eq!(tree(&stage, &id).await["leaf"], Value::Null);
}

#[tokio::test]
async fn names_and_labels_are_set_listed_and_taken_away() {
    let stage = Stage::new(answers(&["One."])).await;
    stage.ask(&["-p", "first"]).await;
    let id = only(&stage).await;
    let short = &id[28..];
    let one = entry(&tree(&stage, &id).await, "One.");
    let named = stage.does(&["sessions", "name", short, "Orders", "and", "more"]).await;
    assert_eq!(named, format!("{short} is called \"Orders and more\"\n"));
    let labelled = stage.does(&["sessions", "label", short, &one, "good", "answer"]).await;
    assert_eq!(labelled, format!("{one} is labelled \"good answer\"\n"));
    let list = stage.does(&["sessions", "list"]).await;
    assert_eq!(
        list,
        format!("id           age  turns  session\n{short}     now      1  Orders and more [good answer]\n")
    );
    let all: Value =
        serde_json::from_str(&stage.does(&["sessions", "list", "--all", "--format", "json"]).await).unwrap();
    assert_eq!(
        (&all[0]["name"], &all[0]["labels"], &all[0]["turns"]),
        (&json!("Orders and more"), &json!(["good answer"]), &json!(1))
    );
    assert!(stage.does(&["sessions", "list", "--all"]).await.contains(stage.project().to_str().unwrap()));
    // A label names the entry, too.
    stage.does(&["sessions", "goto", short, "Good Answer"]).await;
    assert!(tree(&stage, &id).await["leaf"].as_str().unwrap().ends_with(&one));
    let gone = stage.does(&["sessions", "label", short, "leaf", "--remove"]).await;
    assert_eq!(gone, format!("{one} has no label any more\n"));
    let error = stage.fails(&["sessions", "label", short, &one, "--remove"]).await;
    assert_eq!(error, format!("mica: {one} has no label\n"));
    assert_eq!(stage.mica(&["sessions", "label", short, &one]).await.code, Some(2), "a label has a text");
    assert!(stage.fails(&["sessions", "name", short, " "]).await.contains("at least one character"));
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_what_could_be_meant() {
    let stage = Stage::new(Scenario::new()).await;
    let none = stage.fails(&["sessions", "show", "abcd"]).await;
    assert_eq!(none, "mica: there is no session \"abcd\": there are none at all yet\n");
    let one = stage.said("why is it slow?", 0).header().id;
    let two = stage.said("why does it fail?", 1).header().id;
    let both = stage.fails(&["sessions", "tree", "0"]).await;
    assert_eq!(
        both,
        format!(
            "mica: \"0\" could be any of 2 sessions; give more of one's id:\n  {}     now  why is it slow?\n  {}     1 d  why does \
             it fail?\n",
            one.short(),
            two.short()
        )
    );
    let missing = stage.fails(&["sessions", "rm", &one.short(), "zzzz"]).await;
    assert!(
        missing
            .starts_with("mica: no session has an id that begins or ends with \"zzzz\"; the newest are:\n")
    );
    assert!(missing.contains(&one.short()), "nothing was deleted: {missing}");
    let resumed = stage.ask(&["--resume", "zzzz", "-p", "x"]).await;
    assert!(resumed.code == Some(1) && resumed.err.contains("why is it slow?"), "{}", resumed.err);
    let entry = stage.fails(&["sessions", "goto", &one.short(), "zzzz"]).await;
    assert!(
        entry.starts_with(
            "mica: no entry has the label \"zzzz\", or an id that begins or ends so; the last ones are:\n"
        ) && entry.contains("you        why is it slow?"),
        "{entry}"
    );
}

#[tokio::test]
async fn a_compaction_is_undone_and_the_model_sees_everything_again() {
    let stage = Stage::new(answers(&["Seen."])).await;
    let mut session = stage.said("a very old question", 0);
    let id = session.header().id.to_string();
    let first_kept = Some(say(&mut session, "a newer one"));
    let compaction = Compaction {
        summary: "<summary>old things</summary>".to_owned(),
        first_kept,
        tokens_before: 90_000,
        tokens_after: Some(9_000),
        reason: "threshold".to_owned(),
        ..Compaction::default()
    };
    session.append(Body::Compaction(compaction), Durability::Now).unwrap();
    say(&mut session, "the newest");
    drop(session);
    let text = stage.does(&["sessions", "tree", &id]).await;
    assert!(text.contains("compacted <summary>old things</summary>  (in force)\n"), "{text}");

    let said = stage.does(&["sessions", "uncompact", &id]).await;
    assert!(
        said.starts_with("everything is in the window again, 90000 tokens and what came since"),
        "{said}"
    );
    let live: Vec<Value> = tree(&stage, &id).await["entries"].as_array().unwrap().clone();
    let live: Vec<&str> = live
        .iter()
        .filter(|entry| entry["live"] == true)
        .map(|entry| entry["preview"].as_str().unwrap())
        .collect();
    assert_eq!(live, ["a very old question", "a newer one", "the newest"]);
    assert_eq!(stage.ask(&["--resume", &id, "-p", "go on"]).await.code, Some(0));
    let sent = stage.server.captured()[0].json["messages"].to_string();
    assert!(sent.contains("a very old question") && !sent.contains("old things"), "{sent}");
    let error = stage.fails(&["sessions", "uncompact", &id]).await;
    assert_eq!(error, "mica: no compaction is in force in this conversation: there is nothing to undo\n");
}

#[tokio::test]
async fn pruning_says_what_goes_and_spares_what_is_marked_or_open() {
    let stage = Stage::new(Scenario::new()).await;
    let id = |session: Session| session.header().id.short();
    let old = id(stage.said("old", 40));
    let mut marked = stage.said("marked", 50);
    let at = marked.tree().leaf().unwrap();
    marked.label(at, Some("keep")).unwrap();
    let marked = id(marked);
    let open = stage.said("open", 60);
    let new = id(stage.said("new", 1));

    let wrong = stage.fails(&["sessions", "prune"]).await;
    assert!(wrong.contains("--older-than DAYS, --keep N or --max-size SIZE"), "{wrong}");
    let size = stage.fails(&["sessions", "prune", "--max-size", "some"]).await;
    assert!(size.contains("\"some\" is no size: write for example 500MB or 2GiB"), "{size}");
    let told = stage.does(&["sessions", "prune", "--older-than", "30", "--dry-run"]).await;
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{old}    40 d")) && lines[0].ends_with("it is too old: old"),
        "{told}"
    );
    assert_eq!(lines[1], format!("{marked} stays although it is too old, because it has a label: marked"));
    assert!(lines[2].ends_with("stays although it is too old, because it is open: open"), "{told}");
    assert!(lines[3].starts_with("1 session, "), "{told}");
    let unasked = stage.fails(&["sessions", "prune", "--older-than", "30"]).await;
    assert!(unasked.contains("nothing was deleted") && unasked.contains("--yes"), "{unasked}");
    let done = stage.does(&["sessions", "prune", "--older-than", "30", "--yes"]).await;
    assert!(done.ends_with("1 session deleted\n"), "{done}");
    drop(open);
    let left = stage.does(&["sessions", "list"]).await;
    assert_eq!(left.lines().count(), 4, "{left}");
    assert!(!left.contains(&old) && left.contains(&marked) && left.contains(&new), "{left}");
    // The limits hold for each project: of those that could go, the newest stays.
    let one = stage.does(&["sessions", "prune", "--keep", "1", "--dry-run"]).await;
    assert!(one.contains("newer ones of its project are enough: open"), "{one}");
    let small = stage.does(&["sessions", "prune", "--max-size", "1B", "--dry-run"]).await;
    assert!(
        small.contains("newer ones of its project take all the room") || small.contains("nothing goes"),
        "{small}"
    );
}

#[tokio::test]
async fn settings_prune_once_a_day_and_can_be_explained() {
    let stage = Stage::new(answers(&["One.", "Two.", "Three."])).await;
    let explained = stage.does(&["config", "explain", "sessions.keep_days"]).await;
    assert_eq!(
        explained,
        "0  from built in (counts)\n# days a session stays unchanged before it goes; 0 keeps all\n"
    );
    let old = stage.said("old", 40).header().id.short();
    assert_eq!(stage.ask(&["-p", "x"]).await.code, Some(0));
    assert!(stage.does(&["sessions", "list"]).await.contains(&old), "nothing goes unless somebody says so");

    stage.settings("[sessions]\nkeep_days = 30\n");
    let explained = stage.does(&["config", "explain", "sessions.keep_days"]).await;
    assert!(
        explained.contains("0  from built in (overruled)\n30  from ") && explained.contains("(counts)"),
        "{explained}"
    );
    let ran = stage.ask(&["-p", "x"]).await;
    assert!(ran.err.contains("mica: 1 session deleted, as [sessions] in the settings says"), "{}", ran.err);
    assert!(!stage.does(&["sessions", "list"]).await.contains(&old));
    let later = stage.said("later", 40).header().id.short();
    assert_eq!(stage.ask(&["-p", "x"]).await.code, Some(0));
    assert!(stage.does(&["sessions", "list"]).await.contains(&later), "a day has not passed");

    // Whoever wrote a project does not decide about the sessions of others, trusted or not.
    std::fs::create_dir(stage.project().join(".mica")).unwrap();
    std::fs::write(stage.project().join(".mica/config.toml"), "[sessions]\nkeep_days = 1\n").unwrap();
    stage.does(&["trust"]).await;
    let explained = stage.does(&["config", "explain", "sessions.keep_days"]).await;
    assert!(
        explained.contains("\n30  from ")
            && explained.contains("is not used: which sessions of every project")
    );

    stage.settings("[sessions]\nmax_size = \"much\"\n");
    let ran = stage.ask(&["-p", "x"]).await;
    assert!(ran.err.contains("sessions.max_size is wrong: \"much\" is no size"), "{}", ran.err);
}

#[tokio::test]
async fn a_session_that_is_open_elsewhere_is_not_changed() {
    let stage = Stage::new(Scenario::new()).await;
    let open = stage.said("open", 0);
    let id = open.header().id.short();
    let error = stage.fails(&["sessions", "name", &id, "mine"]).await;
    assert!(error.contains("is open in another program (process "), "{error}");
    let tree = stage.does(&["sessions", "tree", &id]).await;
    assert!(tree.contains("you       open"), "reading is always possible: {tree}");
    let path = open.path().to_owned();
    drop(open);
    stage.does(&["sessions", "name", &id, "mine"]).await;
    let session = stage.sessions(jiff::Timestamp::now()).open(&path, Access::Read).unwrap();
    assert_eq!(session.name(), Some("mine"));
}

#[tokio::test]
async fn wrong_endpoints_are_told_and_the_others_are_used() {
    let mut stage = Stage::new(Scenario::new()).await;
    let nothing = stage.mica(&["models"]).await;
    assert_eq!((nothing.code, nothing.err.as_str()), (Some(0), ""), "nothing set up is nothing wrong");
    stage.settings(
        "[[endpoints]]\nkind = \"openai\"\n[[endpoints]]\nkind = \"local\"\nbase_url = \"ftp://x\"\n[[endpoints]]\nkind = \
         \"foundry\"\nresource = \"mine\"\n",
    );
    let some = stage.mica(&["models", "gpt-5.5"]).await;
    assert_eq!(some.code, Some(0), "{}", some.err);
    assert_eq!(
        some.err.lines().collect::<Vec<_>>(),
        [
            "mica: [[endpoints]] number 1 cannot be used: endpoint openai: set OPENAI_API_KEY to its key; `mica doctor` checks \
             everything",
            "mica: [[endpoints]] number 2 cannot be used: the address begins with ftp: use https; `mica doctor` checks everything",
        ]
    );
    assert!(some.out.lines().nth(1).unwrap().ends_with("foundry"), "{}", some.out);
    stage.settings("");
    stage.set("AZURE_OPENAI_BASE_URL", "http://example.com");
    let none = stage.mica(&["models"]).await;
    assert_eq!(none.code, Some(1));
    assert!(none.err.contains("in the environment cannot be used: AZURE_OPENAI_BASE_URL"), "{}", none.err);
    assert!(none.out.contains("gpt-5.5"), "what is known is listed all the same");
}

//! Going back in a session, and taking a compaction back.

use super::*;

/// The short id before a text in what `/tree` shows.
fn id_before(tree: &str, text: &str) -> String {
    let line =
        tree.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?} in {tree}"));
    line.split_whitespace().find(|word| word.len() == 8).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_marks_goes_back_and_says_it_differently() {
    let answers = ["First answer.", "Second answer.", "Third answer."];
    let scenario = answers.iter().fold(Scenario::new(), |all, text| all.turn(Turn::new().text(*text)));
    let mut person = Person::sits_down(scenario).await;
    for (question, answer) in [("one question", "First answer."), ("another question", "Second answer.")] {
        person.sees("edit> ");
        person.types(&format!("{question}\r"));
        person.sees(answer);
    }
    person.sees("edit> ");
    person.types("/tree\r");
    let tree = person.sees("edit> ");
    let (first, another) = (id_before(&tree, "First answer."), id_before(&tree, "another question"));
    person.types(&format!("/label {first} good\r"));
    person.sees(&format!("{first} is labelled \"good\""));
    person.types("/name Two questions\r");
    person.sees("is called \"Two questions\"");
    person.types("/goto nowhere\r");
    person.sees("no entry has the label \"nowhere\"");
    person.types(&format!("/goto {another}\r"));
    person.sees("(Enter: nothing) ");
    person.types("it was too vague\r");
    person.sees("the conversation goes on at");
    // What was said is in the prompt, to be said differently.
    person.sees("another question");
    person.types(", a sharper one\r");
    person.sees("Third answer.");
    person.sees("edit> ");
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("another question, a sharper one") && sent.contains("it was too vague"), "{sent}");
    assert!(sent.contains("First answer.") && !sent.contains("Second answer."), "{sent}");
    person.types("/fork good\r");
    let forked = person.sees("opens it");
    let id = forked.split("--resume ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    person.sees("edit> ");
    person.leaves();
    let tree = Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", person.folder.path().join("home"))
        .args(["sessions", "tree", &id])
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.contains("Two questions") && tree.contains("First answer.  [good]"), "{tree}");
    assert!(!tree.contains("another question"), "{tree}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_a_compaction_back() {
    use mica_session::{Access, Body, Compaction, Durability, Sessions};
    let scenario = Scenario::new().turn(Turn::new().text("Seen.")).turn(Turn::new().text("All of it."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("the old question\r");
    person.sees("Seen.");
    person.sees("edit> ");
    person.types("/undo-compact\r");
    person.sees("there is nothing to undo");
    person.sees("edit> ");
    person.leaves();
    let sessions = Sessions::new(person.folder.path().join("home/data/sessions"), jiff::Timestamp::now);
    let path = sessions.list(None).sessions[0].path.clone();
    let compaction = Compaction {
        summary: "<summary>only the gist</summary>".to_owned(),
        tokens_before: 1234,
        reason: "asked for".to_owned(),
        ..Compaction::default()
    };
    let mut session = sessions.open(&path, Access::Write).unwrap();
    session.append(Body::Compaction(compaction), Durability::Now).unwrap();
    drop(session);
    person.comes_back();
    person.sees("edit> ");
    person.types("/undo-compact\r");
    person.sees("everything is in the window again, 1234 tokens");
    person.sees("edit> ");
    person.types("what was it?\r");
    person.sees("All of it.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("the old question") && !sent.contains("only the gist"), "{sent}");
    person.leaves();
}

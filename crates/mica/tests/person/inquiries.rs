//! What a running call asks a person.

use super::*;

fn storage() -> serde_json::Value {
    let options = json!([{ "label": "SQLite", "description": "one file" }, { "label": "Postgres" }]);
    json!({ "header": "Storage", "question": "Where are orders kept?", "options": options })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_what_a_call_asks() {
    let parts = json!({
        "header": "Parts",
        "question": "Which parts?",
        "options": [{ "label": "Orders" }, { "label": "Stock" }],
        "multi_select": true,
    });
    let asks = |questions: serde_json::Value| {
        Turn::new().call("ask_user_question", json!({ "questions": questions }))
    };
    let list = json!([{ "content": "Look \u{1b}[31m", "status": "completed" }, { "content": "Add tests", "status": "in_progress" }]);
    let scenario = Scenario::new()
        .turn(asks(json!([storage(), parts])))
        .turn(asks(json!([storage()])))
        .turn(Turn::new().call("todo_write", json!({ "todos": list })))
        .turn(Turn::new().text("Settled."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("/todos\r");
    person.sees("there is no list of what is to be done");
    person.sees("edit> ");
    person.types("begin\r");
    let asked = person.sees("/decline:");
    assert!(
        asked.contains(
            "? Storage (1 of 2): Where are orders kept?\r\n  1  SQLite — one file\r\n  2  Postgres"
        ),
        "{asked:?}"
    );
    assert!(!asked.contains("ask_user_question") && !asked.contains("● Ask"), "{asked:?}");
    person.types("\r");
    person.sees("/decline:");
    person.types("7\r");
    person.sees("there is no choice 7");
    person.sees("/decline:");
    person.types("2\r");
    person.sees("? Parts (2 of 2): Which parts?");
    person.sees("/decline:");
    person.types("1 2\r");
    // The next call asks again, and is answered in words.
    person.sees("? Storage: Where are orders kept?");
    person.sees("/decline:");
    person.types("a heap of files\r");
    let listed = person.sees("Settled.");
    assert!(listed.contains("● To do, 1 of 2 done"), "{listed:?}");
    assert!(listed.contains("[x] Look \\u{1b}[31m") && listed.contains("[>] Add tests"), "{listed:?}");
    person.sees("edit> ");
    person.types("/todos\r");
    person.sees("[>] Add tests");
    person.sees("edit> ");
    let sent = |request: usize| person.server.captured()[request].json["messages"].to_string();
    assert!(
        sent(1).contains(r"Where are orders kept? Postgres\n- Which parts? Orders, Stock"),
        "{}",
        sent(1)
    );
    assert!(sent(2).contains("in their own words: a heap of files"), "{}", sent(2));
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_what_a_call_asks() {
    let asks = Turn::new().call("ask_user_question", json!({ "questions": [storage()] }));
    let mut person = Person::sits_down(Scenario::new().turn(asks).turn(Turn::new().text("Yes."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("/decline:");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> ");
    person.types("go on\r");
    person.sees("Yes.");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_agrees_to_a_plan_after_changing_it() {
    let plan = |steps: &str| {
        Turn::new().call("exit_plan_mode", json!({ "plan": format!("# Retries\n\n{steps}\n") }))
    };
    let scenario = Scenario::new()
        .turn(Turn::new().call("enter_plan_mode", json!({ "title": "Retries" })))
        .turn(plan("1. Add them."))
        .turn(plan("1. Add them.\n2. Test them."))
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Built."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("add retries\r");
    person.sees("? enter_plan_mode");
    person.sees("instead:");
    person.types("y\r");
    person.sees("… plan mode");
    let asked = person.sees("instead:");
    assert!(asked.contains("? exit_plan_mode: Retries\r\n  # Retries\r\n  \r\n  1. Add them."), "{asked:?}");
    person.types("with tests\r");
    person.sees("2. Test them.");
    person.sees("instead:");
    person.types("y\r");
    person.sees("… edit mode");
    person.sees("? file_write");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Built.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("The person declined: with tests"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_that_ask_at_once_are_answered_one_after_the_other() {
    let ask = |header: &str| {
        let mut question = storage();
        question["header"] = json!(header);
        json!({ "questions": [question] })
    };
    let both = Turn::new().call("ask_user_question", ask("First")).call("ask_user_question", ask("Second"));
    let mut person = Person::sits_down(Scenario::new().turn(both).turn(Turn::new().text("Both."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    let asked = person.sees("/decline:");
    let (first, second) = if asked.contains("? First:") { ("1", "/decline") } else { ("/decline", "1") };
    person.types(&format!("{first}\r"));
    person.sees(if first == "1" { "? Second:" } else { "? First:" });
    person.sees("/decline:");
    person.types(&format!("{second}\r"));
    person.sees("Both.");
    person.sees("edit> ");
    let messages = person.server.captured()[1].json["messages"].as_array().unwrap().clone();
    let results: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert!(results[0].contains("SQLite") && results[1].contains("does not want to answer"), "{results:?}");
    person.leaves();
}

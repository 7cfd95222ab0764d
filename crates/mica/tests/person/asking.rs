//! What a person is asked, and what they answer.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_once_and_answers_in_words() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Not that."))
        .turn(writes("b.txt"))
        .turn(Turn::new().text("Written."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert_eq!(asked.matches("? file_write").count(), 1, "{asked:?}");
    person.types("\r");
    person.sees("instead:");
    person.types("another name\r");
    person.sees("Not that.");
    person.sees("edit> ");
    person.types("again\r");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Written.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("another name"), "the model reads why: {sent}");
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    assert_eq!((exists("a.txt"), exists("b.txt")), (false, true));
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_run_and_gives_back_what_was_not_sent() {
    let stalls = Turn::new().text("half of it").fault(Fault::Stall { at: At::BeforeFinish });
    let mut person = Person::sits_down(Scenario::new().turn(stalls).turn(Turn::new().text("Yes."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("half of it");
    person.types("do this\r");
    person.sees("joins before the next step");
    person.types("\x03");
    let stopped = person.sees("it is in the prompt");
    assert!(stopped.contains("stopped") && !stopped.contains("User {"), "{stopped:?}");
    person.sees("edit> ");
    person.types("\r");
    person.sees("Yes.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("do this"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_asks_again_when_the_person_is_back() {
    let mut person =
        Person::sits_down(Scenario::new().turn(writes("a.txt")).turn(Turn::new().text("Done."))).await;
    // A run that nobody watches stops at the question.
    let waits = person.elsewhere(&["-p", "write"]);
    assert_eq!(waits.status.code(), Some(4));
    person.sees("edit> ");
    person.leaves();
    let newest = String::from_utf8(waits.stderr).unwrap();
    assert_eq!(newest.matches("file_write").count(), 1, "{newest}");
    person.comes_back();
    person.sees("? file_write");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_what_would_change_and_all_of_it_when_asked() {
    let lines: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let write = Turn::new().call("file_write", json!({ "path": "a.txt", "content": lines }));
    let mut person = Person::sits_down(Scenario::new().turn(write).turn(Turn::new().text("Done."))).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write a.txt (+40 -0)"), "{asked:?}");
    assert!(asked.contains("+line 16") && !asked.contains("+line 17"), "{asked:?}");
    assert!(asked.contains("… 23 more lines"), "{asked:?}");
    person.types("a\r");
    let all = person.sees("instead:");
    assert!(all.contains("+line 39") && !all.contains("more lines"), "{all:?}");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/a.txt")).unwrap(), lines);
    person.leaves();
}

/// A line that was half typed once became the answer to the question that came in between.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_half_typed_is_no_answer_and_comes_back() {
    // Slow enough for somebody to type while it speaks.
    let slowly = Pacing { chars: 1, delay_ms: 250, ..Pacing::default() };
    let words = "These are words that take a while.";
    let scenario = Scenario::new()
        .turn(writes("a.txt").text(words).pacing(slowly))
        .turn(Turn::new().text(words).pacing(slowly))
        .turn(Turn::new().text("Added."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    person.sees("These");
    person.types("yes, and add te");
    person.sees("» yes, and add te");
    person.sees("instead:");
    assert!(!person.folder.path().join("project/a.txt").exists(), "nothing is answered yet");
    person.types("y\r");
    person.sees("» y");
    // The draft is back, and goes on where it was.
    person.sees("» yes, and add te");
    person.types("sts\r");
    person.sees("joins before the next step");
    person.sees("Added.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    let requests = person.server.captured();
    let last = requests[2].json["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("yes, and add tests"), "{last}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_question_leaves_the_draft_in_the_prompt() {
    let slowly = Pacing { chars: 1, delay_ms: 250, ..Pacing::default() };
    let scenario = Scenario::new()
        .turn(writes("a.txt").text("These are words that take a while.").pacing(slowly))
        .turn(Turn::new().text("Heard."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    person.sees("These");
    person.types("or rather");
    person.sees("» or rather");
    person.sees("instead:");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> or rather");
    person.types(" not\r");
    person.sees("Heard.");
    person.sees("edit> ");
    let said = person.server.captured()[1].json["messages"].to_string();
    assert!(said.contains("or rather not"), "{said}");
    person.leaves();
}

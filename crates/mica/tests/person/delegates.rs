//! What subagents ask a person.

use super::*;

/// A turn for whoever was told this, after so many results.
fn told(words: &str, results: usize) -> Turn {
    let when = When { user_contains: Some(words.to_owned()), tool_results: Some(results), ..When::default() };
    Turn { when: Some(when), ..Turn::new() }
}

/// What a subagent asks says whose question it is; each of its steps has a row, and what it took is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_subagent_asks_in_its_own_name() {
    let errand =
        json!({ "profile": "general", "description": "write the file", "prompt": "put x into c.txt" });
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).text("All done."))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("● Subagent"), "{asked:?}");
    assert!(asked.contains("the subagent general-"), "{asked:?}");
    assert!(asked.contains("(write the file) asks:"), "{asked:?}");
    person.types("y\r");
    let worked = person.sees("All done.");
    assert!(worked.contains("turn 1: Write file path=c.txt"), "{worked:?}");
    assert!(worked.contains("completed after 2 turns"), "{worked:?}");
    person.sees("edit> ");
    person.types("/usage\r");
    person.sees("of which subagents: ");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
    person.leaves();
}

/// A question that is open when the run ends, because nobody waits for the one who asks, is asked again with the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_from_the_background_is_asked_again() {
    let errand = json!({
        "profile": "general", "description": "write the file", "prompt": "put x into c.txt", "background": true,
    });
    let slow = Pacing { chars: 20, first_ms: 10_000, delay_ms: 0 };
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).pacing(slow).text("It is under way."))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."))
        .turn(told("and now", 0).pacing(slow).text("Still nothing."))
        .turn(told("has ended", 0).text("There it is."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    person.sees("(write the file) asks:");
    person.sees("It is under way.");
    person.sees("it is asked again with your next prompt");
    person.sees("edit> ");
    assert!(!person.folder.path().join("project/c.txt").exists());
    person.types("and now\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("y\r");
    person.sees("There it is.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
    person.leaves();
}

/// Who stops the run answers nothing that somebody else asks.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_leaves_a_question_from_the_background() {
    let errand = json!({
        "profile": "general", "description": "write the file", "prompt": "put x into c.txt", "background": true,
    });
    let slow = Pacing { chars: 20, first_ms: 10_000, delay_ms: 0 };
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).text("I wait.").fault(Fault::Stall { at: At::BeforeFinish }))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."))
        .turn(told("and now", 0).pacing(slow).text("Still nothing."))
        .turn(told("has ended", 0).text("There it is."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("\x03");
    person.sees("it is asked again with your next prompt");
    person.sees("edit> ");
    person.types("and now\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("y\r");
    person.sees("There it is.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
    person.leaves();
}

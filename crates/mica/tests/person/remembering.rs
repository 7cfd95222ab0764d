//! A yes for longer than once.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_remembered_for_the_session_and_can_be_taken_back() {
    let three = ["a.txt", "AGENTS.md", "c.txt"]
        .iter()
        .fold(Turn::new(), |turn, path| turn.call("file_write", json!({ "path": path, "content": "x" })));
    let scenario = Scenario::new()
        .turn(three)
        .turn(Turn::new().text("All written."))
        .turn(writes("d.txt"))
        .turn(Turn::new().text("Fourth."))
        .turn(writes("e.txt"))
        .turn(Turn::new().text("Fifth."))
        .turn(writes("f.txt"))
        .turn(Turn::new().text("Not the sixth."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write a.txt"), "{asked:?}");
    assert!(
        asked.contains("[s] yes, and for this session: all changes to files in this project"),
        "{asked:?}"
    );
    assert!(!asked.contains("[p]"), "{asked:?}");
    // A choice that is not there is neither a yes nor a reason to decline.
    person.types("p\r");
    person.sees("there is no choice p here");
    person.sees("instead:");
    person.types("s\r");
    // The third is covered; what tells agents what to do is asked about all the same, and has nothing to remember.
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write AGENTS.md") && !asked.contains("[s]"), "{asked:?}");
    person.types("n\r");
    let ran = person.sees("All written.");
    assert!(!ran.contains('?'), "{ran:?}");
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("1  this session  all changes to files in this project");
    person.sees("edit> ");
    person.leaves();
    person.comes_back();
    person.sees("edit> ");
    person.types("more\r");
    let ran = person.sees("Fourth.");
    assert!(!ran.contains("instead:"), "it is remembered: {ran:?}");
    person.sees("edit> ");
    person.leaves();
    let listed = String::from_utf8(person.elsewhere(&["rules", "list"]).stdout).unwrap();
    assert!(listed.contains("Remembered for sessions of this project:\n"), "{listed}");
    assert!(listed.contains("  write\n    all changes to files in this project\n"), "{listed}");
    // A run that nobody watches goes by it, too, and a new session does not.
    assert_eq!(person.elsewhere(&["-p", "write", "--continue"]).status.code(), Some(0));
    assert_eq!(person.elsewhere(&["-p", "write"]).status.code(), Some(4));
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    let written = ["a.txt", "AGENTS.md", "c.txt", "d.txt", "e.txt", "f.txt"].map(exists);
    assert_eq!(written, [true, false, true, true, true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_takes_back_is_asked_again() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("First."))
        .turn(writes("b.txt"))
        .turn(Turn::new().text("Second."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("nothing is remembered");
    person.sees("edit> ");
    person.types("write\r");
    person.sees("instead:");
    person.types("s\r");
    person.sees("First.");
    person.sees("edit> ");
    for wrong in ["/rules forget\r", "/rules forget 0\r", "/rules forget 2\r"] {
        person.types(wrong);
        person.sees("say which one: /rules forget N");
        person.sees("edit> ");
    }
    person.types("/rules forget 1\r");
    person.sees("asked about again: all changes to files in this project");
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("nothing is remembered");
    person.sees("edit> ");
    person.types("again\r");
    person.sees("instead:");
    person.types("n\r");
    person.sees("Second.");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waited_goes_on_with_what_is_remembered() {
    let two = writes("a.txt").call("file_write", json!({ "path": "b.txt", "content": "x" }));
    let scenario = Scenario::new().turn(two).turn(Turn::new().text("Both."));
    let mut person = Person::sits_down(scenario).await;
    let waits = person.elsewhere(&["-p", "write"]);
    assert_eq!(waits.status.code(), Some(4));
    person.sees("edit> ");
    person.leaves();
    person.comes_back();
    person.sees("[s] yes, and for this session: all changes");
    person.sees("instead:");
    person.types("s\r");
    let ran = person.sees("Both.");
    assert!(!ran.contains("instead:"), "{ran:?}");
    person.sees("edit> ");
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    assert_eq!((exists("a.txt"), exists("b.txt")), (true, true));
    person.leaves();
}

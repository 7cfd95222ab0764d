//! What a person takes back.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn promise_8_a_person_undoes_and_redoes_and_the_model_is_told() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Done."))
        .turn(Turn::new().text("I see."));
    let mut person = Person::sits_down(scenario).await;
    let exists = |person: &Person| person.folder.path().join("project/a.txt").exists();
    person.sees("edit> ");
    person.types("write it\r");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    person.types("/undo --nonsense\r");
    person.sees("unexpected argument '--nonsense'");
    person.sees("edit> ");
    person.types("/undo\r");
    person.sees("(write it)");
    person.sees("a.txt");
    person.sees("edit> ");
    assert!(!exists(&person));
    person.types("/redo\r");
    person.sees("redid run");
    person.sees("edit> ");
    assert!(exists(&person));
    person.types("/undo --list\r");
    person.sees("write it");
    person.sees("edit> ");
    person.types("/undo\r");
    person.sees("undid run");
    person.sees("edit> ");
    person.types("and now?\r");
    person.sees("I see.");
    person.sees("edit> ");
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("took changes of yours back"), "{sent}");
    person.leaves();
}

//! Another model, in the middle of a conversation.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_switches_the_model_and_leaves_nothing_unsaid() {
    let stalls = Turn::new().text("half of it").fault(Fault::Stall { at: At::BeforeFinish });
    let mut person = Person::sits_down(Scenario::new().turn(stalls).turn(Turn::new().text("Yes."))).await;
    let sessions = person.folder.path().join("home/data/sessions");
    person.sees("edit> ");
    person.types("/help\r");
    person.sees("/model [NAME]");
    person.sees("edit> ");
    person.types("/model flags/other\r");
    person.sees("other over chat at");
    person.sees("edit> ");
    person.types("/session\r");
    person.sees("made when something is said");
    person.sees("edit> ");
    person.leaves();
    assert!(!sessions.exists(), "nothing was said");

    (person.keyboard, person.screen, person.program) = begin(&person.folder, &person.server, &[]);
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("half of it");
    person.types("/model flags/other\r");
    person.sees("the model is switched between runs");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> ");
    person.types("/model flags/other\r");
    person.sees("other over chat at");
    person.sees("edit> ");
    person.types("/mode plan\r");
    person.sees("plan> ");
    person.types("go on\r");
    person.sees("Yes.");
    person.sees("plan> ");
    let models: Vec<String> =
        person.server.captured().iter().map(|request| request.json["model"].to_string()).collect();
    assert_eq!(models, ["\"scripted\"", "\"other\""]);
    person.leaves();
    person.comes_back();
    person.sees("plan> ");
    person.leaves();
}

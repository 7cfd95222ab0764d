//! What a person sees of the check of a change.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_check_found_is_seen_in_colour() {
    let path = "src/main/wso2mi/artifacts/sequences/Total.xml";
    let text = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Total\">\n    <variable name=\"total\" \
                expression=\"payload.price\"/>\n</sequence>\n";
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .thinking("First a draft.")
                .call("file_write", json!({ "path": path, "content": text })),
        )
        .turn(Turn::new().call("apply_code_action", json!({ "path": path })))
        .turn(Turn::new().text("Done."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    // Which pack works here is decided at the start.
    std::fs::create_dir_all(person.folder.path().join("project/src/main/wso2mi/artifacts")).unwrap();
    person.leaves();
    (person.keyboard, person.screen, person.program) = begin(&person.folder, &person.server, &["--yes"]);
    person.sees("edit> ");
    person.types("write\r");
    person.sees("~ First");
    person.sees(
        "\u{1b}[1;31m✗ line 2 SYN0201: \"payload.price\" is read as XPath here, looks for an element…\u{1b}[0m",
    );
    person.sees("\u{1b}[32m✓ checked, nothing wrong\u{1b}[0m");
    person.sees("Done.");
    person.sees("edit> ");
    person.leaves();
}

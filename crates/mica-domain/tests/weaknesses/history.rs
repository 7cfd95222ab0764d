//! What was said stays said: through summaries, restarts, colleagues' words and ways back.

use mica_ai::Dialect;
use mica_domain::runners::{Conversation, Past};
use mica_domain::{Copilot, Setup};
use mica_session::Body;
use mica_testkit::{Scenario, ScriptedTransport, Turn, When};

use crate::support::{Desk, lines, remote, says};

const SUMMARY: &str = "<summary>\n## Goal\nFind the blue folder.\n</summary>";

/// A model that writes summaries when it is asked to, and else answers everything.
fn summing() -> Scenario {
    let when = When { user_contains: Some("Write a summary".to_owned()), ..When::default() };
    Scenario::new().turn(Turn::new().text(SUMMARY).when(when)).otherwise(Turn::new().text("Fine."))
}

/// A window that was made smaller loses nothing: the summary reaches the model, also after a restart and on every wire, and
/// so do the words of colleagues; what it stands for is still in the session, word for word.
#[tokio::test(start_paused = true)]
async fn a_summary_never_replaces_what_was_said_and_never_gets_lost() {
    for dialect in Dialect::ALL {
        let mut desk = Desk::default();
        let transport = ScriptedTransport::new(summing());
        let open = |desk: &Desk| {
            let setup =
                Setup { domain: std::sync::Arc::new(desk.office.clone()), ..remote(dialect, &transport) };
            Copilot::open(setup.in_session(desk.session()))
        };
        let copilot = open(&desk).await.unwrap();
        copilot.say(says(&format!("The folder is blue. {}", "It is old. ".repeat(3_000)))).await.unwrap();
        desk.path = copilot.path();
        let colleague =
            "Background: a teammate answered.\n<teammate from=\"Bo\">\nIt is in the attic.\n</teammate>";
        let words = Past::User { text: colleague.to_owned(), source: "m2".to_owned() };
        let session: &dyn Conversation = &copilot;
        session.recall(vec![words]).await.unwrap();
        let body =
            |number: usize| String::from_utf8(transport.script().captured()[number].body.to_vec()).unwrap();
        copilot.window().request_compaction(None);
        copilot.say(says("Where is it?")).await.unwrap();
        // The first answer, the summary, the second answer.
        assert!(
            body(1).contains("The folder is blue.") && body(1).contains("It is in the attic."),
            "{dialect}"
        );
        let after = body(2);
        assert!(
            after.contains("Find the blue folder.") && !after.contains("It is old."),
            "{dialect}: {after}"
        );
        assert!(after.contains("Where is it?"), "{dialect}: {after}");
        drop(copilot);

        let copilot = open(&desk).await.unwrap();
        copilot.say(says("And now?")).await.unwrap();
        let after = body(3);
        for there in ["Find the blue folder.", "Where is it?", "And now?"] {
            assert!(after.contains(there), "{dialect}: {there} is not in {after}");
        }
        let kept = copilot.keeper().unwrap().session().branch().unwrap();
        let said: Vec<String> = kept.messages().map(crate::support::line).collect();
        assert_eq!(said.len(), 7, "{said:?}");
        assert!(said[0].starts_with("user: The folder is blue. It is old."), "{dialect}: {}", said[0]);
        assert_eq!(said[2], format!("user: {colleague}"));
    }
}

/// Going back is the session's matter, not the client's: the model is told what was said until there and nothing of what
/// came after, what the domain remembers is what it remembered then, and the way that was left can be gone again.
#[tokio::test(start_paused = true)]
async fn a_way_that_was_left_is_neither_told_nor_lost() {
    let mut desk = Desk::default();
    let scenario = || Scenario::new().otherwise(Turn::new().text("Fine."));
    let (copilot, _) = desk.open(scenario()).await;
    copilot.say(says("One.")).await.unwrap();
    let after_one = copilot.keeper().unwrap().session().tree().leaf();
    copilot.say(says("Two.")).await.unwrap();
    let after_two = copilot.keeper().unwrap().session().tree().leaf();
    drop(copilot);

    let ended = |copilot: &Copilot| copilot.domain().snapshot().kept["ended"].clone();
    desk.session().navigate(after_one).unwrap();
    let (copilot, model) = desk.open(scenario()).await;
    assert_eq!(ended(&copilot), 1, "what the domain remembers goes along");
    copilot.say(says("Three.")).await.unwrap();
    assert_eq!(lines(&model.requests()[0]), ["user: One.", "model: Fine.", "user: Three."]);
    drop(copilot);

    desk.session().navigate(after_two).unwrap();
    let (copilot, model) = desk.open(scenario()).await;
    assert_eq!(ended(&copilot), 2);
    copilot.say(says("Four.")).await.unwrap();
    assert_eq!(
        lines(&model.requests()[0]),
        ["user: One.", "model: Fine.", "user: Two.", "model: Fine.", "user: Four."]
    );
    let session = copilot.keeper().unwrap();
    let all = std::fs::read_to_string(session.session().path()).unwrap();
    assert!(["One.", "Two.", "Three.", "Four."].iter().all(|said| all.contains(said)), "nothing is lost");
    let leaves = session.session().branch().unwrap().entries;
    assert!(!leaves.iter().any(|entry| matches!(&entry.body, Body::Message { message } if
        crate::support::line(message) == "user: Three.")));
}

//! Sessions are open once, and closed when nobody uses them.

use super::*;

/// A session is open once: whoever wants it gets the same, and one who may do something else gets it when it is free.
#[tokio::test]
async fn a_session_is_open_once() {
    let world = World::new();
    let process = world.process([text("One."), text("Two.")]);
    let sessions = process.sessions.clone();
    let one = sessions.copilot("chat", Some(&opens("chat"))).await.unwrap();
    let two = sessions.copilot("chat", None).await.unwrap();
    assert!(Arc::ptr_eq(&one, &two));
    let other = Opens { rights: Rights::none(), ..opens("chat") };
    let refused = sessions.copilot("chat", Some(&other)).await.err().unwrap();
    assert_eq!(refused.to_string(), "the session chat is in use: it is open for somebody else");
    assert!(!sessions.close("chat").await);
    one.say(says("Hello.")).await.unwrap();
    drop((one, two));
    let less = sessions.copilot("chat", Some(&other)).await.unwrap();
    less.say(says("Again.")).await.unwrap();
    assert!(!process.model.requests()[1].tools.iter().any(|tool| tool.name == "letter_send"));
    assert_eq!(process.asked(), ["user: Hello.", "model: One.", "user: Again."]);
    drop(less);
    assert!(sessions.close("chat").await);
}

/// Sessions that nobody uses are closed, the oldest first, and opened again as they were.
#[tokio::test]
async fn sessions_that_nobody_uses_are_closed() {
    let world = World::new();
    let process = world.process([text("One."), text("Two."), text("Three."), text("Again.")]);
    let sessions = process.sessions.clone().keeping(2);
    for session in ["a", "b", "c"] {
        chat(&sessions, &opens(session), says("Hello.")).await.unwrap();
    }
    let files = Sessions::new(world.folder.path(), noon);
    let open: Vec<bool> =
        ["a", "b", "c"].iter().map(|session| files.is_open(&world.files.lock().unwrap()[*session])).collect();
    assert_eq!(open, [false, true, true]);
    chat(&sessions, &opens("a"), says("Me again.")).await.unwrap();
    assert_eq!(process.asked(), ["user: Hello.", "model: One.", "user: Me again."]);
}

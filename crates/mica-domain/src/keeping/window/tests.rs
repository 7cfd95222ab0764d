//! From a session to the window of a model.

use mica_session::Sessions;

use super::*;

#[test]
fn a_branch_that_was_left_is_a_message_that_a_compaction_can_keep_from() {
    let folder = tempfile::tempdir().unwrap();
    let noon = jiff::Timestamp::from_second(1_800_000_000).unwrap();
    let sessions = Sessions::new(folder.path(), move || noon);
    let mut session = sessions.create("/home/user/orders".as_ref(), None).unwrap();
    let mut say = |text: &str| session.append(Message::from(User::text(text)), Durability::Now).unwrap();
    let (one, _two) = (say("one"), say("two"));
    let left = session.navigate_with(Some(one), "two led nowhere").unwrap().unwrap();

    let messages = restore(&session.live().unwrap());
    let texts: Vec<String> = messages.iter().map(words).collect();
    assert_eq!(
        texts,
        ["one", "<left_branch>\nThis was tried before, and left:\ntwo led nowhere\n</left_branch>"]
    );
    let keeper = Keeper::new(session);
    // Without its entry, a compaction that keeps from here on would keep nothing when the session is opened again.
    assert_eq!(keeper.entry_of(messages[1].id()), Some(left));
    assert_eq!(keeper.entry_of(messages[0].id()), Some(one));
    assert_eq!(restore(&keeper.session().live().unwrap()), messages, "it is the same every time");
}

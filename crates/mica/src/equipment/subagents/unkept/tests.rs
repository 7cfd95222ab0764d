//! What is remembered of subagents that no session keeps.

use mica_ai::User;

use super::*;

#[tokio::test]
async fn what_was_said_outlives_the_agent_and_nothing_else_of_it_does() {
    let profiles = Profiles::builtin().unwrap();
    let unkept = Unkept::default();
    let begins = unkept.fresh(profiles.get("explore").unwrap());
    assert_eq!(begins.id, "explore-1");
    let follower = unkept.follow(&begins);
    follower.record(Record::Message(&User::text("look").into())).await.unwrap();
    let again = |taken| unkept.again(&profiles, "explore-1", taken).map_err(|error| error.to_string());
    assert_eq!(again(None).err().unwrap(), "explore-1 is still at work; wait for its end");
    let watch = Arc::downgrade(&follower);
    drop(follower);
    assert!(watch.upgrade().is_none(), "it is held by nobody else");
    let begins = again(Some("explore")).unwrap();
    assert_eq!(begins.messages.len(), 1);
    assert!(again(Some("general")).is_err());
    // It goes on from there.
    let follower = unkept.follow(&begins);
    follower.record(Record::Message(&User::text("and there").into())).await.unwrap();
    drop(follower);
    assert_eq!(again(None).unwrap().messages.len(), 2);
}

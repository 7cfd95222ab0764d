//! What is shown until it is taken away.

use super::*;

#[test]
fn what_an_extension_shows_goes_with_it() {
    let statuses = Statuses::default();
    for (by, key, text) in [("a", "x", "one"), ("a", "y", "two"), ("b", "x", "three")] {
        statuses.set(by, key, Some(text));
    }
    assert_eq!(statuses.line().as_deref(), Some("one · two · three"));
    let pair = |by: &str, key: &str| (by.to_owned(), key.to_owned());
    assert_eq!(statuses.clear(Some("a")), [pair("a", "x"), pair("a", "y")]);
    assert_eq!(statuses.line().as_deref(), Some("three"));
    assert_eq!(statuses.clear(None), [pair("b", "x")]);
    assert_eq!(statuses.line(), None);
}

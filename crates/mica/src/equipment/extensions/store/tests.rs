//! What is kept, and its end.

use serde_json::json;

use super::*;

#[test]
fn what_is_kept_is_there_again_and_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("extensions"));
    assert_eq!(store.all("a").unwrap(), BTreeMap::new());
    store.keep("a", "count", Some(json!(1))).unwrap();
    store.keep("a", "names", Some(json!(["x"]))).unwrap();
    store.keep("b", "count", Some(json!(7))).unwrap();
    store.keep("a", "count", Some(json!(2))).unwrap();
    let again = Store::new(folder.path().join("extensions"));
    let kept = |entries: &[(&str, Value)]| -> BTreeMap<String, Value> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    assert_eq!(again.all("a").unwrap(), kept(&[("count", json!(2)), ("names", json!(["x"]))]));
    again.keep("a", "names", None).unwrap();
    let refused = again.keep("a", "large", Some(json!("x".repeat(MOST)))).unwrap_err();
    assert!(refused.contains("1048576 is the most"), "{refused}");
    assert_eq!(again.all("a").unwrap(), kept(&[("count", json!(2))]));
    assert_eq!(again.all("b").unwrap(), kept(&[("count", json!(7))]));
}

#[test]
fn a_log_keeps_its_newest_lines_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let long = "y".repeat(LINE * 2);
    let lines = LOG / LINE + 2;
    for number in 0..lines {
        store.log("a", &number.to_string(), "", &long);
    }
    let text = std::fs::read_to_string(store.log_file("a")).unwrap();
    assert!(text.len() <= LOG, "{}", text.len());
    let expect = "y".repeat(LINE);
    for line in text.lines() {
        let (number, rest) = line.split_once(' ').unwrap();
        assert!(number.parse::<usize>().is_ok() && rest == expect, "{number}");
    }
    assert!(text.lines().last().unwrap().starts_with(&format!("{} ", lines - 1)));
}

#[cfg(unix)]
#[test]
fn what_is_kept_and_printed_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("extensions"));
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    store.keep("a", "token", Some(json!("x"))).unwrap();
    assert_eq!(mode(store.kept_file("a")), 0o600);
    store.log("a", "now", "", "x");
    assert_eq!(mode(store.log_file("a")), 0o600);
    // Also when its older half has gone.
    for _ in 0..=LOG / LINE {
        store.log("a", "now", "", &"y".repeat(LINE));
    }
    assert_eq!(mode(store.log_file("a")), 0o600);
}

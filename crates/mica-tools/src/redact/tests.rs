//! Which values are taken out, and what is left alone.

#![allow(clippy::disallowed_methods, reason = "tests prepare files themselves")]

use super::*;

fn names(text: &str) -> Vec<String> {
    secrets(text).into_iter().map(|secret| format!("{}={}", secret.name, secret.value)).collect()
}

#[test]
fn secrets_by_name_and_by_look() {
    for (text, expected) in [
        ("DB_PASSWORD=horse", vec!["DB_PASSWORD=horse"]),
        ("DB_PASSWORD=abc", vec![]),
        ("APP_NAME=orders\nLOG_LEVEL=DEBUG\nPORT=8290", vec![]),
        ("export API_TOKEN='abc def'", vec!["API_TOKEN=abc def"]),
        ("DB_URL=postgres://user:pw1@db/orders", vec!["DB_URL=postgres://user:pw1@db/orders"]),
        ("BASE_URL=http://localhost:9090/orders/v1", vec![]),
        ("SOMETHING=AKIAIOSFODNN7EXAMPLE99", vec!["SOMETHING=AKIAIOSFODNN7EXAMPLE99"]),
        ("JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64", vec![]),
        ("CLIENT_SECRET=${VAULT_SECRET}", vec![]),
        (
            "SIGNING_KEY=\"first line\nsecond line\"\nB=1",
            vec!["SIGNING_KEY=first line", "SIGNING_KEY=second line"],
        ),
        (
            "PASSWORD=quoted # not a comment in every reader",
            vec!["PASSWORD=quoted # not a comment in every reader"],
        ),
    ] {
        assert_eq!(names(text), expected, "{text}");
    }
}

#[test]
fn the_longest_goes_first() {
    let secrets = vec![
        Secret { name: "A_TOKEN".to_owned(), value: "abcdef".to_owned() },
        Secret { name: "B_TOKEN".to_owned(), value: "abcd".to_owned() },
    ];
    assert_eq!(
        redacted("x abcdef y abcd", &secrets).as_deref(),
        Some("x [A_TOKEN: not shown] y [B_TOKEN: not shown]")
    );
    assert_eq!(redacted("nothing here", &secrets), None);
}

#[test]
fn files_that_change_are_read_again_also_those_of_modules() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("module/deeper")).unwrap();
    fs::write(folder.path().join(".env"), "DB_PASSWORD=first\n").unwrap();
    fs::write(folder.path().join(".env.example"), "DB_PASSWORD=changeme\n").unwrap();
    fs::write(folder.path().join("module/prod.env"), "KEY_TOKEN=module-token\n").unwrap();
    let redaction = Redaction::new(folder.path());
    let values = |redaction: &Redaction| {
        let mut values: Vec<String> = redaction.secrets().iter().map(|one| one.value.clone()).collect();
        values.sort();
        values
    };
    assert_eq!(values(&redaction), ["first", "module-token"]);
    fs::write(folder.path().join(".env"), "DB_PASSWORD=second one\n").unwrap();
    assert_eq!(values(&redaction), ["module-token", "second one"]);
    fs::remove_file(folder.path().join("module/prod.env")).unwrap();
    assert_eq!(values(&redaction), ["second one"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_counts_and_so_does_what_a_failure_says() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    fs::write(folder.path().join("shared"), "DB_PASSWORD=hunter2-secret\n").unwrap();
    std::os::unix::fs::symlink("../shared", project.join(".env")).unwrap();
    let redaction = Redaction::new(&project);
    let call = ToolCall {
        id: mica_ai::id::CallId::from("c1"),
        name: "server_management".to_owned(),
        arguments: mica_ai::arguments::Arguments::from_text("{}"),
    };
    let spec = ToolSpec::new("server_management", "A server.", serde_json::json!({ "type": "object" }));
    let mut error = ToolError::new("It died: the password is hunter2-secret.");
    redaction.after_failure(&call, &spec, &mut error).await;
    assert_eq!(error.message, "It died: the password is [DB_PASSWORD: not shown].");
    let mut output = ToolOutput::text("hunter2-secret");
    redaction.after_tool(&call, &spec, &mut output).await;
    assert_eq!(output, ToolOutput::text("[DB_PASSWORD: not shown]"));
}

/// Waits until the file system's clock goes on: what was looked at in the tests has not been so for seconds.
fn next_step() {
    let folder = tempfile::tempdir().unwrap();
    let time = || {
        fs::write(folder.path().join("tick"), "").unwrap();
        fs::metadata(folder.path().join("tick")).unwrap().modified().unwrap()
    };
    let first = time();
    while time() == first {}
}

#[test]
fn what_was_just_written_is_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".env"), "A_TOKEN=first").unwrap();
    let now: crate::web::Clock = Arc::new(SystemTime::now);
    let long_ago: crate::web::Clock = Arc::new(|| SystemTime::UNIX_EPOCH);
    let unkept = [
        Redaction::new(folder.path()),
        Redaction::new(folder.path()).with_clock(now),
        Redaction::new(folder.path()).with_clock(long_ago),
    ];
    for redaction in unkept {
        assert_eq!(redaction.secrets().len(), 1);
        assert!(redaction.same(usize::MAX).is_none());
    }
    let kept = Redaction::new(folder.path()).with_clock(later());
    assert_eq!(kept.secrets().len(), 1);
    assert!(kept.same(usize::MAX).is_some() == cfg!(unix));
}

/// A clock that is late enough for everything to have been so for a while.
fn later() -> crate::web::Clock {
    Arc::new(|| SystemTime::now() + std::time::Duration::from_secs(3600))
}

#[cfg(unix)]
#[test]
fn what_was_found_is_used_until_something_changes() {
    type Change = fn(&Path);
    let changes: [(&str, Change, &[&str]); 7] = [
        ("nothing", |_| (), &["first"]),
        (
            "a new file",
            |at| fs::write(at.join(".env.local"), "B_TOKEN=second").unwrap(),
            &["first", "second"],
        ),
        ("the same length", |at| fs::write(at.join(".env"), "A_TOKEN=other").unwrap(), &["other"]),
        (
            "the same length, and the time put back",
            |at| {
                let path = at.join(".env");
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                fs::write(&path, "A_TOKEN=other").unwrap();
                fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
            },
            &["other"],
        ),
        (
            "a link leads somewhere",
            |at| fs::write(at.join("later"), "C_TOKEN=linked").unwrap(),
            &["first", "linked"],
        ),
        (
            "a file of a module",
            |at| fs::write(at.join("module/x.env"), "D_TOKEN=module").unwrap(),
            &["first", "module"],
        ),
        ("the file is gone", |at| fs::remove_file(at.join(".env")).unwrap(), &[]),
    ];
    for (what, change, expected) in changes {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("module")).unwrap();
        fs::write(folder.path().join(".env"), "A_TOKEN=first").unwrap();
        std::os::unix::fs::symlink("later", folder.path().join("linked.env")).unwrap();
        let redaction = Redaction::new(folder.path()).with_clock(later());
        assert_eq!(redaction.secrets().len(), 1, "{what}");
        assert!(redaction.same(FEW).is_some(), "{what}: nothing has changed yet");
        assert!(
            redaction.same(2).is_none(),
            "{what}: a folder, a module, a file and a link take four questions"
        );
        next_step();
        change(folder.path());
        let mut values: Vec<String> = redaction.secrets().iter().map(|one| one.value.clone()).collect();
        values.sort();
        assert_eq!(values, expected, "{what}");
    }
}

//! Ends of commands in words.

use std::path::PathBuf;
use std::time::Duration;

use mica_agent::RunId;
use mica_ai::id::CallId;
use mica_sandbox::{Ended, Usage};

use super::*;

fn job(looks: bool, wall: u64) -> Job {
    Job {
        command: "x".to_owned(),
        folder: PathBuf::from("/p"),
        hosts: Vec::new(),
        wall: Duration::from_secs(wall),
        looks,
        run: RunId::fresh(),
        call: CallId::from("c"),
    }
}

fn done(how: How, denials: Vec<Denial>) -> Done {
    let ended = Ended {
        how,
        usage: Usage::default(),
        elapsed: Duration::from_millis(1234),
        denials,
        notices: Vec::new(),
        network: Vec::new(),
        tier: Tier::Landlock,
    };
    Done { ended, shell: "bash", note: None, changed: Vec::new() }
}

#[test]
fn every_end_has_words() {
    let settings = ShellSettings::default();
    let cases = [
        (How::Exited(0), 120, "exit code 0 after 1.2 s"),
        (How::Exited(1), 120, "exit code 1 after 1.2 s"),
        (How::Exited(127), 120, "exit code 127 (there is no such command) after 1.2 s"),
        (
            How::Exited(139),
            120,
            "exit code 139 (a part of it was ended by signal 11 (SIGSEGV: it crashed)) after 1.2 s",
        ),
        (
            How::Signalled(9),
            120,
            "ended by signal 9 (SIGKILL: it was killed, perhaps for want of memory), after 1.2 s",
        ),
        (How::Signalled(40), 120, "ended by signal 40, after 1.2 s"),
        (
            How::Limit(Limit::Wall),
            120,
            "stopped: its time of 120 s was up. What it printed until then is above, and what it did stays done. Ask for \
             more time with timeout_seconds (at most 600), or run it with background: true",
        ),
        (
            How::Limit(Limit::Wall),
            600,
            "stopped: its time of 600 s was up. What it printed until then is above, and what it did stays done. For more \
             time, run it with background: true",
        ),
        (How::Cancelled, 120, "stopped from outside after 1.2 s; what it did until then stays done"),
    ];
    for (how, wall, expected) in cases {
        assert_eq!(notes(&done(how, Vec::new()), &job(false, wall), &settings), [expected]);
    }
    let other = Done { shell: "sh", ..done(How::Exited(0), Vec::new()) };
    assert_eq!(
        notes(&other, &job(false, 1), &settings),
        ["there is no bash here, so sh ran it", "exit code 0 after 1.2 s"]
    );
}

#[test]
fn denials_say_what_would_help() {
    let settings = ShellSettings::default();
    let write = || vec![Denial::Write { path: PathBuf::from("/p/x") }];
    assert_eq!(
        notes(&done(How::Exited(1), write()), &job(true, 1), &settings),
        [
            "the sandbox (tier landlock) did not let it write /p/x. It was judged to only look, so nothing but $TMPDIR was \
             writable.",
            "exit code 1 after 1.2 s"
        ]
    );
    let help =
        |denial: Denial| denials(&done(How::Exited(1), vec![denial]), &job(false, 1), &settings).remove(0);
    assert!(help(write().remove(0)).ends_with("with the setting shell.write."));
    assert_eq!(
        help(Denial::Network { host: Some("example.org:443".to_owned()) }),
        "the sandbox (tier landlock) did not let it reach example.org:443. There is none unless `network` names the hosts; \
         the user is asked then."
    );
}

#[test]
fn titles_are_one_line() {
    assert_eq!(title(Some(" Run the tests "), "mvn test"), "Run the tests");
    assert_eq!(title(Some(" "), "mvn test\nmvn install"), "mvn test");
    assert_eq!(title(None, &"x".repeat(100)), format!("{}…", "x".repeat(59)));
}

//! Settings and rules about commands, as people write them.

use super::*;

fn values(text: &str) -> Values {
    toml::from_str(text).unwrap()
}

#[test]
fn rules_about_commands_are_found() {
    let cases = [
        ("shell(mvn test)", Some("mvn test")),
        (" shell(git *) ", Some("git *")),
        ("shell(echo (a))", Some("echo (a)")),
        ("shell", None),
        ("shell()", None),
        ("shellx(a)", None),
        ("file_write(src/**)", None),
    ];
    for (rule, expected) in cases {
        assert_eq!(of_commands(rule), expected, "{rule}");
    }
}

#[test]
fn rules_of_tools_allow_commands() {
    for (settings, yes, expected) in [
        ("", false, false),
        ("", true, true),
        ("allow = [\"*\"]", false, true),
        ("allow = [\"shell\"]", false, true),
        ("allow = [\"shell(*)\"]", false, true),
        ("allow = [\"shell(mvn test)\", \"file_*\"]", false, false),
    ] {
        assert_eq!(given(&values(settings), yes).unwrap().allows_everything(), expected, "{settings} {yes}");
    }
}

#[test]
fn settings_that_do_not_fit_are_told() {
    let check = |text: &str| settings(&values(text).shell).map_err(|error| format!("{error:#}"));
    assert_eq!(check("[shell]\ntimeout = 0").unwrap_err(), "shell.timeout is a number of seconds, 1 or more");
    assert_eq!(
        check("[shell]\nnetwork = [\"http://x\"]").unwrap_err().split(':').next(),
        Some("shell.network")
    );
    let longer = check("[shell]\ntimeout = 900\nlongest = 300").unwrap();
    assert_eq!(longer.timeout, Duration::from_secs(300));
}

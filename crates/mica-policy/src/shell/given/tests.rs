//! Rules that people give: what they fit and what not.

use super::*;
use crate::Mode;
use crate::shell::{Class, ShellFacts, judge};

fn judged(given: &Given, command: &str) -> (Class, bool, bool) {
    let mut rules = ShellRules::builtin().unwrap();
    given.remember_in(&mut rules);
    let judged = judge(command, &ShellFacts::of_project("/home/user/project"), &rules, Mode::Edit);
    (judged.class, given.allows(command, &judged, &rules), given.denies(&judged).is_some())
}

#[test]
fn what_is_allowed_is_compared_with_commands() {
    let cases = [
        // The rule, the command, and whether it runs without asking.
        ("mvn test", "mvn test", true),
        ("mvn test", "mvn test -q", true),
        ("mvn test", "cd src && mvn test", true),
        ("mvn test", "mvn install", false),
        ("mvn test", "mvn test; mvn install", false),
        ("mvn test", "mvn test > log.txt", false),
        ("git *", "git commit -m x", true),
        ("git:*", "git commit -m x", true),
        ("git *", "git status; rm -r src", false),
        ("git *", "git status; rm -rf /", false),
        ("git *", "git push --force", false),
        ("git *", "git push $(cat x)", false),
        ("git *", "gitk", false),
        // Interpreters and deletions: the line as it is, and no other.
        ("python3 check.py", "python3 check.py", true),
        ("python3 check.py", " python3 check.py\n", true),
        ("python3 check.py", "python3 check.py --all", false),
        ("python3 *", "python3 check.py", false),
        ("rm -r target", "rm -r target", true),
        ("rm -r target", "rm -r target src", false),
        ("*", "python3 -c 1", true),
        ("*", "eval $X", true),
        // A file's name with a star is a line, not a beginning.
        ("rm src/*.o", "rm src/*.o", true),
        ("rm src/*", "rm src/a", false),
    ];
    for (rule, command, expected) in cases {
        let (class, allowed, _) = judged(&Given::new().allow(rule), command);
        let runs = class == Class::Safe || (class == Class::Ask && allowed);
        assert_eq!(runs, expected, "{command:?} with {rule:?}");
    }
}

#[test]
fn what_is_denied_is_found_in_every_command() {
    let cases = [
        ("git push", "git push", true),
        ("git push", "git push origin main", true),
        ("git push *", "cd a && git push", true),
        ("git push", "git -C sub push", true),
        ("git push", "/usr/bin/git push", true),
        ("git push", "env X=1 git push", true),
        ("git push", "echo $(git push)", true),
        ("git push", "bash -c 'git push'", true),
        ("git push", "git pull", false),
        ("git push", "git status", false),
        ("*", "ls", true),
    ];
    for (rule, command, expected) in cases {
        assert_eq!(judged(&Given::new().deny(rule), command).2, expected, "{command:?} with {rule:?}");
    }
}

#[test]
fn everything_is_not_what_cannot_be_seen_when_something_is_denied() {
    let given = Given::new().allow_everything().deny("git push");
    let cases = [
        // The command, and whether it runs.
        ("mvn install", true),
        ("mvn install -pl $X", true),
        ("git commit -m \"$X\"", true),
        ("git add *.rs", true),
        ("git add $FILES", true),
        ("rm \"$f\"", true),
        ("rm *.o", true),
        ("cp $A $B", true),
        ("env X=1 mvn test", true),
        ("find . -name '*.o' -delete", true),
        ("sh -c 'mvn test'", true),
        ("ls | xargs rm", false),
        ("eval $X", false),
        ("x=$(cat n); git $x origin", false),
        ("git $(echo push)", false),
        ("git \"$(echo push)\"", false),
        ("git pu*", false),
        ("git p[u]sh", false),
        ("git pus?", false),
        ("git -C sub $X", false),
        ("git -q pu$X", false),
        ("g=git; $g push", false),
        ("g=$(cat n); $g push", false),
        ("$(cat n)", false),
        ("env git push", false),
        ("env $X", false),
        ("env $X push", false),
        ("timeout 5 git $X", false),
        ("command git push", false),
        ("command git $X", false),
        ("sh -c 'git push'", false),
        ("sh -c 'git $x'", false),
        ("sh -c 'eval $x'", false),
        ("sh -c \"$X\"", false),
        ("xargs git push", false),
        ("echo push | xargs git", false),
        ("find . -name push -exec git {} \\;", false),
        ("/usr/bin/g* push", false),
        ("for x in push; do git $x; done", false),
    ];
    for (command, expected) in cases {
        let (class, allowed, denied) = judged(&given, command);
        let runs = !denied && (class == Class::Safe || (class == Class::Ask && allowed));
        assert_eq!(runs, expected, "{command:?}");
    }
    assert!(judged(&Given::new().allow_everything(), "git $X").1, "nothing is denied");
}

//! The gate: every class in every mode, arguments that are missing or strange, what is remembered and given.

use serde_json::json;

use super::*;
use crate::shell::{Remembered, Scope};

/// A disk with one link that leads out of the project.
struct Linked;

impl Disk for Linked {
    fn real(&self, path: &str) -> Option<String> {
        Some(path.replace("/home/user/project/link", "/etc"))
    }
}

fn gate(mode: Mode) -> ShellGate {
    let place = Place {
        root: "/home/user/project".to_owned(),
        cwd: "/home/user/project".to_owned(),
        temp: vec!["/tmp".to_owned()],
        home: Some("/home/user".to_owned()),
        disk: Arc::new(Linked),
    };
    ShellGate::new("shell", "command", place, ShellRules::builtin().unwrap(), ModeSwitch::new(mode))
        .with_folder("cwd")
        .with_network("network", vec!["repo.example.org".to_owned()])
}

/// `allow`, or `ask RULE` and `deny RULE`.
fn verdict(gate: &ShellGate, args: &Value) -> String {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let rule = |rule: Option<String>| rule.unwrap_or_else(|| "-".to_owned());
    match gate.verdict(args) {
        Verdict::Pass | Verdict::Offer { .. } => "pass".to_owned(),
        Verdict::Allow => "allow".to_owned(),
        Verdict::Ask { rule: by, .. } => format!("ask {}", rule(by)),
        Verdict::Deny { rule: by, .. } => format!("deny {}", rule(by)),
    }
}

fn check(mode: Mode, args: &Value, expected: &str) {
    assert_eq!(verdict(&gate(mode), args), expected, "{args} in {mode} mode");
}

#[test]
fn every_class_in_every_mode() {
    let cases = [
        // The command, and what becomes of it in edit, plan and ask mode.
        ("ls -l", ["allow"; 3]),
        ("git log | head -3", ["allow"; 3]),
        ("echo $HOME_TOKEN", ["ask secret-variable"; 3]),
        ("echo x > /tmp/x", ["allow", "deny mode.plan", "deny mode.ask"]),
        ("mvn test", ["ask mvn", "deny mode.plan", "deny mode.ask"]),
        ("rm -r src", ["ask delete-project-files", "deny mode.plan", "deny mode.ask"]),
        ("eval $X", ["ask opaque", "deny mode.plan", "deny mode.ask"]),
        ("sudo ls", ["deny floor.sudo"; 3]),
        ("rm -rf /", ["deny floor.write-outside"; 3]),
        ("cat ~/.ssh/id_rsa", ["deny floor.secret"; 3]),
        ("vim x", ["deny vim"; 3]),
        ("", ["deny empty"; 3]),
    ];
    let mut wrong = Vec::new();
    for (command, expected) in cases {
        for (mode, expected) in [Mode::Edit, Mode::Plan, Mode::Ask].into_iter().zip(expected) {
            let found = verdict(&gate(mode), &json!({ "command": command }));
            if found != expected {
                wrong.push(format!("{command:?} in {mode} mode: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_is_no_text_is_denied() {
    for args in [json!({}), json!({ "command": null }), json!({ "command": 1 }), json!({ "command": ["ls"] })]
    {
        check(Mode::Edit, &args, "deny -");
    }
}

#[test]
fn the_folder_counts() {
    check(Mode::Edit, &json!({ "command": "ls", "cwd": "src" }), "allow");
    check(Mode::Edit, &json!({ "command": "ls", "cwd": null }), "allow");
    check(Mode::Edit, &json!({ "command": "ls", "cwd": "/home/user/project/src" }), "allow");
    for outside in ["..", "/", "/etc", "src/../..", "/home/user/project-old", "link"] {
        check(Mode::Edit, &json!({ "command": "ls", "cwd": outside }), "deny -");
    }
    check(Mode::Edit, &json!({ "command": "ls", "cwd": 1 }), "deny -");
    // The same words are something else in another folder.
    check(Mode::Edit, &json!({ "command": "rm -r ../a", "cwd": "src" }), "ask delete-project-files");
    check(Mode::Edit, &json!({ "command": "rm -r ../a" }), "deny floor.write-outside");
}

#[test]
fn the_network_is_asked_about() {
    let with = |command: &str, hosts: Value| json!({ "command": command, "network": hosts });
    check(Mode::Edit, &with("ls", json!([])), "allow");
    check(Mode::Edit, &with("ls", json!(["example.org"])), "ask network");
    check(Mode::Edit, &with("ls", json!(["repo.example.org"])), "allow");
    check(Mode::Edit, &with("ls", json!(["repo.example.org", "example.org"])), "ask network");
    check(Mode::Edit, &with("mvn test", json!(["example.org"])), "ask network");
    check(Mode::Edit, &with("sudo ls", json!(["example.org"])), "deny floor.sudo");
    for (mode, rule) in [(Mode::Plan, "deny mode.plan"), (Mode::Ask, "deny mode.ask")] {
        check(mode, &with("ls", json!(["example.org"])), rule);
        // A host that nobody is asked about in edit mode.
        check(mode, &with("ls", json!(["repo.example.org"])), rule);
        check(mode, &with("ls", json!([])), "allow");
    }
    for strange in [json!("example.org"), json!([1]), json!({})] {
        check(Mode::Edit, &with("ls", strange), "deny -");
    }
    let Verdict::Ask { reason, .. } =
        gate(Mode::Edit).verdict(with("mvn test", json!(["a.org", "b.org"])).as_object().unwrap())
    else {
        panic!("it should ask");
    };
    assert!(reason.ends_with("It wants to reach a.org, b.org."), "{reason}");
}

#[test]
fn approvals_are_remembered() {
    let gate = gate(Mode::Edit);
    let other = gate.clone();
    let run = |command: &str| verdict(&gate, &json!({ "command": command }));
    assert_eq!(run("mvn test"), "ask mvn");
    other.remember(&Remembered { prefix: "mvn test".parse().unwrap(), scope: Scope::Session });
    assert_eq!(run("mvn test -q"), "allow");
    assert_eq!(run("mvn test && rm -r src"), "ask delete-project-files");
    assert_eq!(run("mvn install"), "ask mvn");
    // A prefix that nothing would propose covers nothing.
    other.remember(&Remembered { prefix: "rm".parse().unwrap(), scope: Scope::Session });
    assert_eq!(run("rm -r src"), "ask delete-project-files");
}

#[test]
fn given_rules_lift_questions_and_never_the_floor() {
    let everything = gate(Mode::Edit).with_given(Given::new().allow_everything().deny("git push"));
    let run = |args: Value| verdict(&everything, &args);
    assert_eq!(run(json!({ "command": "mvn test" })), "allow");
    assert_eq!(run(json!({ "command": "rm -r src" })), "allow");
    assert_eq!(run(json!({ "command": "ls", "network": ["example.org"] })), "allow");
    assert_eq!(run(json!({ "command": "git push" })), "deny deny shell(git push)");
    assert_eq!(run(json!({ "command": "sudo ls" })), "deny floor.sudo");
    assert_eq!(run(json!({ "command": "rm -rf /" })), "deny floor.write-outside");
    let plan = gate(Mode::Plan).with_given(Given::new().allow_everything());
    assert_eq!(verdict(&plan, &json!({ "command": "mvn test" })), "deny mode.plan");
    let some = gate(Mode::Edit).with_given(Given::new().allow("git *"));
    assert_eq!(verdict(&some, &json!({ "command": "git commit -m x" })), "allow");
    assert_eq!(verdict(&some, &json!({ "command": "git status; rm -rf /" })), "deny floor.write-outside");
    assert_eq!(verdict(&some, &json!({ "command": "git commit -m x", "network": ["a.org"] })), "ask network");
}

#[test]
fn what_only_looks_is_known_in_every_mode() {
    let gate = gate(Mode::Edit).with_given(Given::new().allow("mvn test"));
    let cases = [
        ("ls", ".", true),
        ("git log | head", ".", true),
        ("echo x > /tmp/x", ".", false),
        ("mvn test", ".", false),
        ("sed -i s/a/b/ x", ".", false),
        ("curl https://example.org", ".", false),
        ("ls", "..", false),
    ];
    for (command, folder, expected) in cases {
        assert_eq!(gate.only_looks(command, folder), expected, "{command} in {folder}");
    }
}

#[test]
fn rules_that_cannot_be_read_deny() {
    let place = gate(Mode::Edit).place;
    let rules = || Err("the file is damaged".to_owned());
    let gate = ShellGate::lazy("shell", "command", place, rules, ModeSwitch::new(Mode::Edit));
    assert_eq!(
        gate.verdict(json!({ "command": "ls" }).as_object().unwrap()),
        Verdict::Deny {
            reason: "shell was not run: the rules for commands cannot be read: the file is damaged."
                .to_owned(),
            rule: None
        }
    );
    assert!(!gate.only_looks("ls", "."));
}

#[test]
fn a_command_is_judged_in_the_folder_it_runs_in() {
    let gate = gate(Mode::Edit);
    let class = |judged: Result<Judgement, String>| judged.map(|judged| judged.class);
    assert_eq!(class(gate.judge("echo x > config")), Ok(Class::Ask));
    assert_eq!(class(gate.judge_in("echo x > config", "src")), Ok(Class::Ask));
    assert_eq!(class(gate.judge_in("echo x > config", "/home/user/project/.git")), Ok(Class::Blocked));
    assert_eq!(class(gate.judge_in("ls", "link")), Err("link is outside of the project".to_owned()));
}

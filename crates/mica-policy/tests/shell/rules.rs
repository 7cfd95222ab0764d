//! Effects, tables of the user, and where the project is.

use super::*;

#[test]
fn effects_are_named() {
    let effects = judged("cat a.txt > /tmp/b; curl -o c https://user@docs.example:443/x; cp d e").effects;
    assert_eq!(effects.reads, ["a.txt", "d"]);
    assert_eq!(effects.writes, ["/tmp/b", "c", "e"]);
    assert!(effects.network);
    assert_eq!(effects.hosts, ["docs.example"]);
}

#[test]
fn own_tables_are_checked_by_their_examples() {
    let table = |class: &str| {
        format!(
            "[[command]]\nnames = [\"frob\"]\neffect = \"look\"\noperands = [\"read\"]\n{class} = [\"frob a\"]\n"
        )
    };
    let rules = ShellRules::with_tables(&[("own.toml", &table("safe"))]).unwrap();
    assert_eq!(judge("frob a", &facts(), &rules, Mode::Edit).class, Class::Safe);
    assert_eq!(judge("frob .env", &facts(), &rules, Mode::Edit).class, Class::Blocked);
    let error = ShellRules::with_tables(&[("own.toml", &table("blocked"))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the shell rules say that \"frob a\" is blocked, but it is judged safe (frob)"
    );
    let twice = ShellRules::with_tables(&[("own.toml", "[[command]]\nnames = [\"ls\"]\n")]).unwrap_err();
    assert_eq!(twice.to_string(), "the shell rules name \"ls\" twice");
}

#[test]
fn a_project_below_the_temporary_folder_is_a_project() {
    let facts = ShellFacts::of_project("/tmp/work/project");
    for (command, class) in [
        ("touch a", Class::Ask),
        ("rm -rf src", Class::Ask),
        ("touch /tmp/x", Class::Safe),
        ("touch ../x", Class::Blocked),
        ("cd .. && rm -rf x", Class::Blocked),
        ("git -C .. commit -m x", Class::Blocked),
        ("rm -rf /tmp/work", Class::Blocked),
    ] {
        assert_eq!(judge(command, &facts, &rules(), Mode::Edit).class, class, "{command}");
    }
}

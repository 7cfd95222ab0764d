//! What a command line is taken apart into, and what is not.

use super::*;

#[test]
fn a_split_has_every_command() {
    let check = |command: &str, expected: &[&str]| {
        let split = split(command, &facts());
        let found: Vec<String> = split
            .commands()
            .iter()
            .map(|command| {
                command.argv.iter().map(mica_policy::shell::Arg::shown).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert!(split.is_plain(), "{command:?}: {split:?}");
        assert_eq!(found, expected, "{command:?}");
    };
    check("a 'b c' \"d\"e\\ f", &["a b c de f"]);
    check("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"]);
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]);
    check("for x in 1 2; do a $x; done", &["", "a $x"]);
    check("case x in a) b;; c|d) e;; esac", &["b", "e"]);
    check("a $(b `c`) \"$(d)\" <(e)", &["c", "b …", "d", "e", "a … … /dev/fd/63"]);
    check("f() { a; }; f", &["a", "f"]);
    check("(a; (b)); { c; }", &["a", "b", "c"]);
    check("cat <<E; b\n$(a)\nE\nc", &["a", "cat", "b", "c"]);
    check("cat <<'E'\n$(a)\nE\nc", &["cat", "c"]);
    check("eval 'a; b'; trap 'c' EXIT", &["eval a; b", "a", "b", "trap c EXIT", "c"]);
    check("X='a b'; c $X \"$X\"", &["", "c a b a b"]);
    check("{a,b}{1,2} x{1..3}", &["a1 a2 b1 b2 x1 x2 x3"]);
    check("a # b\nc", &["a", "c"]);
    check("coproc a; time b; ! c", &["a", "b", "c"]);
    check("[[ -f $(a) && b =~ (c|d) ]] && e", &["a", "", "e"]);
    check("((i = 1 + $(( 2 )))) ; a", &["", "a"]);
}

#[test]
fn what_cannot_be_seen_is_opaque() {
    for command in [
        "$X",
        "\"$X\" a",
        "${X}s",
        "eval $X",
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "(a",
        "a)",
        "if a; then b",
        "a &&",
        "| a",
        "a ;; b",
        "for",
        "echo ${!X}",
        "echo ${X@P}",
        "X=$(a); echo $((X))",
        "read x; echo $((x))",
        "[[ -v a[$(b)] ]]",
        "shopt -s expand_aliases",
        "alias ls='rm x'",
        "set -f",
        "trap \"$X\" EXIT",
        "l{s..}\"",
        "$(echo ls) a",
        "/bin/l?",
        "a\0b",
        "declare -i x='a[$(b)]'",
        "printf -v 'a[$(b)]' x",
    ] {
        assert!(!split(command, &facts()).is_plain(), "{command:?}");
        assert!(judged(command).class >= Class::Ask, "{command:?}");
    }
}

#[test]
fn nesting_ends_somewhere() {
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("{ ", "; }"),
        ("$((", "))"),
        ("((", "))"),
        ("${a:-", "}"),
        ("a[$(", ")]"),
        ("if ", "; then a; fi"),
        ("{a,", "}"),
    ] {
        for depth in [5, 40, 200, 5000] {
            let command = format!("{}ls{}", open.repeat(depth), close.repeat(depth));
            judged(&command);
            judged(&format!("echo {command}"));
            judged(&open.repeat(depth));
        }
    }
    assert_eq!(judged(&format!("{}ls{}", "$(".repeat(5000), ")".repeat(5000))).class, Class::Ask);
    assert_eq!(judged(&"a ".repeat(200_000)).class, Class::Ask);
    // Readings that are tried twice, in here-documents that are tried twice.
    let unit = "$((1+-$(($(($(t-$((1+-$(($(($(tX= <<se $hs\nYb'v";
    judged(&unit.repeat(8));
    judged(&unit.replace("$((", "`$((").repeat(6));
}

//! The judgement of shell commands, by tables of command lines, by properties, and against bash itself.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use mica_policy::Mode;
use mica_policy::shell::{
    Class, Disk, Judgement, Prefix, Remembered, Scope, ShellFacts, ShellRules, Split, judge, split,
};
use proptest::prelude::*;
use serde::Deserialize;

/// A disk with links and secrets: `link` leads out of the project, `keys` to keys, and only `secret` holds any.
struct Linked;

impl Disk for Linked {
    fn real(&self, path: &str) -> Option<String> {
        let links = [
            ("/home/user/project/link", "/etc"),
            ("/home/user/project/keys", "/home/user/.ssh"),
            ("/home/user/project/readme", "/home/user/project/README.md"),
            ("/tmp/out", "/home/user"),
            ("/dev/fd", "/proc/1234/fd"),
            ("/dev/stdin", "/dev/pts/0"),
        ];
        let (link, target) =
            links.iter().find(|(link, _)| path == *link || path.starts_with(&format!("{link}/")))?;
        Some(format!("{target}{}", &path[link.len()..]))
    }

    fn secrets_below(&self, folder: &str) -> Option<bool> {
        match folder {
            "/home/user/project/clean" => Some(false),
            "/home/user/project/secret" => Some(true),
            _ => None,
        }
    }
}

fn facts() -> ShellFacts<'static> {
    ShellFacts { disk: &Linked, ..ShellFacts::of_project("/home/user/project").with_home("/home/user") }
}

fn rules() -> ShellRules {
    ShellRules::builtin().unwrap()
}

fn judged(command: &str) -> Judgement {
    judge(command, &facts(), &rules(), Mode::Edit)
}

#[derive(Deserialize)]
struct Table {
    #[serde(default = "edit")]
    mode: Mode,
    case: Vec<Case>,
}

fn edit() -> Mode {
    Mode::Edit
}

/// Command lines with the same outcome. `rule` may be left out where it does not matter which one decides.
#[derive(Deserialize)]
struct Case {
    class: Class,
    rule: Option<String>,
    commands: Vec<String>,
}

fn check_table(name: &str, text: &str) -> usize {
    let table: Table = toml::from_str(text).unwrap();
    let (mut wrong, mut count) = (String::new(), 0);
    for case in &table.case {
        for command in &case.commands {
            count += 1;
            let judged = judge(command, &facts(), &rules(), table.mode);
            let rule_fits = case.rule.as_ref().is_none_or(|rule| *rule == judged.rule);
            if judged.class != case.class || !rule_fits {
                let rule = case.rule.as_deref().unwrap_or("any rule");
                let _ = writeln!(
                    wrong,
                    "{command:?}: expected {} by {rule}, found {} by {}: {}",
                    case.class, judged.class, judged.rule, judged.reason
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{wrong}");
    count
}

#[test]
fn the_tables_hold() {
    let tables = [
        ("holes", include_str!("shell/holes.toml")),
        ("reading", include_str!("shell/reading.toml")),
        ("running", include_str!("shell/running.toml")),
        ("places", include_str!("shell/places.toml")),
        ("ordinary", include_str!("shell/ordinary.toml")),
        ("plan", include_str!("shell/plan.toml")),
    ];
    let count: usize = tables.iter().map(|(name, text)| check_table(name, text)).sum();
    assert!(count >= 450, "{count} command lines");
}

#[test]
fn long_chains_are_judged_to_their_end() {
    for joint in [" && ", "; ", " | ", "\n", " || ", " & "] {
        let mut commands = vec!["echo a"; 400];
        assert_eq!(judged(&commands.join(joint)).class, Class::Safe, "{joint:?}");
        commands[377] = "sudo ls";
        let judged = judged(&commands.join(joint));
        assert_eq!((judged.class, judged.rule.as_str()), (Class::Blocked, "floor.sudo"), "{joint:?}");
        assert_eq!(judged.parts.len(), 400);
    }
}

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

#[test]
fn approvals_are_remembered_by_their_first_words() {
    let proposed = |command: &str| judged(command).remember.map(|prefix| prefix.to_string());
    for (command, prefix) in [
        ("mvn clean install", Some("mvn clean")),
        ("./mvnw test", Some("./mvnw test")),
        ("npm run build", Some("npm run build")),
        ("npm install lodash", Some("npm install")),
        ("git push origin main", Some("git push")),
        ("cd sub && mvn test", Some("mvn test")),
        ("mvn test | tail -5", Some("mvn test")),
        ("timeout 60 cargo test", Some("cargo test")),
        ("mkdir -p a/b", Some("mkdir")),
        // Never these.
        ("git push --force", None),
        ("git push origin +main", None),
        ("mvn test && npm test", None),
        ("mvn test > out.txt", None),
        ("python3 -c 'print(1)'", None),
        ("python3 x.py", None),
        ("bash build.sh", None),
        ("bash -c 'mvn test'", None),
        ("rm -rf src", None),
        ("mv a b", None),
        ("git reset --hard", None),
        ("sed -i s/a/b/ a", None),
        ("npm run $X", None),
        ("mvn $X", None),
        ("LD_PRELOAD=x mvn test", None),
        ("mvn test; $X", None),
        ("ls", None),
        ("sudo ls", None),
        ("frobnicate now", None),
        ("xargs mvn test", None),
    ] {
        assert_eq!(proposed(command).as_deref(), prefix, "{command:?}");
    }
}

#[test]
fn a_remembered_prefix_covers_no_option_that_carries_code() {
    let prefixes = [
        "make test",
        "cargo test",
        "cargo build",
        "go test",
        "gradle test",
        "./gradlew test",
        "git fetch",
        "git commit",
        "git bisect",
        "git submodule",
        "npm test",
        "npm run build",
        "npm install",
        "mvn test",
        "pytest tests",
        "pytest name",
        "pip install",
        "uv run pytest",
        "kubectl get",
        "helm template",
        "bundle exec",
        "poetry run",
        "gcc a.c",
        "cmake .",
        "eslint src",
        "bazel test",
        "go run",
    ];
    let rules = prefixes.into_iter().fold(rules(), |rules, prefix| {
        rules.with(Remembered { prefix: prefix.parse().unwrap(), scope: Scope::Session })
    });
    let class = |command: &str| judge(command, &facts(), &rules, Mode::Edit).class;
    let wrong = |commands: &[&str], expected: Class| -> Vec<String> {
        let others = commands.iter().filter(|command| class(command) != expected);
        others.map(|command| (*command).to_owned()).collect()
    };
    let none: Vec<String> = Vec::new();
    let asked = [
        "make test '--eval=$(shell rm -rf src)'",
        "make test -E 'x:=$(shell id)'",
        "make test 'X=$(shell id)'",
        "make test CC='sh -c id'",
        "make test SHELL=x",
        "make test MAKEFLAGS=--eval=x",
        "cargo test --config 'target.x.runner=[\"sh\",\"-c\",\"id\"]'",
        "cargo test --config 'build.rustc-wrapper=\"sh\"'",
        "cargo --config 'build.rustc-wrapper=\"sh\"' test",
        "cargo test --conf x=1",
        "cargo test --frobnicate",
        "go test -exec 'sh -c id' ./...",
        "go test --exec='sh -c id' ./...",
        "go test -toolexec 'sh -c id' ./...",
        "go run x.go",
        "gradle test --init-script x.gradle",
        "gradle test -I x",
        "gradle test -Ix",
        "./gradlew -I x test",
        "gradle test publish",
        "git fetch origin --upload-pack=./evil",
        "git fetch --upload=./evil origin",
        "git bisect run ./x",
        "git submodule foreach ls",
        "npm test --script-shell=./x",
        "npm --script-shell=./x test",
        "npm run build --script-shell ./x",
        "npm test --node-options='--require ./x'",
        "npm install --registry=x lodash",
        "mvn test -Dmaven.ext.class.path=evil.jar",
        "mvn -Dmaven.ext.class.path=evil.jar test",
        "mvn test -DargLine=-javaagent:x.jar",
        "mvn test exec:exec -Dexec.executable=sh",
        "mvn test deploy",
        "pytest -p evil tests",
        "pytest tests -c x.ini",
        "pytest tests --rootdir=x",
        "pip install --index-url x y",
        "pip install -i x y",
        "uv run --with evil pytest",
        "kubectl get pods --kubeconfig=x",
        "kubectl --kubeconfig=x get pods",
        "helm template x --post-renderer ./x",
        "bundle exec sh",
        "poetry run sh",
        "gcc a.c -wrapper sh,-c,id",
        "gcc a.c -fplugin=x.so",
        "cmake . -DCMAKE_C_COMPILER=x",
        "cmake . -P x.cmake",
        "eslint src --config x.js",
        "bazel test --run_under='sh -c id' x",
    ];
    assert_eq!(wrong(&asked, Class::Ask), none, "what must be asked about");
    let covered = [
        "make test",
        "make -j8 -k test",
        "make test V=1 TESTS=unit",
        "cargo test --release -p x",
        "cargo test -p x --lib name -- --nocapture",
        "cargo test --workspace --all-features --no-fail-fast -q",
        "cargo build --release --locked -j4",
        "go test ./... -run TestX -v -count=1",
        "go test -race -short ./...",
        "gradle test --tests A.b --info -x lint",
        "gradle -q test --no-daemon -Pa=b",
        "git fetch origin --prune --tags",
        "git commit -m 'x = y; z' -- a",
        "git commit -am 'fix: a b=c d'",
        "npm test -- --watch",
        "npm test --silent",
        "npm run build -w core",
        "npm install lodash --save-dev",
        "mvn -q test -DskipITs",
        "mvn test -Dtest=A#b -pl core -am -B -ntp",
        "pytest tests -x -k 'a and not b' -vv",
        "pytest -x -k name tests",
        "pytest tests --maxfail=1 --tb=short -q",
        "pip install -r requirements.txt",
        "kubectl get pods -n x -o yaml",
        "gcc a.c -O2 -Wall -lm -Iinclude -DNDEBUG -I src",
        "cmake . -B out -DCMAKE_BUILD_TYPE=Release",
        "gradle test -DskipTests",
        "gradle test",
        "./gradlew test",
        "git fetch",
        "uv run pytest -x",
        "helm template x",
        "eslint src",
        "bazel test x",
    ];
    assert_eq!(wrong(&covered, Class::Safe), none, "what stays covered");
}

#[test]
fn a_remembered_prefix_covers_its_commands_and_nothing_else() {
    let remembered = |prefix: &str| Remembered { prefix: prefix.parse().unwrap(), scope: Scope::Session };
    let mut rules =
        rules().with(remembered("git push")).with(remembered("mvn test")).with(remembered("npm run build"));
    for extra in ["rm", "sudo", "python3", "bash", "git", "curl", "git reset", "xargs", "env"] {
        rules.remember(remembered(extra));
    }
    let class = |rules: &ShellRules, command: &str| judge(command, &facts(), rules, Mode::Edit).class;
    for command in [
        "git push origin main",
        "mvn test",
        "mvn -q test",
        "cd sub && mvn test | tail -5",
        "npm run build",
        "mvn test -f sub/pom.xml",
        "mvn test -Dfile=/home/user/project/x",
        "mvn test -Dtest=A#b,C",
        "cd sub && npm run build --prefix ../other",
    ] {
        assert_eq!(class(&rules, command), Class::Safe, "{command}");
    }
    for command in [
        "git push --force",
        "git push origin +main",
        "git push origin :main",
        "git push; rm x",
        "mvn tester",
        "mvn test > out.txt",
        "npm run build2",
        "npm run",
        "rm a",
        "python3 x.py",
        "git reset --hard",
        "mvn test $X",
        "PATH=. mvn test",
        "mvn test; $X",
        "mvn test 'x",
        "bash -c ls",
        // The same words in another place run other code.
        "cd /tmp/x && mvn test",
        "cd .. && mvn test",
        "cd link && mvn test",
        "mvn -f link/pom.xml test",
        "mvn -f.. test",
        "mvn -flink test",
        "mvn -f link test",
        "npm -C link run build",
        "npm -Clink run build",
        "npm run build --prefix=link",
        "cd $X && mvn test",
        "(cd /var/tmp && mvn test)",
        "pushd /tmp/x; npm run build",
        "env -C /tmp/x mvn test",
        "mvn -f /tmp/x/pom.xml test",
        "mvn test -f ../other/pom.xml",
        "mvn test -Dmaven.ext.class.path=/tmp/x.jar",
        "npm --prefix /tmp/x run build",
        "npm run build --prefix=/tmp/x",
        "npm run build -C/tmp/x",
        "npm run build --userconfig ~/x",
        // Another machine.
        "git push https://example.org/x main",
        "git push user@example.org:x main",
    ] {
        assert_eq!(class(&rules, command), Class::Ask, "{command}");
    }
    for command in [
        "sudo mvn test",
        "git push; sudo ls",
        "rm -rf /",
        "git -C /etc push",
        "mvn test > /etc/x",
        "cat .env",
    ] {
        assert_eq!(class(&rules, command), Class::Blocked, "{command}");
    }
    assert_eq!(judge("mvn test", &facts(), &rules, Mode::Plan).class, Class::Blocked);
    let prefix: Prefix = "mvn test".parse().unwrap();
    let written = serde_json::to_string(rules.remembered()).unwrap();
    assert!(written.starts_with(r#"[{"prefix":["git","push"],"scope":"session"}"#), "{written}");
    assert_eq!(serde_json::from_str::<Vec<Remembered>>(&written).unwrap(), rules.remembered());
    assert!(rules.forget(&prefix));
    assert!(!rules.forget(&prefix));
    assert_eq!(class(&rules, "mvn test"), Class::Ask);
}

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

/// Command lines of every class.
fn any_command() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "ls",
        "git status",
        "cat a.txt",
        "echo 'a b'",
        "grep x a.txt",
        "mvn test",
        "rm a",
        "git push",
        "python3 x.py",
        "unknown x",
        "sudo ls",
        "cat .env",
        "rm -rf /",
        "vi a",
        "echo $X",
        "cat $X",
        "$X",
        "cd src",
        "cd ..",
        "echo a > b",
        "echo a > /etc/b",
        "for i in 1 2; do echo $i; done",
        "(cd / && ls)",
        "echo $(date)",
        "bash -c 'ls'",
        "curl https://a.example",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_judged(text in "\\PC{0,60}") {
        judged(&text);
    }

    #[test]
    fn any_shell_like_text_is_judged(text in "[a-c$(){}\\[\\]'\"`;&|<> \n#~*?!=\\\\/.-]{0,80}") {
        let judged = judged(&text);
        let strictest = judged.parts.iter().map(|part| part.class).max();
        prop_assert_eq!(Some(judged.class), strictest);
    }

    #[test]
    fn more_commands_never_lower_the_class(a in any_command(), b in any_command(), joint in prop::sample::select(vec!["; ", " && ", " || ", "\n", " & ", " | "])) {
        // Behind a `cd`, other folders are meant: only what comes first is compared then.
        let both = judged(&format!("{a}{joint}{b}")).class;
        prop_assert!(both >= judged(&a).class, "{} {} {}", a, joint, b);
        if !a.contains("cd ") && !a.contains("$X") {
            prop_assert_eq!(both, judged(&a).class.max(judged(&b).class), "{} {} {}", a, joint, b);
        }
    }

    #[test]
    fn harmless_text_never_lowers_the_class(a in any_command(), with in 0..8_usize) {
        let before = judged(&a).class;
        let changed = match with {
            0 => format!("  {a}   "),
            1 => format!("{a} # a comment"),
            2 => format!("# a comment\n{a}\n"),
            3 => format!("echo hello; {a}"),
            4 => format!("{{ {a}; }}"),
            5 => format!("( {a} )"),
            6 => format!("if true; then {a}; fi"),
            _ => format!("true &&\\\n {a}"),
        };
        prop_assert!(judged(&changed).class >= before, "{}", changed);
    }

    #[test]
    fn quoting_a_word_changes_nothing(words in prop::collection::vec("[a-z]{1,6}|\\.env|/etc/x|sudo|rm|-rf|cat|src", 1..5), which in 0..4_usize, how in 0..4_usize) {
        // Words of the grammar are such only without quotes.
        let grammar = ["if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select", "time", "coproc"];
        prop_assume!(!words.iter().any(|word| grammar.contains(&word.as_str())));
        let plain = words.join(" ");
        let mut quoted = words.clone();
        let index = which % words.len();
        quoted[index] = match how {
            0 => format!("'{}'", words[index]),
            1 => format!("\"{}\"", words[index]),
            2 => words[index].chars().map(|sign| format!("\\{sign}")).collect(),
            _ => format!("$'{}'", words[index]),
        };
        let (plain, quoted) = (judged(&plain), judged(&quoted.join(" ")));
        prop_assert_eq!((plain.class, plain.rule), (quoted.class, quoted.rule));
    }
}

/// Runs bash. None where there is none.
#[allow(clippy::disallowed_methods, reason = "bash itself is what the splitter is held against")]
fn bash(args: &[&str]) -> Option<std::process::Output> {
    let mut command = std::process::Command::new("bash");
    command.args(args).env_clear().env("HOME", "/home/user").env("LC_ALL", "C.UTF-8").current_dir("/");
    command.output().ok()
}

/// The words that bash makes of a text.
fn bash_words(text: &str) -> Option<Vec<String>> {
    let script = format!("set -f; printf '%s\\0' {text}");
    let output = bash(&["-c", &script])?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.strip_suffix('\0').unwrap_or(&text).split('\0').map(str::to_owned).collect())
}

/// The words that the splitter makes of a text. None where it does not vouch for them.
fn our_words(text: &str) -> Option<Vec<String>> {
    let command = format!("printf {text}");
    let Split::Plain { commands } = split(&command, &facts()) else { return None };
    let [command] = commands.as_slice() else { return None };
    if command.argv.iter().any(mica_policy::shell::Arg::is_dynamic) || !command.redirects.is_empty() {
        return None;
    }
    // Without any word, printf prints its format once.
    let words: Vec<String> = command.argv.iter().skip(1).map(mica_policy::shell::Arg::shown).collect();
    Some(if words.is_empty() { vec![String::new()] } else { words })
}

#[test]
fn words_are_those_of_bash() {
    if bash(&["--version"]).is_none() {
        println!("skipped: there is no bash here");
        return;
    }
    let texts = [
        "a b",
        "'a b' c",
        "\"a b\"c",
        "a\\ b",
        "a\\\nb",
        "$'a\\tb\\x41\\u00e9\\101'",
        "$'a\\'b'",
        "\"a\\\"b\\$c\\d\"",
        "''",
        "a''b",
        "{a,b}c",
        "{a,{b,c}}d",
        "{1..4}",
        "{04..1}",
        "{a..e..2}",
        "{a}",
        "{a,b",
        "a{,b}",
        "{a,b}{c,d}",
        "'{a,b}'",
        "\\{a,b}",
        "{a\\,b,c}",
        "x{a,'b c'}",
        "~",
        "~/x",
        "'~'",
        "a~",
        "$HOME/x",
        "\"$HOME\"",
        "${HOME}x",
        "$IFS",
        "a$IFS\"b\"",
        "é ü",
        "a#b",
        "\"#\"",
        "$",
        "a$",
        "\"$\"",
        "$\"a b\"",
        "{}",
        "{,}",
        "a{b}c{d,e}",
        "{x,y}\\ z",
        "${HOME:-x}",
        "{1..3}{a,b}",
        "{-2..2}",
        "{z..w}",
        "[a]",
        "a=b",
        "--x={a,b}",
        "a\"\"",
        "\\\\",
        "\\'",
        "{a,b}$HOME",
        "\"{a,b}\"",
        "{\"a,b\",c}",
        "{a..b..}",
        "{1..2..0}",
        "{a,b}}",
        "{{a,b}",
        "{a,b}{",
        "$'\\cA'",
        "$'\\e'",
    ];
    let mut compared = 0;
    for text in texts {
        let (Some(ours), Some(theirs)) = (our_words(text), bash_words(text)) else { continue };
        assert_eq!(ours, theirs, "{text:?}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared} of {} were compared", texts.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What is split into plain words has the words of bash, and what bash cannot read is not plain.
    #[test]
    fn any_words_are_those_of_bash(text in "[ab {},.'\"\\\\$~1-3]{1,14}") {
        if let (Some(ours), Some(theirs)) = (our_words(&text), bash_words(&text)) {
            prop_assert_eq!(ours, theirs, "{:?}", text);
        }
    }

    #[test]
    fn what_bash_cannot_read_is_not_plain(text in "(if|then|fi|for|in|do|done|case|esac|a|b|x|;;|;|&&|\\|\\||\\||&|\\(|\\)|\\{|\\}|>|<|<<E|\n|E|'|\"|\\$\\(|`| ){1,12}") {
        let Some(output) = bash(&["-n", "-c", &text]) else { return Ok(()) };
        if !output.status.success() {
            prop_assert!(!split(&text, &facts()).is_plain(), "{:?}: {}", text, String::from_utf8_lossy(&output.stderr));
        }
    }
}

//! Which lines need no shell.

use super::*;

#[test]
fn lines_of_literal_words_are_split() {
    for (line, expected) in [
        ("cat a.txt", "cat|a.txt"),
        ("  ls\t-la  ./src \n", "ls|-la|./src"),
        ("grep -rn 'a b$c `x` \\ ! * ~' src", "grep|-rn|a b$c `x` \\ ! * ~|src"),
        ("grep \"a b'c\" x", "grep|a b'c|x"),
        ("grep a'b'\"c\"d ''", "grep|abcd|"),
        ("git log --format=%H -n 1 HEAD@1", "git|log|--format=%H|-n|1|HEAD@1"),
        ("sed -n 1,20p a+b:c", "sed|-n|1,20p|a+b:c"),
        ("grep 'ä\nb' x", "grep|ä\nb|x"),
        ("", ""),
    ] {
        assert_eq!(words(line).map(|words| words.join("|")).as_deref(), Some(expected), "{line:?}");
    }
}

#[test]
fn all_else_is_left_to_bash() {
    for line in [
        "a;b",
        "a && b",
        "a | b",
        "a & b",
        "a &",
        "a > b",
        "a < b",
        "a 2>&1",
        "(a)",
        "{ a; }",
        "a $b",
        "a `b`",
        "a \\b",
        "a *",
        "a ?",
        "a [b]",
        "a ~",
        "a ~/b",
        "a=~ b",
        "a # b",
        "a {b,c}",
        "a !b",
        "! a",
        "a\nb",
        "a 'b",
        "a \"b",
        "a \"$b\"",
        "a \"\\b\"",
        "a \"`b`\"",
        "a \"!b\"",
        "a b^c",
        "a ä",
        "a \u{a0}b",
        "a\rb",
        "a\0b",
        "a <<b\nb\n",
    ] {
        assert_eq!(words(line), None, "{line:?}");
    }
}

#[test]
fn only_programs_that_bash_would_start_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(bin.join("folder")).unwrap();
    for (name, text, mode) in [
        ("script", "#!/bin/sh\n", 0o755),
        ("elf", "\x7fELF", 0o755),
        ("text", "echo x\n", 0o755),
        ("closed", "#!/bin/sh\n", 0o644),
        ("echo", "#!/bin/sh\n", 0o755),
        ("a=b", "#!/bin/sh\n", 0o755),
        ("%1", "#!/bin/sh\n", 0o755),
    ] {
        let file = bin.join(name);
        std::io::Write::write_all(&mut std::fs::File::create(&file).unwrap(), text.as_bytes()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let direct = |line: &str, path: &str| {
        let environment = BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
        Direct::of(line, folder.path(), &environment).map(|direct| direct.found)
    };
    let path = format!("/nowhere:{}", bin.display());
    for (line, found) in [
        ("script a", Some(bin.join("script"))),
        ("'elf'", Some(bin.join("elf"))),
        ("bin/script a", Some(PathBuf::from("bin/script"))),
        ("./bin/elf", Some(PathBuf::from("./bin/elf"))),
        ("text", None),
        ("closed", None),
        ("folder", None),
        ("bin/closed", None),
        ("missing", None),
        ("bin/missing", None),
        ("echo x", None),
        ("'echo' x", None),
        ("a=b", None),
        ("a=b script", None),
        ("'a=b'", None),
        ("%1", None),
        ("''", None),
        ("", None),
    ] {
        assert_eq!(direct(line, &path), found, "{line:?}");
    }
    assert_eq!(direct("script", &format!("bin:{}", bin.display())), None, "a relative folder comes first");
    assert_eq!(direct("script", &format!(":{}", bin.display())), None, "so does an empty one");
    for name in ["BASH_ENV", "SHELLOPTS", "BASH_FUNC_script%%"] {
        let variables = [("PATH", path.as_str()), (name, "x")];
        let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(Direct::of("script", folder.path(), &environment), None, "{name}");
    }
}

/// Bash itself is asked, where it is installed: everything that it does itself is in the table.
#[test]
#[allow(clippy::disallowed_methods, reason = "the test asks bash")]
fn what_bash_does_itself_is_known() {
    let asked = std::process::Command::new("bash").args(["-c", "compgen -b; compgen -k"]).output();
    let Ok(output) = asked else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    let unknown: Vec<&str> = text.lines().filter(|name| !OWN.contains(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

/// Lines that are run both ways. A `+` says that it needs no shell.
const LINES: &[&str] = &[
    "+ cat a.txt",
    "+ cat missing.txt",
    "+ cat a.txt missing.txt 'with space.txt'",
    "+ cat -n -- a.txt",
    "+ cat ''",
    "+ cat",
    "+ ls",
    "+ ls -1 sub",
    "+ ls -la missing",
    "+ ls 'with space.txt' a.txt",
    "+ ls --no-such-option",
    "+ head -n 1 a.txt",
    "+ tail -n1 a.txt sub/b.txt",
    "+ wc -l a.txt",
    "+ grep -n two a.txt",
    "+ grep 'no such text' a.txt",
    "+ grep -c 'o' a.txt sub/b.txt",
    "+ grep \"t w\" a.txt",
    "+ grep '$HOME `x` \\ * ~ !' a.txt",
    "+ grep -rn --include=b.txt one .",
    "- grep [ a.txt",
    "+ sed -n 1,2p a.txt",
    "+ sed 's/one/eins/' a.txt",
    "+ find . -name b.txt",
    "+ find . -name '*.txt' -newer a.txt",
    "+ find sub -type f",
    "+ sort -r a.txt",
    "+ cut -c1 a.txt",
    "+ tr a b",
    "+ env",
    "+ env A=b env",
    "+ printenv PWD",
    "+ printenv _",
    "+ printenv SHLVL",
    "+ printenv NOT_THERE",
    "+ basename /a/b.txt .txt",
    "+ dirname /a/b.txt",
    "+ seq 1 3",
    "+ expr 1 + 2",
    "+ sh -c 'exit 7'",
    "+ sh -c 'kill -9 $$'",
    "+ sh -c 'kill -PIPE $$'",
    "+ sh -c 'echo out; echo err >&2; exit 3'",
    "+ sh -c 'echo $0 $#' a b",
    "+ sh -c 'trap'",
    "+ sh -c 'umask; pwd; ulimit -n'",
    "+ readlink /proc/self/cwd",
    "+ readlink /proc/self/fd/0",
    "+ ls /proc/self/fd",
    "+ ./script one 'two three'",
    "+ sub/../script",
    "+ cmp a.txt sub/b.txt",
    "+ stat -c %a a.txt",
    "+ date -u -d @0 +%F",
    "+ timeout 5 cat a.txt",
    "+ nice cat a.txt",
    "+ xargs cat",
    "- echo one two",
    "- pwd",
    "- true",
    "- test -f a.txt",
    "- no-such-program a b",
    "- ./missing",
    "- ./a.txt",
    "- ./bare",
    "- ./sub",
    "- sub",
    "- ./broken",
    "- cat *.txt",
    "- cat a.txt | wc -l",
    "- cat $HOME",
    "- A=b env",
    "- cat < a.txt",
    "- cat a.txt; cat a.txt",
    "- exit 9",
];

/// What is run directly cannot be told from what bash runs.
#[test]
#[allow(clippy::disallowed_methods, reason = "the test runs both ways outside of a sandbox")]
fn both_ways_end_the_same() {
    use std::process::{Command, Stdio};
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    for (name, text, mode) in [
        ("a.txt", "one\ntwo\nt w\n", 0o644),
        ("with space.txt", "spaced\n", 0o644),
        ("sub/b.txt", "one\n", 0o644),
        ("script", "#!/bin/sh\necho $0 $# \"$@\"\n", 0o755),
        ("bare", "echo read by the shell $BASH_VERSION\n", 0o755),
        ("broken", "#!/no/such/interpreter\n", 0o755),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let variables = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nowhere"), ("LANG", "C.UTF-8")];
    let environment: BTreeMap<String, String> =
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let run = |mut command: Command| {
        let output = command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let mut lines: Vec<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        // Bash hands variables on in an order of its own.
        lines.sort();
        (output.status, lines, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut compared = 0;
    for line in LINES {
        let (expected, line) = (line.starts_with('+'), &line[2..]);
        let direct = Direct::of(line, &folder, &environment);
        // A broken script looks like a program, and is left to bash when it cannot be started.
        if line == "./broken" {
            assert!(direct.is_some());
            continue;
        }
        let Some(direct) = direct else {
            assert!(
                !expected || find(line.split(' ').next().unwrap(), &folder, variables[0].1).is_none(),
                "{line}"
            );
            continue;
        };
        assert!(expected, "{line}");
        let mut bash = Command::new("bash");
        bash.args(["-c", "--", line]).env_clear().envs(&environment);
        let mut own = Command::new(&direct.program);
        own.args(&direct.arguments).env_clear().envs(&environment).envs(direct.variables(&folder));
        assert_eq!(run(own), run(bash), "{line}");
        compared += 1;
    }
    assert!(compared >= 40, "only {compared} could be compared here");
}

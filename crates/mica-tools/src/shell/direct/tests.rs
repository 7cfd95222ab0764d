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

//! Which files count when a project's hooks are trusted.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use super::super::config::{Configured, Kind, Owner, Source};
use super::*;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".mica/hooks/check.sh", "a"),
        (".mica/hooks/lib/common.sh", "b"),
        ("scripts/lint.py", "c"),
        ("scripts/with space.sh", "d"),
        ("tools/run", "e"),
        ("src/main.rs", "f"),
        (".mica/hooks/__pycache__/check.pyc", "g"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        #[allow(clippy::disallowed_methods, reason = "a test makes its files")]
        fs::write(path, text).unwrap();
    }
    folder
}

fn found(folder: &Path, entry: serde_json::Value) -> Vec<String> {
    let file = serde_json::json!({ "hooks": { "Stop": [{ "hooks": [entry] }] } }).to_string();
    let source = Source { label: "f".to_owned(), owner: Owner::Project, kind: Kind::Own };
    let read = Configured::read(&file, &source);
    assert_eq!(read.problems, []);
    let scripts = find(&read.hooks, folder, Path::new(".mica/hooks")).unwrap();
    scripts.keys().map(|path| path.display().to_string()).collect()
}

#[test]
fn files_that_commands_name_count_and_the_folder_of_hooks() {
    let folder = project();
    let folder = folder.path().canonicalize().unwrap();
    let always = [".mica/hooks/__pycache__/check.pyc", ".mica/hooks/check.sh", ".mica/hooks/lib/common.sh"];
    let check = |entry: serde_json::Value, more: &[&str]| {
        let mut expect: Vec<&str> = always.iter().chain(more).copied().collect();
        expect.sort_unstable();
        assert_eq!(found(&folder, entry.clone()), expect, "{entry}");
    };
    let line = |text: &str| serde_json::json!({ "command": text });
    check(line("true"), &[]);
    check(line("python3 scripts/lint.py --strict"), &["scripts/lint.py"]);
    check(line("\"$CLAUDE_PROJECT_DIR\"/scripts/lint.py"), &["scripts/lint.py"]);
    check(line("${MICA_PROJECT_DIR}/scripts/lint.py|cat"), &["scripts/lint.py"]);
    check(line("'scripts/with space.sh'"), &["scripts/with space.sh"]);
    check(line("scripts/with\\ space.sh; ./tools/../tools/run"), &["scripts/with space.sh", "tools/run"]);
    check(line("bash -c \"./tools/run --all\""), &["tools/run"]);
    check(line("CHECK=tools/run make"), &["tools/run"]);
    check(line("cd scripts && ./lint.py"), &["scripts/lint.py"]);
    check(line("cd .mica; cd ../tools && exec ./run"), &["tools/run"]);
    check(line("../../etc/passwd /etc/passwd missing.sh"), &[]);
    check(serde_json::json!({ "command": "./run", "cwd": "tools" }), &["tools/run"]);
    check(serde_json::json!({ "command": "python3", "args": ["scripts/lint.py"] }), &["scripts/lint.py"]);
}

#[test]
fn what_is_in_them_counts() {
    let folder = project();
    let scripts = find(&[], folder.path(), Path::new(".mica/hooks")).unwrap();
    let expect = [
        (".mica/hooks/__pycache__/check.pyc", "g"),
        (".mica/hooks/check.sh", "a"),
        (".mica/hooks/lib/common.sh", "b"),
    ];
    assert_eq!(scripts, expect.map(|(path, text)| (PathBuf::from(path), text.into())).into());
}

#[test]
fn a_folder_without_end_is_not_looked_through() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join(".mica/hooks/1/2/3/4/5/6/7/8");
    fs::create_dir_all(deep).unwrap();
    let error = find(&[], folder.path(), Path::new(".mica/hooks")).unwrap_err();
    assert!(error.ends_with("holds more than can be looked through"), "{error}");
}

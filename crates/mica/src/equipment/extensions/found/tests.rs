//! Where extensions are found, and what they are called.

#![allow(clippy::disallowed_methods, reason = "tests put files where they want them")]

use super::*;

fn surroundings(home: &Path) -> Surroundings {
    Surroundings {
        variables: BTreeMap::new(),
        folder: home.join("project"),
        config: home.join("config"),
        data: home.join("data"),
        stdin_is_terminal: false,
        columns: 80,
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const EMPTY: &str = "export default () => {};\n";

#[test]
fn files_and_folders_are_found_in_order() {
    let home = tempfile::tempdir().unwrap();
    let around = surroundings(home.path());
    assert_eq!(all(&around, &[]), Vec::new());
    let user = user_folder(&around);
    for file in [
        "b.ts",
        "a.extension.mjs",
        "notes.md",
        "types.d.ts",
        ".hidden.ts",
        "c/index.ts",
        "c/more.ts",
        "d/other.ts",
    ] {
        put(&user.join(file), EMPTY);
    }
    put(&user.join("bad name.ts"), EMPTY);
    put(&project_folder(&around.folder).join("a.js"), EMPTY);
    put(&around.folder.join("tools/named.ts"), EMPTY);
    let found = all(&around, &["tools/named.ts".into(), "gone.ts".into()]);
    let rows: Vec<(Whose, String, bool)> =
        found.iter().map(|one| (one.whose, one.name(), one.bundle.is_ok())).collect();
    let row = |whose: Whose, name: &str, ok: bool| (whose, name.to_owned(), ok);
    assert_eq!(
        rows,
        [
            row(Whose::Named, "named", true),
            row(Whose::Named, "gone.ts", false),
            row(Whose::User, "a", true),
            row(Whose::User, "b", true),
            row(Whose::User, "bad name.ts", false),
            row(Whose::User, "c", true),
            row(Whose::Project, "a", true),
        ]
    );
}

#[test]
fn a_change_of_any_file_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let around = surroundings(home.path());
    let folder = user_folder(&around).join("c");
    put(&folder.join("index.ts"), EMPTY);
    put(&folder.join("deep/more.ts"), EMPTY);
    let before = fingerprint(&around, &[]);
    assert_eq!(before.len(), 2);
    assert_eq!(fingerprint(&around, &[]), before);
    put(&folder.join("deep/more.ts"), "export {};\n");
    let changed = fingerprint(&around, &[]);
    assert_ne!(changed, before);
    put(&user_folder(&around).join("new.ts"), EMPTY);
    assert_ne!(fingerprint(&around, &[]), changed);
}

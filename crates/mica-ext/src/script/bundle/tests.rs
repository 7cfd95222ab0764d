//! Files and folders that are extensions, and those that are none.

#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs;

use super::*;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn a_file_is_an_extension_of_its_own() {
    let source = "// @mica-extension {\"permissions\": [\"storage\"]}\nexport default () => {};";
    let at = folder(&[("guard.extension.ts", source), ("other.ts", "export const a = 1;"), ("notes.md", "")]);
    let bundle = Bundle::read(&at.path().join("guard.extension.ts")).unwrap();
    assert_eq!((bundle.name(), bundle.main()), ("guard", "guard.extension.ts"));
    assert_eq!(bundle.manifest().permissions, ["storage".parse().unwrap()]);
    assert_eq!(bundle.text(), source);
    let mut files = bundle.resolver();
    assert_eq!(
        files.resolve("guard.extension.ts", "./other"),
        None,
        "what is beside it is another extension"
    );
    for (name, reason) in [
        ("notes.md", "is no script: its name must end in .ts, .mts, .js, .mjs"),
        ("none.ts", "No such file or directory (os error 2)"),
    ] {
        assert_eq!(Bundle::read(&at.path().join(name)).unwrap_err().reason, reason);
    }
}

#[test]
fn a_folder_has_files_that_import_each_other() {
    let at = folder(&[
        ("ext/index.ts", "import './lib/a'; export default () => {};"),
        ("ext/lib/a.ts", "export {};"),
        ("ext/lib/index.ts", "export {};"),
        ("ext/plain.js", "export {};"),
        ("ext/types.d.ts", "declare const x: 1;"),
        ("ext/extension.json", "{\"description\": \"Does it.\"}"),
        ("ext/node_modules/evil/index.ts", "export {};"),
        ("ext/.git/a.ts", "export {};"),
        ("ext/lib/extension.json", "{}"),
        ("secret.ts", "export {};"),
    ]);
    let bundle = Bundle::read(&at.path().join("ext")).unwrap();
    assert_eq!((bundle.name(), bundle.main()), ("ext", "index.ts"));
    assert_eq!(bundle.manifest().description, "Does it.");
    let names: Vec<&str> = bundle.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["extension.json", "index.ts", "lib/a.ts", "lib/index.ts", "plain.js"]);
    let mut files = bundle.resolver();
    for (from, import, expected) in [
        ("index.ts", "./lib/a", Some("lib/a.ts")),
        ("index.ts", "./lib/a.js", Some("lib/a.ts")),
        ("index.ts", "./lib", Some("lib/index.ts")),
        ("index.ts", "./plain", Some("plain.js")),
        ("lib/a.ts", "../plain.js", Some("plain.js")),
        ("lib/a.ts", "../../secret", None),
        ("index.ts", "../secret", None),
        ("index.ts", "./extension.json", None),
        ("index.ts", "lib/a.ts", None),
        ("resident.js", "index.ts", Some("index.ts")),
        ("index.ts", "mica", Some("mica.js")),
        ("index.ts", "typebox", Some("typebox.js")),
        ("index.ts", "fs", None),
    ] {
        let found = files.resolve(from, import).map(|found| found.name);
        assert_eq!(found.as_deref(), expected, "{import} in {from}");
    }
}

#[test]
fn what_is_trusted_is_all_of_it() {
    let text = |files: &[(&str, &str)]| Bundle::read(folder(files).path()).unwrap().text();
    let one = text(&[("index.ts", "a"), ("b.ts", "c")]);
    for other in [
        &[("index.ts", "a"), ("b.ts", "d")][..],
        &[("index.ts", "a"), ("c.ts", "c")],
        &[("index.ts", "a"), ("b.ts", "c"), ("extension.json", "{}")],
        &[("index.ts", "a")],
    ] {
        assert_ne!(text(other), one);
    }
    assert_eq!(
        text(&[("b.ts", "c"), ("index.ts", "a")]),
        one,
        "the order they are found in makes no difference"
    );
}

#[test]
fn folders_that_are_no_extensions_say_why() {
    for (files, reason) in [
        (&[("main.ts", "")][..], "is no extension: a folder needs an index.ts"),
        (
            &[("index.ts", "// @mica-extension {}\n"), ("extension.json", "{}")],
            "has two manifests: keep extension.json or the comment in index.ts",
        ),
        (&[("index.ts", ""), ("a/b/c/d/e/f/g/h.ts", "")], "is nested deeper than 6 folders"),
    ] {
        let at = folder(files);
        assert_eq!(Bundle::read(at.path()).unwrap_err().reason, reason);
    }
    let at = folder(&[("index.ts", &"x".repeat((1 << 20) + 1))]);
    assert_eq!(Bundle::read(at.path()).unwrap_err().reason, "has 1048577 bytes, more than 1048576");
}

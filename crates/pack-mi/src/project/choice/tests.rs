//! Workspaces with no, one and several projects, and one that is inside of a project.

#![allow(clippy::disallowed_methods, reason = "tests make the projects that are read")]

use std::fs;

use tempfile::TempDir;

use super::*;

const MODULES: &str = "<project><modules><module>one</module><module>two</module></modules></project>";

/// Makes files, starts in a folder, and expects a project, relative to the outermost folder, or an error.
fn check(files: &[(&str, &str)], start: &str, named: Option<&str>, wanted: Wanted, expected: &str) {
    let folder = TempDir::new().unwrap();
    let outer = folder.path().canonicalize().unwrap();
    for (path, text) in files {
        fs::create_dir_all(outer.join(path).parent().unwrap()).unwrap();
        fs::write(outer.join(path), text).unwrap();
    }
    let workspace = Workspace::new(outer.join(start)).unwrap();
    let found = match choose(&workspace, named, wanted) {
        Ok(path) => path.strip_prefix(&outer).unwrap().display().to_string(),
        Err(error) => error.message.replace(&outer.display().to_string(), "OUTER"),
    };
    assert_eq!(found, expected, "{start:?} {named:?} {wanted:?}");
}

#[test]
fn nothing_is_guessed() {
    let (one, two) =
        (("one/src/main/wso2mi/artifacts/a.xml", ""), ("two/src/main/wso2mi/artifacts/a.xml", ""));
    let several = "There are several projects here: one, two. Say project.";
    for wanted in [Wanted::Whole, Wanted::Part] {
        check(&[("readme", "")], "", None, wanted, "");
        check(&[one], "", None, wanted, "one");
        check(&[one], "one", None, wanted, "one");
        check(&[two, one], "", None, wanted, several);
        check(&[two, one], "", Some(""), wanted, several);
        check(&[two, one], "", Some("two"), wanted, "two");
        check(&[two, one], "", Some("./two/"), wanted, "two");
        let above = "The project is OUTER/one: start mica there (mica -C OUTER/one). Nothing was done.";
        check(&[one], "one/src", None, wanted, above);
        let wrong = "one/src is no project of this workspace: a folder in it with pom.xml or src/main/wso2mi. There are: \
                     one, two. Nothing was done.";
        check(&[one, two], "", Some("one/src"), wanted, wrong);
        // A build file of its own is a project of its own, also inside of another.
        check(&[one, ("one/mediator/pom.xml", "<project/>")], "one/mediator", None, wanted, "one/mediator");
    }
    let parent = ("pom.xml", MODULES);
    check(&[parent, one, two], "", None, Wanted::Whole, "");
    check(&[parent, one, two], "", None, Wanted::Part, several);
    check(&[parent, one, two], "", Some("."), Wanted::Part, "");
    check(&[parent, one], "", None, Wanted::Part, "one");
}

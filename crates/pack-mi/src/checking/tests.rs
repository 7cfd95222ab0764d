//! The project is seen as it is now, and what is found is told.

#![allow(clippy::disallowed_methods, reason = "tests prepare files themselves")]

use tempfile::TempDir;

use super::*;

const NS: &str = "http://ws.apache.org/ns/synapse";

/// A project with these artifacts.
pub(crate) fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let pom = "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
    put(folder.path(), "pom.xml", pom);
    for (name, text) in files {
        put(folder.path(), &format!("src/main/wso2mi/artifacts/{name}"), text);
    }
    folder
}

pub(crate) fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sequence(name: &str, body: &str) -> String {
    format!("<sequence xmlns=\"{NS}\" name=\"{name}\">{body}</sequence>\n")
}

fn texts(checked: &[Checked]) -> String {
    Report { files: checked, can_apply: true }.text()
}

#[test]
fn what_is_written_is_checked_as_it_is() {
    let good = sequence("Keep", "<log category=\"INFO\"><message>hello</message></log>");
    let folder = project(&[("sequences/Keep.xml", &good)]);
    let checker = Checker::new(folder.path());
    let path = folder.path().join("src/main/wso2mi/artifacts/sequences/Keep.xml");
    let shown = "src/main/wso2mi/artifacts/sequences/Keep.xml";
    assert_eq!(
        texts(&checker.changed(std::slice::from_ref(&path))),
        format!("Checked {shown} (MI 4.4.0): nothing wrong.")
    );

    // The same length and, on a coarse clock, the same time: whoever wrote it says so.
    fs::write(&path, good.replace("</log>", "</lag>")).unwrap();
    let checked = checker.changed(std::slice::from_ref(&path));
    assert!(Counts::of(&checked[0].found).errors > 0, "{}", texts(&checked));

    fs::write(&path, sequence("Keep", "<variable name=\"x\" value=\"${payload.x}\"/>")).unwrap();
    let checked = checker.changed(&[path]);
    let told = texts(&checked);
    assert!(told.contains(" at 1:"), "{told}");
    let checks = Report { files: &checked, can_apply: true }.checks();
    assert_eq!(checks[0]["path"], shown);
    assert_eq!(checks[0]["findings"][0]["line"], 1);
}

#[test]
fn uses_of_what_a_change_took_away_are_told() {
    let user = sequence("User", "\n  <sequence key=\"Old\"/>");
    let folder =
        project(&[("sequences/Old.xml", &sequence("Old", "<drop/>")), ("sequences/User.xml", &user)]);
    let checker = Checker::new(folder.path());
    let path = folder.path().join("src/main/wso2mi/artifacts/sequences/Old.xml");
    assert_eq!(checker.changed(std::slice::from_ref(&path))[0].broken, []);
    fs::write(&path, sequence("New", "<drop/>")).unwrap();
    let broken = checker.changed(&[path])[0].broken.clone();
    let used = "src/main/wso2mi/artifacts/sequences/User.xml".to_owned();
    assert_eq!(broken, [Broken { path: used, line: 2, name: "Old".to_owned() }]);
}

#[test]
fn files_that_come_and_go() {
    let folder = project(&[("sequences/A.xml", &sequence("A", "<sequence key=\"B\"/>"))]);
    let checker = Checker::new(folder.path());
    let errors = |checker: &Checker| Report { files: &checker.all(), can_apply: true }.counts().errors;
    let before = errors(&checker);
    put(folder.path(), "src/main/wso2mi/artifacts/sequences/B.xml", &sequence("B", "<drop/>"));
    assert_eq!(errors(&checker), before - 1, "the name is defined now");
    fs::remove_file(folder.path().join("src/main/wso2mi/artifacts/sequences/B.xml")).unwrap();
    assert_eq!(errors(&checker), before);
    put(
        folder.path(),
        "pom.xml",
        "<project><properties><project.runtime.version>4.3.0</project.runtime.version></properties></project>",
    );
    assert_eq!(checker.runtime(), Some(Version::new(4, 3, 0)));
}

#[test]
fn a_look_at_another_text_leaves_no_trace() {
    let folder = project(&[("sequences/A.xml", &sequence("A", "<drop/>"))]);
    let checker = Checker::new(folder.path());
    let path = folder.path().join("src/main/wso2mi/artifacts/sequences/A.xml");
    assert!(!checker.look(&path, &sequence("A", "<nonsense/>")).is_empty());
    assert!(checker.changed(&[path])[0].found.is_empty());
}

#[test]
fn outside_of_projects_nothing_is_checked() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "a.xml", "<sequence/>");
    let checker = Checker::new(folder.path());
    assert!(checker.changed(&[folder.path().join("a.xml")]).is_empty());
    assert!(checker.all().is_empty());
    assert_eq!(checker.runtime(), None);
}

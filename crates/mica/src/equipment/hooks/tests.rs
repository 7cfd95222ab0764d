//! Scripts that change, and words that wait for somebody.

use std::sync::Mutex;

use super::*;

#[test]
fn what_is_told_before_anybody_listens_waits() {
    let teller = Teller::default();
    teller.tell("one".to_owned());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    teller.tell_to(move |text| hearing.lock().unwrap().push(text));
    teller.tell("two".to_owned());
    assert_eq!(*heard.lock().unwrap(), ["one", "two"]);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test makes its files")]
fn a_script_that_changes_comes_or_goes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(project.join(FOLDER)).unwrap();
    std::fs::write(project.join(FILE), r#"{"hooks":{"Stop":[{"hooks":[{"command":"./a.sh"}]}]}}"#).unwrap();
    std::fs::write(project.join("a.sh"), "exit 0").unwrap();
    let read = Read::of(&project, FILE, FileKind::Own, FOLDER).unwrap().unwrap();
    let watched = Watched {
        label: read.path.display().to_string(),
        hooks: read.configured.hooks,
        project: project.clone(),
        folder: FOLDER,
        scripts: read.scripts,
    };
    let changed = |path: &str| {
        Some(format!("{path} has changed since it was trusted; look at it, then run `mica trust`"))
    };
    assert!(watched.is_about(&format!("{}: hooks.Stop[0].hooks[0]", project.join(FILE).display())));
    assert_eq!(watched.changed(), None);
    std::fs::write(project.join("a.sh"), "exit 1").unwrap();
    assert_eq!(watched.changed(), changed("a.sh"));
    std::fs::write(project.join("a.sh"), "exit 0").unwrap();
    std::fs::write(project.join(FOLDER).join("b.sh"), "").unwrap();
    assert_eq!(watched.changed(), changed(".mica/hooks/b.sh"));
    std::fs::remove_file(project.join(FOLDER).join("b.sh")).unwrap();
    std::fs::remove_file(project.join("a.sh")).unwrap();
    assert_eq!(watched.changed(), changed("a.sh"));
}

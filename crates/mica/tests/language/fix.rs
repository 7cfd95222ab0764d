//! `mica fix`.

use crate::{BARE, CLEAN, Stage, sequence};

fn stage() -> Stage {
    let slips = format!("{BARE}\n    <lgo level=\"full\"/>\n{BARE}");
    Stage::new(&[("a.xml", &sequence("a", &slips)), ("b.xml", &sequence("b", CLEAN))])
}

fn fixed(middle: &str) -> String {
    sequence("a", &format!("{CLEAN}\n    {middle}\n{CLEAN}"))
}

#[test]
fn evident_repairs_are_applied_and_the_rest_is_told() {
    let stage = stage();
    let ran = stage.run(&["fix"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (
            Some(1),
            "a.xml: 2 repairs\n  + SYN0201 Wrap it in ${} (2 times)\n\
             Repaired 2 findings in 1 file; left: 1 error. `mica fix --unsafe` repairs 1 more.\n",
            ""
        )
    );
    assert_eq!(stage.read("a.xml"), fixed("<lgo level=\"full\"/>"));
    assert_eq!(stage.read("b.xml"), sequence("b", CLEAN));
    let ran = stage.run(&["fix", "--unsafe"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(stage.read("a.xml"), fixed("<log level=\"full\"/>"));
    let again = stage.run(&["fix", "--unsafe"]);
    assert!(again.out.starts_with("Nothing to repair"), "{}", again.out);
}

#[test]
fn a_diff_and_a_dry_run_write_nothing() {
    let stage = stage();
    let before = stage.read("a.xml");
    let ran = stage.run(&["fix", "--diff", "--code", "bare-expression"]);
    let row = |sign: char, step: &str| format!("{sign}{step}\n");
    let expect = format!(
        "--- a/a.xml\n+++ b/a.xml\n@@ -1,5 +1,5 @@\n <sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"a\">\n{}{}     <lgo level=\"full\"/>\n{}{} </sequence>\n",
        row('-', BARE),
        row('+', CLEAN),
        row('-', BARE),
        row('+', CLEAN)
    );
    assert_eq!((ran.code, ran.out), (Some(1), expect));
    assert_eq!(ran.err, "Would repair 2 findings in 1 file; left: 1 error.\n");
    assert!(stage.run(&["fix", "--dry-run"]).out.starts_with("a.xml: 2 repairs\n"));
    assert_eq!(stage.read("a.xml"), before);
}

#[test]
fn only_the_codes_that_were_asked_for() {
    let stage = stage();
    assert_eq!(stage.run(&["fix", "--unsafe", "--code", "SYN0101"]).code, Some(1));
    assert_eq!(stage.read("a.xml"), sequence("a", &format!("{BARE}\n    <log level=\"full\"/>\n{BARE}")));
    let ran = stage.run(&["fix", "--code", "SYN9999"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "mica: --code SYN9999: there is no such finding; `mica explain --list` lists all\n")
    );
}

#[test]
fn what_is_not_utf_8_is_left_alone() {
    let stage = Stage::new(&[]);
    let text = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n{}", sequence("\u{e9}", BARE));
    let latin: Vec<u8> = text.chars().map(|one| one as u8).collect();
    stage.write("a.xml", &latin);
    let ran = stage.run(&["fix"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "mica: a.xml: it is not in UTF-8, so it was left alone\n")
    );
    assert_eq!(std::fs::read(stage.path().join("a.xml")).unwrap(), latin);
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_followed() {
    use std::os::unix::fs::PermissionsExt;
    let stage = stage();
    let real = stage.path().join("a.xml");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o604)).unwrap();
    std::os::unix::fs::symlink("a.xml", stage.path().join("link.xml")).unwrap();
    stage.run(&["fix", "link.xml"]);
    assert_eq!(stage.read("a.xml"), fixed("<lgo level=\"full\"/>"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o604);
    assert!(std::fs::symlink_metadata(stage.path().join("link.xml")).unwrap().is_symlink());
}

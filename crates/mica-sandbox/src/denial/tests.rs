//! What programs print, and what of it was the boundary.

use std::collections::BTreeMap;

use super::*;

fn boundary() -> Boundary {
    let mut boundary = Boundary::open(BTreeMap::new(), Path::new("/tmp"));
    boundary.writable = vec!["/home/user/project".into()];
    boundary.frozen = vec!["/home/user/project/.git/hooks".into()];
    boundary.hidden = vec!["/home/user/.ssh".into()];
    boundary.network = Network::Off;
    boundary
}

fn check(line: &str, expect: Option<&str>) {
    let found = find(line, Path::new("/home/user/project"), &boundary());
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let expect: Vec<String> =
        expect.map(|text| format!("denied by the sandbox: {text}")).into_iter().collect();
    assert_eq!(found, expect, "{line}");
}

#[test]
fn denials_are_told() {
    check("bash: line 1: /opt/x: Permission denied", Some("writing /opt/x"));
    check("touch: cannot touch '/opt/x': Read-only file system", Some("writing /opt/x"));
    check("cat: /home/user/.ssh/id_rsa: Permission denied", Some("reading /home/user/.ssh/id_rsa"));
    check("cat: ../.ssh/id_rsa: Permission denied", Some("reading /home/user/.ssh/id_rsa"));
    check(
        "sh: 1: cannot create .git/hooks/pre-commit: Read-only file system",
        Some("writing /home/user/project/.git/hooks/pre-commit"),
    );
    check("PermissionError: [Errno 13] Permission denied: '/opt/new'", Some("writing /opt/new"));
    check(
        "Error: EACCES: permission denied, open '/home/user/.npm/_cacache'",
        Some("writing /home/user/.npm/_cacache"),
    );
    check("curl: (6) Could not resolve host: example.org", Some("using the network"));
}

#[test]
fn what_the_boundary_allows_is_no_denial() {
    check("cat: notes.txt: Permission denied", None);
    check("touch: cannot touch '/home/user/project/x': Permission denied", None);
    check("error: expected `;`", None);
}

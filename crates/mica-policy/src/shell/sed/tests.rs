//! Which scripts only work on text.

use super::*;

#[test]
fn scripts_of_sed() {
    for plain in [
        "p",
        "1,5p",
        "$d",
        "s/a/b/g",
        "s|a|b|;p",
        "/a/,/b/d",
        "/a/{s/x/y/;p}",
        "y/abc/xyz/",
        "s/\\//x/",
        "s/[a-z]*/x/2p",
        "10q",
        "",
        "# x",
    ] {
        assert!(sed_is_plain(plain), "{plain:?}");
    }
    for other in [
        "e",
        "1e id",
        "s/a/b/e",
        "s/a/b/ge",
        "w out",
        "s/a/b/w out",
        "r x",
        "R x",
        "W x",
        "s/[/]/g;#/e",
        "/[/]/d;#/e",
        "s/a",
        "a text",
        "p;e",
        "{e",
        "F",
        "s\na\nb\ne",
    ] {
        assert!(!sed_is_plain(other), "{other:?}");
    }
}

#[test]
fn programs_of_awk() {
    assert!(awk_is_plain("{print $1}"));
    for other in
        ["BEGIN{system(\"id\")}", "{print > \"x\"}", "{print | \"sh\"}", "@load \"x\"", "{\"id\" | getline}"]
    {
        assert!(!awk_is_plain(other), "{other:?}");
    }
}

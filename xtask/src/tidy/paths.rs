//! No absolute path of somebody's machine.
//!
//! The home folders named `user` are placeholders, for examples and tests; every other home folder is somebody's.

use super::Finding;

/// Beginnings of paths that exist on some machines only. Taken apart, so that this file is not a finding.
const MACHINE: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Where home folders are, and the one name below them that is nobody's.
const HOMES: &[&str] = &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("C:\\Us", "ers\\")];
const NOBODY: &str = "user";

/// Finds paths of machines.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(found) = find(line) {
            findings.push(Finding::new(
                path,
                index + 1,
                format!("the path {found:?} exists on one machine only: make it relative, or use a folder of `{NOBODY}`"),
            ));
        }
    }
    findings
}

fn find(line: &str) -> Option<&str> {
    let machine = MACHINE.iter().flat_map(|pattern| absolute(line, pattern)).next();
    let home = || {
        HOMES.iter().flat_map(|pattern| absolute(line, pattern)).find(|found| {
            let name = HOMES.iter().find_map(|pattern| found.strip_prefix(pattern)).unwrap_or_default();
            name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name != NOBODY
        })
    };
    machine.or_else(home)
}

/// Where a pattern begins a path: not in the middle of a longer one, and not in the path of a URL. Answers the
/// pattern and the name after it.
fn absolute<'a>(line: &'a str, pattern: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(pattern)
        .filter(|(at, _)| {
            !line[..*at].ends_with(|before: char| before.is_alphanumeric() || "._-})*~".contains(before))
        })
        .map(|(at, _)| {
            let rest = &line[at + pattern.len()..];
            let name = rest.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).unwrap_or(rest.len());
            &line[at..at + pattern.len() + name]
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<&str> {
        find(line)
    }

    #[test]
    fn paths_of_machines_are_found() {
        for pattern in MACHINE {
            assert!(found(&format!("let x = \"{pattern}file\";")).is_some(), "{pattern}");
            assert!(found(&format!("file://{pattern}file")).is_some(), "{pattern}");
        }
        for pattern in HOMES {
            assert_eq!(found(&format!("cd {pattern}alice/x")), Some(format!("{pattern}alice").as_str()));
        }
    }

    #[test]
    fn a_placeholder_does_not_hide_a_real_one() {
        let line = format!("{0}user and {0}alice", HOMES[0]);
        assert_eq!(found(&line), Some(format!("{}alice", HOMES[0]).as_str()));
    }

    #[test]
    fn other_paths_are_fine() {
        for line in [
            "net/work/x",
            "https://host.example/work/items",
            "~/work/x",
            "/etc/hosts",
            concat!("/ho", "me/user/project"),
            concat!("/ho", "me/<name>"),
            concat!("C:\\Us", "ers\\user\\project"),
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn the_line_is_named() {
        let text = format!("one\n{}x\n", MACHINE[0]);
        let findings = check("a.md", &text);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2]);
    }
}

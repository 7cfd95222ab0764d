//! What tools of servers are called by models: `mcp__server__tool`, in letters that every provider takes.
//!
//! Promise: a name depends on the server and on the tools it has now, never on the order they came in; and no two tools
//! have the same.

use std::collections::{BTreeMap, BTreeSet};

use super::config::digest;

/// What every name begins with.
pub(super) const PREFIX: &str = "mcp__";
/// Letters of a name that all providers take.
const LONGEST: usize = 64;
/// Letters of a server within it.
const TAG: usize = 24;
/// Letters that tell names apart which would be the same.
const MARK: usize = 8;

/// A server within names: without two `_` in a row and none at its ends, so that where it ends is always plain.
pub(super) fn tag(name: &str, taken: &BTreeSet<String>) -> String {
    let mut tag = String::new();
    for letter in plain(name).chars() {
        if !(letter == '_' && tag.ends_with('_')) {
            tag.push(letter);
        }
    }
    let tag = tag.trim_matches('_');
    let cut: String = tag.chars().take(TAG).collect();
    let cut = cut.trim_end_matches('_');
    if cut == name && !taken.contains(cut) {
        return cut.to_owned();
    }
    if !cut.is_empty() && cut.len() == tag.len() && !taken.contains(cut) {
        return cut.to_owned();
    }
    let head: String = cut.chars().take(TAG - MARK - 1).collect();
    let mark: String = digest(&[name]).chars().take(MARK).collect();
    format!("{}-{mark}", if head.is_empty() { "server" } else { head.trim_end_matches('_') })
}

/// The names of a server's tools, by their own names.
pub fn public(tag: &str, tools: &[&str]) -> BTreeMap<String, String> {
    let simple = |tool: &str| format!("{PREFIX}{tag}__{}", plain(tool));
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for tool in tools.iter().copied().collect::<BTreeSet<_>>() {
        *uses.entry(simple(tool)).or_default() += 1;
    }
    let name = |tool: &str| {
        let simple = simple(tool);
        let is_own = plain(tool) == tool;
        let alone = uses.get(&simple).copied().unwrap_or_default() <= 1;
        if simple.len() <= LONGEST && (alone || is_own) && !tool.is_empty() {
            return simple;
        }
        let head: String = simple.chars().take(LONGEST - MARK - 1).collect();
        let mark: String = digest(&[tag, tool]).chars().take(MARK).collect();
        format!("{head}_{mark}")
    };
    tools.iter().map(|tool| ((*tool).to_owned(), name(tool))).collect()
}

fn plain(text: &str) -> String {
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '_' };
    text.chars().map(plain).collect()
}

/// Whether a name fits a pattern with `*`.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_told_apart() {
        let check = |tools: &[&str], expect: &[&str]| {
            let named = public("fs", tools);
            let found: Vec<&str> = tools.iter().map(|tool| named[*tool].as_str()).collect();
            assert_eq!(found, expect);
            assert!(found.iter().all(|name| name.len() <= LONGEST));
        };
        check(&["read", "a.b"], &["mcp__fs__read", "mcp__fs__a_b"]);
    }

    #[test]
    fn names_depend_on_no_order() {
        let one = public("fs", &["a_b", "a.b", "a b"]);
        let other = public("fs", &["a b", "a_b", "a.b"]);
        assert_eq!(one, other);
        assert_eq!(one["a_b"], "mcp__fs__a_b");
        let all: BTreeSet<&String> = one.values().collect();
        assert_eq!(all.len(), 3, "{one:?}");
        let long = "x".repeat(100);
        let longer = "x".repeat(101);
        let named = public("fs", &[&long, &longer]);
        assert_ne!(named[&long], named[&longer]);
        assert!(named.values().all(|name| name.len() == LONGEST), "{named:?}");
    }

    #[test]
    fn servers_are_told_apart() {
        let check = |name: &str, taken: &[&str], expect: &str| {
            let taken = taken.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(tag(name, &taken), expect, "{name}");
        };
        check("fs", &[], "fs");
        check("my server", &[], "my_server");
        check("a__b", &[], "a_b");
        check("_a_", &[], "a");
        let marked = tag("my server", &BTreeSet::from(["my_server".to_owned()]));
        assert!(marked.starts_with("my_server-") && marked.len() == 18, "{marked}");
        assert_ne!(marked, tag("my.server", &BTreeSet::from(["my_server".to_owned()])));
        assert!(tag("日本", &BTreeSet::new()).starts_with("server-"));
        assert!(tag(&"x".repeat(60), &BTreeSet::new()).len() <= TAG);
    }

    #[test]
    fn patterns_fit() {
        for (pattern, name, expect) in [
            ("read", "read", true),
            ("read", "reader", false),
            ("read*", "reader", true),
            ("*", "anything", true),
            ("*_file", "read_file", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXc", false),
            ("a*a", "a", false),
            ("", "", true),
        ] {
            assert_eq!(fits(pattern, name), expect, "{pattern} {name}");
        }
    }
}

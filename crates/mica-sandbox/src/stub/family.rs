//! Who descends from this process.

use std::collections::{HashMap, HashSet};

/// All that descend from this process, except those that have ended and are only waited for.
pub(crate) fn descendants() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut parents = HashMap::new();
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        if let Some((state, parent)) = state_and_parent(&stat) {
            parents.insert(pid, (state, parent));
        }
    }
    let me = i32::try_from(std::process::id()).unwrap_or(0);
    let mut found = HashSet::from([me]);
    loop {
        let more: Vec<i32> = parents
            .iter()
            .filter(|(pid, (_, parent))| found.contains(parent) && !found.contains(*pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.remove(&me);
    found.into_iter().filter(|pid| parents.get(pid).is_some_and(|(state, _)| *state != 'Z')).collect()
}

/// The state and the parent in a line of `/proc/<pid>/stat`. The name in it may hold anything, parentheses included.
fn state_and_parent(stat: &str) -> Option<(char, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_deceive() {
        assert_eq!(state_and_parent("7 (a) R 1 (b)) S 42 7 7"), Some(('S', 42)));
        assert_eq!(state_and_parent("7 (sh) Z 1 7"), Some(('Z', 1)));
        assert_eq!(state_and_parent("7"), None);
    }
}

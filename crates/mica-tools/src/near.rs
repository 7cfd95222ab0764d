//! Names that look like one that is not there.

use mica_agent::nearest::distance;

use crate::list;
use crate::resolve::{Found, Place};

/// Names that are suggested at most.
const NAMES: usize = 3;
/// Siblings that are compared at most: a suggestion is not worth reading a huge folder.
const SIBLINGS: usize = 5_000;

/// Names of files beside a missing one that look like it, the nearest first, as paths.
pub(crate) fn names(missing: &Place) -> Vec<String> {
    let Some(wanted) = missing.relative.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let parent = missing.relative.parent().unwrap_or(&missing.relative).to_owned();
    let folder = Place { relative: parent, found: Found::Folder, ..missing.clone() };
    let Ok((entries, _)) = list::entries(&folder, SIBLINGS) else { return Vec::new() };
    let near_enough = wanted.chars().count() / 3 + 1;
    let mut near: Vec<(usize, String)> = entries
        .into_iter()
        .filter_map(|entry| {
            let name = entry.name.to_lowercase();
            let distance = if stem(&name) == stem(&wanted) { 1 } else { distance(&name, &wanted) };
            (distance <= near_enough).then_some((distance, entry.name))
        })
        .collect();
    near.sort();
    near.into_iter()
        .take(NAMES)
        .map(|(_, name)| {
            let place = Place { relative: folder.relative.join(name), ..folder.clone() };
            place.shown()
        })
        .collect()
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("main.rs", "mian.rs", 2)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}

//! Archives that builds make: which there are, and whose they are.

use std::path::{Path, PathBuf};

/// How deep the modules of a project are looked for.
const DEEPEST: usize = 3;

/// An archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

impl Archive {
    /// The name of its file.
    pub(super) fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// The project's name in the name of an archive: `orders` of `orders_1.0.0.car` and `orders-1.0.0.car`.
pub(super) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".car").unwrap_or(name);
    let cut = |sign: char| {
        name.match_indices(sign)
            .find(|(at, _)| {
                name.get(at + 1..).is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
            })
            .map(|(at, _)| at)
    };
    cut('_').or_else(|| cut('-')).and_then(|at| name.get(..at)).unwrap_or(name)
}

/// The archives in the `target` folders of a project and of its modules, by path.
pub(super) fn built(project: &Path) -> Vec<Archive> {
    let mut found = Vec::new();
    look(project, DEEPEST, &mut found);
    found.sort_by(|one, two| one.path.cmp(&two.path));
    found
}

fn look(folder: &Path, depth: usize, found: &mut Vec<Archive>) {
    found.extend(in_folder(&folder.join("target")));
    if depth == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        // Only modules have build files.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && path.join("pom.xml").is_file() {
            look(&path, depth - 1, found);
        }
    }
}

/// The archives in a folder.
pub(super) fn in_folder(folder: &Path) -> Vec<Archive> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let archive = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let facts = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let is_archive = path.extension().is_some_and(|found| found == "car");
        is_archive.then_some(Archive { path, bytes: facts.len() })
    };
    let mut found: Vec<Archive> = entries.flatten().filter_map(archive).collect();
    found.sort_by(|one, two| one.path.cmp(&two.path));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_an_archive_is() {
        for (name, expected) in [
            ("orders_1.0.0.car", "orders"),
            ("orders-1.0.0-SNAPSHOT.car", "orders"),
            ("my_orders_2_1.0.0.car", "my_orders"),
            ("order-api_1.0.0.car", "order-api"),
            ("orders.car", "orders"),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }
}

//! Archives that builds make: which there are, and whose they are.

use std::path::{Path, PathBuf};

use super::contained;

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

/// The project's name in the name of an archive: `orders` of `orders_1.0.0.car` and `orders-1.0.0.car`. The version is what
/// follows the last sign that a version can follow: `my_orders_2` is a project of its own.
pub(super) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".car").unwrap_or(name);
    let last = name.rmatch_indices(['_', '-']).find(|(at, _)| name.get(at + 1..).is_some_and(is_version));
    last.and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

/// Whether a text begins as versions do: `1.0`. The time of a snapshot, `20240102.030405`, is a part of its version.
fn is_version(text: &str) -> bool {
    let rest = text.trim_start_matches(|one: char| one.is_ascii_digit());
    let minor = rest.strip_prefix('.').unwrap_or_default();
    let digits = text.len() - rest.len();
    (1..8).contains(&digits) && minor.starts_with(|one: char| one.is_ascii_digit())
}

/// The archives in the `target` folders of a project and of its modules, by path.
///
/// # Errors
/// In words, when a `target` is not in the project: what is there is nobody's to deploy or to remove.
pub(super) fn built(project: &Path) -> Result<Vec<Archive>, String> {
    let mut found = Vec::new();
    look(project, project, DEEPEST, &mut found)?;
    found.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(found)
}

/// The `target` folder of a module, where it really is.
///
/// # Errors
/// In words, when that is not in the project.
pub(super) fn target(project: &Path, module: &Path) -> Result<Option<PathBuf>, String> {
    let path = module.join("target");
    let relative = path.strip_prefix(project).unwrap_or(&path);
    contained::inside(project, relative).map_err(|error| {
        format!("{} is not used: {error}. Make it a folder of the project.", relative.display())
    })
}

fn look(project: &Path, folder: &Path, depth: usize, found: &mut Vec<Archive>) -> Result<(), String> {
    if let Some(target) = target(project, folder)? {
        found.extend(in_folder(&target));
    }
    if depth == 0 {
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        // Only modules have build files.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && path.join("pom.xml").is_file() {
            look(project, &path, depth - 1, found)?;
        }
    }
    Ok(())
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
            ("my_orders_2_1.0.0.car", "my_orders_2"),
            ("orders_2.car", "orders_2"),
            ("orders-1.0.0-20240102.030405-1.car", "orders"),
            ("orders_v2-10.2.car", "orders_v2"),
            ("order-api_1.0.0.car", "order-api"),
            ("orders.car", "orders"),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }
}

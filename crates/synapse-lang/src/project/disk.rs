//! A project from a folder.
//!
//! Only files that can matter are read: artifacts, descriptors, build files. All others are noted by name. What is
//! built, hidden or installed by package managers is left out.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Project;
use super::pom::{self, Pom};
use crate::model::Version;

/// The largest file that is read; an artifact of this size is a mistake.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// How deep folders are followed.
const DEEPEST: usize = 40;
/// How many parents of a build file are followed.
const MOST_PARENTS: usize = 10;

/// The root of the project that a path lies in: the nearest folder above it that looks like one.
#[must_use]
pub fn root_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| is_project(folder)).map(Path::to_path_buf)
}

/// Whether a folder is the root of a project: it has the layout of one, new or old.
#[must_use]
pub fn is_project(folder: &Path) -> bool {
    folder.join("src/main/wso2mi").is_dir()
        || folder.join("src/main/synapse-config").is_dir()
        || (folder.join("pom.xml").is_file() && folder.join("deployment/deployment.toml").is_file())
}

/// Reads the project of a folder.
///
/// # Errors
///
/// When the folder itself cannot be read. A file in it that cannot be read is left out.
pub fn read(root: &Path) -> io::Result<Project> {
    let mut paths = Vec::new();
    walk(root, &mut paths)?;
    let mut project = Project::default();
    for path in paths {
        let Some(name) = relative(root, &path) else { continue };
        if matters(&name) {
            if let Some(text) = text(&path) {
                project.set(name, text);
            }
        } else {
            project.mention(name);
        }
    }
    project.set_inherited_runtime(inherited_runtime(root));
    Ok(project)
}

/// The build file of a folder and those it inherits from, as far as they are on this disk, the nearest first.
#[must_use]
pub fn poms(folder: &Path) -> Vec<(PathBuf, Pom)> {
    let mut chain: Vec<(PathBuf, Pom)> = Vec::new();
    let mut next = Some(folder.join("pom.xml"));
    while let Some(path) = next.take().filter(|_| chain.len() <= MOST_PARENTS) {
        let Some(found) = text(&path).and_then(|text| Pom::read(&text)) else { break };
        // A build file that is not the named one is another project that happens to lie there.
        let named = chain.last().and_then(|(_, child)| child.parent.as_ref());
        if named.is_some_and(|named| Some(&named.artifact) != found.artifact.as_ref()) {
            break;
        }
        let above = found.parent.as_ref().and_then(|parent| parent.path.as_deref());
        next = above.and_then(|above| {
            let above = path.parent()?.join(above);
            Some(if above.is_dir() { above.join("pom.xml") } else { above })
        });
        chain.push((path, found));
    }
    chain
}

/// The runtime that the parents of a project's build file state.
#[must_use]
pub fn inherited_runtime(root: &Path) -> Option<Version> {
    let chain: Vec<Pom> = poms(root).into_iter().map(|(_, pom)| pom).collect();
    pom::runtime(&chain).map(|(version, _, _)| version)
}

/// The text of a file; nothing when it is too large or cannot be read. Bytes that are not UTF-8 become marks.
#[must_use]
pub fn text(path: &Path) -> Option<Arc<str>> {
    let facts = std::fs::metadata(path).ok()?;
    // Devices and pipes have no size, and no end.
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into(),
    })
}

/// All files under a folder, sorted, without what is built, hidden or installed.
///
/// # Errors
///
/// When the folder itself cannot be read.
pub fn walk(root: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut pending = vec![(root.to_path_buf(), 0)];
    let mut first = true;
    while let Some((folder, depth)) = pending.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if first => return Err(error),
            Err(_) => continue,
        };
        first = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                if depth < DEEPEST && !matches!(name.as_ref(), "target" | "node_modules") {
                    pending.push((entry.path(), depth + 1));
                }
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(())
}

/// Whether the text of a file is read.
#[must_use]
pub fn matters(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let synapse = name.ends_with(".xml") || name.ends_with(".dbs");
    // Data and code of resources are handed to mediators; only their descriptors are read.
    let resource =
        path.contains("/resources/") && !path.contains("/mock-services/") && name != "artifact.xml";
    name == "config.properties" || (synapse && !resource)
}

/// The path of a file in its project, with forward slashes.
#[must_use]
pub fn relative(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).ok()?;
    let parts: Option<Vec<&str>> = inside.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

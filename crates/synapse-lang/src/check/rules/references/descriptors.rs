//! `artifact.xml`, held against the files of the registry.

use crate::check::{Findings, Rule, Subject};
use crate::project::RESOURCES;

const NO_FILE: u16 = 913;
const NO_ENTRY: u16 = 914;

/// Entries without a file, and files without an entry.
pub(super) struct Descriptors;

impl Rule for Descriptors {
    fn codes(&self) -> &'static [u16] {
        &[NO_FILE, NO_ENTRY]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let (Some(project), Some(path)) = (subject.project.filter(|one| one.is_closed()), subject.path)
        else {
            return;
        };
        if !path.starts_with(RESOURCES) || !path.ends_with("artifact.xml") {
            return;
        }
        let Some(file) = project.file(path) else { return };
        let paths = || project.other_files().chain(project.files().map(|(path, _)| path));
        for item in file.items() {
            // Mappings are made by the build.
            if item.path.contains("/datamapper/") || item.file.is_empty() {
                continue;
            }
            let end = format!("/{}", item.file.trim_start_matches('/'));
            let there = if item.is_folder {
                let inside = format!("{end}/");
                paths().any(|one| one.contains(&inside))
            } else {
                paths().any(|one| one.ends_with(&end))
            };
            if !there {
                let message = format!("There is no file {} in this project", item.file);
                findings.report(NO_FILE, item.span, message);
            }
        }
        let Some(root) = subject.tree.root() else { return };
        let registry = format!("{RESOURCES}registry/");
        let unlisted: Vec<&str> = project
            .other_files()
            .filter(|one| one.starts_with(&registry))
            .filter(|one| {
                let name = one.rsplit('/').next().unwrap_or(one);
                let listed = file.items().iter().any(|item| item.is_folder || item.file == name);
                !listed && !name.ends_with(".properties") && !name.starts_with('.')
            })
            .collect();
        if let Some(first) = unlisted.first() {
            let first = first.strip_prefix(RESOURCES).unwrap_or(first);
            let message = match unlisted.len() {
                1 => format!("{first} has no entry here, so it does not come to the registry"),
                more => format!(
                    "{first} and {} more have no entry here, so they do not come to the registry",
                    more - 1
                ),
            };
            findings.report(NO_ENTRY, root.element.name_span(), message);
        }
    }
}

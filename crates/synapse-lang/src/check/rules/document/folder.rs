//! The folder of a file says what it is deployed as.

use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};

const FOLDER: u16 = 4;
const EXTENSION: u16 = 5;

/// Artifacts in the folder of another kind, and data services without their extension.
pub(super) struct Folder;

impl Rule for Folder {
    fn codes(&self) -> &'static [u16] {
        &[FOLDER, EXTENSION]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(path) = subject.path else { return };
        let Some((_, inside)) = path.split_once("src/main/wso2mi/artifacts/") else { return };
        let Some(root) = subject.tree.root().filter(|root| root.role == Role::Artifact) else { return };
        let Some(file) = root.definition.and_then(|definition| definition.file.as_ref()) else { return };
        let name = root.element.name();
        let folder = inside.split('/').next().unwrap_or_default();
        let known =
            subject.model.artifacts().filter_map(|one| one.file.as_ref()).any(|one| one.folder == folder);
        if known && folder != file.folder && file.deployed {
            let message = format!(
                "A <{name}> is deployed from the folder {}; in {folder} it is taken for something else",
                file.folder
            );
            findings.report(FOLDER, root.element.name_span(), message);
        }
        if file.deployed && !path.ends_with(&format!(".{}", file.extension)) {
            let message = format!("A file with a <{name}> must end with .{} to be deployed", file.extension);
            findings.report(EXTENSION, root.element.name_span(), message);
        }
    }
}

//! Classes that the project does not have.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::model::RefKind;

const CLASS: u16 = 910;

/// What the server and Java bring along.
const PROVIDED: &[&str] =
    &["org.apache.", "org.wso2.", "java.", "javax.", "jakarta.", "com.sun.", "org.bouncycastle."];

/// Class mediators, handlers and tasks without their class.
pub(super) struct Classes;

impl Rule for Classes {
    fn codes(&self) -> &'static [u16] {
        &[CLASS]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if value.reference != Some(RefKind::Class) || value.reading != Reading::Literal {
            return;
        }
        let Some(project) = subject.project.filter(|one| one.is_closed()) else { return };
        let name = value.text().trim();
        let written = name.split('$').next().unwrap_or(name);
        let plain = written.contains('.')
            && written.chars().all(|one| one.is_alphanumeric() || matches!(one, '.' | '_'));
        if !plain || PROVIDED.iter().any(|start| name.starts_with(start)) {
            return;
        }
        // A library may hold any class.
        let libraries = project.poms().any(|(_, facts)| facts.has_libraries);
        if libraries || project.other_files().any(|path| path.ends_with(".jar")) {
            return;
        }
        let source = format!("/{}.", written.replace('.', "/"));
        if project.other_files().any(|path| path.contains(&source)) {
            return;
        }
        let message =
            format!("The project has no class {name}: neither a source under src/main/java nor a library");
        findings.report(CLASS, value.span(), message);
    }
}

//! An artifact is recognised by the namespace of its root.

use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::model::{Namespace, SYNAPSE_NAMESPACE};
use crate::near::nearest;

const MISSING: u16 = 2;
const UNKNOWN: u16 = 3;

/// The root of the document.
pub(super) struct Root;

impl Rule for Root {
    fn codes(&self) -> &'static [u16] {
        &[MISSING, UNKNOWN]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(root) = subject.tree.root() else { return };
        let element = root.element;
        if root.role == Role::Unknown {
            unknown(subject, findings);
            return;
        }
        let Some(definition) = root.definition else { return };
        let found = element.namespace().unwrap_or_default();
        if definition.namespace.takes(found) {
            return;
        }
        let synapse = definition.namespace == Namespace::Synapse;
        let message = match (synapse, found.is_empty()) {
            (true, true) => {
                format!(
                    "<{}> has no namespace, so the runtime does not take it for an artifact",
                    element.name()
                )
            }
            (true, false) => format!(
                "<{}> is in the namespace {found}; the runtime looks for it in {SYNAPSE_NAMESPACE}",
                element.name()
            ),
            (false, _) => format!("<{}> stands in no namespace; this one is in {found}", element.name()),
        };
        let declared = element.attributes().find(|one| one.name() == "xmlns");
        let fix = match declared {
            _ if element.prefix().is_some() => None,
            Some(declared) if synapse => Some(Edit::replace(declared.value_span(), SYNAPSE_NAMESPACE)),
            Some(declared) => Some(Edit::remove(declared.span_with_space())),
            None if synapse => {
                Some(Edit::insert(element.name_span().end, format!(" xmlns=\"{SYNAPSE_NAMESPACE}\"")))
            }
            None => None,
        };
        let fix = fix.map(|edit| Fix::safe("Use the right namespace", vec![edit]));
        findings.report(MISSING, element.name_span(), message).fix_if(fix);
    }
}

/// A root that is no artifact. That is only wrong where artifacts lie.
fn unknown(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(root) = subject.tree.root() else { return };
    let element = root.element;
    let among_artifacts = subject
        .path
        .is_some_and(|path| path.contains("src/main/wso2mi/artifacts/") || path.contains("/synapse-config/"));
    if !among_artifacts || element.local().is_empty() {
        return;
    }
    let names = subject.model.artifacts().map(|one| one.name.as_str());
    let hint =
        nearest(element.local(), names).map(|meant| format!("; did you mean <{meant}>?")).unwrap_or_default();
    let message = format!("<{}> is not an artifact, and is not deployed{hint}", element.name());
    findings.report(UNKNOWN, element.name_span(), message).class(Class::Ignored).severity(Severity::Warning);
}

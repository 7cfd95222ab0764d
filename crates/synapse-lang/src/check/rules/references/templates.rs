//! Calls of templates, held against what the templates declare.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::RefKind;
use crate::near::nearest;
use crate::project::{Parameter, parameter_of};
use crate::syntax::Element;

use super::super::flow::named_like;

const MANDATORY: u16 = 903;
const UNDECLARED: u16 = 904;

/// Parameters that are missing or unknown.
pub(super) struct Templates;

impl Rule for Templates {
    fn codes(&self) -> &'static [u16] {
        &[MANDATORY, UNDECLARED]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["call-template"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() == "call-template" && placed.element.is_closed() {
            call(subject, placed.element, findings);
        }
    }
}

fn call(subject: &Subject<'_>, call: Element<'_>, findings: &mut Findings) {
    let Some(target) = call.attribute("target") else { return };
    let name = target.value();
    let Some(parameters) = parameters(subject, name.trim()) else { return };
    let given: Vec<Element<'_>> = call.elements().filter(|one| one.local() == "with-param").collect();
    let gives = |name: &str| given.iter().any(|one| one.value("name").is_some_and(|value| value == name));
    for parameter in parameters.iter().filter(|one| one.mandatory && !gives(&one.name)) {
        let message =
            format!("The template {name} must be given {}; without it the step fails", parameter.name);
        findings.report(MANDATORY, target.value_span(), message).fix_if(with_param(call, &parameter.name));
    }
    for one in &given {
        let Some(attribute) = one.attribute("name") else { continue };
        let written = attribute.value();
        if written.is_empty() || parameters.iter().any(|parameter| parameter.name == *written) {
            continue;
        }
        let free = parameters.iter().map(|one| one.name.as_str()).filter(|name| !gives(name));
        let meant = nearest(&written, free);
        let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        let message =
            format!("The template {name} has no parameter {written}, so the value is not read{hint}");
        let fix = meant.map(|meant| {
            Fix::review(format!("Give {meant}"), vec![Edit::replace(attribute.value_span(), meant)])
        });
        findings.report(UNDECLARED, attribute.value_span(), message).fix_if(fix);
    }
}

/// What a template declares; nothing when it is not in view, or when there are several of that name.
fn parameters(subject: &Subject<'_>, name: &str) -> Option<Vec<Parameter>> {
    let here = subject.tree.placed().iter().find(|one| {
        one.id() == "artifact.template"
            && one.element.first("endpoint").is_none()
            && one.element.value("name").is_some_and(|value| value.trim() == name)
    });
    if let Some(here) = here {
        let declared = here.element.elements().filter(|one| one.local() == "parameter");
        return Some(declared.filter_map(parameter_of).collect());
    }
    let mut found = subject.project?.definitions(RefKind::Template, name);
    let (_, definition) = found.next()?;
    found.next().is_none().then(|| definition.parameters.clone())
}

/// A parameter to fill in.
fn with_param(call: Element<'_>, name: &str) -> Option<Fix> {
    let written = format!("<{} name=\"{name}\" value=\"\"/>", named_like(call, "with-param"));
    let indentation = call.indentation()?;
    let edit = match call.elements().last() {
        Some(last) => Edit::insert(last.span().end, format!("\n{indentation}    {written}")),
        None if call.is_self_closing() => {
            let span = crate::text::Span::new(call.attributes_end(), call.open_span().end);
            let text = format!(">\n{indentation}    {written}\n{indentation}</{}>", call.name());
            Edit::replace(span, text)
        }
        None => Edit::insert(call.open_span().end, format!("\n{indentation}    {written}")),
    };
    Some(Fix::review(format!("Give {name}"), vec![edit]))
}

//! Calls of templates, held against what the templates declare.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::RefKind;
use crate::near::nearest;
use crate::project::{Parameter, parameter_of};
use crate::syntax::Element;

use super::super::flow::named_like;

const MANDATORY: u16 = 903;
const UNDECLARED: u16 = 904;
const UNUSED: u16 = 905;

/// Parameters that are missing, unknown or never read.
pub(super) struct Templates;

impl Rule for Templates {
    fn codes(&self) -> &'static [u16] {
        &[MANDATORY, UNDECLARED, UNUSED]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["call-template", "template"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.id() {
            "call-template" if placed.element.is_closed() => call(subject, placed.element, findings),
            "artifact.template" if placed.element.is_closed() => declared(subject, placed, findings),
            _ => {}
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

/// Parameters that nothing in a template can read.
fn declared(subject: &Subject<'_>, template: &Placed<'_>, findings: &mut Findings) {
    let tree = &subject.tree;
    let Some(body) = tree.child(template, "sequence") else { return };
    // Code and what others run may read parameters by their names.
    let hidden = tree.descendants(template).iter().any(|one| {
        matches!(one.role, Role::NoMediator)
            || matches!(one.id(), "class" | "script" | "spring" | "pojoCommand" | "annotatedCommand")
            || (one.role == Role::Mediator
                && one.id() == "sequence"
                && one.element.attribute("key").is_some())
    });
    if hidden {
        return;
    }
    let text = body.element.span().of(subject.document.source());
    for parameter in template.element.elements().filter(|one| one.local() == "parameter") {
        let Some(attribute) = parameter.attribute("name") else { continue };
        let name = attribute.value();
        // The server itself reads these of a connector's operations.
        let provided = matches!(name.as_ref(), "responseVariable" | "overwriteBody");
        if !name.is_empty() && !provided && !text.contains(name.as_ref()) {
            let message = format!("Nothing in this template reads the parameter {name}");
            findings.report(UNUSED, attribute.value_span(), message);
        }
    }
}

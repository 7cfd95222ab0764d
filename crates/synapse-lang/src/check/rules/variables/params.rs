//! Parameters that expressions read: those of the path of a resource, and those of a template.

use crate::check::value::Value;
use crate::check::walk::Placed;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::expr::ast::{NameForm, NodeKind, Place};
use crate::expr::parser;
use crate::near::nearest;
use crate::text::Span;

use super::guarded;

const PATH: u16 = 654;
const TEMPLATE: u16 = 655;

/// Parameters that nobody hands in.
pub(super) struct Params;

impl Rule for Params {
    fn codes(&self) -> &'static [u16] {
        &[PATH, TEMPLATE]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if !value.text().contains("params") {
            return;
        }
        for range in value.expressions() {
            let Ok(expression) = parser::parse(value.text().get(range.clone()).unwrap_or_default()) else {
                continue;
            };
            let expected = guarded(&expression);
            expression.root.walk(&mut |node| {
                let NodeKind::Lookup(lookup) = &node.kind else { return };
                let name = &lookup.name;
                if expected.contains(&name.value.as_str()) {
                    return;
                }
                let span = value.source_span(
                    range.start + name.span.start as usize..range.start + name.span.end as usize,
                );
                let read = Read { name: &name.value, span, is_plain: name.form == NameForm::Dot };
                match lookup.place {
                    Place::PathParam => path(subject, &value.placed, &read, findings),
                    Place::FunctionParam => template(subject, &value.placed, &read, findings),
                    _ => {}
                }
            });
        }
    }
}

/// A parameter that is read.
struct Read<'r> {
    name: &'r str,
    span: Span,
    is_plain: bool,
}

impl Read<'_> {
    fn fix(&self, meant: Option<&str>) -> Option<Fix> {
        let meant = meant.filter(|_| self.is_plain)?;
        Some(Fix::review(format!("Read {meant}"), vec![Edit::replace(self.span, meant)]))
    }
}

fn path(subject: &Subject<'_>, placed: &Placed<'_>, read: &Read<'_>, findings: &mut Findings) {
    let Some(resource) = subject.tree.ancestors(placed).find(|one| one.id() == "api.resource") else {
        return;
    };
    let attribute = |name: &str| resource.element.value(name).filter(|value| !value.trim().is_empty());
    let name = read.name;
    // A property of that name answers just as well.
    let property = format!("uri.var.{name}");
    let set = subject.tree.placed().iter().any(|one| {
        matches!(one.id(), "property" | "propertyGroup.property")
            && one.element.value("name").is_some_and(|name| *name == property)
    });
    if set {
        return;
    }
    if attribute("url-mapping").is_some() {
        let message = format!("params.pathParams.{name} is never there: url-mapping sets no parameters");
        findings.report(PATH, read.span, message);
        return;
    }
    let template = attribute("uri-template").unwrap_or_default();
    let names = variables(&template);
    if names.contains(&name) {
        return;
    }
    let meant = nearest(name, names.iter().copied());
    let rest = match (meant, names.is_empty()) {
        (Some(meant), _) => format!("; did you mean {meant}?"),
        (None, true) => ", which has no parameters".to_owned(),
        (None, false) => format!(", which has {}", names.join(", ")),
    };
    let message = format!("{{{name}}} is not in the uri-template of this resource{rest}");
    findings.report(PATH, read.span, message).fix_if(read.fix(meant));
}

/// The variables of a URI template: `{id}`, `{+path}`, `{a,b}`, `{path*}`.
fn variables(template: &str) -> Vec<&str> {
    let inside =
        template.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(inside, _)| inside);
    let names = inside.flat_map(|one| one.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(','));
    let plain = names.map(|name| name.trim().trim_end_matches('*'));
    let cut = plain.map(|name| name.split(':').next().unwrap_or(name));
    cut.map(|name| name.strip_prefix("uri.var.").unwrap_or(name)).filter(|name| !name.is_empty()).collect()
}

fn template(subject: &Subject<'_>, placed: &Placed<'_>, read: &Read<'_>, findings: &mut Findings) {
    let template = subject.tree.ancestors(placed).find(|one| one.id() == "artifact.template");
    let Some(template) = template.map(|one| one.element) else { return };
    let named = template.elements().filter(|one| one.local() == "parameter");
    let names: Vec<String> =
        named.filter_map(|one| one.value("name")).map(|name| name.trim().to_owned()).collect();
    let name = read.name;
    if names.iter().any(|one| one == name) {
        return;
    }
    let meant = nearest(name, names.iter().map(String::as_str));
    let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    let message = format!("This template has no parameter {name}, so there is never a value{hint}");
    let declare = template.first("sequence").and_then(|body| {
        let indentation = body.indentation()?;
        let written = format!(
            "<{} name=\"{name}\"/>\n{indentation}",
            super::super::flow::named_like(body, "parameter")
        );
        Some(Fix::review(format!("Add the parameter {name}"), vec![Edit::insert(body.span().start, written)]))
    });
    findings.report(TEMPLATE, read.span, message).fix_if(read.fix(meant)).fix_if(declare);
}

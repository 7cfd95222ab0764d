//! Parameters of inbound endpoints, message stores, message processors and tasks, by protocol or class.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::java::{Pattern, PatternError, PatternFlags};
use crate::model::{Boolean, Catalogue, Parameter, ValueType};
use crate::near::nearest;
use crate::syntax::Element;
use crate::text::Span;

use super::super::structure::{outcome, severity};
use super::quartz;

const MISSING: u16 = 812;
const UNREAD: u16 = 813;
const VALUE: u16 = 814;

/// Parameters that are missing, misspelt, or no value of theirs.
pub(super) struct Parameters;

impl Rule for Parameters {
    fn codes(&self) -> &'static [u16] {
        &[MISSING, UNREAD, VALUE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["inboundEndpoint", "messageStore", "messageProcessor", "task"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let Some(catalogue) = catalogue(subject, placed) else { return };
        let artifact = placed.element;
        if !artifact.is_closed() {
            return;
        }
        let given = given(artifact);
        for known in catalogue.parameters.iter().filter(|known| !known.prefix) {
            let Some(class) = known.required else { continue };
            if !given.iter().any(|one| one.name == known.name) && !replaced(&given, &known.name) {
                let message = format!(
                    "{} needs the parameter {}: {}",
                    catalogue.title,
                    known.name,
                    known.summary.trim_end_matches('.')
                );
                findings
                    .report(MISSING, artifact.name_span(), message)
                    .class(class)
                    .severity(severity(class));
            }
        }
        alternatives(catalogue, artifact, &given, findings);
        // A protocol without a list of its own is not judged.
        if catalogue.parameters.is_empty() {
            return;
        }
        for one in &given {
            match known(catalogue, &one.name) {
                Some(known) => value(one, known, findings),
                None => unread(catalogue, &given, one, findings),
            }
        }
    }
}

/// A parameter as it is written.
struct Given<'a> {
    element: Element<'a>,
    name: String,
    name_span: Span,
    value: Option<(String, Span)>,
}

fn catalogue<'m>(subject: &Subject<'_>, placed: &Placed<'_>) -> Option<&'m Catalogue> {
    let model: &'static crate::model::Model = subject.model;
    let element = placed.element;
    let class = || element.value("class").filter(|class| !class.trim().is_empty());
    match placed.id() {
        "artifact.inboundEndpoint" => {
            let protocol = element.value("protocol")?;
            model.catalogue("inboundEndpoint", protocol.trim())
        }
        "artifact.messageStore" => model.catalogue("messageStore", class()?.trim()),
        "artifact.messageProcessor" => model.catalogue("messageProcessor", class()?.trim()),
        "artifact.task" => model.catalogue("task", class()?.trim()),
        _ => None,
    }
}

fn given(artifact: Element<'_>) -> Vec<Given<'_>> {
    let holder = artifact.first("parameters").unwrap_or(artifact);
    let written = holder.elements().filter(|one| matches!(one.local(), "parameter" | "property"));
    written
        .filter_map(|element| {
            let name = element.attribute("name")?;
            let value = match element.attribute("value") {
                Some(value) => Some((value.value().into_owned(), value.value_span())),
                None if element.has_element_children() || element.attribute("key").is_some() => None,
                None if element.attribute("expression").is_some() => None,
                None => element.content_span().map(|span| (element.text().into_owned(), span)),
            };
            let (text, name_span) = (name.value().trim().to_owned(), name.value_span());
            Some(Given { element, name: text, name_span, value })
        })
        .collect()
}

fn known<'m>(catalogue: &'m Catalogue, name: &str) -> Option<&'m Parameter> {
    let exact = catalogue.parameters.iter().find(|one| !one.prefix && one.name == name);
    exact.or_else(|| catalogue.parameters.iter().find(|one| one.prefix && name.starts_with(&one.name)))
}

/// Required parameters that another one makes unnecessary.
fn replaced(given: &[Given<'_>], name: &str) -> bool {
    let has = |other: &str| given.iter().any(|one| one.name == other);
    match name {
        "interval" => has("cron") || has("cronExpression"),
        _ => false,
    }
}

/// A database is reached by a data source, or by an address and a driver.
fn alternatives(catalogue: &Catalogue, artifact: Element<'_>, given: &[Given<'_>], findings: &mut Findings) {
    let knows = |name: &str| catalogue.parameters.iter().any(|one| one.name == name);
    let has = |name: &str| given.iter().any(|one| one.name == name);
    if !knows("store.jdbc.dsName") || has("store.jdbc.dsName") {
        return;
    }
    let needed = ["store.jdbc.driver", "store.jdbc.connection.url"];
    if let Some(missing) = needed.into_iter().find(|name| !has(name)) {
        let message = format!("{} needs store.jdbc.dsName, or {missing} and its like", catalogue.title);
        findings.report(MISSING, artifact.name_span(), message);
    }
}

fn unread(catalogue: &Catalogue, given: &[Given<'_>], one: &Given<'_>, findings: &mut Findings) {
    let free = |name: &&str| !given.iter().any(|other| other.name == **name);
    let names = catalogue.parameters.iter().filter(|known| !known.prefix).map(|known| known.name.as_str());
    let Some(meant) = nearest(&one.name, names.filter(free)) else { return };
    let message = format!("{} does not read {}; did you mean {meant}?", catalogue.title, one.name);
    let fix = Fix::review(format!("Rename it to {meant}"), vec![Edit::replace(one.name_span, meant)]);
    findings.report(UNREAD, one.name_span, message).fix(fix);
}

fn value(one: &Given<'_>, known: &Parameter, findings: &mut Findings) {
    let Some((text, span)) = &one.value else { return };
    let text = text.trim();
    // A value from outside, a placeholder or a path is known only when it runs.
    if text.is_empty() || text.contains(['$', '{']) {
        return;
    }
    let (reason, class) = match &known.value {
        ValueType::Boolean(Boolean::AnyCase)
            if !["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text)) =>
        {
            ("true or false; it is read as false".to_owned(), Class::Surprise)
        }
        ValueType::Cron => match quartz::problem(text) {
            Some(problem) => (format!("a cron expression: {problem}"), Class::Surprise),
            None => return,
        },
        ValueType::Regex => match Pattern::compile(text, PatternFlags::default()) {
            Err(PatternError::Syntax { reason, .. }) => {
                (format!("a regular expression: {reason}"), Class::Surprise)
            }
            _ => return,
        },
        kind if !kind.takes(text) => (format!("{kind}; {}", outcome(known.wrong)), known.wrong),
        _ => return,
    };
    let message = format!("{} is {text:?}, which is not {reason}", one.name);
    let fix = known.value.choices().and_then(|list| nearest(text, list.iter().map(String::as_str)));
    let fix = fix.map(|meant| {
        Fix::review(format!("Change it to {meant}"), vec![Edit::replace(written(one, *span), meant)])
    });
    let severity = severity(class).min(Severity::Warning);
    findings.report(VALUE, *span, message).class(class).severity(severity).fix_if(fix);
}

/// Where a value is written, without the blanks around it.
fn written(one: &Given<'_>, span: Span) -> Span {
    let source = one.element.document().source();
    let text = span.of(source);
    let lead = u32::try_from(text.len() - text.trim_start().len()).unwrap_or(0);
    let trail = u32::try_from(text.len() - text.trim_end().len()).unwrap_or(0);
    if lead + trail > span.len() { span } else { Span::new(span.start + lead, span.end - trail) }
}

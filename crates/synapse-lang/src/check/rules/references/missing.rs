//! Names of things that the project does not have.

use std::collections::HashSet;

use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::model::RefKind;
use crate::near::nearest;
use crate::project::{Project, Reference, Resource};
use crate::text::Span;

use super::{certainty, is_deployed, word};

const ARTIFACT: u16 = 901;
const RESOURCE: u16 = 902;

/// Names that every server has.
const BUILT_IN: &[(RefKind, &str)] = &[(RefKind::Sequence, "main"), (RefKind::Sequence, "fault")];

/// References that lead nowhere.
pub(super) struct Missing;

impl Rule for Missing {
    fn codes(&self) -> &'static [u16] {
        &[ARTIFACT, RESOURCE]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(project) = subject.project.filter(|_| is_deployed(subject)) else { return };
        // A sequence that takes over on errors and is not there is passed over, everything else raises an error.
        let mild: HashSet<Span> = subject
            .tree
            .placed()
            .iter()
            .filter_map(|one| one.element.attribute("onError"))
            .map(|one| one.value_span())
            .collect();
        for reference in crate::project::references_of(&subject.tree, subject.model) {
            look_up(project, &reference, mild.contains(&reference.span), findings);
        }
    }
}

fn look_up(project: &Project, reference: &Reference, mild: bool, findings: &mut Findings) {
    let name = reference.name.as_str();
    match reference.kind {
        RefKind::Class | RefKind::Variable | RefKind::Property | RefKind::File | RefKind::Api => {}
        RefKind::InboundEndpoint => {
            let names = name.split([',', ' ']).map(str::trim).filter(|one| !one.is_empty());
            for name in names.filter(|one| *one != "default") {
                artifact(project, reference, name, mild, findings);
            }
        }
        RefKind::Resource | RefKind::LocalEntry if !name.contains([':', '/']) => {
            artifact(project, reference, name, mild, findings);
        }
        _ if name.contains([':', '/']) => resource(project, reference, findings),
        _ => artifact(project, reference, name, mild, findings),
    }
}

/// The kinds of definitions that answer a reference.
const fn answers(kind: RefKind) -> &'static [RefKind] {
    match kind {
        RefKind::Resource | RefKind::LocalEntry | RefKind::Connection => {
            &[RefKind::LocalEntry, RefKind::Connection]
        }
        RefKind::Sequence => &[RefKind::Sequence],
        RefKind::Endpoint => &[RefKind::Endpoint],
        RefKind::Template => &[RefKind::Template],
        RefKind::EndpointTemplate => &[RefKind::EndpointTemplate],
        RefKind::MessageStore => &[RefKind::MessageStore],
        RefKind::Proxy => &[RefKind::Proxy],
        RefKind::DataService => &[RefKind::DataService],
        RefKind::InboundEndpoint => &[RefKind::InboundEndpoint],
        _ => &[],
    }
}

fn artifact(project: &Project, reference: &Reference, name: &str, mild: bool, findings: &mut Findings) {
    let kind = reference.kind;
    let there = answers(kind).iter().any(|kind| project.definitions(*kind, name).next().is_some());
    if there || BUILT_IN.contains(&(kind, name)) {
        return;
    }
    let known = answers(kind).iter().flat_map(|kind| project.names(*kind));
    let meant = nearest(name, known);
    let what = if kind == RefKind::Resource { "local entry" } else { word(kind) };
    let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    let message = format!("The project has no {what} {name}{hint}");
    let whole = name == reference.name;
    let fix = meant.filter(|_| whole).map(|meant| replace(reference.span, meant));
    // Libraries bring templates of their own, and the registry answers keys that no local entry has.
    let elsewhere = (kind == RefKind::Template && name.contains('.')) || kind == RefKind::Resource;
    let severity = if mild || elsewhere { Severity::Warning } else { certainty(project) };
    let class = if mild { Class::Ignored } else { Class::Fault };
    findings.report(ARTIFACT, reference.span, message).class(class).severity(severity).fix_if(fix);
}

fn resource(project: &Project, reference: &Reference, findings: &mut Findings) {
    let name = reference.name.as_str();
    // Files that are not read are only known of a whole project.
    if !project.is_closed() || project.resource(name) != Resource::Missing {
        return;
    }
    let keys = project.resource_keys(name);
    let meant = nearest(name, keys.iter().map(String::as_str));
    let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    let message = format!("The project has no file for {name}{hint}");
    findings
        .report(RESOURCE, reference.span, message)
        .fix_if(meant.map(|meant| replace(reference.span, meant)));
}

fn replace(span: Span, with: &str) -> Fix {
    Fix::review(format!("Name {with}"), vec![Edit::replace(span, with)])
}

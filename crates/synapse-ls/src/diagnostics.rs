//! Findings as the protocol has them.

use std::hash::{DefaultHasher, Hash, Hasher};

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic as Sent, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Message, Uri,
};
use serde_json::{Value, json};
use synapse_lang::diagnostic::{Class, Diagnostic, Severity};
use synapse_lang::pages;

use crate::target;
use crate::view::View;

/// The name under which editors show findings.
pub(crate) const SOURCE: &str = "synapse";
/// More places than anybody follows from one finding.
const MOST_RELATED: usize = 5;

/// Findings of a document, for the client.
pub(crate) fn sent(view: &View<'_>, found: &[Diagnostic]) -> Vec<Sent> {
    found.iter().map(|one| one_sent(view, one)).collect()
}

/// A finding for the client.
pub(crate) fn one_sent(view: &View<'_>, found: &Diagnostic) -> Sent {
    let page = pages::page(found.code);
    let name = page.map_or("", |page| page.name);
    let href = view.options.pages.as_ref().map(|base| Uri(format!("{base}{}.md", found.code)));
    let related = if view.client.related { related(view, found) } else { Vec::new() };
    Sent {
        range: view.range(found.span),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Info => DiagnosticSeverity::Information,
            Severity::Hint => DiagnosticSeverity::Hint,
        }),
        code: Some(Code::String(found.code.to_string())),
        code_description: href.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: Message::String(found.message.clone()),
        tags: tag(found.class, name).map(|tag| vec![tag]),
        related_information: (!related.is_empty()).then_some(related),
        data: Some(json!({ "name": name, "class": found.class.word() })),
    }
}

/// What the runtime never looks at is shown as such.
fn tag(class: Class, name: &str) -> Option<DiagnosticTag> {
    if class == Class::Ignored || name.contains("unreachable") {
        Some(DiagnosticTag::Unnecessary)
    } else if name.contains("legacy") || name.contains("deprecated") {
        Some(DiagnosticTag::Deprecated)
    } else {
        None
    }
}

/// Where else to look: a finding about a name has the other places where the name is defined.
fn related(view: &View<'_>, found: &Diagnostic) -> Vec<DiagnosticRelatedInformation> {
    let definitions = view.file.definitions().iter();
    let defined = definitions
        .filter(|one| found.span.covers(one.name_span) && found.span.len() <= one.name_span.len() + 2);
    let defined = defined.map(|one| (one.kind, one.name.as_str()));
    let references = view.file.references().iter();
    let named = references.filter(|one| one.span == found.span).map(|one| (one.kind, one.name.as_str()));
    let mut related = Vec::new();
    for (kind, name) in defined.chain(named) {
        for kind in target::definition_kinds(kind) {
            for (path, definition) in view.project.definitions(*kind, name) {
                let here = path == view.path && definition.name_span == found.span;
                if !here && related.len() < MOST_RELATED {
                    let range = view.range_in(path, definition.name_span);
                    let location = Location { uri: view.uri_of(path), range };
                    related.push(DiagnosticRelatedInformation {
                        location,
                        message: format!("{name} is defined here"),
                    });
                }
            }
        }
    }
    related
}

/// A name for a list of findings: the same list has the same name as long as the server runs.
pub(crate) fn result_id(items: &[Sent]) -> String {
    let mut hasher = DefaultHasher::new();
    items.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The answer to `textDocument/diagnostic`.
pub(crate) fn report(items: &[Sent], previous: Option<&str>) -> Value {
    let id = result_id(items);
    if previous == Some(id.as_str()) {
        json!({ "kind": "unchanged", "resultId": id })
    } else {
        json!({ "kind": "full", "resultId": id, "items": items })
    }
}

#[cfg(test)]
mod tests;

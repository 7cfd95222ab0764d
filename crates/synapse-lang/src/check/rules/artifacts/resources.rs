//! The resources of an API: no two for the same request, and each with a flow.

use std::collections::HashMap;

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::syntax::Element;

const TWICE: u16 = 801;
const DEFAULTS: u16 = 802;
const MARKER: u16 = 803;
const IDLE: u16 = 804;

/// Resources that exclude each other, and resources that do nothing.
pub(super) struct Resources;

impl Rule for Resources {
    fn codes(&self) -> &'static [u16] {
        &[TWICE, DEFAULTS, MARKER, IDLE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["api"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "artifact.api" {
            return;
        }
        let api = placed.element;
        let resources: Vec<Element<'_>> =
            api.elements().filter(|one| one.local() == "resource" && one.has_complete_tag()).collect();
        version(api, findings);
        let mut default = false;
        let mut by_path: HashMap<String, Vec<Element<'_>>> = HashMap::new();
        for one in &resources {
            let Some(mapping) = mapping(*one) else {
                if default {
                    let message = "An API has at most one resource without uri-template and url-mapping";
                    findings.report(DEFAULTS, one.name_span(), message);
                }
                default = true;
                continue;
            };
            let others = by_path.entry(mapping.clone()).or_default();
            let found = others.iter().any(|other| twice(*one, *other, &mapping, findings));
            // One more of what was reported says nothing new.
            if !found {
                others.push(*one);
            }
        }
        for one in resources {
            let has = |name: &str| {
                one.first(name).is_some() || one.value(name).is_some_and(|value| !value.trim().is_empty())
            };
            if one.is_closed() && !has("inSequence") {
                let message = "This resource has no inSequence: requests are accepted and nothing happens";
                findings.report(IDLE, one.name_span(), message);
            }
        }
    }
}

/// The path that a resource answers; nothing for the default resource.
fn mapping(resource: Element<'_>) -> Option<String> {
    let given = |name: &str| resource.value(name).filter(|value| !value.trim().is_empty());
    given("url-mapping").or_else(|| given("uri-template")).map(std::borrow::Cow::into_owned)
}

fn methods(resource: Element<'_>) -> Vec<String> {
    let value = resource.value("methods").unwrap_or_default();
    value.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Reports a second resource for the same requests. The runtime compares the methods that are written; where none
/// are, both deploy and the first takes everything.
fn twice(one: Element<'_>, other: Element<'_>, mapping: &str, findings: &mut Findings) -> bool {
    let (mine, others) = (methods(one), methods(other));
    let shared: Vec<&str> = mine.iter().filter(|word| others.contains(word)).map(String::as_str).collect();
    // What else tells requests apart.
    let same = |name: &str| one.value(name) == other.value(name);
    let same = ["protocol", "content-type", "user-agent", "binds-to"].into_iter().all(same);
    let place = ["url-mapping", "uri-template"].into_iter().find_map(|name| one.attribute(name));
    let span = place.map_or_else(|| one.name_span(), |one| one.value_span());
    if !shared.is_empty() {
        let message = format!("{} {mapping} stands twice; the API does not deploy", shared.join(" "));
        findings.report(TWICE, span, message);
        true
    } else if mine.is_empty() && others.is_empty() && same {
        let message = format!("{mapping} stands twice for all methods; the second is never reached");
        findings.report(TWICE, span, message).class(Class::Surprise).severity(Severity::Warning);
        true
    } else {
        false
    }
}

/// `version-type="context"` replaces `{version}` in the context, and does nothing else.
fn version(api: Element<'_>, findings: &mut Findings) {
    let given = |name: &str| api.value(name).filter(|value| !value.trim().is_empty());
    let (Some(version), Some(context)) = (given("version"), given("context")) else { return };
    let Some(kind) = api.attribute("version-type").filter(|one| one.value() == "context") else { return };
    if context.contains("{version}") {
        return;
    }
    let message = format!(
        "version-type context only replaces {{version}} in the context; {context} has none, so version {version} is \
         not part of any path"
    );
    let url = Fix::review("Put the version into the path", vec![Edit::replace(kind.value_span(), "url")]);
    findings.report(MARKER, kind.value_span(), message).fix(url);
}

//! Properties that only expressions read could be variables, which keep their types.

use std::collections::{BTreeMap, HashSet};

use crate::check::{Findings, Rule, Subject};
use crate::model::Version;
use crate::text::Span;

const VARIABLE: u16 = 1202;

/// Properties of the default scope that are read as `props.synapse.x` and in no older way.
pub(super) struct Properties;

impl Rule for Properties {
    fn codes(&self) -> &'static [u16] {
        &[VARIABLE]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let source = subject.document.source();
        if subject.runtime < Version::EXPRESSIONS || !source.contains("props.synapse.") {
            return;
        }
        let mut set: BTreeMap<String, Span> = BTreeMap::new();
        for placed in subject.tree.placed().iter().filter(|one| one.is_mediator("property")) {
            let element = placed.element;
            let Some(name) = element.attribute("name") else { continue };
            let scope = element.value("scope");
            let plain = scope.is_none_or(|scope| scope == "default")
                && element.value("action").is_none_or(|one| one == "set");
            let value = name.value();
            if plain && !value.contains(['{', '.', '$']) && subject.model.property(&value).is_none() {
                set.entry(value.into_owned()).or_insert(name.value_span());
            }
        }
        let read = names_after(source, &["props.synapse.", "properties.synapse."]);
        let older = older_names(source);
        for (name, span) in set {
            if read.contains(name.as_str()) && !older.contains(name.as_str()) {
                let message = format!(
                    "Only expressions read {name}; as a variable it keeps its type and is read as vars.{name}"
                );
                findings.report(VARIABLE, span, message);
            }
        }
    }
}

/// The names that stand after one of these beginnings.
pub(in crate::check::rules) fn names_after<'s>(source: &'s str, starts: &[&str]) -> HashSet<&'s str> {
    let mut names = HashSet::new();
    for start in starts {
        for (at, _) in source.match_indices(start) {
            let rest = source.get(at + start.len()..).unwrap_or_default();
            let end = rest.find(|one: char| !(one.is_alphanumeric() || one == '_' || one == '-'));
            names.insert(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        }
    }
    names
}

/// The names that XPath reads: as `$ctx:name`, or as a quoted word of `get-property()`.
fn older_names(source: &str) -> HashSet<&str> {
    let mut names = names_after(source, &["$ctx:"]);
    for (at, _) in source.match_indices("get-property(") {
        let rest = source.get(at..).unwrap_or_default();
        let call = rest.split(')').next().unwrap_or_default();
        names.extend(call.split(['\'', '"', '&', ';']));
    }
    names
}

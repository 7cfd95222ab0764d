//! Properties that only expressions read could be variables, which keep their types.

use std::collections::BTreeMap;

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
        for (name, span) in set {
            let older = [
                format!("$ctx:{name}"),
                format!("('{name}')"),
                format!("'{name}')"),
                format!("&quot;{name}&quot;)"),
            ];
            let read = source.contains(&format!("props.synapse.{name}"));
            if read && !older.iter().any(|form| source.contains(form.as_str())) {
                let message = format!(
                    "Only expressions read {name}; as a variable it keeps its type and is read as vars.{name}"
                );
                findings.report(VARIABLE, span, message);
            }
        }
    }
}

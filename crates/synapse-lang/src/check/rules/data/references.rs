//! Names inside a data service: configs, queries and their parameters.

use std::collections::{HashMap, HashSet};

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;
use crate::syntax::{Attribute, Element};

const CONFIG: u16 = 1001;
const QUERY: u16 = 1002;
const PARAMETER: u16 = 1007;
const UNUSED: u16 = 1008;

/// Names that nothing in the file has.
pub(super) struct References;

impl Rule for References {
    fn codes(&self) -> &'static [u16] {
        &[CONFIG, QUERY, PARAMETER, UNUSED]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["data"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let data = placed.element;
        if placed.id() != "artifact.data" || !data.is_closed() {
            return;
        }
        // A config without an id is called default.
        let configs: Vec<String> = named(data, "config")
            .map(|one| one.value("id").map_or_else(|| "default".to_owned(), |id| id.trim().to_owned()))
            .collect();
        let queries: HashMap<String, Element<'_>> =
            named(data, "query").filter_map(|one| Some((one.value("id")?.trim().to_owned(), one))).collect();
        for query in named(data, "query") {
            if let Some(config) = query.attribute("useConfig") {
                let name = config.value().trim().to_owned();
                if !name.is_empty() && !configs.contains(&name) {
                    let message = format!("There is no config {name} in this data service");
                    let fix = rename(config, nearest(&name, configs.iter().map(String::as_str)));
                    findings.report(CONFIG, config.value_span(), message).fix_if(fix);
                }
            }
        }
        let mut used: HashSet<String> = HashSet::new();
        for call in data.descendants().filter(|one| one.local() == "call-query") {
            let Some(href) = call.attribute("href") else { continue };
            let name = href.value().trim().to_owned();
            match queries.get(&name) {
                Some(query) => parameters(call, *query, &name, findings),
                None if name.is_empty() => {}
                None => {
                    let message = format!("There is no query {name} in this data service");
                    let fix = rename(href, nearest(&name, queries.keys().map(String::as_str)));
                    findings.report(QUERY, href.value_span(), message).fix_if(fix);
                }
            }
            used.insert(name);
        }
        for query in named(data, "query") {
            let Some(id) = query.attribute("id") else { continue };
            let name = id.value().trim().to_owned();
            if !name.is_empty() && !used.contains(&name) {
                findings.report(UNUSED, id.value_span(), format!("No operation or resource calls {name}"));
            }
        }
    }
}

fn named<'a>(data: Element<'a>, local: &'static str) -> impl Iterator<Item = Element<'a>> {
    data.elements().filter(move |one| one.local() == local)
}

/// Values handed to parameters that the query does not have.
fn parameters(call: Element<'_>, query: Element<'_>, name: &str, findings: &mut Findings) {
    let declared: Vec<String> =
        named(query, "param").filter_map(|one| Some(one.value("name")?.trim().to_owned())).collect();
    for given in named(call, "with-param") {
        let Some(attribute) = given.attribute("name") else { continue };
        let written = attribute.value().trim().to_owned();
        if !written.is_empty() && !declared.contains(&written) {
            let message = format!("The query {name} has no parameter {written}");
            let fix = rename(attribute, nearest(&written, declared.iter().map(String::as_str)));
            findings.report(PARAMETER, attribute.value_span(), message).fix_if(fix);
        }
    }
}

fn rename(attribute: Attribute<'_>, meant: Option<&str>) -> Option<Fix> {
    let meant = meant?;
    Some(Fix::review(format!("Change it to {meant}"), vec![Edit::replace(attribute.value_span(), meant)]))
}

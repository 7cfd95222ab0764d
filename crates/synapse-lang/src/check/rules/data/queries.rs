//! Resources of a data service: each path and method once.

use std::collections::HashSet;

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};

const TWICE: u16 = 1003;

/// Two resources for the same requests.
pub(super) struct Queries;

impl Rule for Queries {
    fn codes(&self) -> &'static [u16] {
        &[TWICE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["data"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "artifact.data" {
            return;
        }
        let mut seen: HashSet<(String, String)> = HashSet::new();
        for resource in placed.element.elements().filter(|one| one.local() == "resource") {
            let Some(path) = resource.attribute("path") else { continue };
            let method = resource.value("method").unwrap_or_default().trim().to_owned();
            let key = (method, path.value().trim().trim_matches('/').to_owned());
            if seen.contains(&key) {
                let message = format!("{} {} stands twice; one of them is never reached", key.0, key.1);
                findings.report(TWICE, path.value_span(), message);
            } else {
                seen.insert(key);
            }
        }
    }
}

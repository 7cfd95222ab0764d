//! Data sources: what a connection to a database needs.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};

const INCOMPLETE: u16 = 1010;

/// Definitions without an address or a driver.
pub(super) struct Sources;

impl Rule for Sources {
    fn codes(&self) -> &'static [u16] {
        &[INCOMPLETE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["definition"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let definition = placed.element;
        let relational = definition.value("type").is_some_and(|kind| kind == "RDBMS");
        if placed.id() != "datasource.definition" || !relational || !definition.is_closed() {
            return;
        }
        let Some(configuration) = definition.first("configuration") else {
            let message = "The definition has no configuration: no address and no driver";
            findings.report(INCOMPLETE, definition.name_span(), message);
            return;
        };
        let has = |name: &str| configuration.first(name).is_some_and(|one| !one.text().trim().is_empty());
        // A data source of the driver's own takes its settings as properties.
        if has("dataSourceClassName") {
            return;
        }
        for (name, what) in [("url", "address"), ("driverClassName", "driver")] {
            if !has(name) {
                let message = format!("The {what} of the database is missing: <{name}>");
                findings.report(INCOMPLETE, configuration.name_span(), message);
            }
        }
    }
}

//! Operations in a flow: the connection they need, and names that exist.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;

use super::known;

const CONNECTION: u16 = 1101;
const INIT: u16 = 1102;
const UNKNOWN: u16 = 1104;

/// Operations without a connection, or of another name.
pub(super) struct Operations;

impl Rule for Operations {
    fn codes(&self) -> &'static [u16] {
        &[CONNECTION, INIT, UNKNOWN]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.role != Role::Operation {
            return;
        }
        let element = placed.element;
        let Some((prefix, operation)) = element.local().split_once('.') else { return };
        if operation == "init" {
            let message = format!(
                "A connection made in the flow is made for every message; in a local entry it is made once, and \
                 operations name it with configKey ({prefix})"
            );
            findings.report(INIT, element.name_span(), message);
            return;
        }
        // What lies in the project is the connector that runs, whatever is known of others of its name.
        let local = subject.project.and_then(|project| project.connector_operations(prefix));
        let connector = known(prefix);
        let names: Vec<&str> = match (local, connector) {
            (Some(local), _) => local.iter().map(String::as_str).collect(),
            (None, Some(connector)) => connector.operations.to_vec(),
            (None, None) => return,
        };
        if !names.contains(&operation) {
            let message = format!("The {prefix} connector has no operation {operation}");
            let meant = nearest(operation, names);
            let fix = meant.map(|meant| {
                let names = [Some(element.name_span()), element.close_name_span()];
                let edits = names.into_iter().flatten();
                let edits = edits.map(|span| Edit::replace(span, format!("{prefix}.{meant}"))).collect();
                Fix::review(format!("Change it to {prefix}.{meant}"), edits)
            });
            findings
                .report(UNKNOWN, element.name_span(), message)
                .fix_if(fix.filter(|_| element.prefix().is_none()));
        } else if connector.is_some()
            && element.attribute("configKey").is_none()
            && !after_init(subject, placed, prefix)
        {
            let message = format!("<{}> needs a connection: configKey names the local entry", element.name());
            findings.report(CONNECTION, element.name_span(), message);
        }
    }
}

/// Whether a connection of the connector is made anywhere in the document, as old flows do.
fn after_init(subject: &Subject<'_>, placed: &Placed<'_>, prefix: &str) -> bool {
    let is_init = |one: &Placed<'_>| {
        one.role == Role::Operation && one.element.local().strip_prefix(prefix) == Some(".init")
    };
    subject.tree.placed().iter().take(placed.index).any(is_init)
}

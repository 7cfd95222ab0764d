//! Connections: local entries with an init operation.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::syntax::Element;

use super::{KINDS, known};

const NAME: u16 = 1103;
const KIND: u16 = 1107;

/// Connections without a name or without their kind.
pub(super) struct Connections;

impl Rule for Connections {
    fn codes(&self) -> &'static [u16] {
        &[NAME, KIND]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["localEntry"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "artifact.localEntry" {
            return;
        }
        let entry = placed.element;
        let inits = entry.elements().filter(|one| one.local().ends_with(".init") && one.is_closed());
        for init in inits {
            let prefix = init.local().trim_end_matches(".init");
            name(entry, init, prefix, findings);
            kind(init, prefix, findings);
        }
    }
}

/// Old connectors have no connections with names; those that say their kind do.
fn name(entry: Element<'_>, init: Element<'_>, prefix: &str, findings: &mut Findings) {
    // What follows a child that is not closed only seems to be missing.
    if init.first("name").is_some() || !init.elements().all(|one| one.is_closed()) {
        return;
    }
    if let Some(wrong) = init.first("connectionName") {
        let message = "The name of a connection stands in <name>; <connectionName> is not read";
        let spans = [Some(wrong.name_span()), wrong.close_name_span()].into_iter().flatten();
        let edits = spans.map(|span| Edit::replace(span, "name")).collect();
        findings.report(NAME, wrong.name_span(), message).fix(Fix::safe("Rename it to <name>", edits));
    } else if init.first("connectionType").is_some() || known(prefix).is_some() {
        let message = "This connection has no <name>, so it cannot be found when it is used";
        let fix = entry.value("key").zip(first_place(init)).map(|(key, (at, indentation))| {
            let text = format!("<name>{}</name>{indentation}", crate::syntax::escape_text(&key));
            Fix::safe("Name it as its local entry", vec![Edit::insert(at, text)])
        });
        findings.report(NAME, init.name_span(), message).fix_if(fix);
    }
}

fn kind(init: Element<'_>, prefix: &str, findings: &mut Findings) {
    let connections = known(prefix).map_or(&[] as &[&str], |one| one.connections);
    let Some(written) = init.first("connectionType") else {
        if KINDS.contains(&prefix) {
            let which = if connections.is_empty() {
                String::new()
            } else {
                format!(": {}", connections.join(" or "))
            };
            let message = format!("A connection of {prefix} needs its kind in <connectionType>{which}");
            findings.report(KIND, init.name_span(), message);
        }
        return;
    };
    let text = written.text();
    let text = text.trim();
    let fits = connections.is_empty() || connections.iter().any(|one| one.eq_ignore_ascii_case(text));
    if !fits && !text.is_empty() && !text.contains('$') {
        let message = format!("{text} is no connection of {prefix}; there is {}", connections.join(" and "));
        let span = written.content_span().unwrap_or_else(|| written.name_span());
        findings.report(KIND, span, message);
    }
}

/// Where the first child begins, and the blanks before it.
fn first_place(init: Element<'_>) -> Option<(u32, String)> {
    let start = init.elements().next()?.span().start;
    let before = init.document().source().get(..start as usize)?;
    let kept = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
    Some((start, before.get(kept..)?.to_owned()))
}

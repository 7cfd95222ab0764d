//! Tasks: when they run, and, where they inject a message, into what and which.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::syntax::Element;

const INCOMPLETE: u16 = 811;
const ONCE: u16 = 831;

const CLASS: &str = "org.apache.synapse.startup.tasks.MessageInjector";

/// Injectors without a message, or without the name of what they inject into.
pub(super) struct Injector;

impl Rule for Injector {
    fn codes(&self) -> &'static [u16] {
        &[INCOMPLETE, ONCE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["task"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let task = placed.element;
        if placed.id() == "artifact.task" && task.is_closed() {
            schedule(task, findings);
        }
        let injects = task.value("class").is_some_and(|class| class.trim() == CLASS);
        if placed.id() != "artifact.task" || !injects || !task.is_closed() {
            return;
        }
        let property = |name: &str| {
            let named =
                |one: &Element<'_>| one.local() == "property" && one.value("name").as_deref() == Some(name);
            task.elements().find(named)
        };
        if property("message").is_none() && property("registryKey").is_none() {
            let message = "The injector has no message: it needs the property message or registryKey";
            findings.report(INCOMPLETE, task.name_span(), message);
        }
        let Some(inject) = property("injectTo") else { return };
        let needed = match inject.value("value").as_deref().map(str::trim) {
            Some("sequence") => "sequenceName",
            Some("proxy") => "proxyName",
            _ => return,
        };
        if property(needed).is_none() {
            let target = needed.trim_end_matches("Name");
            let message = format!("injectTo is {target}, so the property {needed} must say which");
            findings.report(INCOMPLETE, inject.name_span(), message);
        }
    }
}

/// A task without a schedule runs when the server starts, and never again.
fn schedule(task: Element<'_>, findings: &mut Findings) {
    let trigger = task.first("trigger");
    let said = |name: &str| trigger.is_some_and(|trigger| trigger.attribute(name).is_some());
    if !["interval", "count", "once", "cron"].into_iter().any(said) {
        let message = "Without interval or cron the task runs once, when the server starts";
        findings.report(ONCE, trigger.unwrap_or(task).name_span(), message);
    }
}

//! What extensions show people, and ask them: on a terminal, over a pipe, or where nobody looks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mica_ext::world::Severity;
use mica_tools::Inquiry;
use serde_json::{Value, json};

use crate::render::json::JsonLines;
use crate::render::question::plain;
use crate::render::text::TextPrinter;

/// Where people look.
pub trait Screen: Send + Sync {
    /// Shows a message. Never waits.
    fn notify(&self, by: &str, text: &str, severity: Severity);

    /// Shows a short text until it is taken away.
    fn status(&self, by: &str, key: &str, text: Option<&str>) {
        let _ = (by, key, text);
    }

    /// Takes away what an extension shows, or what all of them do: nobody is there who would.
    fn clear(&self, by: Option<&str>) {
        let _ = by;
    }

    /// An extension asks something; whoever answers names the id.
    fn asks(&self, by: &str, kind: &str, inquiry: &Inquiry) {
        let _ = (by, kind, inquiry);
    }

    /// It is answered, or does not matter any more.
    fn over(&self, inquiry: &Inquiry) {
        let _ = inquiry;
    }

    /// What is shown before the prompt of a terminal.
    fn status_line(&self) -> Option<String> {
        None
    }
}

/// Texts that are shown until they are taken away, by extension and key.
#[derive(Default)]
struct Statuses(Mutex<BTreeMap<(String, String), String>>);

/// Characters of one status. What is longer does not fit beside a prompt.
const STATUS: usize = 60;

impl Statuses {
    fn all(&self) -> MutexGuard<'_, BTreeMap<(String, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, by: &str, key: &str, text: Option<&str>) {
        let at = (by.to_owned(), key.to_owned());
        let text = text.map(|text| plain(text.trim()).chars().take(STATUS).collect::<String>());
        match text.filter(|text| !text.is_empty()) {
            Some(text) => drop(self.all().insert(at, text)),
            None => drop(self.all().remove(&at)),
        }
    }

    /// Takes away those of an extension, or all, and tells which.
    fn clear(&self, by: Option<&str>) -> Vec<(String, String)> {
        let mut all = self.all();
        let gone: Vec<(String, String)> =
            all.keys().filter(|(whose, _)| by.is_none_or(|by| by == whose)).cloned().collect();
        gone.iter().for_each(|at| drop(all.remove(at)));
        gone
    }

    fn line(&self) -> Option<String> {
        let all = self.all();
        (!all.is_empty()).then(|| all.values().cloned().collect::<Vec<_>>().join(" · "))
    }
}

/// A person at a terminal.
pub struct Terminal {
    printer: Arc<TextPrinter>,
    statuses: Statuses,
}

impl Terminal {
    /// Shows on what this prints to.
    pub fn new(printer: Arc<TextPrinter>) -> Self {
        Self { printer, statuses: Statuses::default() }
    }
}

impl Screen for Terminal {
    fn notify(&self, by: &str, text: &str, severity: Severity) {
        let mark = match severity {
            Severity::Info => "…",
            Severity::Warn => "!",
            Severity::Error => "✗",
        };
        self.printer.aside(mark, &format!("{by}: {}", plain(text)));
    }

    fn status(&self, by: &str, key: &str, text: Option<&str>) {
        self.statuses.set(by, key, text);
    }

    fn clear(&self, by: Option<&str>) {
        self.statuses.clear(by);
    }

    fn status_line(&self) -> Option<String> {
        self.statuses.line()
    }
}

/// A program at the other end of a pipe.
pub struct Pipe {
    out: Arc<JsonLines>,
    statuses: Statuses,
}

impl Pipe {
    /// Writes lines to this.
    pub fn new(out: &Arc<JsonLines>) -> Self {
        Self { out: Arc::clone(out), statuses: Statuses::default() }
    }

    fn line(&self, ui: &Value) {
        self.out.line(&json!({ "ui": ui }));
    }
}

impl Screen for Pipe {
    fn notify(&self, by: &str, text: &str, severity: Severity) {
        self.line(&json!({ "type": "notify", "extension": by, "text": text, "severity": severity }));
    }

    fn status(&self, by: &str, key: &str, text: Option<&str>) {
        self.statuses.set(by, key, text);
        self.line(&json!({ "type": "status", "extension": by, "key": key, "text": text }));
    }

    fn clear(&self, by: Option<&str>) {
        for (by, key) in self.statuses.clear(by) {
            self.line(&json!({ "type": "status", "extension": by, "key": key, "text": null }));
        }
    }

    fn asks(&self, by: &str, kind: &str, inquiry: &Inquiry) {
        let Inquiry { call, questions } = inquiry;
        self.line(&json!({ "type": kind, "extension": by, "call": call, "questions": questions }));
    }

    fn over(&self, inquiry: &Inquiry) {
        self.line(&json!({ "type": "over", "call": inquiry.call }));
    }
}

/// Nobody looks, but somebody may read what was said.
pub struct Errors;

impl Screen for Errors {
    #[allow(clippy::print_stderr, reason = "a program speaks")]
    fn notify(&self, by: &str, text: &str, _: Severity) {
        eprintln!("mica: {by}: {}", plain(text));
    }
}

#[cfg(test)]
mod tests;

//! Literal values: closed sets, numbers, true and false.
//!
//! What is evaluated at run time is not judged here, nor what an endpoint template fills in.

use crate::check::value::{Holder, Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix};
use crate::model::{Boolean, Place, ValueType};
use crate::near::nearest;

use super::{outcome, severity};

const WRONG: u16 = 104;
const EMPTY: u16 = 105;
const FALSE: u16 = 107;

/// Values that are none of what they may be.
pub(super) struct Values;

impl Rule for Values {
    fn codes(&self) -> &'static [u16] {
        &[WRONG, EMPTY, FALSE]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let (wrong, empty) = match value.holder {
            // What is empty and counts as absent is neither wrong nor empty.
            Holder::Attribute(_, Some(known)) if known.blank && value.text().trim().is_empty() => return,
            Holder::Attribute(_, Some(known)) => {
                let does_harm = known.wrong_when.as_ref().is_none_or(|when| value.placed.holds(when));
                (known.wrong.filter(|_| does_harm), known.empty)
            }
            Holder::Attribute(_, None) => (None, None),
            Holder::Text => {
                let text = value.placed.definition.and_then(|definition| definition.text.as_ref());
                text.map_or((None, None), |text| (text.wrong, text.empty))
            }
        };
        let text = value.text();
        if let Some(class) = empty.filter(|_| text.trim().is_empty()) {
            let what = name(value);
            let message = format!("{what} is empty; {}", outcome(class));
            findings.report(EMPTY, value.span(), message).class(class).severity(severity(class));
            return;
        }
        if value.reading != Reading::Literal
            && !matches!(value.reading, Reading::Template(ref list) if list.is_empty())
        {
            return;
        }
        if is_filled_in(subject, value) {
            return;
        }
        if let ValueType::Boolean(flavour) = value.kind {
            truth(value, *flavour, wrong, findings);
        } else if let Some(class) = wrong
            && !value.kind.takes(text)
        {
            refused(value, class, findings);
        }
    }
}

/// Endpoint templates replace `$name` in their text; externalised values are known only to the server.
pub(in crate::check) fn is_filled_in(subject: &Subject<'_>, value: &Value<'_>) -> bool {
    let text = value.text();
    let external = value.place == Place::Resolved
        && ["$SYSTEM:", "$FILE:", "$CUSTOM_", "${configs."].iter().any(|form| text.starts_with(form));
    external
        || text.contains('$')
            && subject.tree.ancestors(&value.placed).any(|one| one.element.local() == "template")
}

fn refused(value: &Value<'_>, class: Class, findings: &mut Findings) {
    let text = value.text();
    let message = format!("{} is {text:?}, which is not {}; {}", name(value), value.kind, outcome(class));
    if let ValueType::Words(known) = value.kind
        && let Some(list) = words(text, known)
    {
        let fix = Fix::safe(format!("Write {list}"), vec![Edit::replace(value.span(), value.written(&list))]);
        findings.report(WRONG, value.span(), message).class(class).severity(severity(class)).fix(fix);
        return;
    }
    if *value.kind == ValueType::Path && !text.trim().is_empty() && !text.contains("://") {
        let edits = vec![Edit::replace(value.span(), value.written(&format!("/{}", text.trim())))];
        let fix = Fix::safe("Let it start with /", edits);
        findings.report(WRONG, value.span(), message).class(class).severity(severity(class)).fix(fix);
        return;
    }
    let meant = value.kind.choices().and_then(|known| nearest(text.trim(), known.iter().map(String::as_str)));
    let fix = meant.map(|meant| {
        let edits = vec![Edit::replace(value.span(), value.written(meant))];
        let title = format!("Change it to {meant}");
        // Another case or a stray blank is a slip; another word is a guess.
        if meant.eq_ignore_ascii_case(text.trim()) {
            Fix::safe(title, edits)
        } else {
            Fix::review(title, edits)
        }
    });
    findings.report(WRONG, value.span(), message).class(class).severity(severity(class)).fix_if(fix);
}

/// A list of known words in another case, with commas, or with a word twice, as it must be written.
fn words(text: &str, known: &[String]) -> Option<String> {
    let mut list: Vec<&str> = Vec::new();
    for written in text.split(|one: char| !one.is_alphanumeric() && one != '-').filter(|one| !one.is_empty())
    {
        let word = known.iter().find(|one| one.eq_ignore_ascii_case(written))?;
        if !list.contains(&word.as_str()) {
            list.push(word);
        }
    }
    (!list.is_empty()).then(|| list.join(" "))
}

fn truth(value: &Value<'_>, flavour: Boolean, wrong: Option<Class>, findings: &mut Findings) {
    let text = value.text();
    let trimmed = text.trim();
    let is = |word: &str| trimmed.eq_ignore_ascii_case(word);
    let (read_as, clear) = match flavour {
        Boolean::Closed | Boolean::Explicit => {
            if !value.kind.takes(text) {
                refused(value, wrong.unwrap_or(Class::Deploy), findings);
            }
            return;
        }
        Boolean::AnyCase => ("false", is("true") || is("false")),
        Boolean::Exact => ("false", text == "true" || is("false")),
        Boolean::Lenient => ("false", ["true", "yes", "1", "false", "no", "0"].iter().any(|word| is(word))),
        Boolean::UnlessFalse => ("true", text == "false" || is("true")),
    };
    if clear || trimmed.is_empty() {
        return;
    }
    let message = format!(
        "{} is {text:?}, which is read as {read_as}: only the words true and false count",
        name(value)
    );
    let meant = if is("yes") || is("1") || is("on") || is("true") {
        Some("true")
    } else if is("no") || is("0") || is("off") || is("false") {
        Some("false")
    } else {
        nearest(trimmed, ["true", "false"])
    };
    let fix = meant.map(|meant| {
        Fix::review(format!("Change it to {meant}"), vec![Edit::replace(value.span(), value.written(meant))])
    });
    findings.report(FALSE, value.span(), message).fix_if(fix);
}

/// What a value is called in a message.
pub(in crate::check) fn name(value: &Value<'_>) -> String {
    let element = value.placed.element.name();
    match value.attribute() {
        Some(attribute) => format!("{attribute} of <{element}>"),
        None => format!("the text of <{element}>"),
    }
}

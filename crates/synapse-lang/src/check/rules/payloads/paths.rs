//! XPath in template text, where it stays text.

use crate::check::value::{Holder, Reading, Value};
use crate::check::{Findings, Rule, Subject};

const TEXT: u16 = 714;

/// How XPath variables and functions of the runtime begin.
const FORMS: [&str; 8] =
    ["$ctx:", "$axis2:", "$trp:", "$func:", "$url:", "get-property(", "json-eval(", "$var:"];

/// `$ctx:x` and the like in formats and log messages.
pub(super) struct Paths;

impl Rule for Paths {
    fn codes(&self) -> &'static [u16] {
        &[TEXT]
    }

    fn value(&self, _subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::Template(ranges) = &value.reading else { return };
        if !matches!(value.holder, Holder::Text) {
            return;
        }
        let text = value.text();
        let inside = |at: usize| ranges.iter().any(|range| range.contains(&at));
        for form in FORMS {
            for (at, _) in text.match_indices(form).filter(|(at, _)| !inside(*at)) {
                let message =
                    format!("{form}… is not evaluated here and stays text; only ${{…}} is filled in");
                findings.report(TEXT, value.source_span(at..at + form.len()), message);
            }
        }
    }
}

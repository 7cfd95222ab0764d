//! `json-eval(…)`: its last character is cut, whatever it is, and the rest must be a JSONPath.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::jsonpath::Path;

const FORM: u16 = 216;
const PATH: u16 = 219;

/// Broken forms and broken paths.
pub(super) struct JsonEval;

impl Rule for JsonEval {
    fn codes(&self) -> &'static [u16] {
        &[FORM, PATH]
    }

    fn value(&self, _subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::JsonPath(range) = &value.reading else { return };
        let start = range.start - "json-eval(".len();
        let whole = match (value.text().get(..start), value.text().get(start..)) {
            (Some("{"), Some(rest)) => rest.strip_suffix('}').unwrap_or(rest),
            (_, Some(rest)) => rest,
            _ => return,
        };
        let span = value.source_span(start..start + whole.len());
        if !whole.ends_with(')') {
            let message =
                "json-eval( … ) loses its last character, whatever it is; it must be the closing bracket";
            let trimmed = whole.trim_end();
            let better = if trimmed.ends_with(')') { trimmed.to_owned() } else { format!("{trimmed})") };
            let fix = Fix::safe("End it with the bracket", vec![Edit::replace(span, value.written(&better))]);
            findings.report(FORM, span, message).fix(fix);
            return;
        }
        let path = value.text().get(range.clone()).unwrap_or_default();
        // A part that is only known when it runs cannot be judged.
        if path.contains("${") || path.trim().is_empty() {
            return;
        }
        if let Err(error) = Path::compile_in_step(path) {
            let message = format!("{path:?} is not a JSONPath: {error}");
            findings.report(PATH, value.source_span(range.clone()), message);
        }
    }
}

//! Local entries: a URL, or one content.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::syntax::Element;

use super::super::structure::{is_prose, with_indentation};

const URL: u16 = 818;
const CONTENT: u16 = 819;

/// Entries whose content is not where it is looked for.
pub(super) struct LocalEntries;

impl Rule for LocalEntries {
    fn codes(&self) -> &'static [u16] {
        &[URL, CONTENT]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["localEntry"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "artifact.localEntry" {
            return;
        }
        let entry = placed.element;
        let content: Vec<Element<'_>> = entry.elements().filter(|one| one.local() != "description").collect();
        let text = entry.text();
        if let Some(src) = entry.attribute("src") {
            let url = src.value();
            if !has_scheme(&url) && !url.contains('$') {
                let message =
                    format!("src is {url:?}, which is no URL: it begins with none of file:, http:, https:");
                let fix = Fix::review("Make it a file", vec![Edit::insert(src.value_span().start, "file:")]);
                let finding = findings.report(URL, src.value_span(), message).fix(fix);
                if is_prose(&url) {
                    finding.severity(Severity::Warning);
                }
            }
            if !content.is_empty() || !text.trim().is_empty() {
                let message = "With src the content written here is not read";
                findings.report(CONTENT, entry.name_span(), message);
            }
            return;
        }
        if let Some(second) = content.get(1) {
            let message = "A local entry has one element; only the first is kept";
            let edit = Edit::remove(with_indentation(subject, *second));
            findings.report(CONTENT, second.name_span(), message).fix(Fix::review("Remove it", vec![edit]));
        } else if let Some(first) = content.first().filter(|_| !text.trim().is_empty()) {
            let message = "A local entry is an element or a text; beside this element the text is not read";
            findings.report(CONTENT, first.name_span(), message);
        }
    }
}

/// Whether a text begins as URLs do.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let mut letters = scheme.trim_start().chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.'))
}

//! `uri.var.*` and `query.param.*`: endpoints read them from properties of the default scope, and from nowhere else.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;

const VARIABLE: u16 = 606;

/// URI variables that no endpoint sees.
pub(super) struct UriVariables;

impl Rule for UriVariables {
    fn codes(&self) -> &'static [u16] {
        &[VARIABLE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["variable"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let Some(attribute) = element.attribute("name") else { return };
        let name = attribute.value();
        if !(name.starts_with("uri.var.") || name.starts_with("query.param.")) {
            return;
        }
        if placed.id() == "variable" {
            let message =
                format!("Endpoints read {name} from a property; a variable of that name is not looked at");
            let spans = [Some(element.name_span()), element.close_name_span()];
            let rename = |span: Span| Edit::replace(Span::new(span.end - 8, span.end), "property");
            let edits = spans.into_iter().flatten().map(rename).collect();
            findings
                .report(VARIABLE, attribute.value_span(), message)
                .fix(Fix::review("Make it a property", edits));
        }
    }
}

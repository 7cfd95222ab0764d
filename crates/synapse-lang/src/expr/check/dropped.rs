//! Characters that no token begins with: the runtime drops them and evaluates what is left.

use super::{Look, codes};
use crate::diagnostic::{Edit, Severity};
use crate::expr::ast::Expression;
use crate::text::Span;

pub(super) fn look(expression: &Expression, look: &mut Look<'_>) {
    for span in &expression.dropped {
        let text = span.of(&expression.source);
        match text.chars().next() {
            Some('=') => equals(*span, &expression.source, look),
            Some(sign) => {
                let message = format!(
                    "`{text}` is dropped by the runtime, which evaluates the rest as if it were not there"
                );
                let finding = look.report(codes::DROPPED, *span, message);
                // What evaluates without them does so; the text is wrong all the same.
                finding.at_most(Severity::Warning);
                match sign {
                    '&' => finding.safe("Write `&&`", vec![Edit::replace(first(*span), "&&")]),
                    '|' => finding.safe("Write `||`", vec![Edit::replace(first(*span), "||")]),
                    _ => finding.review("Remove it", vec![Edit::remove(*span)]),
                };
            }
            None => {}
        }
    }
}

/// `a = b` loses what follows the sign; `a === b` is `a == b` with one sign too many.
fn equals(span: Span, source: &str, look: &mut Look<'_>) {
    let before = Span::new(0, span.start).of(source);
    if before.ends_with("==") || before.ends_with("!=") {
        let message = "the third `=` is dropped by the runtime; `==` is all there is".to_owned();
        let sign = first(span);
        look.report(codes::EQUALS_SIGN, span, message)
            .at_most(Severity::Warning)
            .safe("Write two signs", vec![Edit::remove(sign)]);
        return;
    }
    let lost = span.of(source);
    let message =
        format!("`{lost}` is dropped by the runtime, so that nothing is compared: write `==` to compare");
    look.report(codes::EQUALS_SIGN, span, message)
        .at_most(Severity::Warning)
        .safe("Write `==`", vec![Edit::replace(first(span), "==")]);
}

/// The first sign, which is one byte long.
fn first(span: Span) -> Span {
    Span::new(span.start, span.start + 1)
}

//! Repairs that meet, repairs that uncover another finding, repairs that would break something.

use super::*;
use crate::diagnostic::Class;

fn finding(code: u16, fix: Fix) -> Diagnostic {
    let span = fix.edits.first().map(|edit| edit.span).unwrap_or_default();
    Diagnostic {
        code: Code(code),
        class: Class::Style,
        severity: Severity::Error,
        span,
        message: String::new(),
        fixes: vec![fix],
    }
}

/// Finds every `b` and offers to make it another letter.
fn letters(with: &'static str, safety: Safety) -> impl Fn(&str) -> Vec<Diagnostic> {
    move |text| {
        let places = text.match_indices('b').map(|(at, _)| u32::try_from(at).unwrap());
        places
            .map(|at| {
                let edits = vec![Edit::replace(Span::new(at, at + 1), with)];
                finding(1, Fix { title: "t".to_owned(), safety, edits })
            })
            .collect()
    }
}

#[test]
fn all_repairs_of_a_round_are_applied() {
    let after = repair("<a>b.b</a>", Extent::Safe, letters("c", Safety::Safe));
    assert_eq!(after.text, "<a>c.c</a>");
    assert_eq!(after.applied.len(), 2);
    assert!(after.refused.is_empty());
}

#[test]
fn a_repair_that_needs_a_look_waits_for_it() {
    let look = letters("c", Safety::Review);
    assert_eq!(repair("<a>b</a>", Extent::Safe, &look).text, "<a>b</a>");
    assert_eq!(repair("<a>b</a>", Extent::Everything, &look).text, "<a>c</a>");
}

#[test]
fn a_repair_that_breaks_the_document_is_refused() {
    let after = repair("<a>b</a>", Extent::Safe, letters("<", Safety::Safe));
    assert_eq!(after.text, "<a>b</a>");
    assert_eq!(after.refused, [Code(1)]);
    assert!(after.applied.is_empty());
}

#[test]
fn a_repair_that_does_not_help_is_refused() {
    let after = repair("<a>b</a>", Extent::Safe, letters("b", Safety::Safe));
    assert_eq!((after.text.as_str(), after.applied.len()), ("<a>b</a>", 0));
    assert_eq!(after.refused, [Code(1)]);
}

#[test]
fn one_bad_repair_among_many_stops_no_other() {
    // Every `b` becomes a `c`, but the one behind `!` would break the document.
    let look = |text: &str| {
        let places = text.match_indices('b').map(|(at, _)| at);
        let fix = |at: usize| {
            let with = if text[..at].ends_with('!') { "<" } else { "c" };
            let at = u32::try_from(at).unwrap();
            finding(1, Fix::safe("t", vec![Edit::replace(Span::new(at, at + 1), with)]))
        };
        places.map(fix).collect()
    };
    let after = repair(&format!("<a>{}!b.{}</a>", "b.".repeat(40), "b.".repeat(40)), Extent::Safe, look);
    assert_eq!(after.text, format!("<a>{}!b.{}</a>", "c.".repeat(40), "c.".repeat(40)));
    assert_eq!((after.applied.len(), after.refused), (80, vec![Code(1)]));
}

#[test]
fn edits_that_overlap_or_lie_outside_are_not_applied() {
    let first = Edit::replace(Span::new(0, 2), "x");
    let second = Edit::replace(Span::new(1, 3), "y");
    assert_eq!(apply("abc", &[&first, &second]), None);
    assert_eq!(apply("abc", &[&Edit::insert(9, "z")]), None);
    assert_eq!(
        apply("abc", &[&Edit::insert(3, "z"), &Edit::remove(Span::new(0, 1))]),
        Some("bcz".to_owned())
    );
}

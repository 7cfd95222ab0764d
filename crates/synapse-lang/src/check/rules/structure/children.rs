//! Children that must be there, that are there too often, and that nobody reads.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix};
use crate::model;
use crate::near::nearest;
use crate::syntax::Element;

use super::{outcome, severity};

const MISSING: u16 = 110;
const EXTRA: u16 = 111;
const UNREAD: u16 = 112;

/// Missing, repeated and unread children.
pub(super) struct Children;

impl Rule for Children {
    fn codes(&self) -> &'static [u16] {
        &[MISSING, EXTRA, UNREAD]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.role == Role::Stray {
            unread(subject, placed, findings);
        }
        let Some(definition) = placed.definition.filter(|definition| !definition.shallow) else { return };
        if !placed.element.is_closed() {
            return;
        }
        for (child, part) in subject.model.parts(definition) {
            if child.when.as_ref().is_some_and(|when| !placed.holds(when)) {
                continue;
            }
            count(subject, placed, child, part, findings);
        }
    }
}

fn count(
    subject: &Subject<'_>,
    placed: &Placed<'_>,
    child: &model::Child,
    part: &model::Element,
    findings: &mut Findings,
) {
    let element = placed.element;
    let mut named = element.elements().filter(|one| one.local() == part.name);
    let too_many = child.max.and_then(|max| named.by_ref().nth(usize::from(max)));
    if let Some(extra) = too_many {
        let often = if child.max == Some(1) {
            "once".to_owned()
        } else {
            format!("{} times", child.max.unwrap_or(0))
        };
        let message = format!(
            "<{}> is read {often} in <{}>; the ones after that {}",
            part.name,
            element.name(),
            if child.extra == Class::Ignored { "are not looked at" } else { outcome(child.extra) }
        );
        let fix = Fix::review("Remove it", vec![Edit::remove(with_indentation(subject, extra))]);
        let finding = findings.report(EXTRA, extra.name_span(), message);
        finding.class(child.extra).severity(severity(child.extra)).fix(fix);
        return;
    }
    let exists = subject.runtime.has(part.since, part.until);
    let found = element.elements().filter(|one| one.local() == part.name).count();
    if exists && found < usize::from(child.min) {
        let message = format!("<{}> has no <{}>; {}", element.name(), part.name, outcome(child.missing));
        let finding = findings.report(MISSING, element.name_span(), message);
        finding.class(child.missing).severity(severity(child.missing));
    }
}

fn unread(subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
    let element = placed.element;
    let local = element.local();
    // What follows an element that is not closed only seems to stand inside it.
    let Some(parent) = subject.tree.parent(placed).filter(|parent| parent.element.is_closed()) else {
        return;
    };
    let Some(definition) = parent.definition.filter(|_| !local.is_empty()) else { return };
    let mistake = definition.mistakes.iter().find(|one| one.wrong == local);
    let parts = || subject.model.parts(definition).map(|(_, part)| part.name.as_str());
    let meant = mistake.and_then(|one| one.right.as_deref()).filter(|right| !right.starts_with('@'));
    let meant = meant.or_else(|| nearest(local, parts()));
    let note = match (mistake, meant) {
        (Some(mistake), _) => format!(". {}", mistake.note),
        (None, Some(meant)) => format!("; did you mean <{meant}>?"),
        (None, None) => String::new(),
    };
    let message = format!("<{}> is not read inside <{}>{note}", element.name(), parent.element.name());
    let fix = meant.filter(|meant| parts().any(|part| part == *meant)).map(|meant| rename(element, meant));
    findings.report(UNREAD, element.name_span(), message).fix_if(fix);
}

fn rename(element: Element<'_>, to: &str) -> Fix {
    let spans = [Some(element.name_span()), element.close_name_span()];
    let local = |span: crate::text::Span| {
        // Only the local name changes; a prefix stays.
        let prefix = element.prefix().map_or(0, |prefix| u32::try_from(prefix.len() + 1).unwrap_or(0));
        crate::text::Span::new(span.start + prefix, span.end)
    };
    let edits = spans.into_iter().flatten().map(|span| Edit::replace(local(span), to)).collect();
    Fix::review(format!("Rename it to <{to}>"), edits)
}

/// An element with the blanks and the line end before it, so that removing it leaves no empty line.
pub(in crate::check) fn with_indentation(subject: &Subject<'_>, element: Element<'_>) -> crate::text::Span {
    let span = element.span();
    let source = subject.document.source();
    let before = source.get(..span.start as usize).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']);
    let kept = kept.strip_suffix('\n').map_or(kept, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    crate::text::Span::new(u32::try_from(kept.len()).unwrap_or(span.start), span.end)
}

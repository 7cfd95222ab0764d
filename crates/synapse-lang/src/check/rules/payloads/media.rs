//! What a format is: its media type, one root, and one source.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::syntax::Element;

use super::super::structure::is_prose;
use super::format::{Format, Media as Kind};

const NOT_XML: u16 = 701;
const ELEMENTS: u16 = 708;
const ROOTS: u16 = 709;
const KEY: u16 = 713;

/// Formats of another media type than they say.
pub(super) struct Media;

impl Rule for Media {
    fn codes(&self) -> &'static [u16] {
        &[NOT_XML, ELEMENTS, ROOTS, KEY]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["payloadFactory"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        key_and_content(placed, findings);
        let Some(format) = Format::of(placed) else { return };
        let mut children = format.element.elements();
        let first = children.next();
        match (format.media, first) {
            (Kind::Xml, None) => not_xml(&format, findings),
            (Kind::Xml, Some(_)) => {
                if let Some(second) = children.next() {
                    let message = "An XML format has one root; only the first element becomes the payload";
                    findings.report(ROOTS, second.name_span(), message);
                } else if !format.element.text().trim().is_empty() {
                    let message = "Text beside the root of an XML format does not become part of the payload";
                    findings.report(ROOTS, format.element.name_span(), message);
                }
            }
            (Kind::Json | Kind::Text, Some(child)) => elements(&format, child, findings),
            (Kind::Json | Kind::Text, None) => {}
        }
    }
}

fn not_xml(format: &Format<'_>, findings: &mut Findings) {
    let text = format.element.text();
    let text = text.trim();
    // A single placeholder may well give XML, and XML as text is the business of newer runtimes.
    let (media, what) = match text.chars().next() {
        None | Some('$' | '<') => return,
        Some('{' | '[') => ("json", "JSON"),
        Some(_) => ("text", "text"),
    };
    if format.factory.value("media-type").is_some_and(|media| media != "xml") {
        return; // No media type at all, which has a finding of its own.
    }
    let message =
        format!("The format is {what}, but without media-type=\"{media}\" it is read as XML and fails");
    let edit = match format.factory.attribute("media-type") {
        Some(written) => Edit::replace(written.value_span(), media),
        None => Edit::insert(format.factory.attributes_end(), format!(" media-type=\"{media}\"")),
    };
    let title = format!("Say media-type=\"{media}\"");
    let fix = if media == "json" { Fix::safe(title, vec![edit]) } else { Fix::review(title, vec![edit]) };
    let finding = findings.report(NOT_XML, format.factory.name_span(), message).fix(fix);
    if is_prose(text) {
        finding.severity(Severity::Warning);
    }
}

fn elements(format: &Format<'_>, child: Element<'_>, findings: &mut Findings) {
    let message = format!(
        "Only text is taken from this format: <{}> and what is in it gets lost. Write it as CDATA",
        child.name()
    );
    let fix = format.element.content_span().and_then(|span| {
        let raw = span.of(format.element.document().source());
        let plain = !raw.contains(['&']) && !raw.contains("<![CDATA[") && !raw.contains("<!--");
        plain.then(|| Fix::safe("Write it as CDATA", vec![Edit::replace(span, format!("<![CDATA[{raw}]]>"))]))
    });
    findings.report(ELEMENTS, child.name_span(), message).fix_if(fix);
}

fn key_and_content(placed: &Placed<'_>, findings: &mut Findings) {
    if !placed.is_mediator("payloadFactory") {
        return;
    }
    let Some(format) = placed.element.first("format") else { return };
    let written = format.has_element_children() || !format.text().trim().is_empty();
    if let Some(key) = format.attribute("key").filter(|_| written) {
        let message = "With key the format written here is not read";
        let fix = Fix::review("Remove key", vec![Edit::remove(key.span_with_space())]);
        findings.report(KEY, key.name_span(), message).fix(fix);
    }
}

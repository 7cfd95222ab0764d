//! A report as JUnit XML, which most systems that build software read.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::report::{CaseReport, Check, Report, Status, visible};

/// The report as JUnit XML: one suite, a test for each case.
///
/// # Errors
/// None that happens: memory takes all of it.
pub fn junit(report: &Report) -> std::io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let totals = [
        ("tests", report.cases.len().to_string()),
        ("failures", report.count(Status::Failed).to_string()),
        ("errors", report.count(Status::Error).to_string()),
        ("skipped", report.count(Status::Skipped).to_string()),
        ("time", format!("{:.3}", report.seconds)),
    ];
    let open = |name: &'static str| {
        let totals = totals.iter().map(|(key, value)| (*key, value.as_str()));
        BytesStart::new(name).with_attributes(std::iter::once(("name", "mica eval")).chain(totals))
    };
    writer.write_event(Event::Start(open("testsuites")))?;
    writer.write_event(Event::Start(open("testsuite")))?;
    for case in &report.cases {
        test(&mut writer, case)?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
    text.push('\n');
    Ok(text)
}

fn test(writer: &mut Writer<Vec<u8>>, case: &CaseReport) -> std::io::Result<()> {
    let time = format!("{:.3}", case.seconds);
    let name = allowed(&case.name);
    let open = BytesStart::new("testcase").with_attributes([
        ("classname", allowed(&case.product).as_str()),
        ("name", name.as_str()),
        ("time", time.as_str()),
    ]);
    let (element, message) = match case.status {
        Status::Passed => {
            return writer.write_event(Event::Empty(open));
        }
        Status::Failed => ("failure", case.about.clone()),
        Status::Error => ("error", case.problem.clone().unwrap_or_else(|| case.about.clone())),
        Status::Skipped => ("skipped", case.problem.clone().unwrap_or_default()),
    };
    writer.write_event(Event::Start(open))?;
    let message = allowed(&message);
    let inner = BytesStart::new(element).with_attributes([("message", message.as_str())]);
    let failed = case.checks.iter().filter(|check| !check.passed);
    let text: Vec<String> = failed
        .map(|check| {
            let judged = if check.judged { " (judged)" } else { "" };
            let Check { at, what, expected, found, .. } = check;
            format!("{at}: {what}{judged}\nexpected: {expected}\nfound: {found}")
        })
        .collect();
    if text.is_empty() {
        writer.write_event(Event::Empty(inner))?;
    } else {
        writer.write_event(Event::Start(inner))?;
        writer.write_event(Event::Text(BytesText::new(&allowed(&text.join("\n\n")))))?;
        writer.write_event(Event::End(BytesEnd::new(element)))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// A text without the characters that XML has no way to write: they are written as what they are.
fn allowed(text: &str) -> String {
    visible(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

#[cfg(test)]
mod tests;

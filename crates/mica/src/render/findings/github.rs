//! Findings as commands of GitHub workflows, which show them beside the code.

use std::fmt::Write as _;

use synapse_lang::diagnostic::Severity;
use synapse_lang::pages;
use synapse_lang::text::Lines;

use super::{Region, Report};

/// One row for each finding.
pub fn print(report: &Report<'_>) -> String {
    let mut out = String::new();
    for file in report.files {
        let lines = Lines::of(&file.text);
        for one in report.shown(file) {
            let Region { line, column, end_line, end_column } = Region::of(&file.text, &lines, one.span);
            let command = match one.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Hint => "notice",
            };
            let name = pages::page(one.code).map_or("", |page| page.name);
            let title = format!("{} {name}", one.code);
            let _ = writeln!(
                out,
                "::{command} file={},line={line},col={column},endLine={end_line},endColumn={end_column},title={}::{}",
                property(&file.shown),
                property(title.trim_end()),
                data(&one.message)
            );
        }
    }
    out
}

/// A message as it must be written: one row.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property as it must be written: commas and colons would end it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("100% of\r\na: b, c"), "100%25 of%0D%0Aa: b, c");
        assert_eq!(property("C:\\a,b%.xml"), "C%3A\\a%2Cb%25.xml");
    }
}

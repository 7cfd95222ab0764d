//! `mica format`: indents files.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use synapse_lang::format::{Obstacle, Style, format, obstacle};
use synapse_lang::syntax::Document;
use synapse_lang::text::Unit;

use super::check::input;
use super::fix::replace;
use super::language::Said;
use crate::cli::language::FormatFlags;
use crate::exit::Exit;
use crate::parallel;
use crate::render::findings::many;
use crate::sources::{self, Sources, Target, View};

/// What came of a file.
enum Outcome {
    Same,
    Changed {
        before: String,
        after: String,
    },
    /// It is no artifact: other XML is not ours to indent.
    Other,
    Left(String),
}

/// Indents files, or the text on standard input.
///
/// # Errors
/// When a path does not exist, or standard input is not well-formed.
pub fn run(flags: &FormatFlags) -> Result<Said> {
    if flags.stdin {
        let text = sources::decode(input()?).text;
        return match broken("<stdin>", &Document::parse(text.as_ref())) {
            Some(why) => Err(anyhow!("{why}")),
            None => Ok(Said::done(format(&text, &Style::default()))),
        };
    }
    let found = Sources::find(&flags.paths, View::Standalone)?;
    let mut said = Said::done(String::new());
    let (mut changed, mut same, mut left) = (0, 0, Vec::new());
    for (target, outcome) in found.targets.iter().zip(parallel::map(&found.targets, one)) {
        match outcome {
            Outcome::Same => same += 1,
            Outcome::Other => {}
            Outcome::Left(why) => left.push(why),
            Outcome::Changed { before, after } => {
                let done = if flags.check {
                    Ok(())
                } else {
                    replace(&target.file, before.as_bytes(), after.as_bytes())
                };
                match done {
                    Ok(()) => {
                        changed += 1;
                        let _ = writeln!(said.out, "{}", target.shown);
                    }
                    Err(why) => left.push(format!("{}: {why}", target.shown)),
                }
            }
        }
    }
    let verb = if flags.check { "would change" } else { "indented" };
    let _ = writeln!(said.err, "{} {verb}, {same} as they should be.", many(changed, "file"));
    if flags.check && changed > 0 {
        said.exit = Exit::Error;
    }
    Ok(said.and_troubles(&found.unreadable).and_troubles(&left))
}

fn one(target: &Target) -> Outcome {
    let text = match sources::read(&target.file) {
        Ok(text) if text.exact => text.text,
        Ok(_) => return Outcome::Left(format!("{}: it is not in UTF-8, so it was left alone", target.shown)),
        Err(why) => return Outcome::Left(format!("{}: {why}", target.shown)),
    };
    let document = Document::parse(text.as_ref());
    if let Some(why) = broken(&target.shown, &document) {
        return Outcome::Left(why);
    }
    if obstacle(&document).is_some() {
        return Outcome::Other;
    }
    let after = format(&text, &Style::default());
    if *text == after { Outcome::Same } else { Outcome::Changed { before: text.to_string(), after } }
}

/// Where and why a document is not well-formed.
fn broken(shown: &str, document: &Document) -> Option<String> {
    let Some(Obstacle::Broken { span, message }) = obstacle(document) else { return None };
    let at = document.lines().position(document.source(), span.start, Unit::Utf16);
    Some(format!(
        "{shown}:{}:{}: left alone, because it is not well-formed: {message}",
        at.line + 1,
        at.column + 1
    ))
}

//! Asks a person about what a project brings, before any of it is used: once for exactly what it is.

use std::io::{BufRead, Write};

use anyhow::Result;

use crate::config::project::{self, Part, State};
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// What a person types.
enum Said {
    Yes,
    No,
    Show,
    Nothing,
}

/// Asks about everything that nothing was said about yet. What is said counts from now on. Without an answer, nothing of it
/// is used, and the question comes again with the next start.
///
/// # Errors
/// When the terminal cannot be used, or an answer cannot be kept.
pub fn ask(surroundings: &Surroundings, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<()> {
    let (parts, problems) = project::parts(&surroundings.folder);
    for problem in problems {
        writeln!(out, "… {problem}")?;
    }
    let new: Vec<Part> = parts.into_iter().filter(|part| part.state(surroundings) == State::New).collect();
    about(surroundings, &new, input, out)
}

/// Asks about these parts.
///
/// # Errors
/// As [`ask`].
pub fn about(
    surroundings: &Surroundings,
    parts: &[Part],
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "? {}", question(surroundings, parts))?;
    loop {
        write!(out, "  [y]es, [n]o, [s]how: ")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        match said(&line) {
            Said::Yes => return parts.iter().try_for_each(|part| part.trust(surroundings)),
            Said::No => {
                parts.iter().try_for_each(|part| part.decline(surroundings))?;
                writeln!(out, "… not used; `mica trust` changes that")?;
                return Ok(());
            }
            Said::Show => {
                for part in parts {
                    writeln!(out, "{}\n", plain(&part.line(&surroundings.folder)))?;
                    part.text.lines().try_for_each(|line| writeln!(out, "    {}", plain(line)))?;
                    writeln!(out)?;
                }
            }
            // Enter is hit too easily to be an answer.
            Said::Nothing => {}
        }
    }
}

/// What is asked, without a line break at its end.
pub fn question(surroundings: &Surroundings, parts: &[Part]) -> String {
    let mut text =
        "This project brings things that change what mica does here. Trust them as they are now?".to_owned();
    for part in parts {
        text.push_str(&format!("\n  {}: {}", plain(&part.line(&surroundings.folder)), part.kind.does));
    }
    text
}

fn said(line: &str) -> Said {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Said::Yes,
        "n" | "no" => Said::No,
        "s" | "show" => Said::Show,
        _ => Said::Nothing,
    }
}

#[cfg(test)]
mod tests;

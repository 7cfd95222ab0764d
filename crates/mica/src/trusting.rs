//! Asks a person about what a project brings, and about what extensions of theirs want to be allowed, before any of it is
//! used: once for exactly what it is.

use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::Result;

use crate::config::ExtensionValues;
use crate::config::project::{self, Part, State};
use crate::equipment::extensions::found::{self, Whose};
use crate::equipment::extensions::permits::Permits;
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// What can be answered.
pub const ANSWERS: &str = "  [y]es, [n]o, [s]how: ";

/// Something that a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matter {
    /// What a project brings.
    Trust(Vec<Part>),
    /// What an extension of the user wants to be allowed.
    Allow {
        /// What it is called.
        name: String,
        /// Where it is.
        path: PathBuf,
        /// What it asks for.
        asks: Vec<String>,
        /// Its text.
        text: String,
    },
}

/// What became of a line that was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    /// It is settled; this is said about it.
    Settled(Option<String>),
    /// It is not; this is shown, and the question comes again.
    Again(String),
}

impl Matter {
    /// What a project brings and nothing was said about yet, and what could not be read of it.
    pub fn of_project(surroundings: &Surroundings) -> (Option<Self>, Vec<String>) {
        let (mut parts, problems) = project::all_parts(surroundings, &surroundings.folder);
        parts.retain(|part| part.state(surroundings) == State::New);
        ((!parts.is_empty()).then_some(Self::Trust(parts)), problems)
    }

    /// What extensions of the user want to be allowed and nothing was said about yet.
    pub fn of_user(surroundings: &Surroundings, values: &ExtensionValues) -> Vec<Self> {
        let Ok(permits) = Permits::find(surroundings, values) else { return Vec::new() };
        let all = found::all(surroundings, &[]).into_iter().filter(|found| found.whose == Whose::User);
        let asking = all.filter_map(|found| {
            let (name, asks) = (found.name(), found.asks());
            let open = permits.unanswered(&name, &asks);
            let text = found.bundle.as_ref().ok()?.text();
            (!open.is_empty() && !permits.is_disabled(&name)).then_some(Self::Allow {
                name,
                path: found.path,
                asks: open,
                text,
            })
        });
        asking.collect()
    }

    /// What is asked, without a line break at its end.
    pub fn question(&self, surroundings: &Surroundings) -> String {
        match self {
            Self::Trust(parts) => {
                let mut text =
                    "This project brings things that change what mica does here. Trust them as they are now?"
                        .to_owned();
                for part in parts {
                    let line = plain(&part.line(&surroundings.folder));
                    let changed =
                        if part.is_changed(surroundings) { "; changed since you trusted it" } else { "" };
                    let _ = write!(text, "\n  {line}: {}{changed}", part.kind.does);
                }
                text
            }
            Self::Allow { name, path, asks, .. } => {
                format!("The extension {name} ({}) asks for {}. Allow it?", path.display(), asks.join(", "))
            }
        }
    }

    /// Takes an answer, and keeps it. Enter is hit too easily to be one.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn answered(&self, surroundings: &Surroundings, line: &str) -> Result<Answered> {
        let yes = match line.trim().to_lowercase().as_str() {
            "y" | "yes" => true,
            "n" | "no" => false,
            "s" | "show" => return Ok(Answered::Again(self.shown(surroundings))),
            _ => return Ok(Answered::Again(String::new())),
        };
        match self {
            Self::Trust(parts) if yes => parts.iter().try_for_each(|part| part.trust(surroundings))?,
            Self::Trust(parts) => {
                parts.iter().try_for_each(|part| part.decline(surroundings))?;
                return Ok(Answered::Settled(Some("not used; `mica trust` changes that".to_owned())));
            }
            Self::Allow { name, asks, .. } => {
                let mut permits = Permits::kept(surroundings)?;
                if yes {
                    permits.grant(name, asks);
                } else {
                    permits.decline(name, asks);
                }
                permits.keep(surroundings)?;
                if !yes {
                    let said = format!("{name} runs without it; `mica ext allow {name}` changes that");
                    return Ok(Answered::Settled(Some(said)));
                }
            }
        }
        Ok(Answered::Settled(None))
    }

    fn shown(&self, surroundings: &Surroundings) -> String {
        let mut out = String::new();
        let mut show = |title: &str, text: &str| {
            let _ = writeln!(out, "{}\n", plain(title));
            for line in text.lines() {
                let _ = writeln!(out, "    {}", plain(line));
            }
            out.push('\n');
        };
        match self {
            Self::Trust(parts) => {
                parts.iter().for_each(|part| show(&part.line(&surroundings.folder), &part.text));
            }
            Self::Allow { path, text, .. } => show(&path.display().to_string(), text),
        }
        out
    }
}

/// Asks about what a project brings. Without an answer, nothing of it is used, and the question comes again with the next
/// start.
///
/// # Errors
/// When the terminal cannot be used, or an answer cannot be kept.
pub fn ask_about_project(
    surroundings: &Surroundings,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<()> {
    let (matter, problems) = Matter::of_project(surroundings);
    for problem in problems {
        writeln!(out, "… {problem}")?;
    }
    ask(surroundings, matter.as_slice(), input, out)
}

/// Asks about these, one after the other.
///
/// # Errors
/// As [`ask_about_project`].
pub fn ask(
    surroundings: &Surroundings,
    matters: &[Matter],
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<()> {
    for matter in matters {
        writeln!(out, "? {}", matter.question(surroundings))?;
        loop {
            write!(out, "{ANSWERS}")?;
            out.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match matter.answered(surroundings, &line)? {
                Answered::Again(shown) => write!(out, "{shown}")?,
                Answered::Settled(said) => {
                    if let Some(said) = said {
                        writeln!(out, "… {said}")?;
                    }
                    break;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Gives what several selectors ask for as one text of bounded size.
//!
//! A result stays below what the window spills to files: what does not fit is left out by whole sections, and the text
//! says how to ask for it. A reference that is asked for twice is given once, and a section not beside its whole.

use std::fmt::Write as _;

use synapse_lang::model::Version;

use super::document::{Reference, Section};
use super::library::Library;
use super::select::{Gate, LookupError, Selected, gate};

/// Bytes of a result at most: what mica-context spills, less what frames a result.
pub const MOST_BYTES: usize = (30 << 10) - 1024;

/// What selectors gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// For the model or a person.
    pub text: String,
    /// The selectors that were given, as they are spelled.
    pub given: Vec<String>,
    /// What the text takes, in tokens.
    pub tokens: u64,
    /// What was not found or not given, and why.
    pub errors: Vec<LookupError>,
}

impl Library {
    /// Loads what selectors ask for. Nothing at all is given only when every one is wrong.
    ///
    /// # Errors
    /// What is wrong with the selectors, when all are.
    pub fn load<S: AsRef<str>>(
        &self,
        selectors: &[S],
        version: Option<Version>,
    ) -> Result<Loaded, Vec<LookupError>> {
        let mut errors = Vec::new();
        let mut chosen: Vec<(Selected<'_>, Gate)> = Vec::new();
        if selectors.is_empty() {
            errors.extend(self.select("").err());
        }
        for selector in selectors {
            let found = self.select(selector.as_ref()).and_then(|selected| {
                let gate = gate(&selected.to_string(), selected.runtimes(), version)?;
                Ok((selected, gate))
            });
            match found {
                Ok(found) => chosen.push(found),
                Err(error) => errors.push(error),
            }
        }
        if chosen.is_empty() {
            return Err(errors);
        }
        let chosen = once(chosen);
        let mut out = Bounded { text: String::new(), given: Vec::new(), left: Vec::new() };
        for (selected, gate) in &chosen {
            out.add(selected, gate, version);
        }
        let (mut text, given) = out.finish();
        for error in &errors {
            let _ = writeln!(text, "[{error}]");
        }
        let tokens = mica_context::tokens::of_text(&text);
        Ok(Loaded { text, given, tokens, errors })
    }
}

/// Each once; no section beside its whole reference.
fn once<'a>(chosen: Vec<(Selected<'a>, Gate)>) -> Vec<(Selected<'a>, Gate)> {
    let whole: Vec<String> = chosen
        .iter()
        .filter(|(selected, _)| selected.section.is_none())
        .map(|(selected, _)| selected.reference.name.clone())
        .collect();
    let mut kept: Vec<(Selected<'a>, Gate)> = Vec::new();
    for (selected, gate) in chosen {
        let covered = selected.section.is_some() && whole.contains(&selected.reference.name);
        if !covered && !kept.iter().any(|(one, _)| one.to_string() == selected.to_string()) {
            kept.push((selected, gate));
        }
    }
    kept
}

/// A text that does not grow beyond its bound.
struct Bounded {
    text: String,
    given: Vec<String>,
    left: Vec<String>,
}

impl Bounded {
    fn add(&mut self, selected: &Selected<'_>, gate: &Gate, version: Option<Version>) {
        let mut opened = format!("<reference name=\"{selected}\" tokens=\"{}\">\n", selected.tokens());
        if let Gate::Unknown { needs } = gate {
            let _ = writeln!(opened, "[true for MI {needs}; which runtime this project has is not known]");
        }
        let close = "</reference>\n";
        if let Some(section) = selected.section {
            let whole = format!("{opened}{}{close}", section.markdown());
            if self.fits(&whole) {
                self.text.push_str(&whole);
                self.given.push(selected.to_string());
            } else {
                self.leave(selected.reference, section);
            }
            return;
        }
        let reference = selected.reference;
        let _ = write!(opened, "# {}\n\n", reference.title);
        if !reference.introduction.is_empty() {
            let _ = write!(opened, "{}\n\n", reference.introduction);
        }
        let mut body = opened;
        let mut any = false;
        for section in &reference.sections {
            if version.is_some_and(|version| !section.runtimes.has(version)) {
                let needs = section.runtimes.words().unwrap_or_default();
                let _ = writeln!(body, "[the section {} is left out: it needs MI {needs}]\n", section.name);
                continue;
            }
            let mut text = format!("{}\n", section.markdown());
            if let (None, true, Some(needs)) =
                (version, section.runtimes != reference.runtimes, section.runtimes.words())
            {
                text.insert_str(0, &format!("[the next section is true for MI {needs}]\n"));
            }
            if self.text.len() + body.len() + text.len() + close.len() < MOST_BYTES {
                body.push_str(&text);
                any = true;
            } else {
                self.leave(reference, section);
            }
        }
        if any || reference.sections.is_empty() {
            self.text.push_str(&body);
            self.text.push_str(close);
            self.given.push(selected.to_string());
        }
    }

    fn fits(&self, text: &str) -> bool {
        self.text.len() + text.len() < MOST_BYTES
    }

    fn leave(&mut self, reference: &Reference, section: &Section) {
        self.left.push(format!("{}:{} ({} tokens)", reference.name, section.name, section.tokens()));
    }

    fn finish(mut self) -> (String, Vec<String>) {
        if !self.left.is_empty() {
            let left = self.left.join(", ");
            let _ = writeln!(self.text, "[too long for one answer; ask separately for {left}]");
        }
        (self.text, self.given)
    }
}

#[cfg(test)]
mod tests;

//! Finds what somebody asked for: `name`, `name:section`, however they spelled it.
//!
//! Case, hyphens, underscores and blanks do not matter, `synapse-` may be left out, and a beginning that only one name
//! has is enough. A slip is never guessed at: the error says what was probably meant.

use std::fmt;

use synapse_lang::model::Version;
use synapse_lang::near::nearest;

use super::document::{Reference, Section, spelled};
use super::head::Span;
use super::library::Library;

/// What was asked for, and is there.
#[derive(Debug, Clone, Copy)]
pub struct Selected<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// The part of it; all of it when absent.
    pub section: Option<&'a Section>,
}

impl Selected<'_> {
    /// The runtimes it is true for.
    #[must_use]
    pub fn runtimes(&self) -> Span {
        self.section.map_or(self.reference.runtimes, |section| section.runtimes)
    }

    /// Its text as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.section.map_or_else(|| self.reference.markdown(), Section::markdown)
    }

    /// What it takes, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        mica_context::tokens::of_text(&self.markdown())
    }
}

impl fmt::Display for Selected<'_> {
    /// The selector that finds it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reference.name)?;
        self.section.map_or(Ok(()), |section| write!(f, ":{}", section.name))
    }
}

/// Why something was not found. The texts are for people and models alike.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// Nothing was asked for.
    #[error("nothing was asked for; ask for `name` or `name:section`. There are: {all}")]
    Nothing {
        /// All names.
        all: String,
    },
    /// No reference is called so.
    #[error("no reference `{asked}`; {hint}")]
    NoReference {
        /// What was asked for.
        asked: String,
        /// What was probably meant, or what there is.
        hint: String,
    },
    /// Several names begin so.
    #[error("`{asked}` is the beginning of several references: {candidates}")]
    Several {
        /// What was asked for.
        asked: String,
        /// The names that begin so.
        candidates: String,
    },
    /// The reference has no such section.
    #[error("`{reference}` has no section `{asked}`; {hint}")]
    NoSection {
        /// The reference.
        reference: String,
        /// What was asked for.
        asked: String,
        /// What was probably meant, and what there is.
        hint: String,
    },
    /// It is about another runtime.
    #[error("`{selector}` needs MI {needs}; this project says {detected} in pom.xml")]
    Runtime {
        /// What was asked for.
        selector: String,
        /// The runtimes it is true for.
        needs: String,
        /// The runtime of the project.
        detected: Version,
    },
}

/// How something stands to the runtime of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// It is true there.
    Open,
    /// It is true for some runtimes, and which one the project has is not known.
    Unknown {
        /// The runtimes it is true for.
        needs: String,
    },
}

impl Library {
    /// Finds what a selector names.
    ///
    /// # Errors
    /// [`LookupError`], which says what there is instead.
    pub fn select(&self, selector: &str) -> Result<Selected<'_>, LookupError> {
        let selector = selector.trim().trim_matches(['`', '"', '\'']).trim();
        let (name, section) = match selector.split_once(':') {
            Some((name, section)) => (name.trim(), Some(section.trim())),
            None => (selector, None),
        };
        if spelled(name, '-').is_empty() {
            return Err(LookupError::Nothing { all: names(self.references()) });
        }
        let reference = self.find(name)?;
        let section = match section {
            Some(section) if !spelled(section, '_').is_empty() => Some(find_section(reference, section)?),
            _ => None,
        };
        Ok(Selected { reference, section })
    }

    fn find(&self, asked: &str) -> Result<&Reference, LookupError> {
        let wanted = squashed(asked.strip_suffix(".md").unwrap_or(asked));
        let forms = |reference: &Reference| -> Vec<String> {
            let names = std::iter::once(&reference.name).chain(&reference.aliases);
            names
                .flat_map(|name| {
                    let short = name.strip_prefix("synapse-").map(squashed);
                    std::iter::once(squashed(name)).chain(short)
                })
                .collect()
        };
        let exact = self.references().iter().find(|one| forms(one).contains(&wanted));
        if let Some(exact) = exact {
            return Ok(exact);
        }
        let begins = |one: &&Reference| forms(one).iter().any(|form| form.starts_with(&wanted));
        let candidates: Vec<&Reference> = self.references().iter().filter(begins).collect();
        match candidates.as_slice() {
            [only] => Ok(only),
            [] => Err(LookupError::NoReference { asked: asked.to_owned(), hint: self.hint(asked) }),
            several => {
                let candidates = several.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
                Err(LookupError::Several { asked: asked.to_owned(), candidates })
            }
        }
    }

    /// What somebody probably meant who asked for a reference that is not there.
    fn hint(&self, asked: &str) -> String {
        let written = spelled(asked, '-');
        let known = || {
            let all = self.references().iter().flat_map(|one| std::iter::once(&one.name).chain(&one.aliases));
            all.map(String::as_str)
        };
        let short = format!("synapse-{written}");
        if let Some(near) = nearest(&written, known()).or_else(|| nearest(&short, known())) {
            return format!("did you mean `{near}`?");
        }
        let section = spelled(asked, '_');
        let homes: Vec<String> = self
            .references()
            .iter()
            .filter(|one| one.section(&section).is_some())
            .map(|one| format!("`{}:{section}`", one.name))
            .collect();
        if homes.is_empty() {
            format!("there are: {}", names(self.references()))
        } else {
            format!("that is a section: ask for {}", homes.join(" or "))
        }
    }
}

/// Finds a section of a reference.
fn find_section<'a>(reference: &'a Reference, asked: &str) -> Result<&'a Section, LookupError> {
    let wanted = squashed(asked);
    let exact = reference.sections.iter().find(|one| squashed(&one.name) == wanted);
    if let Some(exact) = exact {
        return Ok(exact);
    }
    let begins = |one: &&Section| squashed(&one.name).starts_with(&wanted);
    let mut candidates = reference.sections.iter().filter(begins);
    if let (Some(only), None) = (candidates.next(), candidates.next()) {
        return Ok(only);
    }
    let known = || reference.sections.iter().map(|one| one.name.as_str());
    let near = nearest(&spelled(asked, '_'), known());
    let near = near.map_or_else(|| "its".to_owned(), |near| format!("did you mean `{near}`? Its"));
    let hint = if reference.sections.is_empty() {
        "it has no sections: ask for all of it".to_owned()
    } else {
        format!("{near} sections are: {}", known().collect::<Vec<_>>().join(", "))
    };
    Err(LookupError::NoSection { reference: reference.name.clone(), asked: asked.to_owned(), hint })
}

/// Whether something may be given for a runtime.
///
/// # Errors
/// [`LookupError::Runtime`] when it is about others.
pub(super) fn gate(selector: &str, runtimes: Span, version: Option<Version>) -> Result<Gate, LookupError> {
    let Some(needs) = runtimes.words() else { return Ok(Gate::Open) };
    match version {
        None => Ok(Gate::Unknown { needs }),
        Some(version) if runtimes.has(version) => Ok(Gate::Open),
        Some(detected) => Err(LookupError::Runtime { selector: selector.to_owned(), needs, detected }),
    }
}

fn names(references: &[Reference]) -> String {
    references.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Letters and digits in lower case: what counts of a name.
fn squashed(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;

//! The pages of the codes: what each finding means, with a bad and a good example.
//!
//! They are the files `docs/synapse/SYN*.md`, read when the crate is built. Their examples are run as tests.

mod examples;

pub use examples::{Example, Fence, Verdict};

use crate::diagnostic::{Class, Code, Severity};

/// The page of one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// Its name in words, for people who search: `unknown-mediator`.
    pub name: &'static str,
    /// What it says, in a few words.
    pub title: &'static str,
    /// What the runtime does, unless the finding knows better.
    pub class: Class,
    /// How bad it is, unless the finding knows better.
    pub severity: Severity,
    /// The page as Markdown, from its title on.
    pub body: &'static str,
}

impl Page {
    /// The examples on the page, in their order.
    #[must_use]
    pub fn examples(&self) -> Vec<Example> {
        examples::read(self.body)
    }
}

static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// All pages, by code.
#[must_use]
pub fn all() -> &'static [Page] {
    PAGES
}

/// The page of a code.
#[must_use]
pub fn page(code: Code) -> Option<&'static Page> {
    PAGES.binary_search_by_key(&code, |page| page.code).ok().and_then(|at| PAGES.get(at))
}

/// The page of a code or of a name, as people type them.
#[must_use]
pub fn find(text: &str) -> Option<&'static Page> {
    let text = text.trim();
    match text.parse() {
        Ok(code) => page(code),
        Err(_) => PAGES.iter().find(|page| page.name.eq_ignore_ascii_case(text)),
    }
}

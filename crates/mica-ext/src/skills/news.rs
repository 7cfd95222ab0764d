//! Skills that came after a session began. The prompt and the tools stay as they are; what is new is told at the tail, with
//! where it can be read.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::fence::{fenced, line};
use super::find::{self, Root};
use super::{Skill, Skills, Whose};

/// Lines about new skills at most.
const LISTED: usize = 20;
/// Letters of a description.
const LETTERS: usize = 200;

/// Watches the folders of a session. Cheap to clone.
#[derive(Clone)]
pub struct News {
    /// Only the user's own: what comes with a project is trusted between sessions, not in one.
    roots: Arc<[Root]>,
    known: Arc<HashSet<PathBuf>>,
    names: Arc<HashSet<String>>,
    last: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The first look comes right after everything was found, and would find the same.
    is_later: bool,
    files: Vec<PathBuf>,
    text: Option<String>,
}

impl News {
    /// What was found is known, used or not.
    pub fn new(roots: &[Root], skills: &Skills, others: impl IntoIterator<Item = PathBuf>) -> Self {
        let roots: Vec<Root> = roots.iter().filter(|root| root.whose == Whose::User).cloned().collect();
        let known = skills.iter().filter_map(Skill::file).chain(others).collect();
        let names = skills.iter().map(|skill| skill.name.clone()).collect();
        Self { roots: roots.into(), known: Arc::new(known), names: Arc::new(names), last: Arc::default() }
    }

    /// For a session that goes on: what there is by now was not found when it began, so the first look counts, too.
    #[must_use]
    pub fn going_on(self) -> Self {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).is_later = true;
        self
    }

    /// What is new, for the model. Looks at names on the disk, and reads only what it has not seen.
    pub fn text(&self) -> Option<String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut last.is_later, true) {
            return None;
        }
        let mut files = find::candidates(&self.roots);
        files.retain(|file| !self.known.contains(file));
        if files != last.files {
            last.text = if files.is_empty() { None } else { self.told() };
            last.files = files;
        }
        last.text.clone()
    }

    fn told(&self) -> Option<String> {
        let is_new = |skill: &Skill| {
            let file = skill.file();
            !skill.only_people
                && !self.names.contains(&skill.name)
                && file.is_some_and(|file| !self.known.contains(&file))
        };
        let mut lines = String::new();
        for skill in find::find(&self.roots).skills.iter().filter(|skill| is_new(skill)).take(LISTED) {
            let _ = write!(
                lines,
                "\n- {}: {} (read {})",
                skill.name,
                line(&skill.description, LETTERS),
                skill.place()
            );
        }
        (!lines.is_empty()).then(|| {
            format!(
                "Skills that came since this session began. To use one, read its file.\n{}",
                fenced("skills", &[], &lines)
            )
        })
    }
}

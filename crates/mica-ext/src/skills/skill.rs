//! One skill: what its file says of itself, and whether that is what the format wants.
//!
//! What departs from the format is told and used all the same, but for one thing: without a description nobody knows when to
//! use a skill, so it is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mica_tools::Digest;

use super::fence::line;
use super::front::Front;

/// Letters of a name at most.
pub const NAME: usize = 64;
/// Letters of a description at most.
pub const DESCRIPTION: usize = 1024;
/// Letters of what a skill says it needs, at most.
const COMPATIBILITY: usize = 500;
/// Fields that the format knows, and those that others brought.
const KNOWN: [&str; 13] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "disable-model-invocation",
    "tools",
    // Of other programs: known, and without a meaning here.
    "argument-hint",
    "model",
    "user-invocable",
    "version",
    "when_to_use",
];

/// Whose a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// It came with the project: whoever wrote the project wrote it.
    Project,
    /// The user put it into a folder of theirs.
    User,
    /// It came with the program.
    BuiltIn,
}

impl Whose {
    /// In words, for lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::BuiltIn => "built in",
        }
    }
}

/// Where a skill is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// A folder with `SKILL.md` and whatever belongs to it.
    Folder(PathBuf),
    /// One file that is all of it: `NAME.skill.md`.
    File(PathBuf),
    /// In the program: paths and texts.
    Embedded(&'static [(&'static str, &'static str)]),
}

/// The file that makes a folder a skill.
pub const FILE: &str = "SKILL.md";
/// What the names of skills end with that are one file.
pub const SUFFIX: &str = ".skill.md";

/// One skill, without its text: that is read when it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// What it does and when to use it, on one line.
    pub description: String,
    /// Whose it is.
    pub whose: Whose,
    /// Where it is.
    pub kept: Kept,
    /// Its licence.
    pub license: Option<String>,
    /// What it needs.
    pub compatibility: Option<String>,
    /// What else its file says.
    pub metadata: BTreeMap<String, String>,
    /// Tools that it wants to use without anybody being asked. Shown, and never granted.
    pub allowed_tools: Vec<String>,
    /// Tools that it works with.
    pub tools: Vec<String>,
    /// Whether only people use it.
    pub only_people: bool,
    /// What departs from the format.
    pub warnings: Vec<String>,
    /// What a person trusted of it. It is read only as long as it is that.
    pub(super) trusted: Option<Digest>,
}

impl Skill {
    /// What the head of a file says. `called` is the name that its folder or its file has.
    ///
    /// # Errors
    /// In words, when it is no skill.
    pub fn read(head: &str, called: &str, kept: Kept, whose: Whose) -> Result<Self, String> {
        if head.contains('\0') {
            return Err("it is no text".to_owned());
        }
        let (front, body) = Front::read(head);
        if !front.is_there {
            return Err(
                "it does not begin with front matter: a line `---`, the fields, and a line `---`".to_owned()
            );
        }
        let mut warnings = Vec::new();
        if let Some(problem) = &front.problem {
            warnings.push(format!(
                "the front matter is no YAML ({problem}); it was read line by line. Put values with a colon in quotes"
            ));
        }
        let given = front.text("name");
        let name = name(given.as_deref(), called, &mut warnings)?;
        let Some(described) = front.text("description") else {
            return Err("it has no description, so nobody would know when to use it".to_owned());
        };
        let letters = described.chars().count();
        if letters > DESCRIPTION {
            warnings.push(format!(
                "the description has {letters} letters; {DESCRIPTION} are the most, and the rest is left out"
            ));
        }
        let compatibility = front.text("compatibility");
        let letters = compatibility.as_deref().map_or(0, |text| text.chars().count());
        if letters > COMPATIBILITY {
            warnings.push(format!("compatibility has {letters} letters; {COMPATIBILITY} are the most"));
        }
        let strange: Vec<&str> =
            front.fields.keys().map(String::as_str).filter(|field| !KNOWN.contains(field)).take(8).collect();
        if !strange.is_empty() {
            warnings.push(format!("fields that nobody knows: {}", line(&strange.join(", "), 200)));
        }
        if body.trim().is_empty() && matches!(kept, Kept::Embedded(_)) {
            warnings.push("it says nothing besides its front matter".to_owned());
        }
        Ok(Self {
            name,
            description: line(&described, DESCRIPTION),
            whose,
            kept,
            license: front.text("license"),
            compatibility,
            metadata: front.map("metadata"),
            allowed_tools: front.list("allowed-tools"),
            tools: front.list("tools"),
            only_people: front.is_set("disable-model-invocation"),
            warnings,
            trusted: None,
        })
    }

    /// One that came with the program: its files, `SKILL.md` among them.
    ///
    /// # Errors
    /// In words. A test rules it out.
    pub fn embedded(called: &str, files: &'static [(&'static str, &'static str)]) -> Result<Self, String> {
        let main = files.iter().find(|(path, _)| *path == FILE).map(|(_, text)| *text);
        let main = main.ok_or_else(|| format!("it has no {FILE}"))?;
        Self::read(main, called, Kept::Embedded(files), Whose::BuiltIn)
    }

    /// The file that it begins with; none when it is in the program.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.kept {
            Kept::Folder(folder) => Some(folder.join(FILE)),
            Kept::File(file) => Some(file.clone()),
            Kept::Embedded(_) => None,
        }
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        self.file().map_or_else(|| "built in".to_owned(), |file| file.display().to_string())
    }

    /// Its folder; none when it has no files of its own.
    pub fn folder(&self) -> Option<&Path> {
        match &self.kept {
            Kept::Folder(folder) => Some(folder),
            Kept::File(_) | Kept::Embedded(_) => None,
        }
    }
}

/// The name that counts: what the file says, made to fit, or else what the folder is called.
fn name(given: Option<&str>, called: &str, warnings: &mut Vec<String>) -> Result<String, String> {
    let Some(given) = given else {
        warnings.push("it has no name; it is called as its folder is".to_owned());
        return fitted(called)
            .ok_or_else(|| "neither it nor its folder has a name that can be used".to_owned());
    };
    let name = fitted(given).or_else(|| fitted(called)).ok_or("its name has no letter that can be used")?;
    if let Some(problem) = problem(given) {
        warnings.push(format!("the name {:?} {problem}; it is called {name}", line(given, NAME)));
    } else if name != called {
        warnings.push(format!(
            "its name is {name}, and its folder is called {called:?}; they should be the same"
        ));
    }
    Ok(name)
}

/// What is wrong with a name.
pub fn problem(name: &str) -> Option<&'static str> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() {
        Some("is empty")
    } else if name.chars().count() > NAME {
        Some("has more than 64 letters")
    } else if !name.chars().all(is_letter) {
        Some("has something else in it than small letters, digits and hyphens")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("begins or ends with a hyphen")
    } else if name.contains("--") {
        Some("has two hyphens in a row")
    } else {
        None
    }
}

/// A name made to fit: what it is called in prompts must not be able to say more than a name.
fn fitted(name: &str) -> Option<String> {
    let mut fitted = String::new();
    for letter in name.trim().chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            fitted.push(letter);
        } else if !fitted.is_empty() && !fitted.ends_with('-') {
            fitted.push('-');
        }
    }
    fitted.truncate(NAME);
    let fitted = fitted.trim_end_matches('-').to_owned();
    Some(fitted).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;

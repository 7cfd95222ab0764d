//! Names of files and folders that matter wherever they turn up: secrets, and what decides what tools do later.
//!
//! The one table of such names (`rules/places.toml`). The judgement of commands, the tools on files and the sandbox all
//! read it, so that what one refuses another does not hand out.
//!
//! Invariant: a name counts however it is spelled on a disk that does not tell the spellings apart: upper case, invisible
//! letters, dots and blanks at the end, the short names of old disks; and a copy that an editor left counts as its original.
//! A disk that does tell them apart loses little by it.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

const BUILTIN: &str = include_str!("../rules/places.toml");

/// What the names of copies end with.
const COPIES: [&str; 7] = ["~", ".bak", ".old", ".orig", ".save", ".backup", ".copy"];

static READ: LazyLock<Result<Arc<Places>, BadPlaces>> = LazyLock::new(|| Places::read(BUILTIN).map(Arc::new));

/// Names that matter, not yet tied to a machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Files that hold secrets, with `*` for any letters.
    pub secret_names: Vec<String>,
    /// Folders that hold secrets, with all that is in them.
    pub secret_folders: Vec<String>,
    /// Files that would be secret by their names, and are not.
    pub not_secret: Vec<String>,
    /// Of the secret files, those that are lists of variables: their names may be told, their values not.
    #[serde(default)]
    pub variable_files: Vec<String>,
    /// Absolute paths that show what others keep.
    pub secret_paths: Vec<String>,
    /// Variables that hold secrets.
    pub secret_variables: Vec<String>,
    /// Below any folder: never written by a tool or a command.
    pub guarded: Vec<String>,
    /// Of the guarded: what tools on files may write after asking, because it counts only once the user trusts it.
    #[serde(default)]
    pub taught: Vec<String>,
    /// Below any folder: written only after asking, each time.
    pub watched: Vec<String>,
    /// Folders of the system that everybody may read.
    pub system: Vec<String>,
    /// Folders of the system that hold no files, but what the kernel tells and does.
    #[serde(default)]
    pub kernel: Vec<String>,
    /// Folders whose programs are trusted to be what they are called.
    pub programs: Vec<String>,
    /// Devices that keep nothing.
    pub harmless_devices: Vec<String>,
    /// Secret places of a person and of the machine. `~` is the home folder; a folder ends with `/`.
    #[serde(default)]
    pub secret_places: Vec<String>,
    /// In a folder that commands may write, what they may not.
    #[serde(default)]
    pub frozen: Vec<String>,
    /// Of those, the ones that are held even when they are missing.
    #[serde(default)]
    pub held: Vec<String>,
}

/// The table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table of places cannot be read: {message}")]
pub struct BadPlaces {
    /// What is wrong.
    pub message: String,
}

#[derive(Deserialize)]
struct File {
    places: Places,
}

impl Places {
    /// The table that comes with the program.
    ///
    /// # Errors
    /// [`BadPlaces`], which a test rules out.
    pub fn builtin() -> Result<Arc<Self>, BadPlaces> {
        READ.clone()
    }

    fn read(text: &str) -> Result<Self, BadPlaces> {
        toml::from_str(text)
            .map(|file: File| file.places)
            .map_err(|error| BadPlaces { message: error.to_string() })
    }

    /// Whether a file at a path holds secrets: by its own name, or by a folder it is in.
    pub fn is_secret(&self, path: &str) -> bool {
        self.is_in_secret_folder(path)
            || path.rsplit('/').next().is_some_and(|name| self.is_secret_name(name))
    }

    /// Whether a path is that of a folder with secrets, or leads through one.
    pub fn is_in_secret_folder(&self, path: &str) -> bool {
        path.split('/').any(|part| self.is_secret_folder(part))
    }

    /// Whether a folder of this name holds secrets.
    pub fn is_secret_folder(&self, name: &str) -> bool {
        let name = self.meant(name);
        self.secret_folders.iter().any(|folder| *folder == name)
    }

    /// Whether a file of this name holds secrets.
    pub fn is_secret_name(&self, name: &str) -> bool {
        let name = self.meant(name);
        let original = original(&name);
        let names = [&*name, original];
        let is_any = |known: &[String]| known.iter().any(|known| names.iter().any(|name| fits(known, name)));
        is_any(&self.secret_names) && !is_any(&self.not_secret)
    }

    /// Whether a file of this name is a list of variables.
    pub fn lists_variables(&self, name: &str) -> bool {
        let name = self.meant(name);
        self.is_secret_name(&name) && self.variable_files.iter().any(|known| fits(known, original(&name)))
    }

    /// Whether a path is, or is in, something that no tool and no command may write.
    pub fn is_guarded(&self, path: &str) -> bool {
        self.has_any(&self.guarded, path)
    }

    /// Whether a path is in something that is guarded, and that tools on files may write after asking: it counts only once
    /// the user trusts it as it is then.
    pub fn is_taught(&self, path: &str) -> bool {
        self.has_any(&self.taught, path)
    }

    /// Whether a path is, or is in, something that is written only after asking.
    pub fn is_watched(&self, path: &str) -> bool {
        self.has_any(&self.watched, path)
    }

    fn has_any(&self, names: &[String], path: &str) -> bool {
        let parts: Vec<Cow<'_, str>> = path.split('/').map(|part| self.meant(part)).collect();
        names.iter().any(|name| {
            let wanted: Vec<String> = name.split('/').map(str::to_lowercase).collect();
            parts.windows(wanted.len()).any(|window| window == wanted)
        })
    }

    /// The name that a disk may take a name for.
    fn meant<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let folded = fold(name);
        let Some(short) = short(&folded) else { return folded };
        let known = self.secret_folders.iter().chain(&self.secret_names).chain(&self.guarded);
        let long = known.filter(|long| !long.starts_with('*')).find(|long| shortened(long) == short);
        match long {
            Some(long) => Cow::Owned(long.replace('*', "x")),
            None => folded,
        }
    }
}

/// A name as a disk reads it that cares least: lower case, without invisible letters, without what follows a colon, and
/// without dots and blanks at its end.
pub fn fold(name: &str) -> Cow<'_, str> {
    let as_is = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b':';
    if name.bytes().all(as_is) && !name.ends_with(['.', ' ']) {
        return Cow::Borrowed(name);
    }
    let visible = name.chars().filter(|letter| !invisible(*letter)).map(|letter| match letter {
        // The two letters outside of ASCII that some disks take for letters of it.
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        other => other,
    });
    let lower: String = visible.flat_map(char::to_lowercase).collect();
    // `file:stream` is the file itself on some disks.
    let cut = lower.find(':').filter(|at| *at > 0).unwrap_or(lower.len());
    let trimmed = lower.get(..cut).unwrap_or(&lower).trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(trimmed.to_owned()) }
}

/// The name of the file that a copy was made of: what editors and people put around it is taken away.
fn original(name: &str) -> &str {
    let mut name = name;
    // Each round makes the name shorter.
    loop {
        let locked = name.strip_prefix('#').and_then(|inner| inner.strip_suffix('#'));
        let copied = || COPIES.iter().find_map(|ending| name.strip_suffix(ending));
        let numbered = || {
            let (before, number) = name.rsplit_once(".~")?;
            number.bytes().all(|digit| digit.is_ascii_digit()).then_some(before)
        };
        match locked.or_else(copied).or_else(numbered).filter(|inner| !inner.is_empty()) {
            Some(inner) => name = inner,
            None => return name,
        }
    }
}

/// Letters that some disks leave out when they compare names.
fn invisible(letter: char) -> bool {
    matches!(letter, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}')
}

/// The beginning of a short name such as `git~1` or `env~1.loc`.
fn short(name: &str) -> Option<&str> {
    let (base, rest) = name.split_once('~')?;
    let number = rest.split('.').next().unwrap_or("");
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && !base.is_empty() && base.len() <= 6).then_some(base)
}

/// The beginning of the short name that a long one gets.
fn shortened(long: &str) -> String {
    let bare = long.trim_start_matches('.');
    let stem = bare.rsplit_once('.').map_or(bare, |(stem, _)| stem);
    stem.chars().filter(|letter| !matches!(letter, '.' | ' ' | '*')).take(6).collect()
}

/// Whether a pattern with `*` fits a text.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    if first.len() == pattern.len() {
        return rest.is_empty();
    }
    let last = pattern.rsplit('*').next().unwrap_or("");
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let Some(at) = rest.find(piece) else { return false };
        // The last piece must be at the end; wherever it is found before, the end decides.
        if std::ptr::eq(piece.as_ptr(), last.as_ptr()) {
            return rest.ends_with(last);
        }
        rest = rest.get(at + piece.len()..).unwrap_or("");
    }
    true
}

#[cfg(test)]
mod tests;

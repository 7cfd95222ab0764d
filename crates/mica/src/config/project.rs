//! What a project brings that changes what the agent does, and so needs the user's trust: once, for exactly what it is.
//!
//! Promise: a part counts as trusted only while every byte and every name of it is what it was when the user looked. A kind
//! is part of what is trusted, so that a text which was trusted as one thing is not taken for another.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest, Sha256};

use super::trust::{self, Answer};
use crate::equipment;
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// A kind of thing that a project brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// What one of it is called: `extension`.
    pub word: &'static str,
    /// What it does when it is trusted, as the end of a sentence.
    pub does: &'static str,
}

/// The project's settings.
pub const SETTINGS: Kind = Kind { word: "settings", does: "change what is asked, allowed and used here" };

/// Finds the parts of one kind in a project's folder. One that has none of it costs a look at a folder that is not there.
type Find = fn(&Path) -> Result<Vec<Part>>;

/// All kinds, in the order that people read them.
const FINDS: &[Find] = &[
    settings,
    equipment::mcp::parts,
    equipment::extensions::found::parts,
    equipment::hooks::parts,
    equipment::skills::parts::skills,
    equipment::skills::parts::prompts,
    equipment::memory::parts::memories,
    equipment::memory::parts::prompts,
];

/// A file of a part: its name below the part's folder, and what is in it.
pub type File = (String, Vec<u8>);

/// Something that a project brings: a file, or a folder with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub path: PathBuf,
    /// What people read before they trust it.
    pub text: String,
    /// What it would be allowed with the trust, in words. Most parts ask for nothing.
    pub asks: Vec<String>,
    /// What is to be known of it when it has changed.
    note: Option<&'static str>,
    digest: String,
    bytes: usize,
    files: usize,
}

impl Part {
    /// A part that is one file.
    pub fn file(kind: Kind, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        // What was trusted before there were kinds stays trusted.
        let digest = if kind == SETTINGS {
            hex(&Sha256::digest(text.as_bytes()))
        } else {
            digest(kind, &[(String::new(), text.clone().into_bytes())])
        };
        Self { kind, path, asks: Vec::new(), note: None, digest, bytes: text.len(), files: 1, text }
    }

    /// A part that is one file whose name says what it does: under another name it needs trust anew.
    pub fn named(kind: Kind, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let part = Self::file(kind, path, text);
        let name = part.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { digest: digest(kind, &[(name, part.text.clone().into_bytes())]), ..part }
    }

    /// A part that is a folder: one change anywhere in it, and it needs trust anew.
    pub fn folder(kind: Kind, path: impl Into<PathBuf>, mut files: Vec<File>) -> Self {
        files.sort();
        let texts = files.iter().map(|(name, bytes)| match std::str::from_utf8(bytes) {
            Ok(text) => format!("--- {}\n{}\n", plain(name), text.trim_end()),
            Err(_) => format!("--- {}: {} bytes that are no text\n", plain(name), bytes.len()),
        });
        let text = texts.collect();
        Self::files(kind, path, text, files)
    }

    /// A part that has a text of its own for who reads it. What is remembered is made of the files and their names, so two
    /// parts that read alike are still two.
    pub fn files(kind: Kind, path: impl Into<PathBuf>, text: String, mut files: Vec<File>) -> Self {
        files.sort();
        let digest = digest(kind, &files);
        let bytes = files.iter().map(|(_, bytes)| bytes.len()).sum();
        Self {
            kind,
            path: path.into(),
            text,
            asks: Vec::new(),
            note: None,
            digest,
            bytes,
            files: files.len(),
        }
    }

    /// With what it would be allowed. The trust is for that too.
    #[must_use]
    pub fn asking(mut self, asks: Vec<String>) -> Self {
        if !asks.is_empty() {
            let of_asks = asks.iter().map(|ask| (ask.clone(), Vec::new()));
            let all: Vec<File> = [(self.digest, Vec::new())].into_iter().chain(of_asks).collect();
            self.digest = digest(self.kind, &all);
        }
        self.asks = asks;
        self
    }

    /// With what is kept beside the trust, for the time when it has changed ([`trust::notes`]).
    #[must_use]
    pub fn noting(mut self, note: Option<&'static str>) -> Self {
        self.note = note;
        self
    }

    /// What is remembered of it: a digest of its kind and of all that is in it.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What the user said about it as it is now.
    pub fn state(&self, surroundings: &Surroundings) -> State {
        match trust::answer(surroundings, &self.digest) {
            Some(Answer::Trusted) => State::Trusted,
            Some(Answer::Declined) => State::Declined,
            None => State::New,
        }
    }

    /// Whether it is trusted as it is now.
    pub fn is_trusted(&self, surroundings: &Surroundings) -> bool {
        self.state(surroundings) == State::Trusted
    }

    /// Whether it was trusted, as it was before it changed.
    pub fn is_changed(&self, surroundings: &Surroundings) -> bool {
        self.state(surroundings) != State::Trusted
            && trust::was_trusted(surroundings, &self.path.display().to_string())
    }

    /// Trusts it as it is now.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn trust(&self, surroundings: &Surroundings) -> Result<()> {
        let path = self.path.display();
        let whose = self.note.map_or_else(|| path.to_string(), |note| format!("{path}\n{note}"));
        trust::keep(surroundings, &self.digest, Answer::Trusted, &whose)
    }

    /// Does not trust it as it is now, and is not asked again.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn decline(&self, surroundings: &Surroundings) -> Result<()> {
        trust::keep(surroundings, &self.digest, Answer::Declined, &self.path.display().to_string())
    }

    /// Takes the trust back, also that in what it was before. Answers whether there was some in what it is now.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn revoke(&self, surroundings: &Surroundings) -> Result<bool> {
        let was = trust::forget(surroundings, &self.digest)?;
        trust::forget_all(surroundings, &self.path.display().to_string())?;
        Ok(was)
    }

    /// Its path as seen from the project.
    pub fn shown<'a>(&'a self, folder: &Path) -> std::path::Display<'a> {
        self.path.strip_prefix(folder).unwrap_or(&self.path).display()
    }

    /// What it is, where, and how large.
    pub fn line(&self, folder: &Path) -> String {
        let size = match self.files {
            1 => format!("{} bytes", self.bytes),
            files => format!("{files} files, {} bytes", self.bytes),
        };
        let asks =
            if self.asks.is_empty() { String::new() } else { format!("; asks for {}", self.asks.join(", ")) };
        format!("{} {} ({size}{asks})", self.kind.word, self.shown(folder))
    }
}

/// What the user said about a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing yet.
    New,
    /// It is used.
    Trusted,
    /// It is not, and they are not asked again.
    Declined,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "not trusted",
            Self::Trusted => "trusted",
            Self::Declined => "declined",
        })
    }
}

/// All parts of a project that need trust, and what of it could not be read. The latter is not used.
pub fn parts(folder: &Path) -> (Vec<Part>, Vec<String>) {
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    for find in FINDS {
        match find(folder) {
            Ok(found) => parts.extend(found),
            Err(error) => problems.push(format!("{error:#}; it is not used")),
        }
    }
    (parts, problems)
}

/// The same, with what the user's settings want to have looked at besides.
pub fn all_parts(surroundings: &Surroundings, folder: &Path) -> (Vec<Part>, Vec<String>) {
    let (mut parts, mut problems) = parts(folder);
    match equipment::hooks::borrowed_parts(surroundings, folder) {
        Ok(found) => parts.extend(found),
        Err(error) => problems.push(format!("{error:#}; it is not used")),
    }
    (parts, problems)
}

/// What to tell where nobody can be asked: what of a project is not used because nobody trusts it. The settings say so
/// themselves.
pub fn unused(surroundings: &Surroundings) -> Vec<String> {
    let folder = &surroundings.folder;
    let (parts, mut told) = all_parts(surroundings, folder);
    let others = parts.iter().filter(|part| part.kind != SETTINGS && !part.is_trusted(surroundings));
    let names: Vec<String> =
        others.map(|part| format!("{} {}", part.kind.word, plain(&part.shown(folder).to_string()))).collect();
    if !names.is_empty() {
        told.push(format!(
            "not used, because it is not trusted: {}; look at it with `mica trust --list`, then run `mica trust`",
            names.join(", ")
        ));
    }
    told
}

/// Whether a path is, or is in, something of a project that is trusted as it is. How it is spelled makes no difference.
pub fn is_trusted(surroundings: &Surroundings, path: &Path) -> bool {
    let plain = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
    let path = plain(path);
    let (parts, _) = all_parts(surroundings, &surroundings.folder);
    parts.iter().any(|part| path.starts_with(plain(&part.path)) && part.is_trusted(surroundings))
}

/// The settings, if the project has some.
///
/// # Errors
/// When they cannot be read.
pub fn settings(folder: &Path) -> Result<Vec<Part>> {
    let path = super::project_file(folder);
    Ok(super::text_of(&path)?.map(|text| Part::file(SETTINGS, path, text)).into_iter().collect())
}

/// What a folder may have to be trusted: what a person can look through, and more.
const MOST_FILES: usize = 512;
const MOST_BYTES: usize = 8 << 20;

/// All files below a folder, with names relative to it. Links are not followed: where they lead could change without a byte
/// here changing.
///
/// # Errors
/// When something cannot be read, is a link, or there is more than a person could look through.
pub fn files_below(folder: &Path) -> Result<Vec<File>> {
    let (mut files, mut bytes, mut open) = (Vec::new(), 0, vec![folder.to_owned()]);
    while let Some(here) = open.pop() {
        let listed =
            std::fs::read_dir(&here).with_context(|| format!("{} cannot be read", here.display()))?;
        for entry in listed {
            let entry = entry.with_context(|| format!("{} cannot be read", here.display()))?;
            let path = entry.path();
            let kind = entry.file_type().with_context(|| format!("{} cannot be read", path.display()))?;
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            if kind.is_symlink() {
                bail!(
                    "{} is a link, and where it leads could change unseen: put the file itself there",
                    path.display()
                );
            }
            let content =
                std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            bytes += content.len();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            files.push((name, content));
            if files.len() > MOST_FILES || bytes > MOST_BYTES {
                bail!(
                    "{} has more than {MOST_FILES} files or {} MB, more than anybody can look through",
                    folder.display(),
                    MOST_BYTES >> 20
                );
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A digest of a kind and of files. Lengths are part of it, so that no two lists of files have the same bytes.
fn digest(kind: Kind, files: &[File]) -> String {
    let mut digest = Sha256::new();
    let mut piece = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    piece(kind.word.as_bytes());
    for (name, bytes) in files {
        piece(name.as_bytes());
        piece(bytes);
    }
    hex(&digest.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;

//! Telling "the sandbox said no" from "the file system said no".
//!
//! The kernel tells a program only that it may not. What programs print about that is read here, and every path in it is
//! held against the boundary: only what the boundary forbids is called a denial. A guess never becomes a decision; it only
//! explains.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::boundary::{Boundary, Network};

/// How many are told. A program that walks a forbidden folder says the same about each file.
const MOST: usize = 8;

/// What a program prints when it may not touch a file.
const FILES: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "permissiondenied",
    "accessdenied",
];

/// What a program prints when there is no network.
const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "unknownhostexception",
    "enetunreach",
    "enotfound",
    "eai_again",
    "/dev/tcp/",
];

/// Something the boundary forbids, and a command tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Denial {
    /// Reading.
    Read {
        /// What.
        path: PathBuf,
    },
    /// Writing.
    Write {
        /// What.
        path: PathBuf,
    },
    /// The network.
    Network {
        /// The host, if it is known.
        host: Option<String>,
    },
    /// A system call that ended the program.
    Call,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path } => write!(f, "denied by the sandbox: reading {}", path.display()),
            Self::Write { path } => write!(f, "denied by the sandbox: writing {}", path.display()),
            Self::Network { host: Some(host) } => write!(f, "denied by the sandbox: reaching {host}"),
            Self::Network { host: None } => f.write_str("denied by the sandbox: using the network"),
            Self::Call => f.write_str("denied by the sandbox: a system call that it does not allow"),
        }
    }
}

/// What of a command's errors was the boundary's doing.
pub fn find(errors: &str, folder: &Path, boundary: &Boundary) -> Vec<Denial> {
    let mut found: Vec<Denial> = Vec::new();
    for line in errors.lines() {
        if found.len() == MOST {
            break;
        }
        let lower = line.to_lowercase();
        let phrase = FILES.iter().filter_map(|phrase| Some((lower.find(phrase)?, phrase.len()))).min();
        let denial = match phrase {
            Some((at, length)) => paths(line, at, length)
                .into_iter()
                .filter_map(|path| judge(&lexical(&folder.join(path)), boundary))
                .next(),
            None if boundary.network == Network::Off
                && NETWORK.iter().any(|phrase| lower.contains(phrase)) =>
            {
                Some(Denial::Network { host: None })
            }
            None => None,
        };
        found.extend(denial.filter(|denial| !found.contains(denial)));
    }
    found
}

fn judge(path: &Path, boundary: &Boundary) -> Option<Denial> {
    // The program saw a name; the boundary is about what is behind it.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path = path.to_owned();
    if !boundary.may_read(&real) {
        Some(Denial::Read { path })
    } else if !boundary.may_write(&real) {
        Some(Denial::Write { path })
    } else {
        None
    }
}

/// Parts of a line that may be a path, the likeliest first: quoted, absolute, or what stands right before the phrase.
fn paths(line: &str, at: usize, length: usize) -> Vec<String> {
    let quotes = |c: char| "'\"`‘’“”".contains(c);
    let mut found: Vec<String> = Vec::new();
    let mut parts = line.split(quotes);
    parts.next();
    found.extend(parts.step_by(2).filter(|part| part.contains('/') || part.contains('.')).map(str::to_owned));
    let ends = |c: char| c.is_whitespace() || quotes(c) || ":,;()[]".contains(c);
    found.extend(line.split(ends).filter(|word| word.len() > 1 && word.starts_with('/')).map(str::to_owned));
    // The phrase was found in a lower-case copy, whose places may differ beyond ASCII; then there is nothing before it.
    let before = line.get(..at).unwrap_or_default().trim_end_matches([' ', ':', '(', '-']);
    let last = before.rsplit(": ").next().unwrap_or_default().trim();
    let word = last.rsplit(' ').next().unwrap_or_default();
    found.extend([last, word].into_iter().filter(|text| !text.is_empty()).map(str::to_owned));
    let after = line.get(at + length..).unwrap_or_default().trim_matches([' ', ':', ',', '.']);
    found.extend(after.split_whitespace().next().map(str::to_owned));
    found
}

/// A path without `.` and `..`, by its text.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests;

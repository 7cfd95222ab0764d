//! Commands that need no shell: one program with literal words, which bash would only start.
//!
//! Promise: what is run directly is what bash would have run, with the same arguments, environment, streams and end. When
//! that cannot be seen from the words alone, bash runs it: everything that it expands, joins, redirects or does itself,
//! and every program that is not found where bash would look first, so that what is said about it is said by bash.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What bash does itself: words of its grammar, and commands that are part of it. Where a program has the same name, bash
/// passes over it.
const OWN: &[&str] = &[
    "!",
    ".",
    ":",
    "[",
    "[[",
    "]]",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "{",
    "}",
];
/// Letters that mean nothing but themselves anywhere in an argument, beside letters and digits of ASCII.
const PLAIN: &str = "_-./:=@%+,";
/// The same for the name of a command. A `=` would make it an assignment, and a `%` a job.
const PLAIN_NAME: &str = "_-./+";
/// Variables that make bash do something before it starts a program.
const READ_BY_BASH: [&str; 7] =
    ["BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "BASH_COMPAT", "POSIXLY_CORRECT", "BASH_XTRACEFD"];
/// Functions that are handed on in the environment.
const FUNCTION: &str = "BASH_FUNC_";

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Direct {
    /// As it was written; it is looked for as bash would.
    pub(super) program: String,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
    /// Where it was found.
    found: PathBuf,
}

impl Direct {
    /// The program of a command line that needs no shell, run in a folder with an environment.
    pub(super) fn of(command: &str, folder: &Path, environment: &BTreeMap<String, String>) -> Option<Self> {
        let mut words = words(command)?.into_iter();
        let program = words.next()?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || PLAIN_NAME.contains(letter);
        if program.is_empty() || !program.chars().all(is_plain) || OWN.contains(&program.as_str()) {
            return None;
        }
        let is_read = |name: &String| READ_BY_BASH.contains(&name.as_str()) || name.starts_with(FUNCTION);
        if environment.keys().any(is_read) {
            return None;
        }
        let found = find(&program, folder, environment.get("PATH")?)?;
        Some(Self { program, arguments: words.collect(), found })
    }

    /// What bash would have put into the environment.
    pub(super) fn variables(&self, folder: &Path) -> [(String, String); 3] {
        // A shell that becomes the program counts itself out again.
        [
            ("_".to_owned(), self.found.to_string_lossy().into_owned()),
            ("PWD".to_owned(), folder.to_string_lossy().into_owned()),
            ("SHLVL".to_owned(), "0".to_owned()),
        ]
    }
}

/// The words of one simple command of nothing but literal words. None when there may be more to it.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.trim_matches([' ', '\t', '\n']).chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        // Between double quotes these are not themselves.
                        '$' | '`' | '\\' | '!' if letter == '"' => return None,
                        inside => word.push(inside),
                    }
                }
            }
            letter if letter.is_ascii_alphanumeric() || PLAIN.contains(letter) => {
                word.get_or_insert_default().push(letter);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

/// The file that bash would run first. None when it is no program by its looks: bash then says so, or reads it itself.
fn find(program: &str, folder: &Path, path: &str) -> Option<PathBuf> {
    if program.contains('/') {
        // Bash does not put the folder before it.
        return is_program(&folder.join(program)).then(|| PathBuf::from(program));
    }
    for place in path.split(':') {
        // A relative one depends on the folder, and its files are likely to be the project's.
        if !place.starts_with('/') {
            return None;
        }
        let file = Path::new(place).join(program);
        match file.metadata() {
            Ok(meta) if meta.is_file() && is_allowed(&file) => return is_program(&file).then_some(file),
            _ => {}
        }
    }
    None
}

fn is_allowed(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether the kernel can start it: what has neither beginning, shells read as a script.
fn is_program(file: &Path) -> bool {
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let mut beginning = [0; 4];
    is_file
        && std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && (beginning == *b"\x7fELF" || beginning.starts_with(b"#!"))
}

#[cfg(test)]
mod tests;

//! Starts processes: cargo in a clean environment, and installers whose words are kept for the reader.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};
use crate::workspace;

/// What `cargo run` sets for the program it runs. Build scripts watch some of these, so a cargo that inherited
/// them would build crates again which a cargo started by hand has built already.
const SET_BY_CARGO_RUN: &[&str] =
    &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];

/// Cargo, at the root of the working copy.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    for (name, _) in std::env::vars_os() {
        let known = name.to_str().unwrap_or_default();
        if SET_BY_CARGO_RUN.iter().any(|prefix| known.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Any other program, at the root of the working copy.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(workspace::root());
    command
}

/// Says what is run, runs it on the terminal, and fails when it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    eprintln!("+ {shown}");
    let status =
        command.status().map_err(|error| Failure::new(format!("cannot start `{shown}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{shown}` failed ({status})"))) }
}

/// Runs quietly and answers what was written to standard output. A failure has the last words of standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("cannot start `{shown}`: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // Some installers complain on standard output.
    let spoken = [output.stderr, output.stdout].concat();
    Err(Failure::new(format!(
        "`{shown}` failed ({}): {}",
        output.status,
        last_words(&String::from_utf8_lossy(&spoken))
    )))
}

/// A command line for people: the program by its name, paths as seen from the root.
fn show(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let root = workspace::root();
    for argument in command.get_args() {
        let path = std::path::Path::new(argument);
        let near = if path.is_absolute() { path.strip_prefix(&root).unwrap_or(path) } else { path };
        let _ = write!(text, " {}", near.display());
    }
    text
}

/// How much of one line is quoted. Installers list every version there is when the one asked for is not there.
const LINE_LIMIT: usize = 160;

/// The lines of an output that say what went wrong: those that name an error, else the last ones.
fn last_words(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<&str> =
        lines.iter().copied().filter(|line| line.to_ascii_lowercase().contains("error")).collect();
    let chosen = if errors.is_empty() { lines } else { errors };
    if chosen.is_empty() {
        return "it said nothing".to_owned();
    }
    let last = &chosen[chosen.len().saturating_sub(2)..];
    last.iter().map(|line| shortened(line)).collect::<Vec<_>>().join("; ")
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_LIMIT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_the_errors_when_there_are_any() {
        assert_eq!(
            last_words("warn: old\nERROR: no such package\nnotice: new version\n"),
            "ERROR: no such package"
        );
        assert_eq!(last_words("one\ntwo\n\nthree\n"), "two; three");
        assert_eq!(last_words("\n"), "it said nothing");
        assert_eq!(last_words(&"x".repeat(LINE_LIMIT + 9)), format!("{}…", "x".repeat(LINE_LIMIT)));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = output(&mut program("mica-no-such-program")).expect_err("there is no such program");
        assert!(failure.to_string().starts_with("cannot start `mica-no-such-program`: "), "{failure}");
    }
}

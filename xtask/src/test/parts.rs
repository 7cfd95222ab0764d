//! The list of parts: what is ready, what is skipped, and how tests are told.

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Failure, Result};

/// A part that tests use.
pub(crate) struct Part {
    name: &'static str,
    /// The variable that tells tests where it is.
    variable: &'static str,
}

impl Part {
    /// A part by its name for people and by the variable that tests read.
    pub(crate) const fn new(name: &'static str, variable: &'static str) -> Self {
        Self { name, variable }
    }
}

/// What became of a part.
enum State {
    Ready(PathBuf),
    Skipped(String),
    /// Nobody asked for it. The text says how to.
    NotAsked(&'static str),
}

/// All parts, and what became of them.
#[derive(Default)]
pub(crate) struct Parts {
    parts: Vec<(Part, State)>,
    /// Variables with a value, or to be taken away.
    variables: Vec<(&'static str, Option<&'static str>)>,
}

impl Parts {
    /// Notes what setting a part up came to.
    pub(crate) fn add(&mut self, part: Part, set_up: Result<PathBuf>) {
        let state = match set_up {
            Ok(path) => State::Ready(path),
            Err(failure) => State::Skipped(failure.to_string()),
        };
        self.parts.push((part, state));
    }

    /// Notes a part that has to be there where its tool is: with `tool`, what went wrong is an error.
    ///
    /// # Errors
    /// When setting it up failed although the tool for it is there.
    pub(crate) fn require(&mut self, part: Part, set_up: Result<PathBuf>, tool: Option<&str>) -> Result<()> {
        if let (Some(tool), Err(failure)) = (tool, &set_up) {
            return Err(Failure::new(format!(
                "{} is required when CI=true and {tool} is there: {failure}",
                part.name
            )));
        }
        self.add(part, set_up);
        Ok(())
    }

    /// The parts that tests are skipped for, one on a line. Empty when there are none.
    pub(crate) fn skipped(&self) -> String {
        let mut out = String::new();
        for (part, state) in &self.parts {
            let reason = match state {
                State::Ready(_) => continue,
                State::Skipped(reason) => reason.as_str(),
                State::NotAsked(how) => how,
            };
            let _ = writeln!(out, "  SKIP {} (no {}): {reason}", part.name, part.variable);
        }
        out
    }

    /// Notes a part that nobody asked for, and how to ask.
    pub(crate) fn leave_out(&mut self, part: Part, how: &'static str) {
        self.parts.push((part, State::NotAsked(how)));
    }

    /// Sets a variable for the tests, or sees to it that they have none of that name.
    pub(crate) fn set(&mut self, variable: &'static str, value: Option<&'static str>) {
        self.variables.push((variable, value));
    }

    /// Tells a process what is ready. Variables of what is not are taken away, whoever set them.
    pub(crate) fn tell(&self, command: &mut Command) {
        for (variable, value) in &self.variables {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        for (part, state) in &self.parts {
            match state {
                State::Ready(path) => command.env(part.variable, OsString::from(path)),
                State::Skipped(_) | State::NotAsked(_) => command.env_remove(part.variable),
            };
        }
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (part, state) in &self.parts {
            match state {
                State::Ready(_) => writeln!(f, "  ready {}", part.name)?,
                State::Skipped(reason) => writeln!(f, "  SKIP {}: {reason}", part.name)?,
                State::NotAsked(how) => writeln!(f, "  SKIP {}: not asked for; {how}", part.name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    #[test]
    fn a_part_is_required_where_its_tool_is() {
        let mut parts = Parts::default();
        let part = || Part::new("servers", "MICA_SERVERS");
        let failed = || Err(Failure::new("no network"));
        let error = parts.require(part(), failed(), Some("npm")).unwrap_err();
        assert_eq!(error.to_string(), "servers is required when CI=true and npm is there: no network");
        parts.require(part(), failed(), None).unwrap();
        parts.require(part(), Ok("there".into()), Some("npm")).unwrap();
        assert_eq!(parts.to_string(), "  SKIP servers: no network\n  ready servers\n");
    }

    #[test]
    fn a_part_that_is_not_ready_is_listed_with_its_reason_and_has_no_variable() {
        let mut parts = Parts::default();
        parts.add(Part::new("first", "MICA_FIRST"), Ok("there".into()));
        parts.add(Part::new("second", "MICA_SECOND"), Err(Failure::new("no npm")));
        parts.leave_out(Part::new("third", "MICA_THIRD"), "add --third");
        parts.set("MICA_ASKED", Some("1"));
        parts.set("MICA_UNASKED", None);
        assert_eq!(
            parts.to_string(),
            "  ready first\n  SKIP second: no npm\n  SKIP third: not asked for; add --third\n"
        );
        assert_eq!(
            parts.skipped(),
            "  SKIP second (no MICA_SECOND): no npm\n  SKIP third (no MICA_THIRD): add --third\n"
        );
        let mut command = process::program("true");
        parts.tell(&mut command);
        let told: Vec<_> = command
            .get_envs()
            .map(|(name, value)| (name.to_str().unwrap_or("?"), value.and_then(|value| value.to_str())))
            .collect();
        assert_eq!(
            told,
            [
                ("MICA_ASKED", Some("1")),
                ("MICA_FIRST", Some("there")),
                ("MICA_SECOND", None),
                ("MICA_THIRD", None),
                ("MICA_UNASKED", None),
            ]
        );
    }
}

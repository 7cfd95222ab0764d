//! The commands of the Synapse language as people run them: the real binary, folders of its own, exact outputs.
//!
//! They are run without a home and without any variable: none of them may need one.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

mod language {
    mod check;
    mod expr;
    mod fix;
    mod knowledge;
    mod layout;
    mod reading;
    mod sample;
    mod sarif;
}

/// A folder with files.
struct Stage {
    folder: tempfile::TempDir,
}

/// What a run of the program came to.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Stage {
    fn new(files: &[(&str, &str)]) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            stage.write(path, text.as_bytes());
        }
        stage
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[], "")
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .envs(variables.iter().copied())
            .current_dir(self.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input may be gone before all is written.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code(),
            out: untimed(&String::from_utf8(output.stdout).unwrap()),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The output with `TIME` in the place of how long it took.
fn untimed(text: &str) -> String {
    let timed = |word: &str| word == "ms." || word == "s.";
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let words: Vec<&str> = line.split(' ').collect();
        let at = words
            .iter()
            .position(|word| timed(word))
            .filter(|at| *at > 0 && words[at - 1].parse::<f64>().is_ok());
        lines.push(match at {
            Some(at) => [&words[..at - 1], &["TIME."], &words[at + 1..]].concat().join(" "),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}

/// A sequence in the namespace, around steps.
fn sequence(name: &str, steps: &str) -> String {
    format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{name}\">\n{steps}\n</sequence>\n")
}

const BARE: &str = "    <variable name=\"customer\" expression=\"payload.name\"/>";
const CLEAN: &str = "    <variable name=\"customer\" expression=\"${payload.name}\"/>";
const SEQUENCES: &str = "project/src/main/wso2mi/artifacts/sequences";

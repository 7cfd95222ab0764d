//! Command hooks, as people meet them: the real binary, a scripted model, and scripts on disk.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

#[path = "hooks/answers.rs"]
mod answers;
#[path = "hooks/life.rs"]
mod life;
#[path = "hooks/trust.rs"]
mod trust;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

/// Writes a file, and makes it executable when it is a script.
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    if text.starts_with("#!") {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Stage {
    /// The user's settings folder.
    fn config(&self) -> std::path::PathBuf {
        self.folder.path().join("home/config")
    }

    /// Writes the user's hooks.
    fn hooks(&self, file: &Value) {
        write(&self.config().join("hooks.json"), &file.to_string());
    }

    /// Writes a script of the user's, and answers the command that runs it.
    fn script(&self, name: &str, text: &str) -> String {
        let path = self.config().join("hooks").join(name);
        write(&path, text);
        path.display().to_string()
    }

    /// Everything that the model was sent last, as text.
    fn sent(&self) -> String {
        self.server.captured().last().unwrap().json["messages"].to_string()
    }

    /// The last message that the model was sent.
    fn last(&self) -> String {
        let captured = self.server.captured();
        let messages = captured.last().unwrap().json["messages"].as_array().unwrap().clone();
        let content = messages.last().unwrap()["content"].clone();
        content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned)
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap_or_default()
    }
}

/// A file with one command at an event.
fn at(event: &str, matcher: &str, command: &str) -> Value {
    json!({ "hooks": { event: [{ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }] } })
}

fn writes() -> Scenario {
    Scenario::new()
        .turn(Turn::new().call("file_write", json!({ "path": "new.txt", "content": "made\n" })))
        .turn(Turn::new().text("Done."))
}

fn runs(command: &str) -> Scenario {
    Scenario::new()
        .turn(Turn::new().call("shell", json!({ "command": command })))
        .turn(Turn::new().text("Done."))
}

/// Processes whose command line has this in it.
fn processes(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker) && !line.contains("nextest"))
        .collect()
}

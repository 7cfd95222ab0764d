//! Facts about where the agent runs. The binary knows them; this crate reads no clock and no environment.

use std::path::PathBuf;

/// Facts about where the agent runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The folder it works in.
    pub folder: PathBuf,
    /// The operating system, in words.
    pub system: String,
    /// Whether the folder is under version control.
    pub under_git: bool,
    /// Today's date. Changes while a session lives, so it is not part of the system prompt.
    pub date: Option<String>,
}

impl Facts {
    /// What stays true while a session lives.
    pub fn lasting(&self) -> String {
        let mut text = format!("# Environment\n\n- Working folder: {}", self.folder.display());
        if !self.system.is_empty() {
            text.push_str(&format!("\n- System: {}", self.system));
        }
        text.push_str(if self.under_git { "\n- Under git: yes" } else { "\n- Under git: no" });
        text
    }

    /// What does not.
    pub fn passing(&self) -> Option<String> {
        self.date.as_ref().map(|date| format!("Today is {date}."))
    }
}

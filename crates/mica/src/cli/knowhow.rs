//! What can be typed about skills and memory.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::Form;

/// What to do with skills.
#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// List the skills of this folder and of the user, and what is not used
    List {
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Show a skill as the model reads it
    Show {
        /// Its name
        name: String,
        /// One of its files instead
        #[arg(long, value_name = "PATH")]
        resource: Option<String>,
    },
    /// Check skills against the format. Ends with 1 when something is wrong
    Check {
        /// Folders of skills; all that are found here when absent
        folders: Vec<PathBuf>,
    },
    /// Begin a skill: a folder with a SKILL.md to fill in
    New {
        /// Its name: small letters, digits and hyphens
        name: String,
        /// For all projects: among the user's skills instead of the project's
        #[arg(long)]
        global: bool,
    },
}

/// What to do with the memory.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Show what is remembered
    Show,
    /// Open the file in the editor that VISUAL or EDITOR names
    Edit {
        /// For this project or for all
        #[arg(long, value_enum, default_value_t)]
        scope: MemoryScope,
    },
    /// Add a note
    Add {
        /// For this project or for all
        #[arg(long, value_enum, default_value_t)]
        scope: MemoryScope,
        /// What it is about
        #[arg(long, value_enum, default_value_t)]
        section: MemorySection,
        /// The note
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Take a note out: the one that has these words
    Forget {
        /// For this project or for all
        #[arg(long, value_enum, default_value_t)]
        scope: MemoryScope,
        /// Words that only this note has
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Where the files are
    Path,
}

/// For whom a note is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum MemoryScope {
    /// This project
    #[default]
    Project,
    /// All projects
    Global,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum MemorySection {
    /// How things should be done
    Preferences,
    /// What is so
    #[default]
    Context,
    /// What worked and what did not
    LearnedPatterns,
}

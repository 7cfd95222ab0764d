//! What can be typed about extensions.

use std::path::PathBuf;

use clap::Subcommand;

use super::Form;

/// What to do with extensions.
#[derive(Debug, Subcommand)]
pub enum ExtCommand {
    /// List them: where each is, what became of it, what it brings, what it asks for and what it is allowed
    List {
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Load one in its cage, and say what it registers, or where it fails
    Check {
        /// Its file, or its folder
        path: PathBuf,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Write one to begin from, with comments
    New {
        /// What it is called
        name: String,
        /// In the project's folder instead of the user's; it needs trust there
        #[arg(long)]
        project: bool,
    },
    /// Write the types that extensions are written against to standard output, or to a file
    Types {
        /// Where to
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Allow one of yours what it asks for. A project's are allowed it with `mica trust`
    Allow {
        /// What it is called
        name: String,
        /// Take it back
        #[arg(long)]
        revoke: bool,
    },
    /// Turn one off
    Disable {
        /// What it is called
        name: String,
    },
    /// Turn one on again
    Enable {
        /// What it is called
        name: String,
    },
    /// Show what one printed
    Log {
        /// What it is called
        name: String,
    },
}

//! What can be typed to play cases.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Form;

/// Which cases are played, and how.
#[derive(Debug, Clone, Args)]
pub struct EvalFlags {
    /// Cases, and folders with cases
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Only cases that have this word in their name or sentence, or as a tag. Can be given several times: any of them
    #[arg(long, value_name = "WORD")]
    pub filter: Vec<String>,
    /// Only list them
    #[arg(long)]
    pub list: bool,
    /// How many are played at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// Seconds that a case may take which says nothing else
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    pub deadline: u64,
    /// Also play cases that ask a real model
    #[arg(long)]
    pub live: bool,
    /// Ask a real model for cases with a cassette, and write what it says into the cassette
    #[arg(long)]
    pub record: bool,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the events of each case
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// Say what changed since this report
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// What counts as a failure: anything that did not pass, or only what passed in the baseline
    #[arg(long, value_enum, default_value_t)]
    pub fail_on: FailOn,
    /// For people, or for programs
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
}

/// What counts as a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Anything that did not pass
    #[default]
    Failed,
    /// What passed in the baseline and does not now
    Regressed,
}

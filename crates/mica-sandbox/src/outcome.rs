//! How a command ended, and what it used.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::denial::Denial;
use crate::network::Asked;
use crate::notice::Notice;
pub use crate::plan::Usage;
use crate::tier::Tier;

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// How.
    pub how: How,
    /// What it used.
    pub usage: Usage,
    /// How long it took.
    pub elapsed: Duration,
    /// What it tried and was not let. Recognised by what it printed, so not complete.
    pub denials: Vec<Denial>,
    /// What somebody should know of it besides.
    pub notices: Vec<Notice>,
    /// What it asked the network for.
    pub network: Vec<Asked>,
    /// How it was confined.
    pub tier: Tier,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// By itself, with a code.
    Exited(i32),
    /// By a signal that the sandbox did not send.
    Signalled(i32),
    /// It reached a limit.
    Limit(Limit),
    /// It was stopped.
    Cancelled,
    /// Its keeper was ended from outside, and everything with it.
    Lost,
}

/// A limit that ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Time by the clock on the wall.
    Wall,
    /// Processor time.
    Cpu,
    /// The size of a file.
    FileSize,
}

impl How {
    /// Whether it ended well.
    pub fn is_success(self) -> bool {
        self == How::Exited(0)
    }

    /// The code for scripts, as shells have it: signals are 128 and more, a time that was up is 124.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => 128 + signal,
            Self::Limit(Limit::Wall) => 124,
            Self::Limit(Limit::Cpu) => 128 + libc::SIGXCPU,
            Self::Limit(Limit::FileSize) => 128 + libc::SIGXFSZ,
            Self::Cancelled => 130,
            Self::Lost => 137,
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with code {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::Limit(Limit::Wall) => f.write_str("was stopped: its time was up"),
            Self::Limit(Limit::Cpu) => f.write_str("was stopped: it used up its processor time"),
            Self::Limit(Limit::FileSize) => f.write_str("was stopped: a file became too large"),
            Self::Cancelled => f.write_str("was stopped"),
            Self::Lost => f.write_str("was ended from outside"),
        }
    }
}

/// What was read off the kernel's answer, before anybody's intentions are known.
pub(crate) fn how(code: Option<i32>, signal: Option<i32>, usage: &Usage, cpu: Option<u64>) -> How {
    let spent = (usage.user_us + usage.system_us) / 1_000_000;
    match (code, signal) {
        (_, Some(libc::SIGXCPU)) => How::Limit(Limit::Cpu),
        (_, Some(libc::SIGXFSZ)) => How::Limit(Limit::FileSize),
        (_, Some(libc::SIGKILL)) if cpu.is_some_and(|limit| spent >= limit) => How::Limit(Limit::Cpu),
        (_, Some(signal)) => How::Signalled(signal),
        (Some(code), None) => How::Exited(code),
        (None, None) => How::Lost,
    }
}

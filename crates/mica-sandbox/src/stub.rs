//! The stub: the same program, started again, that builds the boundary around itself and becomes the command's parent.
//!
//! Between `fork` and `exec` of a program with threads almost nothing may be done. A fresh process has one thread, so
//! everything may: the program starts itself with a hidden argument, hands over a [`Plan`](crate::plan::Plan) and three
//! descriptors through a socket, and the stub does the rest.
//!
//! Programs that use the sandbox call [`is_called`] first thing in `main`:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     if mica_sandbox::stub::is_called(std::env::args_os()) {
//!         return mica_sandbox::stub::run();
//!     }
//!     // …
//!     std::process::ExitCode::SUCCESS
//! }
//! ```

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod ahead;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(unix)]
mod channel;
#[cfg(unix)]
mod command;
#[cfg(target_os = "linux")]
pub(crate) mod family;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(unix)]
mod keeper;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(unix)]
pub(crate) mod raw;
#[cfg(unix)]
mod start;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod traces;

/// The hidden argument.
pub const ARGUMENT: &str = "__mica-sandbox-stub";

/// Whether this process was started to be the stub.
pub fn is_called(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.nth(1).is_some_and(|argument| argument == ARGUMENT)
}

/// Is the stub. What it has to say, it says on its socket; the exit code only tells whether the command ran.
pub fn run() -> ExitCode {
    #[cfg(unix)]
    {
        match keeper::stub() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }
    #[cfg(not(unix))]
    ExitCode::FAILURE
}

/// The version of Landlock's interface in this kernel; 0 when there is none.
pub(crate) fn landlock_abi() -> i32 {
    #[cfg(target_os = "linux")]
    {
        raw::landlock_abi()
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Why setting up stopped.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) stage: String,
    pub(crate) reason: String,
    pub(crate) errno: Option<i32>,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn new(stage: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self { stage: stage.into(), reason: reason.to_string(), errno: None }
    }

    /// At a step, for a reason of the system.
    pub(crate) fn at<E: Into<std::io::Error>>(stage: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |error| {
            let error: std::io::Error = error.into();
            Self { stage: stage.into(), reason: error.to_string(), errno: error.raw_os_error() }
        }
    }
}

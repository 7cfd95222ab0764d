//! Tries to get out. Each name is one attempt; `probe NAME WORLD PID` says whether it worked.
//!
//! It ends with 0 when it got out, with 1 when it was held, and with 3 when the attempt makes no sense here. It is also
//! the stub of the tests: a program that uses the sandbox calls it first thing.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::exit,
    missing_docs,
    reason = "an attacker keeps no rules of the house"
)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod attempts;

fn main() -> ExitCode {
    if mica_sandbox::stub::is_called(std::env::args_os()) {
        return mica_sandbox::stub::run();
    }
    #[cfg(target_os = "linux")]
    return attempts::main();
    #[cfg(not(target_os = "linux"))]
    ExitCode::from(3)
}

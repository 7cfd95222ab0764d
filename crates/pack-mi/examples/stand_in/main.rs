//! Plays what a project runs with: the Micro Integrator, a language server, and the stub of the sandbox. For tests.
//!
//! `stand_in server` behaves like the Micro Integrator in the folder that it runs in: ports from `conf/deployment.toml`,
//! readiness, logs, deployment of archives, the management API behind a certificate of its own. `behaviour` in its folder
//! says what goes wrong. `stand_in language-server MODE` speaks the protocol of language servers, or fails to.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "it is a part of tests, and a program of its own"
)]

mod language_server;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    if mica_sandbox::stub::is_called(std::env::args_os()) {
        return mica_sandbox::stub::run();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["server", ..] => server::run(),
        ["language-server", mode] => language_server::run(mode),
        _ => {
            println!("usage: stand_in server | language-server MODE");
            ExitCode::FAILURE
        }
    }
}

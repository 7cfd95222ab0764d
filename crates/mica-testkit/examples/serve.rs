//! Serves a scenario file on loopback, for trying a program by hand: `serve SCENARIO.toml [PORT]`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a small program speaks"
)]

use std::process::ExitCode;

use mica_testkit::{Scenario, ScriptedServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("serve: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("say which scenario: serve SCENARIO.toml")?;
    let scenario = Scenario::from_toml(&std::fs::read_to_string(&path)?)?;
    let server = ScriptedServer::start(scenario).await?;
    println!("{}", server.url("/v1"));
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}

//! The `mica` program: parse, wire, render. Decisions are made in the crates below.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::exit::Exit;
use crate::reach::Reach;
use crate::surroundings::Surroundings;

mod cli;
mod commands;
mod config;
mod exit;
mod keeping;
mod reach;
mod render;
mod surroundings;
mod terminal;

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(text) => {
            print!("{text}");
            Exit::Done.into()
        }
        Err(error) => {
            eprintln!("mica: {error:#}");
            Exit::Error.into()
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<String> {
    let surroundings = Surroundings::look(cli.run.directory.as_deref())?;
    match &cli.command {
        Some(Command::Completions { shell }) => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "mica", &mut out);
            Ok(String::from_utf8_lossy(&out).into_owned())
        }
        Some(Command::Man) => {
            let mut out = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut out)?;
            Ok(String::from_utf8_lossy(&out).into_owned())
        }
        Some(Command::Trust { folder, revoke }) => {
            commands::trust::run(&surroundings, folder.as_deref(), *revoke)
        }
        Some(Command::Config { command }) => {
            let config = Config::read(&surroundings, &cli.run)?;
            let list = cli::ConfigCommand::List;
            commands::config::run(command.as_ref().unwrap_or(&list), &config, &surroundings)
        }
        Some(Command::Models { filter, json }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            let reach = Reach::find(&values, &cli.run, &surroundings)?;
            Ok(commands::models::run(&reach.catalogue, &reach.endpoints, filter.as_deref(), *json))
        }
        Some(Command::Sessions { command }) => commands::sessions::run(command, &surroundings),
        _ => anyhow::bail!("not there yet"),
    }
}

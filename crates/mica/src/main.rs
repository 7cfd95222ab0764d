//! The `mica` program: parse, wire, render. Decisions are made in the crates below.

#![allow(unreachable_pub, reason = "a program has no public surface: `pub` says that other modules use it")]

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::{CommandFactory, Parser};
use mica_session::undo::Way;

use crate::cli::mcp::McpCommand;
use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::equipment::extensions::{Shelf, screen};
use crate::exit::Exit;
use crate::inquiries::Inquiries;
use crate::interactive::Wants;
use crate::questions::Questions;
use crate::reach::Reach;
use crate::render::json::JsonLines;
use crate::render::text::{Audience, TextPrinter};
use crate::surroundings::Surroundings;
use crate::terminal::Terminal;
use crate::tidying::Tidying;
use crate::trusting::Matter;
use crate::work::{Parts, Work};

mod approvals;
mod assembly;
mod cli;
mod commands;
mod config;
mod docs;
mod equipment;
mod exit;
mod inquiries;
mod interactive;
mod loading;
mod makes;
mod once;
mod parallel;
mod questions;
mod reach;
mod render;
mod reviewed;
mod rpc;
mod runner;
mod saying;
mod sources;
mod surroundings;
mod switching;
mod terminal;
mod tidying;
mod trusting;
mod undoing;
mod work;

#[allow(clippy::print_stderr, reason = "a program speaks")]
fn main() -> ExitCode {
    // The sandbox starts this program again to build a boundary around itself, before it has threads.
    if mica_sandbox::stub::is_called(std::env::args_os()) {
        return mica_sandbox::stub::run();
    }
    let cli = Cli::parse();
    // The language needs no runtime, no settings and no home.
    if let Some(Command::Language(command)) = &cli.command {
        return commands::language::run(command, cli.run.directory.as_deref()).into();
    }
    let workers = workers(cli.command.as_ref());
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                eprintln!("mica: the program cannot start: {error}");
                return Exit::Error.into();
            }
        };
    if let Some(Command::Mcp { command: McpCommand::Serve(flags) }) = &cli.command {
        let exit = runtime.block_on(commands::mcp::serve::run(flags, cli.run.directory.as_deref()));
        runtime.shutdown_background();
        return exit
            .unwrap_or_else(|error| {
                eprintln!("mica: {}", told(&error));
                Exit::Usage
            })
            .into();
    }
    if let Some(Command::Sandbox { command }) = &cli.command {
        let exit = runtime.block_on(commands::sandbox::run(command, cli.run.directory.as_deref()));
        runtime.shutdown_background();
        return exit;
    }
    // As a task beside those of the network: on this thread, every piece of an answer would be handed from one thread to
    // another, which takes longer than all that is done with it.
    let ran = runtime.block_on(runtime.spawn(async move { run(&cli).await }));
    let exit = ran.unwrap_or_else(|broken| Err(broken.into())).unwrap_or_else(|error| {
        eprintln!("mica: {}", told(&error));
        Exit::Error
    });
    // The keyboard's thread may wait for a line that never comes.
    runtime.shutdown_background();
    exit.into()
}

/// How many threads run tasks; work that computes or waits for a disk has threads of its own. An agent is one thing after
/// the other, with many small waits: a second thread would be woken for each, and would take turns with the first. Others, such
/// as evals and a server of tools, have several things to do at a time.
fn workers(command: Option<&Command>) -> usize {
    let is_one_agent = matches!(command, None | Some(Command::Rpc | Command::Desk(_)));
    if is_one_agent { 1 } else { 2 }
}

/// An error with its causes. Many errors already say their cause, so what was said is not said again.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
async fn run(cli: &Cli) -> Result<Exit> {
    let surroundings = Surroundings::look(cli.run.directory.as_deref())?;
    let text = match &cli.command {
        None => return Box::pin(work(cli, &surroundings)).await,
        // It has exit codes of its own, and is run before.
        Some(Command::Sandbox { .. }) => return Ok(Exit::Error),
        Some(Command::Rpc) => return rpc(cli, &surroundings).await,
        Some(Command::Language(command)) => return Ok(commands::language::run(command, None)),
        Some(Command::Completions { shell }) => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "mica", &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        Some(Command::Man) => {
            let mut out = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut out)?;
            String::from_utf8_lossy(&out).into_owned()
        }
        Some(Command::Rules { command }) => {
            commands::rules::run(command, cli.run.mode.as_deref(), &surroundings)?
        }
        Some(Command::Hooks { command }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            commands::hooks::run(command, &values, &surroundings).await?
        }
        Some(Command::Ext { command }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            let shelf = Shelf {
                surroundings: surroundings.clone(),
                values: values.extensions,
                named: cli.run.extension.clone(),
            };
            return commands::ext::run(command, &shelf).await;
        }
        Some(Command::Desk(flags)) => {
            return Box::pin(commands::desk::run(flags, &cli.run, &surroundings)).await;
        }
        Some(Command::Eval(flags)) => {
            return Box::pin(commands::eval::run(flags, &cli.run, &surroundings)).await;
        }
        Some(Command::Docs { page: None }) => docs::listing(),
        Some(Command::Docs { page: Some(page) }) => docs::page(page).map_err(anyhow::Error::msg)?.to_owned(),
        Some(Command::Trust { folder, flags }) => {
            commands::trust::run(&surroundings, folder.as_deref(), flags)?
        }
        Some(Command::Skills { command }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            let (text, exit) = commands::skills::run(command, &values, &surroundings)?;
            print!("{text}");
            return Ok(exit);
        }
        Some(Command::Memory { command }) => commands::memory::run(command, &surroundings)?,
        Some(Command::Config { command }) => {
            let config = Config::read(&surroundings, &cli.run)?;
            let list = cli::ConfigCommand::List;
            commands::config::run(command.as_ref().unwrap_or(&list), &config, &surroundings)?
        }
        Some(Command::Mcp { command }) => return commands::mcp::run(command, cli, &surroundings).await,
        Some(Command::Models { filter, json }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            let (reach, problems) = Reach::known(&values, &cli.run, &surroundings)?;
            print!(
                "{}",
                commands::models::run(
                    &reach.catalogue,
                    &reach.endpoints,
                    &problems,
                    filter.as_deref(),
                    *json
                )
            );
            for problem in &problems {
                eprintln!("mica: {problem}; `mica doctor` checks everything");
            }
            let useless = !problems.is_empty() && reach.endpoints.is_empty();
            return Ok(if useless { Exit::Error } else { Exit::Done });
        }
        Some(Command::Sessions { command }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            commands::sessions::run(command, &values, cli.run.yes, &surroundings)?
        }
        Some(Command::Undo { list: true, restore, .. }) => {
            let values = Config::read(&surroundings, &cli.run)?.values()?;
            let undo = commands::undo::store(&values.undo, &surroundings)?;
            match restore.format {
                cli::Form::Json => format!("{}\n", commands::undo::rows(&undo)?),
                cli::Form::Text => commands::undo::list(&undo, jiff::Timestamp::now(), surroundings.columns)?,
            }
        }
        Some(Command::Undo { run, restore, .. }) => {
            return undo(cli, &surroundings, Way::Undo, run.as_deref(), restore);
        }
        Some(Command::Redo { restore }) => return undo(cli, &surroundings, Way::Redo, None, restore),
        Some(Command::Doctor { json, ask }) => {
            let findings = commands::doctor::run(&cli.run, &surroundings, *ask).await;
            let bad = findings.iter().any(|finding| !finding.ok);
            if *json {
                println!("{}", serde_json::to_string(&findings)?);
            } else {
                print!("{}", commands::doctor::print(&findings));
            }
            return Ok(if bad { Exit::Error } else { Exit::Done });
        }
    };
    print!("{text}");
    Ok(Exit::Done)
}

/// Undoes or redoes, without an agent.
fn undo(
    cli: &Cli,
    surroundings: &Surroundings,
    way: Way,
    run: Option<&str>,
    flags: &cli::RestoreFlags,
) -> Result<Exit> {
    let values = Config::read(surroundings, &cli.run)?.values()?;
    let asked = commands::undo::Asked::from_flags(way, run, flags, &surroundings.folder);
    commands::undo::run(&commands::undo::store(&values.undo, surroundings)?, &asked, flags.format)
}

/// Runs an agent: once, or with a person.
#[allow(clippy::print_stderr, reason = "a program speaks")]
async fn work(cli: &Cli, surroundings: &Surroundings) -> Result<Exit> {
    let once = cli.run.prompt.is_some() || cli.run.output.is_some() || !surroundings.stdin_is_terminal;
    if !once {
        // Before anything of it is used.
        trusting::ask_about_project(surroundings, &mut std::io::stdin().lock(), &mut std::io::stderr())?;
    }
    let config = Config::read(surroundings, &cli.run)?;
    for note in &config.notes {
        eprintln!("mica: {note}");
    }
    let values = config.values()?;
    if once {
        return once::run(&values, &cli.run, surroundings).await;
    }
    let asking = Matter::of_user(surroundings, &values.extensions);
    trusting::ask(surroundings, &asking, &mut std::io::stdin().lock(), &mut std::io::stderr())?;
    let (approver, questions) = Questions::new();
    let inquiries = Inquiries::default();
    let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let colour = terminal && surroundings.variable("NO_COLOR").is_none();
    let printer = TextPrinter::new(std::io::stdout(), std::io::stderr(), colour, Audience::Person);
    let work = Work::begin(Parts {
        values: &values,
        flags: &cli.run,
        surroundings,
        approver: Some(Arc::new(approver)),
        person: Some(Arc::new(inquiries.clone())),
        listeners: vec![Arc::clone(&printer) as Arc<dyn mica_agent::Listener>],
        screen: Arc::new(screen::Terminal::new(Arc::clone(&printer))),
    })?;
    let _ends = work.loading.around.until_dropped();
    for notice in work.notices.iter().chain(&work.load_first().await) {
        printer.say("…", notice);
    }
    if let Some(unusable) = work.loading.unusable() {
        eprintln!("mica: {unusable}");
        return Ok(Exit::Usage);
    }
    let tidying = Tidying::begin(&values, surroundings);
    let terminal = Terminal::open(Arc::clone(&printer), Some(surroundings.data.join("history")));
    // Large, and made once.
    let wants = Wants { questions, inquiries, left: None };
    let talked = Box::pin(interactive::run(&work, surroundings, &printer, terminal, wants)).await;
    work.close().await;
    talked?;
    tidying.end().await;
    Ok(Exit::Done)
}

#[allow(clippy::print_stderr, reason = "a program speaks")]
async fn rpc(cli: &Cli, surroundings: &Surroundings) -> Result<Exit> {
    let values = Config::read(surroundings, &cli.run)?.values()?;
    let out = JsonLines::new(std::io::stdout());
    let (approver, questions) = Questions::new();
    let asked = rpc::Asked::default();
    let inquiries = Inquiries::default();
    let work = Work::begin(Parts {
        values: &values,
        flags: &cli.run,
        surroundings,
        approver: Some(Arc::new(approver)),
        person: Some(Arc::new(inquiries.clone())),
        listeners: vec![rpc::listener(&out, &asked)],
        screen: Arc::new(screen::Pipe::new(&out)),
    })?;
    let _ends = work.loading.around.until_dropped();
    for notice in work.notices.iter().chain(&work.load_first().await) {
        eprintln!("mica: {notice}");
    }
    if let Some(unusable) = work.loading.unusable() {
        eprintln!("mica: {unusable}");
        return Ok(Exit::Usage);
    }
    let tidying = Tidying::begin(&values, surroundings);
    let asked = (asked, inquiries);
    let served = rpc::serve(&work, surroundings, tokio::io::stdin(), &out, questions, asked).await;
    work.close().await;
    served?;
    tidying.end().await;
    Ok(Exit::Done)
}

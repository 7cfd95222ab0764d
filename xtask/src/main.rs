//! The one door to the project's chores: `cargo xtask <command>`.
//!
//! Each command is a file here, with a `HELP` text and a `run` function. What a command needs and cannot find is
//! said in words, with what to do about it.
//!
//! It must not know: any crate of the stack. It builds before all of them, and judges them by their manifests.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the chores spawn processes, read the environment, write files and talk to a terminal"
)]

mod bench;
mod demo;
mod failure;
mod fuzz;
mod process;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::{Failure, Result};

/// A chore.
struct Command {
    name: &'static str,
    /// One line for the list of commands.
    about: &'static str,
    /// The whole help text. `None`: `--help` belongs to the program that the command starts.
    help: Option<&'static str>,
    run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command { name: "demo", about: demo::ABOUT, help: None, run: demo::run },
    Command { name: "test", about: test::ABOUT, help: Some(test::HELP), run: test::run },
    Command { name: "tidy", about: tidy::ABOUT, help: Some(tidy::HELP), run: tidy::run },
    Command { name: "bench", about: bench::ABOUT, help: Some(bench::HELP), run: bench::run },
    Command { name: "fuzz", about: fuzz::ABOUT, help: Some(fuzz::HELP), run: fuzz::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::usage(format!("no command given\n\n{}", overview())));
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        return match rest.first() {
            None => {
                print!("{}", overview());
                Ok(())
            }
            Some(name) => help(find(name)?),
        };
    }
    let command = find(name)?;
    // What follows `--` is meant for someone else.
    let own = rest.iter().take_while(|argument| *argument != "--");
    if command.help.is_some() && own.clone().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        return help(command);
    }
    (command.run)(rest)
}

fn find(name: &str) -> Result<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        Failure::usage(format!(
            "unknown command {name:?}: use {} or help\n\nRun `cargo xtask help` for what they do.",
            names.join(", ")
        ))
    })
}

fn help(command: &Command) -> Result<()> {
    match command.help {
        Some(text) => {
            print!("{text}");
            Ok(())
        }
        None => (command.run)(&["--help".to_owned()]),
    }
}

fn overview() -> String {
    let mut text = "Usage: cargo xtask <command> [arguments]\n\nCommands:\n".to_owned();
    for command in COMMANDS {
        text.push_str(&format!("  {:<6} {}\n", command.name, command.about));
    }
    text.push_str("  help   this text, or with a command's name the text of that command\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails_with(arguments: &[&str]) -> Failure {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        dispatch(&arguments).expect_err("the arguments are wrong")
    }

    #[test]
    fn an_unknown_command_is_a_usage_error_that_names_the_known_ones() {
        let failure = fails_with(&["tets"]);
        assert_eq!(failure.code(), 2);
        assert_eq!(
            failure.to_string().lines().next(),
            Some("unknown command \"tets\": use demo, test, tidy, bench, fuzz or help")
        );
    }

    #[test]
    fn no_command_is_a_usage_error() {
        assert_eq!(fails_with(&[]).code(), 2);
    }

    #[test]
    fn wrong_arguments_are_usage_errors() {
        for arguments in [
            &["tidy", "now"][..],
            &["test", "--peer"],
            &["bench", "--fast"],
            &["fuzz", "--seconds"],
            &["fuzz", "--seconds", "soon"],
            &["fuzz", "--forever"],
            &["fuzz", "no-such-target"],
            &["help", "me"],
        ] {
            assert_eq!(fails_with(arguments).code(), 2, "{arguments:?}");
        }
    }

    #[test]
    fn every_command_is_in_the_overview() {
        let text = overview();
        for command in COMMANDS {
            assert!(
                text.contains(&format!("\n  {:<6} {}\n", command.name, command.about)),
                "{}",
                command.name
            );
        }
    }
}

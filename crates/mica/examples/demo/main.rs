//! `cargo xtask demo`: the program at work on a small project, from a wish to a change that is checked, and back to its
//! session.

#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a demo speaks, and is a program"
)]

mod play;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use play::{Demo, Screen, Wish};

const HELP: &str = "\
Shows mica at work on a copy of examples/orders-mi: it adds a resource to an API,
asks before it changes a file, reads what the check of its change found, and repairs
that. Then what it changed, how to take it back, and its session.

usage: cargo xtask demo [--model NAME] [--scripted] [--keep]
       cargo xtask demo wires [ARGUMENTS]   the three wires, event by event

  --model NAME   the model to ask, as NAME or ENDPOINT/NAME
  --scripted     play the model by script, even when one is configured
  --keep         keep the folder of the demo

The model is the one that `mica` would ask here: its settings and variables count
(docs/endpoints.md). When there is none, a scripted model answers on this machine.";

#[tokio::main]
async fn main() -> ExitCode {
    let mut wish = Wish::default();
    let mut keep = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => {
                println!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--scripted" => wish.scripted = true,
            "--keep" => keep = true,
            "--model" => {
                wish.model = arguments.next();
                if wish.model.is_none() {
                    eprintln!("demo: --model needs a name");
                    return ExitCode::from(2);
                }
            }
            "--" => {}
            other => {
                eprintln!("demo: {other:?} is not an option\n\n{HELP}");
                return ExitCode::from(2);
            }
        }
    }
    let environment = environment();
    let plain = environment.iter().any(|(name, value)| name == "NO_COLOR" && !value.is_empty());
    let screen = Screen::live(std::io::stdout().is_terminal() && !plain);
    let demo = Demo { mica: mica(), sample: sample(), wish, keep, environment };
    match demo.play(screen).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("demo: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The program, which was built beside this one.
fn mica() -> PathBuf {
    let built = std::env::current_exe().ok();
    let built = built.as_deref().and_then(Path::parent).and_then(Path::parent);
    built.unwrap_or(Path::new("target/debug")).join(format!("mica{}", std::env::consts::EXE_SUFFIX))
}

#[allow(clippy::disallowed_methods, reason = "a demo is a program: it hands its environment on")]
fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders-mi")
}

//! Runs a TypeScript file in a cage: `cargo run -p mica-script --example run -- file.ts [function] [arguments as JSON…]`.
//!
//! Without a function, `main` is called. Imports are found beside the file. What the script prints goes to standard
//! error, what it returns to standard output.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example is a program")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mica_script::modules::Found;
use mica_script::{Cage, Clock, Host, Limits, Resolver, ScriptError};
use serde_json::Value;

/// Finds modules beside the file, and nowhere else.
struct Beside(PathBuf);

impl Resolver for Beside {
    fn resolve(&mut self, _: &str, import: &str) -> Option<Found> {
        let name = import.strip_prefix("./").filter(|name| !name.contains(['/', '\\']))?;
        let names = [name.to_owned(), format!("{name}.ts"), format!("{name}.js")];
        names.into_iter().find_map(|name| {
            let source = std::fs::read_to_string(self.0.join(&name)).ok()?;
            Some(Found { name, source })
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("usage: run file.ts [function] [arguments as JSON…]");
        return ExitCode::from(2);
    };
    let function = args.next().unwrap_or_else(|| "main".to_owned());
    let args: Vec<Value> = args.map(|arg| serde_json::from_str(&arg).unwrap_or(Value::String(arg))).collect();
    let source = match std::fs::read_to_string(&file) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(Path::new(&file), &source, &function, &args).await {
        Ok(value) => {
            println!("{value:#}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}", error.for_model());
            ExitCode::FAILURE
        }
    }
}

async fn run(file: &Path, source: &str, function: &str, args: &[Value]) -> Result<Value, ScriptError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let limits = Limits { clock: Clock::System, ..Limits::default() };
    let cage = Cage::with_host(limits, Host::new(), Beside(folder))?;
    cage.module(&name, source).await?;
    let answer = cage.call(&name, function, args).await;
    for line in cage.console().lines {
        eprintln!("[{}] {}", line.level, line.text);
    }
    answer
}

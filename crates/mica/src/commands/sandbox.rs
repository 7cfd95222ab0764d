//! `mica sandbox`: run a command in the sandbox, or see what the sandbox is here.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mica_sandbox::{
    Around, Boundary, Command, How, Network, Places, Sandbox, SandboxError, Stream, Stub, Tier, Weak,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::{BoundaryFlags, Form, SandboxCommand};
use crate::surroundings::Surroundings;

/// The sandbox could not be set up; nothing was run. Also what `env` and `timeout` say.
const SET_UP: u8 = 125;
/// The command is there and cannot be run.
const NOT_RUNNABLE: u8 = 126;
/// There is no such command.
const NOT_FOUND: u8 = 127;

/// Does what was asked, and answers with the command's own exit code.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub async fn run(command: &SandboxCommand, directory: Option<&Path>) -> ExitCode {
    let done = match command {
        SandboxCommand::Run { boundary, time, command } => start(boundary, *time, command, directory).await,
        SandboxCommand::Explain { boundary, format } => {
            explain(boundary, *format, directory).await.map(|text| {
                print!("{text}");
                ExitCode::SUCCESS
            })
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("mica: {error:#}");
        let code = match error.downcast_ref() {
            Some(SandboxError::NotFound { .. }) => NOT_FOUND,
            Some(SandboxError::NotRunnable { .. }) => NOT_RUNNABLE,
            _ => SET_UP,
        };
        ExitCode::from(code)
    })
}

/// The sandbox and the boundary that the flags ask for.
async fn ready(flags: &BoundaryFlags, surroundings: &Surroundings) -> Result<(Sandbox, Boundary)> {
    let places = Places::builtin()?;
    let home = surroundings.variable("HOME").map(std::path::PathBuf::from);
    let temporary = std::env::temp_dir();
    let around =
        Around { home: home.as_deref(), environment: &surroundings.variables, temporary: &temporary };
    let mut boundary = Boundary::project(&surroundings.folder, &around, &places)?;
    // Settings and sessions are this program's own, and decide what it may do.
    boundary.frozen.push(surroundings.config.clone());
    for path in &flags.write {
        boundary.write(&surroundings.folder.join(path), &places)?;
    }
    if flags.read_only {
        boundary = boundary.read_only();
    }
    if !flags.net.is_empty() {
        let weak = if flags.weak_net { Weak::Accept } else { Weak::Refuse };
        boundary.network = Network::Hosts { hosts: flags.net.clone(), weak };
    }
    let sandbox = Sandbox::negotiate(Stub::this_program()).await;
    let sandbox = match flags.tier {
        Some(tier) => sandbox.at_tier(tier)?,
        // Whoever asks for a sandbox and gets none has to say so.
        None if sandbox.tier() == Tier::None => {
            let reason = sandbox.report().reasons();
            return Err(SandboxError::Tier { wanted: Tier::Landlock, reached: Tier::None, reason })
                .context("--tier none runs the command without confinement");
        }
        None => sandbox,
    };
    Ok((sandbox, boundary))
}

#[allow(clippy::print_stderr, reason = "a program speaks")]
async fn start(
    flags: &BoundaryFlags,
    time: Option<u64>,
    words: &[String],
    directory: Option<&Path>,
) -> Result<ExitCode> {
    let surroundings = Surroundings::look(directory)?;
    let (sandbox, mut boundary) = ready(flags, &surroundings).await?;
    if let Some(time) = time {
        boundary.limits.wall = Some(Duration::from_secs(time));
    }
    let (program, arguments) = words.split_first().context("say which command to run, behind --")?;
    let command =
        Command::new(program, &surroundings.folder).arguments(arguments.iter().cloned()).with_input();
    let cancel = CancellationToken::new();
    let mut child = sandbox.spawn(command, &boundary, cancel.clone()).await?;
    if let Some(mut input) = child.take_input() {
        // Ends with the program, when the command has ended before its input.
        tokio::spawn(async move { tokio::io::copy(&mut tokio::io::stdin(), &mut input).await });
    }
    loop {
        tokio::select! {
            chunk = child.next() => match chunk {
                // Whoever reads may have gone; the command goes on to its end.
                Some(chunk) => drop(match chunk.stream {
                    Stream::Output => {
                        let mut out = std::io::stdout().lock();
                        out.write_all(&chunk.bytes).and_then(|()| out.flush())
                    }
                    Stream::Errors => std::io::stderr().lock().write_all(&chunk.bytes),
                }),
                None => break,
            },
            _ = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
        }
    }
    let ended = child.wait().await;
    if !matches!(ended.how, How::Exited(_)) {
        eprintln!("mica: the command {}", ended.how);
    }
    for denial in &ended.denials {
        eprintln!("mica: {denial}");
    }
    for notice in &ended.notices {
        eprintln!("mica: {notice}");
    }
    Ok(ExitCode::from(u8::try_from(ended.how.code() & 0xff).unwrap_or(1)))
}

async fn explain(flags: &BoundaryFlags, form: Form, directory: Option<&Path>) -> Result<String> {
    let surroundings = Surroundings::look(directory)?;
    // Explaining works where running would not.
    let asked = BoundaryFlags { tier: Some(flags.tier.unwrap_or(Tier::None)), ..flags.clone() };
    let (_, boundary) = ready(&asked, &surroundings).await?;
    let sandbox = Sandbox::negotiate(Stub::this_program()).await;
    let report = sandbox.report();
    if form == Form::Json {
        let variables: Vec<&String> = boundary.environment.keys().collect();
        let value = json!({ "tier": report.tier, "landlock_abi": report.landlock_abi, "missing": report.missing,
                            "boundary": boundary, "variables": variables });
        return Ok(format!("{value}\n"));
    }
    let mut out = String::new();
    let _ = writeln!(out, "tier       {}: {}", report.tier, report.tier.about());
    let _ = writeln!(out, "landlock   interface {}", report.landlock_abi);
    for missing in &report.missing {
        let _ = writeln!(out, "missing    {}: {}", missing.what, missing.why);
    }
    let mut list = |what: &str, paths: &[std::path::PathBuf], only_there: bool| {
        for path in paths.iter().filter(|path| !only_there || path.exists()) {
            let _ = writeln!(out, "{what:<10} {}", path.display());
        }
    };
    list("read", &boundary.readable, false);
    list("write", &boundary.writable, false);
    list("frozen", &boundary.frozen, true);
    list("hidden", &boundary.hidden, true);
    list("private", &boundary.shared, true);
    let network = match &boundary.network {
        Network::Off => "off".to_owned(),
        Network::Open => "open".to_owned(),
        Network::Hosts { hosts, .. } => {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            format!("only {}", hosts.join(", "))
        }
    };
    let _ = writeln!(out, "network    {network}");
    let names: Vec<&str> = boundary.environment.keys().map(String::as_str).collect();
    let _ = writeln!(out, "variables  {}", names.join(" "));
    Ok(out)
}

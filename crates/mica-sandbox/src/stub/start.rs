//! Starting the command's process when the command is there.

use super::Stop;
use super::channel::Streams;
use super::command::{self, Confinement, Program};
use super::raw;
use crate::plan::{Errand, Plan};

/// Starts it. It shares this process's memory until it is the command or has failed, so nothing has to be copied, nor said
/// through a pipe.
#[cfg(target_os = "linux")]
pub(crate) fn start(
    plan: &Plan,
    confinement: &Confinement,
    errand: &Errand,
    streams: &Streams,
    stack: &mut raw::Stack,
) -> Result<i32, Stop> {
    let program = Program::of(errand)?;
    let mut failed = None;
    let mut work = || failed = Some(command::become_it(plan, confinement, &program, streams));
    let child = raw::share(stack, &mut work).map_err(Stop::at("start"))?;
    failed.map_or(Ok(child), |stop| {
        forget(child);
        Err(stop)
    })
}

/// Starts it. It has a copy of this process's memory, and says in a pipe why it failed; that closes by itself when it is
/// the command.
#[cfg(not(target_os = "linux"))]
pub(crate) fn start(
    plan: &Plan,
    confinement: &Confinement,
    errand: &Errand,
    streams: &Streams,
) -> Result<i32, Stop> {
    use std::io::{Read, Write};

    use crate::plan::Report;

    let program = Program::of(errand)?;
    let (mut failures, mut tell) = std::io::pipe().map_err(Stop::at("pipe"))?;
    let child = match raw::fork().map_err(Stop::at("fork"))? {
        raw::Side::Child => {
            drop(failures);
            let Stop { stage, reason, errno } = command::become_it(plan, confinement, &program, streams);
            let told = serde_json::to_vec(&Report::Failed { stage, reason, errno }).unwrap_or_default();
            let _ = tell.write_all(&told);
            raw::exit(raw::NOT_RUN);
        }
        raw::Side::Parent(child) => child,
    };
    drop(tell);
    let mut told = Vec::new();
    failures.read_to_end(&mut told).map_err(Stop::at("start"))?;
    if told.is_empty() {
        return Ok(child);
    }
    forget(child);
    Err(match serde_json::from_slice(&told) {
        Ok(Report::Failed { stage, reason, errno }) => Stop { stage, reason, errno },
        _ => Stop::new("start", "the command's process ended while it was set up"),
    })
}

/// Waits for a process that has ended, or is about to, and did not become its command.
pub(crate) fn forget(child: i32) {
    while raw::wait_any(true).is_ok_and(|gone| gone.is_some_and(|gone| gone.pid != child)) {}
}

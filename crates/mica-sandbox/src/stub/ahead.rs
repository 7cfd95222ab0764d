//! A process that is confined before there is a command, and becomes the command when one comes.
//!
//! Confining takes longer than starting most commands, and between commands there is time. The process is alone in its
//! namespace until then: it is made when nothing of the command before is left, and whoever comes next is what it became. It
//! takes the errand from the program itself, while its keeper is stopped. So it is only for boundaries in which nothing has to be
//! done for each command by somebody with more rights; where something turns out to be, it takes nothing, and the ordinary
//! way is taken. That says what is wrong, too, when confining fails.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::channel::Channel;
use super::command::{self, Confinement, Program};
use super::mounts;
use super::raw::{self, Stack};
use super::{Stop, start};
use crate::plan::Plan;

/// Without waiting.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether a process can wait for the commands of a plan: nothing in it can be written, so there is nothing to except.
pub(crate) fn can_wait(plan: &Plan) -> bool {
    plan.writable.is_empty()
}

/// Waits for a command with a process that becomes it, and answers with that. None when it has to be started the ordinary way:
/// one was there already, or the process took none. Then nothing has been run.
pub(crate) fn wait(
    plan: &Plan,
    channel: &mut Channel,
    confinement: &Confinement,
    covered: &[&PathBuf],
    stack: &mut Stack,
) -> Result<Option<i32>, Stop> {
    if has_come(channel, Some(&NOW)) {
        return Ok(None);
    }
    // Whether it took an errand: what it says in the memory it shares is all that is known of it.
    let called = AtomicBool::new(false);
    // What it needs until the end is kept here: nothing of a process that is another program is given back.
    let (mut program, mut failed) = (None, None);
    let child = raw::share(stack, &mut || {
        // Where only somebody with more rights can go, the ordinary way is taken.
        if command::confine(plan, confinement).and_then(|()| command::enter(plan)).is_err() {
            return;
        }
        if !has_come(channel, None) || !mounts::are_covered(covered) {
            return;
        }
        called.store(true, Ordering::Release);
        match follow(plan, channel, &mut program) {
            Ok(Over) => called.store(false, Ordering::Release),
            Err(stop) => failed = Some(stop),
        }
    });
    let child = child.map_err(Stop::at("start"))?;
    if called.into_inner() && failed.is_none() {
        return Ok(Some(child));
    }
    start::forget(child);
    failed.map_or(Ok(None), Err)
}

/// No errand will come.
struct Over;

/// Takes the errand and becomes it.
fn follow(plan: &Plan, channel: &mut Channel, program: &mut Option<Program>) -> Result<Over, Stop> {
    let Some((errand, streams)) = channel.errand().map_err(Stop::at("errand"))? else { return Ok(Over) };
    // The folder again: it may have been covered since.
    command::enter(plan)?;
    let program = program.insert(Program::of(&errand)?);
    command::take(&streams)?;
    drop((errand, streams));
    Err(command::begin(program))
}

/// Whether there is something to read, or the end.
fn has_come(channel: &Channel, within: Option<&Timespec>) -> bool {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(channel.as_fd(), PollFlags::IN)], within) {
            Err(rustix::io::Errno::INTR) => {}
            come => return come != Ok(0),
        }
    }
}

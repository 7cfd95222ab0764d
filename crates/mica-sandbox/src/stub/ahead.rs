//! A process that is confined before there is a command, and becomes the command when one comes.
//!
//! Confining takes longer than starting most commands, and between commands there is time. The process is alone in its
//! namespace until then: it is made when nothing of the command before is left, and whoever comes next is what it became.
//! When anything about it fails, the ordinary way is taken, which says what is wrong.

use std::io::{self, IoSlice, PipeReader, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::Stop;
use super::channel::{Channel, Streams};
use super::command::{self, Confinement};
use super::raw::{self, Side};
use crate::plan::{ERRAND, Plan, Report};

/// What it says when it is confined.
const CONFINED: u8 = b'c';

/// A process that waits for its command.
pub(crate) struct Ahead {
    child: i32,
    socket: UnixStream,
    failures: PipeReader,
}

impl Ahead {
    /// Begins one; nothing when that fails.
    pub(crate) fn begin(plan: &Plan, confinement: &Confinement) -> Option<Self> {
        let (socket, theirs) = UnixStream::pair().ok()?;
        let (failures, mut tell) = io::pipe().ok()?;
        match raw::fork().ok()? {
            Side::Child => {
                drop((socket, failures));
                let Stop { stage, reason, errno } = wait(plan, confinement, theirs);
                let told = serde_json::to_vec(&Report::Failed { stage, reason, errno }).unwrap_or_default();
                let _ = tell.write_all(&told);
                raw::exit(127);
            }
            Side::Parent(child) => Some(Self { child, socket, failures }),
        }
    }

    /// Makes it the command. Answers with its process and where it tells a failure, or nothing when it is not there any
    /// more or could not be confined: then nothing has been run.
    pub(crate) fn become_it(mut self, errand: &[u8], streams: &Streams) -> Option<(i32, PipeReader)> {
        let mut word = [0u8; 1];
        let is_confined = self.socket.read_exact(&mut word).is_ok() && word == [CONFINED];
        if is_confined && self.hand_over(errand, streams).is_ok() {
            return Some((self.child, self.failures));
        }
        let _ = raw::kill(self.child, libc::SIGKILL);
        while raw::wait_any(true).is_ok_and(|gone| gone.is_some_and(|gone| gone.pid != self.child)) {}
        None
    }

    /// Hands on what was said, unread, in one piece when there is room.
    fn hand_over(&mut self, errand: &[u8], streams: &Streams) -> io::Result<()> {
        let length = u32::try_from(errand.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors = streams.each_ref().map(AsFd::as_fd);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [&length.to_le_bytes(), errand].concat();
        let parts = [IoSlice::new(ERRAND), IoSlice::new(&text)];
        let sent = sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL)?;
        self.socket.write_all(text.get(sent.saturating_sub(ERRAND.len())..).unwrap_or_default())
    }
}

/// The life of the process. Coming back means that it did not become the command.
fn wait(plan: &Plan, confinement: &Confinement, mut socket: UnixStream) -> Stop {
    // Where only somebody with more rights can go, the ordinary way is taken.
    if let Err(stop) = command::confine(plan, confinement).and_then(|()| command::enter(plan)) {
        return stop;
    }
    if let Err(error) = socket.write_all(&[CONFINED]) {
        return Stop::at("ahead")(error);
    }
    match Channel::on(socket).errand() {
        // The folder again: what must not change in it, or the folder itself, may have been covered just now.
        Ok(Some((errand, streams))) => match command::enter(plan) {
            Ok(()) => command::begin(&errand, streams),
            Err(stop) => stop,
        },
        // Its keeper needs it no more.
        Ok(None) => raw::exit(0),
        Err(error) => Stop::at("errand")(error),
    }
}

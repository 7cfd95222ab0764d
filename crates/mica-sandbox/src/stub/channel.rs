//! The stub's end of the socket.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::plan::{Errand, LARGEST, Plan, Report};

/// Bytes that hold what most errands and plans say.
const USUAL: usize = 8 << 10;

/// Standard input, output and error of the command.
pub(crate) type Streams = [OwnedFd; 3];

/// The socket to the program.
pub(crate) struct Channel(UnixStream);

impl Channel {
    /// Takes standard input, which is the socket, and puts nothing in its place.
    pub(crate) fn take() -> io::Result<Self> {
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let nothing = std::fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        Ok(Self(UnixStream::from(socket)))
    }

    /// Waits for the plan.
    pub(crate) fn plan(&mut self) -> io::Result<Plan> {
        Ok(serde_json::from_slice(&self.text()?)?)
    }

    /// Waits for what is to be run, and its streams. None when nothing comes any more.
    pub(crate) fn errand(&mut self) -> io::Result<Option<(Errand, Streams)>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0u8; 1];
        let got = recvmsg(&self.0, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut streams = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                streams.extend(descriptors);
            }
        }
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        if got.bytes == 0 {
            return Ok(None);
        }
        if got.flags.contains(ReturnFlags::CTRUNC) {
            return Err(bad("descriptors were lost on the way"));
        }
        let streams = Streams::try_from(streams).map_err(|_| bad("three descriptors go with an errand"))?;
        Ok(Some((serde_json::from_slice(&self.text()?)?, streams)))
    }

    fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0u8; 4];
        self.0.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > LARGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the plan is too large"));
        }
        // Room for nearly every one, so that it is taken at once.
        let mut text = Vec::with_capacity(USUAL);
        (&self.0).take(length.into()).read_to_end(&mut text)?;
        Ok(text)
    }

    /// Reports. Nobody to report to means that the program is gone, which the keeper notices by itself.
    pub(crate) fn report(&mut self, report: &Report) {
        let Ok(mut line) = serde_json::to_vec(report) else { return };
        line.push(b'\n');
        let _ = self.0.write_all(&line);
    }

    /// Hands out the socket that the proxy listens on.
    pub(crate) fn hand_out(&mut self, listener: BorrowedFd<'_>) -> io::Result<()> {
        let line = serde_json::to_vec(&Report::Listener)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let listeners = [listener];
        control.push(SendAncillaryMessage::ScmRights(&listeners));
        sendmsg(&self.0, &[IoSlice::new(&line), IoSlice::new(b"\n")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Reads an order that has come. `None` is the end: the program is gone.
    pub(crate) fn order(&mut self) -> Option<u8> {
        let mut byte = [0u8; 1];
        match self.0.read(&mut byte) {
            Ok(1) => byte.first().copied(),
            _ => None,
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

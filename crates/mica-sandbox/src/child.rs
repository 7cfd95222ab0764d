//! A command that runs.

use bytes::Bytes;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::outcome::{Ended, How, Usage};
use crate::tier::Tier;

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Which stream it came on.
    pub stream: Stream,
    /// What came: at most 64 KiB, cut anywhere.
    pub bytes: Bytes,
}

/// A stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// A command that runs. Dropping it ends the command and everything it started.
///
/// Output waits in a bounded channel; when it is full, the command waits, too. Its time goes on meanwhile.
#[derive(Debug)]
pub struct Child {
    pub(crate) chunks: mpsc::Receiver<Chunk>,
    pub(crate) input: Option<pipe::Sender>,
    pub(crate) output: Option<pipe::Receiver>,
    pub(crate) supervisor: JoinHandle<Ended>,
    pub(crate) cancel: CancellationToken,
    pub(crate) _end: DropGuard,
    pub(crate) tier: Tier,
}

impl Child {
    /// The next piece of output; none when all was handed out.
    pub async fn next(&mut self) -> Option<Chunk> {
        self.chunks.recv().await
    }

    /// Standard input, once. Dropping it closes it.
    pub fn take_input(&mut self) -> Option<pipe::Sender> {
        self.input.take()
    }

    /// Standard output, once, when the command was started with [`Streaming::Pipe`](crate::Streaming::Pipe).
    pub fn take_output(&mut self) -> Option<pipe::Receiver> {
        self.output.take()
    }

    /// Asks the command to end, and makes it after the grace of its limits.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for the end. Output that was not taken by then is dropped.
    pub async fn wait(mut self) -> Ended {
        self.chunks.close();
        while self.chunks.recv().await.is_some() {}
        let lost = Ended {
            how: How::Lost,
            usage: Usage::default(),
            elapsed: std::time::Duration::ZERO,
            denials: Vec::new(),
            notices: Vec::new(),
            network: Vec::new(),
            tier: self.tier,
        };
        (&mut self.supervisor).await.unwrap_or(lost)
    }
}

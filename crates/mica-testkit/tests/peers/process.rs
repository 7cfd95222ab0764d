//! A peer as a process: started, heard, and ended with the test that started it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How long a peer may take until it says its address. Loading takes a second; a busy machine takes longer.
const START: Duration = Duration::from_secs(60);

/// A running peer. Dropping it, also by a panic, kills it and waits for its end.
///
/// Its standard input is a pipe that stays open as long as this, so a launcher that reads it ends even when the test
/// is killed and nothing is dropped.
pub(crate) struct Peer {
    child: Child,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts a peer.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        // A peer that says much is read to its end, so that it never waits for a reader: lines that nobody asked for
        // in time are dropped.
        let (sender, lines) = sync_channel(64);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.try_send(line);
            }
        });
        Self { child, lines }
    }

    /// The address in the first line that says where the peer listens.
    pub(crate) fn address(&self) -> String {
        let deadline = Instant::now() + START;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some((_, address)) = line.split_once("listening on ") {
                        return address.trim().to_owned();
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("the peer did not start within {START:?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the peer ended instead of starting"),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

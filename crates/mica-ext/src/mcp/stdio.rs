//! A server that is a program: how it is started, and what is watched of what it prints.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mica_sandbox::{Boundary, Child, Command, Network, SandboxError, Streaming, Weak};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::config::{Confine, Hidden};
use super::given::Given;
use super::log::Log;

/// Bytes of one message. What is longer is no message that anybody could use.
const LINE: usize = 16 << 20;
/// Bytes of a line that is no message, in the log.
const GARBAGE: usize = 200;
/// Lines that are no messages, in the log.
const GARBAGES: usize = 20;

/// A program as a person wrote it down.
pub(super) struct Program<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [Hidden],
    pub(super) env: &'a std::collections::BTreeMap<String, Hidden>,
    pub(super) cwd: Option<&'a std::path::Path>,
    pub(super) confine: &'a Confine,
}

/// Starts it. It ends, with all that it started, when `cancel` fires.
pub(super) async fn spawn(
    program: &Program<'_>,
    given: &Given,
    cancel: CancellationToken,
) -> Result<Child, String> {
    let told = |error: SandboxError| error.for_model();
    let (sandbox, mut boundary) = match program.confine {
        Confine::Open => (given.open.clone(), Boundary::open(given.environment.clone(), &given.temporary)),
        Confine::Project { network, write, read_only } => {
            let sandbox = given.ground.sandbox().await.map_err(|error| error.message)?;
            let mut boundary = given.ground.boundary().map_err(|error| error.message)?;
            let places = mica_sandbox::Places::builtin().map_err(told)?;
            for folder in write {
                boundary.write(folder, &places).map_err(told)?;
            }
            if *read_only {
                boundary = boundary.read_only();
            }
            if !network.is_empty() {
                let hosts: Result<_, SandboxError> = network.iter().map(|host| host.parse()).collect();
                boundary.network = Network::Hosts { hosts: hosts.map_err(told)?, weak: Weak::Refuse };
            }
            (sandbox, boundary)
        }
    };
    boundary
        .environment
        .extend(program.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())));
    // It lives as long as the session, and works when it is asked to.
    boundary.limits.wall = None;
    boundary.limits.cpu_seconds = None;
    boundary.limits.grace = Duration::from_secs(1);
    let command = Command::new(program.command, program.cwd.unwrap_or(&given.root))
        .arguments(program.args.iter().map(|word| word.reveal().to_owned()))
        .with_input()
        .streaming(Streaming::Pipe);
    sandbox.spawn(command, &boundary, cancel).await.map_err(told)
}

/// What a server prints, watched: a line without an end is one, and lines that are no messages are kept for people.
pub(super) struct Watched<R> {
    inner: R,
    log: Log,
    length: usize,
    garbage: Option<Vec<u8>>,
    garbages: usize,
}

impl<R> Watched<R> {
    pub(super) fn new(inner: R, log: Log) -> Self {
        Self { inner, log, length: 0, garbage: None, garbages: 0 }
    }

    /// Looks at bytes. False when there is no end to them.
    fn look(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let begins = self.length == 0;
            let first = part.iter().find(|byte| !byte.is_ascii_whitespace());
            if begins && self.garbages < GARBAGES && first.is_some_and(|first| !b"{[\xef".contains(first)) {
                self.garbage = Some(Vec::new());
            }
            if let Some(garbage) = &mut self.garbage {
                let room = GARBAGE.saturating_sub(garbage.len()).min(part.len());
                garbage.extend_from_slice(part.get(..room).unwrap_or_default());
            }
            self.length += part.len();
            if self.length > LINE {
                return false;
            }
            if part.ends_with(b"\n") {
                self.length = 0;
                if let Some(garbage) = self.garbage.take() {
                    self.garbages += 1;
                    let text = String::from_utf8_lossy(&garbage).into_owned();
                    self.log.happened(&format!("it printed to standard output what is no message: {text}"));
                }
            }
        }
        true
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let this = &mut *self;
        std::task::ready!(Pin::new(&mut this.inner).poll_read(cx, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default().to_vec();
        if this.look(&new) {
            return Poll::Ready(Ok(()));
        }
        buffer.set_filled(before);
        this.log.happened("it was ended: it printed a line of more than 16 MiB");
        Poll::Ready(Err(std::io::Error::other("a line of more than 16 MiB")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn what_is_no_message_is_kept_for_people() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path(), "x");
        let printed = b"Listening...\n{\"a\":1}\n\n  warn: x\n{\"b\":\n".as_slice();
        let mut read = Vec::new();
        Watched::new(printed, log.clone()).read_to_end(&mut read).await.unwrap();
        assert_eq!(read, printed);
        assert_eq!(
            log.read().unwrap(),
            "— it printed to standard output what is no message: Listening...\n\
             — it printed to standard output what is no message: warn: x\n"
        );
    }

    #[tokio::test]
    async fn a_line_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path(), "x");
        let mut read = Vec::new();
        let endless = tokio::io::repeat(b'{');
        let error = Watched::new(endless, log).read_to_end(&mut read).await.unwrap_err();
        assert_eq!(error.to_string(), "a line of more than 16 MiB");
    }
}

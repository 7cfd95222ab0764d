//! Watching a command from outside: its time, its end, its output, and that nothing is left.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::aftermath::Before;
use crate::boundary::Boundary;
use crate::child::{Chunk, Stream};
use crate::denial::{self, Denial};
use crate::held::Held;
use crate::network::{Log, Refusal};
use crate::notice::Notice;
use crate::outcome::{self, Ended, How, Limit};
use crate::plan::{Order, Plan, Report, Usage};
use crate::ready::{Place, Served};
use crate::sandbox::Sandbox;
use crate::tier::Tier;

/// The largest piece of output.
const PIECE: usize = 64 * 1024;
/// What is kept of standard error to explain denials.
const TAIL: usize = 16 * 1024;
/// How many notices are kept.
const NOTICES: usize = 32;
/// How long the keeper has after it was told to end everything, before it is ended itself.
const LAST: Duration = Duration::from_secs(5);
/// How long output may take when everything that could write it has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// Reads a stream to its end, and answers its last bytes. When nobody takes the pieces any more, it reads on: a command
/// must not be stopped by a reader that went away.
pub(crate) fn read(mut pipe: pipe::Receiver, stream: Stream, to: mpsc::Sender<Chunk>) -> JoinHandle<Vec<u8>> {
    tokio::spawn(async move {
        let mut tail = VecDeque::new();
        let mut buffer = BytesMut::with_capacity(PIECE);
        loop {
            buffer.reserve(PIECE);
            match (&mut pipe).take(PIECE as u64).read_buf(&mut buffer).await {
                Ok(read) if read > 0 => {}
                _ => return tail.into(),
            }
            let bytes = buffer.split().freeze();
            if stream == Stream::Errors {
                tail.extend(bytes.iter().copied());
                let over = tail.len().saturating_sub(TAIL);
                tail.drain(..over);
            }
            let _ = to.send(Chunk { stream, bytes }).await;
        }
    })
}

/// Everything that lives as long as a command.
pub(crate) struct Supervisor {
    pub(crate) place: Place,
    pub(crate) tier: Tier,
    pub(crate) mark: String,
    pub(crate) folder: PathBuf,
    pub(crate) boundary: Boundary,
    pub(crate) cancel: CancellationToken,
    pub(crate) log: Log,
    pub(crate) readers: Vec<Option<JoinHandle<Vec<u8>>>>,
    pub(crate) stop_proxy: DropGuard,
    pub(crate) held: Option<Held>,
    pub(crate) notices: Vec<Notice>,
    /// How many orders were given. One may come too late for this command, and must not meet another.
    pub(crate) orders: usize,
    pub(crate) before: Before,
    /// Where a boundary for the next command is built.
    pub(crate) next: Option<(Sandbox, Plan)>,
}

impl Supervisor {
    pub(crate) async fn run(mut self) -> Ended {
        let began = Instant::now();
        let (how, usage, keeper) = self.watch(began).await;
        let mut place = self.place;
        if keeper == Keeper::Gone {
            end(&mut place.process).await;
            sweep(&self.mark);
        }
        let elapsed = began.elapsed();
        let mut tail = Vec::new();
        for reader in self.readers.iter_mut().flatten() {
            match timeout(DRAIN, &mut *reader).await {
                Ok(read) => tail.extend(read.unwrap_or_default()),
                Err(_) => reader.abort(),
            }
        }
        drop((self.stop_proxy, self.held));
        let after = self.before.after();
        // A link that the command itself replaced was not replaced from outside.
        self.notices.retain(|notice| !after.iter().any(|found| found.explains(notice)));
        self.notices.extend(after);
        // Everything that the command started has ended. What is left is the keeper, with its namespaces and mounts, and
        // nobody needs to wait for that.
        let (next, boundary) = (self.next, self.boundary.clone());
        let served = if keeper == Keeper::Done && self.orders == 0 {
            Served::Undisturbed(place)
        } else {
            Served::Disturbed(place)
        };
        // Said before anybody knows of the end: the next command then waits for that one, and builds none of its own.
        let announced = next.as_ref().and_then(|(sandbox, plan)| sandbox.ready.announce(plan));
        tokio::spawn(async move {
            let left = match (&next, announced) {
                (Some((sandbox, _)), Some(announced)) => {
                    sandbox.ready.renew(sandbox, &boundary, served, announced).await
                }
                _ => Some(served.place()),
            };
            if let Some(Place { mut process, control, temporary, group, .. }) = left {
                // Nobody listens any more, which tells the keeper to end.
                drop(control);
                end(&mut process).await;
                drop((temporary, group));
            }
        });
        let network = self.log.take();
        let mut denials = Vec::new();
        if how == How::Signalled(libc::SIGSYS) {
            denials.push(Denial::Call);
        }
        if self.tier != Tier::None {
            let hosts = network
                .iter()
                .filter(|asked| matches!(asked.refused, Some(Refusal::NotListed | Refusal::Private(_))));
            denials.extend(
                hosts.map(|asked| Denial::Network { host: Some(format!("{}:{}", asked.host, asked.port)) }),
            );
            denials.extend(denial::find(&String::from_utf8_lossy(&tail), &self.folder, &self.boundary));
        }
        Ended { how, usage, elapsed, denials, notices: self.notices, network, tier: self.tier }
    }

    /// Each thing is told once, and not too many.
    fn notice(&mut self, notice: Notice) {
        if self.notices.len() < NOTICES && !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    async fn order(&mut self, order: Order) {
        self.orders += 1;
        self.place.control.order(order).await;
    }

    async fn watch(&mut self, began: Instant) -> (How, Usage, Keeper) {
        let far = Duration::from_secs(86_400 * 365);
        let limits = self.boundary.limits.clone();
        let deadline = began + limits.wall.unwrap_or(far);
        let mut cause = None;
        let mut escalate: Option<(Instant, Step)> = None;
        loop {
            let next = escalate.map_or(began + far, |(at, _)| at);
            tokio::select! {
                report = self.place.control.report() => match report {
                    Some(Report::Ended { code, signal, usage }) => {
                        let seen = outcome::how(code, signal, &usage, limits.cpu_seconds);
                        return (cause.unwrap_or(seen), usage, Keeper::Done);
                    }
                    Some(Report::Replaced { path }) => self.notice(Notice::Replaced { path }),
                    Some(Report::Open { stage, reason }) => {
                        self.notice(Notice::Open { reason: format!("{stage}: {reason}") });
                    }
                    Some(_) => {}
                    None => return (cause.unwrap_or(How::Lost), Usage::default(), Keeper::Gone),
                },
                () = self.cancel.cancelled(), if cause.is_none() => {
                    cause = Some(How::Cancelled);
                    self.order(Order::Terminate).await;
                    escalate = Some((Instant::now() + limits.grace, Step::Kill));
                }
                () = sleep_until(deadline), if cause.is_none() => {
                    cause = Some(How::Limit(Limit::Wall));
                    self.order(Order::Terminate).await;
                    escalate = Some((Instant::now() + limits.grace, Step::Kill));
                }
                () = sleep_until(next), if escalate.is_some() => match escalate.map(|(_, step)| step) {
                    Some(Step::Kill) => {
                        self.order(Order::Kill).await;
                        escalate = Some((Instant::now() + LAST, Step::KillKeeper));
                    }
                    _ => {
                        let _ = self.place.process.start_kill();
                        escalate = None;
                    }
                },
            }
        }
    }
}

/// Whether the keeper saw everything end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Done,
    Gone,
}

/// Waits for the keeper, which has nothing to do any more.
async fn end(keeper: &mut tokio::process::Child) {
    if timeout(LAST, keeper.wait()).await.is_err() {
        let _ = keeper.kill().await;
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Kill,
    KillKeeper,
}

/// Ends what a keeper left that was ended from outside. The mark is in the environment of everything it kept, unless it
/// was taken out; that is the weak spot of a keeper without a process namespace, and somebody else had to end it first.
fn sweep(mark: &str) {
    #[cfg(target_os = "linux")]
    {
        let wanted = format!("{}={mark}", crate::launch::MARK);
        for _ in 0..100 {
            let marked = marked(wanted.as_bytes());
            if marked.is_empty() {
                return;
            }
            for signal in [libc::SIGSTOP, libc::SIGKILL] {
                for pid in &marked {
                    let _ = crate::stub::raw::kill(*pid, signal);
                }
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

#[cfg(target_os = "linux")]
fn marked(wanted: &[u8]) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        })
        .collect()
}

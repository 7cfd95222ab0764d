//! Starting the stub and handing it the plan.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::aftermath::Before;
use crate::boundary::{Boundary, Limits, Network, UnixSockets, Weak};
use crate::child::{Child, Stream};
use crate::command::{Command, Streaming};
use crate::error::SandboxError;
use crate::network::{Log, Proxy};
use crate::plan::{ERRAND, Errand, Plan, Reachable, Report};
use crate::ready::{Identity, Place, Seen};
use crate::sandbox::Sandbox;
use crate::stub;
use crate::supervise::{self, Supervisor};
use crate::tier::Tier;

/// Building a boundary takes milliseconds; a machine under load may need a while.
pub(crate) const SET_UP: Duration = Duration::from_secs(20);
/// Bytes of output that a command can print before anybody reads them.
#[cfg(target_os = "linux")]
const ROOM: usize = 512 * 1024;
/// Pieces of output that wait for somebody to take them.
const WAITING: usize = 64;
/// The largest line of a report.
const LINE: usize = 64 * 1024;
/// Says to a command that it runs in a sandbox, and to the sandbox which processes are the command's.
pub(crate) const MARK: &str = "MICA_SANDBOX";

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(crate) async fn spawn(
    sandbox: &Sandbox,
    command: Command,
    boundary: &Boundary,
    cancel: CancellationToken,
) -> Result<Child, SandboxError> {
    let tier = sandbox.tier();
    let cancel = cancel.child_token();
    let end = cancel.clone().drop_guard();
    let held = (tier == Tier::Namespaces).then(|| sandbox.holder.hold(&boundary.held));
    let before = if tier == Tier::Namespaces { Before::of(boundary) } else { Before::default() };
    let log = Log::default();
    let proxying = CancellationToken::new();
    let stop_proxy = proxying.clone().drop_guard();
    let (reachable, hosts) = reachable(boundary, tier, &log, &proxying).await?;
    let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (plan, seen) = plan(sandbox, &command.folder, boundary, reachable)?;
    let pipes = Pipes::new(&command).map_err(SandboxError::io("no pipe"))?;
    let mut place = None;
    if let Some(mut ready) = sandbox.ready.take(&plan, &seen).await {
        // One that has just ended takes nothing, and has run nothing.
        let errand = errand(&command, boundary, ready.temporary.as_ref(), &mark);
        place = ready.control.hand_over(&pipes.theirs, &errand).await.is_ok().then_some(ready);
    }
    let mut place = match place {
        Some(place) => place,
        None => {
            let mut place = Place::begin(sandbox, plan.clone(), seen, boundary).await?;
            let errand = errand(&command, boundary, place.temporary.as_ref(), &mark);
            let handed = place.control.hand_over(&pipes.theirs, &errand).await;
            handed.map_err(SandboxError::io("the stub did not take the command"))?;
            place
        }
    };
    let Pipes { theirs, input, output, errors } = pipes;
    drop(theirs);

    let started = tokio::time::timeout(SET_UP, async {
        loop {
            match place.control.report().await {
                Some(Report::Listener) => {
                    if let (Some(listener), Some(hosts)) = (place.control.listener(), &hosts) {
                        let proxy = Proxy::new(hosts.clone(), log.clone());
                        tokio::spawn(proxy.serve(listener, proxying.clone()));
                    }
                }
                Some(Report::Ready { around }) => place.stands(around),
                Some(Report::Replaced { .. } | Report::Open { .. } | Report::Again) => {}
                Some(Report::Started) => return Ok(()),
                Some(Report::Failed { stage, reason, errno }) => {
                    return Err(failed(&command.program, stage, reason, errno));
                }
                Some(Report::Ended { .. }) | None => {
                    return Err(SandboxError::SetUp {
                        stage: "stub".to_owned(),
                        reason: "it ended without a word; is the program one that calls the stub first?"
                            .to_owned(),
                    });
                }
            }
        }
    });
    started.await.map_err(|_| SandboxError::SetUp {
        stage: "stub".to_owned(),
        reason: format!("it was not ready within {} s", SET_UP.as_secs()),
    })??;

    // The next one is built beside this command, so that it stands when that ends, unless this one may serve again: most
    // commands end sooner than one is built, and building takes from the time of the command.
    let next = sandbox.is_keeping_ready.then(|| (sandbox.clone(), plan));
    if let Some((sandbox, plan)) = next.clone().filter(|(_, plan)| !plan.again) {
        let boundary = boundary.clone();
        tokio::spawn(async move { sandbox.ready.build(&sandbox, plan, &boundary).await });
    }
    let (sender, chunks) = mpsc::channel(WAITING);
    let (output, raw) = match command.streaming {
        Streaming::Chunks => (Some(output), None),
        Streaming::Pipe => (None, Some(output)),
    };
    let supervisor = Supervisor {
        place,
        tier,
        mark,
        folder: command.folder,
        boundary: boundary.clone(),
        cancel: cancel.clone(),
        log,
        readers: vec![
            output.map(|pipe| supervise::read(pipe, Stream::Output, sender.clone())),
            Some(supervise::read(errors, Stream::Errors, sender)),
        ],
        stop_proxy,
        held,
        notices: Vec::new(),
        orders: 0,
        before,
        next,
    };
    let supervisor = tokio::spawn(supervisor.run());
    Ok(Child { chunks, input, output: raw, supervisor, cancel, _end: end, tier })
}

pub(crate) async fn prepare(sandbox: &Sandbox, folder: &Path, boundary: &Boundary) -> bool {
    let network = match boundary.network {
        Network::Off => Reachable::Nothing,
        Network::Open => Reachable::Everything,
        // A proxy belongs to one command.
        Network::Hosts { .. } => return false,
    };
    match plan(sandbox, folder, boundary, network) {
        Ok((plan, _)) => sandbox.ready.build(sandbox, plan, boundary).await,
        Err(_) => false,
    }
}

fn failed(program: &str, stage: String, reason: String, errno: Option<i32>) -> SandboxError {
    let program = program.to_owned();
    match (stage.as_str(), errno) {
        ("exec", Some(libc::ENOENT)) => SandboxError::NotFound { program },
        ("exec", _) => SandboxError::NotRunnable { program, reason },
        _ => SandboxError::SetUp { stage, reason },
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
pub(crate) fn start(stub: &Path, socket: OwnedFd) -> Result<tokio::process::Child, SandboxError> {
    tokio::process::Command::new(stub)
        .arg(stub::ARGUMENT)
        .env_clear()
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What a person types at the program, Ctrl-C included, is for the program.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(SandboxError::io("the stub could not be started"))
}

async fn reachable(
    boundary: &Boundary,
    tier: Tier,
    log: &Log,
    cancel: &CancellationToken,
) -> Result<(Reachable, Option<Vec<crate::network::Host>>), SandboxError> {
    match (&boundary.network, tier) {
        (Network::Off, _) => Ok((Reachable::Nothing, None)),
        (Network::Open, _) => Ok((Reachable::Everything, None)),
        (Network::Hosts { hosts, .. }, Tier::Namespaces) => Ok((Reachable::Inside, Some(hosts.clone()))),
        (Network::Hosts { weak: Weak::Refuse, .. }, Tier::Landlock) => {
            let reason = "Landlock knows ports and no addresses, so a program that ignores the proxy could reach any host \
                          on its port";
            Err(SandboxError::Grant { tier, reason })
        }
        (Network::Hosts { weak: Weak::Refuse, .. }, Tier::None) => {
            Err(SandboxError::Grant { tier, reason: "nothing would keep a program from ignoring the proxy" })
        }
        (Network::Hosts { hosts, weak: Weak::Accept }, _) => {
            let listener = TcpListener::bind(("127.0.0.1", 0))
                .await
                .map_err(SandboxError::io("no port for the proxy"))?;
            let port = listener.local_addr().map_err(SandboxError::io("no port for the proxy"))?.port();
            tokio::spawn(Proxy::new(hosts.clone(), log.clone()).serve(listener, cancel.clone()));
            Ok((Reachable::Port(port), None))
        }
    }
}

/// What to build, and what was seen at the places it names.
fn plan(
    sandbox: &Sandbox,
    folder: &Path,
    boundary: &Boundary,
    network: Reachable,
) -> Result<(Plan, Seen), SandboxError> {
    let tier = sandbox.tier();
    let real = |path: &PathBuf| path.canonicalize().ok();
    let writable: Vec<PathBuf> = boundary.writable.iter().filter_map(real).collect();
    let folder = folder.canonicalize().map_err(|error| SandboxError::Path {
        path: folder.to_owned(),
        reason: format!("a command cannot run there: {error}"),
    })?;
    let (hidden, seen): (Vec<PathBuf>, Vec<Option<Identity>>) = hidden(boundary).into_iter().unzip();
    let text = |path: &PathBuf| path.to_str().is_none();
    let all =
        writable.iter().chain(&boundary.readable).chain(&boundary.frozen).chain(&hidden).chain([&folder]);
    if let Some(path) = { all }.find(|path| text(path)) {
        return Err(SandboxError::Path { path: path.clone(), reason: "its name is not UTF-8".to_owned() });
    }
    // Time is kept out here.
    let limits = Limits { wall: None, grace: Duration::ZERO, ..boundary.limits.clone() };
    // Where only private folders can be written, it can be seen whether a command left something; with a namespace for
    // processes, it is certain that none is left.
    let again = sandbox.is_keeping_ready
        && tier == Tier::Namespaces
        && writable.is_empty()
        && network == Reachable::Nothing
        && boundary.unix_sockets == UnixSockets::Pairs;
    let plan = Plan {
        tier,
        folder,
        readable: boundary.readable.iter().filter_map(real).collect(),
        writable,
        frozen: boundary.frozen.clone(),
        held: boundary.held.clone(),
        hidden,
        shared: boundary.shared.clone(),
        network,
        unix_sockets: boundary.unix_sockets,
        limits,
        again,
    };
    let seen = Seen::beside(&plan, seen);
    Ok((plan, seen))
}

/// The hidden places, and what is there. One may be a link, or behind one: both ends are hidden.
fn hidden(boundary: &Boundary) -> Vec<(PathBuf, Option<Identity>)> {
    let mut hidden = Vec::with_capacity(boundary.hidden.len());
    for path in &boundary.hidden {
        let there = path.symlink_metadata().ok();
        // Most are not there, and one question is less than one for each folder on the way.
        if there.is_some()
            && let Ok(real) = path.canonicalize()
            && real != *path
        {
            let at_the_end = real.symlink_metadata().ok();
            hidden.push((real, at_the_end.as_ref().map(Identity::of)));
        }
        hidden.push((path.clone(), there.as_ref().map(Identity::of)));
    }
    // By bytes: there are many, and comparing them part by part takes longer than all the rest here.
    hidden.sort_by(|(one, _), (other, _)| one.as_os_str().cmp(other.as_os_str()));
    hidden.dedup_by(|(one, _), (other, _)| one == other);
    hidden
}

fn errand(command: &Command, boundary: &Boundary, temporary: Option<&TempDir>, mark: &str) -> Errand {
    let mut environment = boundary.environment.clone();
    let own = temporary.map_or(Path::new("/tmp"), TempDir::path);
    for name in ["TMPDIR", "TMP", "TEMP"] {
        environment.insert(name.to_owned(), own.to_string_lossy().into_owned());
    }
    environment.insert(MARK.to_owned(), mark.to_owned());
    Errand { program: command.program.clone(), arguments: command.arguments.clone(), environment }
}

/// The command's streams, both ends of each.
struct Pipes {
    theirs: [OwnedFd; 3],
    input: Option<pipe::Sender>,
    output: pipe::Receiver,
    errors: pipe::Receiver,
}

impl Pipes {
    fn new(command: &Command) -> std::io::Result<Self> {
        let (output, their_output) = std::io::pipe()?;
        let (errors, their_errors) = std::io::pipe()?;
        // Room for a command that prints much, so that it waits less often. The system may allow less, which is fine, too.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&output, ROOM);
        let (their_input, input) = if command.takes_input {
            let (theirs, ours) = std::io::pipe()?;
            (OwnedFd::from(theirs), Some(pipe::Sender::from_owned_fd(ours.into())?))
        } else {
            (OwnedFd::from(std::fs::File::open("/dev/null")?), None)
        };
        Ok(Self {
            theirs: [their_input, their_output.into(), their_errors.into()],
            input,
            output: pipe::Receiver::from_owned_fd(output.into())?,
            errors: pipe::Receiver::from_owned_fd(errors.into())?,
        })
    }
}

/// A length and JSON.
fn framed(what: &impl serde::Serialize) -> std::io::Result<Vec<u8>> {
    let mut text = vec![0; 4];
    serde_json::to_writer(&mut text, what)?;
    let length = u32::try_from(text.len() - 4).map_err(std::io::Error::other)?;
    for (byte, of_length) in text.iter_mut().zip(length.to_le_bytes()) {
        *byte = of_length;
    }
    Ok(text)
}

/// The program's end of the socket to the stub.
#[derive(Debug)]
pub(crate) struct Control {
    socket: UnixStream,
    received: Vec<u8>,
    listener: Option<OwnedFd>,
}

impl Control {
    pub(crate) fn new(socket: std::os::unix::net::UnixStream) -> std::io::Result<Self> {
        Ok(Self { socket: UnixStream::from_std(socket)?, received: Vec::new(), listener: None })
    }

    /// Sends a length and JSON.
    pub(crate) async fn send(&mut self, what: &impl serde::Serialize) -> std::io::Result<()> {
        let text = framed(what)?;
        self.socket.write_all(&text).await
    }

    /// Sends an errand and its streams, in one piece when there is room: whoever waits for it wakes once.
    async fn hand_over(&mut self, streams: &[OwnedFd; 3], errand: &Errand) -> std::io::Result<()> {
        let text = framed(errand)?;
        let sent = self
            .socket
            .async_io(Interest::WRITABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
                let mut control = SendAncillaryBuffer::new(&mut space);
                let descriptors = streams.each_ref().map(AsFd::as_fd);
                control.push(SendAncillaryMessage::ScmRights(&descriptors));
                let parts = [IoSlice::new(ERRAND), IoSlice::new(&text)];
                Ok(sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL)?)
            })
            .await?;
        let rest = text.get(sent.saturating_sub(ERRAND.len())..).unwrap_or_default();
        self.socket.write_all(rest).await
    }

    /// Sends an order. A stub that is gone needs none.
    pub(crate) async fn order(&mut self, order: crate::plan::Order) {
        let _ = self.socket.write_all(&[order as u8]).await;
    }

    /// The next report; none when the stub is gone. Can be dropped while it waits.
    pub(crate) async fn report(&mut self) -> Option<Report> {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            let (socket, listener) = (&self.socket, &mut self.listener);
            let mut buffer = [0u8; 4096];
            let read = socket.async_io(Interest::READABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut control = RecvAncillaryBuffer::new(&mut space);
                let got = recvmsg(socket, &mut [IoSliceMut::new(&mut buffer)], &mut control, RECEIVE)?;
                for message in control.drain() {
                    if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                        *listener = descriptors.next();
                    }
                }
                Ok(got.bytes)
            });
            match read.await {
                Ok(read) if read > 0 && self.received.len() < LINE => {
                    self.received.extend(buffer.iter().take(read));
                }
                _ => return None,
            }
        }
    }

    fn listener(&mut self) -> Option<TcpListener> {
        let listener = std::net::TcpListener::from(self.listener.take()?);
        listener.set_nonblocking(true).ok()?;
        TcpListener::from_std(listener).ok()
    }
}

#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

#[cfg(all(test, target_os = "linux"))]
mod tests;

//! The sandbox: knows what the kernel can do here, and runs commands.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::boundary::Boundary;
use crate::child::{Child, Stream};
use crate::command::Command;
use crate::error::SandboxError;
use crate::groups::Groups;
use crate::held::Holder;
use crate::launch;
use crate::outcome::Ended;
use crate::ready::Ready;
use crate::stub;
use crate::tier::{LANDLOCK, Missing, Report, Tier};

/// The program that is the stub: one that calls [`stub::is_called`] first thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stub(pub(crate) PathBuf);

impl Stub {
    /// This program itself. The name stays right when the file behind it is replaced.
    pub fn this_program() -> Self {
        #[cfg(target_os = "linux")]
        return Self(PathBuf::from("/proc/self/exe"));
        #[cfg(not(target_os = "linux"))]
        Self(std::env::current_exe().unwrap_or_default())
    }

    /// Another program.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

/// Runs commands. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) stub: Stub,
    pub(crate) report: Report,
    pub(crate) holder: Holder,
    pub(crate) ready: Ready,
    pub(crate) is_keeping_ready: bool,
    pub(crate) groups: Option<Groups>,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Standard output.
    pub output: Kept,
    /// Standard error.
    pub errors: Kept,
}

/// The beginning and the end of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its beginning.
    pub head: Vec<u8>,
    /// Its end, when there is more than the beginning.
    pub tail: Vec<u8>,
    /// Bytes in between that were not kept.
    pub dropped: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8], most: usize) {
        let half = most / 2;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        // Cut now and then, not with every chunk.
        if self.tail.len() > most {
            self.cut(half);
        }
    }

    fn cut(&mut self, most: usize) {
        let over = self.tail.len().saturating_sub(most);
        self.tail.drain(..over);
        self.dropped += u64::try_from(over).unwrap_or(u64::MAX);
    }

    /// As text, with a note where something is missing.
    pub fn text(&self) -> String {
        if self.dropped == 0 {
            let whole = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[{} bytes were left out]\n{tail}", self.dropped)
    }
}

impl Sandbox {
    /// Finds out what the kernel can do here, by doing it: the highest tier whose boundary can be built.
    pub async fn negotiate(stub: Stub) -> Self {
        let landlock_abi = stub::landlock_abi();
        let report = Report { tier: Tier::None, landlock_abi, missing: Vec::new() };
        let mut sandbox = Self::of(stub, report);
        let missing = |what: &str, why: String| Missing { what: what.to_owned(), why };
        if cfg!(not(target_os = "linux")) {
            let why = "only Linux is supported so far".to_owned();
            sandbox.report.missing.push(missing("confinement", why));
            return sandbox;
        }
        for (what, tier) in [("namespaces", Tier::Namespaces), ("Landlock and seccomp", Tier::Landlock)] {
            match sandbox.try_tier(tier).await {
                Ok(()) => {
                    sandbox.report.tier = tier;
                    break;
                }
                Err(error) => sandbox.report.missing.push(missing(what, error.to_string())),
            }
        }
        if sandbox.report.tier != Tier::None {
            let older = LANDLOCK.iter().filter(|(abi, ..)| landlock_abi < *abi);
            sandbox.report.missing.extend(older.map(|(_, what, why)| missing(what, (*why).to_owned())));
        }
        match sandbox.find_groups().await {
            Ok(groups) => sandbox.groups = Some(groups),
            Err(why) => {
                sandbox.report.missing.push(missing("limits for all processes of a command together", why));
            }
        }
        if sandbox.report.tier == Tier::Landlock {
            let rows = [
                (
                    "read-only exceptions in writable folders",
                    "Landlock allows whole folders, and takes nothing out of them",
                ),
                ("modes, owners, times and attributes of files", "Landlock does not cover them"),
                ("granting some hosts only", "Landlock knows ports and no addresses"),
            ];
            sandbox.report.missing.extend(rows.map(|(what, why)| missing(what, why.to_owned())));
        }
        sandbox
    }

    /// Without confinement, and without finding out what there could be: for programs that a person set up.
    pub fn unconfined(stub: Stub) -> Self {
        let report = Report { tier: Tier::None, landlock_abi: 0, missing: Vec::new() };
        Self::of(stub, report)
    }

    fn of(stub: Stub, report: Report) -> Self {
        Self {
            stub,
            report,
            holder: Holder::default(),
            ready: Ready::default(),
            is_keeping_ready: false,
            groups: None,
        }
    }

    /// The same, for somebody who runs one command after the other: while nothing runs, a boundary like the last one
    /// stands ready for a minute. It is the last one itself when nothing but private folders can be written in it and
    /// nothing is left there. Without this, the next command waits until one is built.
    #[must_use]
    pub fn keeping_ready(mut self) -> Self {
        self.is_keeping_ready = true;
        self
    }

    /// The same with a lower tier than is reached, for those who ask for it.
    ///
    /// # Errors
    /// When the tier is higher than the one that is reached.
    pub fn at_tier(&self, tier: Tier) -> Result<Self, SandboxError> {
        if tier > self.report.tier {
            let (reached, reason) = (self.report.tier, self.report.reasons());
            return Err(SandboxError::Tier { wanted: tier, reached, reason });
        }
        let mut sandbox = self.clone();
        sandbox.report.tier = tier;
        Ok(sandbox)
    }

    /// What was found.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The tier that commands run in.
    pub fn tier(&self) -> Tier {
        self.report.tier
    }

    /// Starts a command.
    ///
    /// # Errors
    /// When the boundary cannot be built or the program cannot be run. Then nothing was run.
    pub async fn spawn(
        &self,
        command: Command,
        boundary: &Boundary,
        cancel: CancellationToken,
    ) -> Result<Child, SandboxError> {
        launch::spawn(self, command, boundary, cancel).await
    }

    /// Whether a boundary stands already for a command that only looks, if it is like the last one. Looks at nothing but
    /// what is kept ready.
    pub fn is_ready_to_look(&self) -> bool {
        self.ready.has_one_to_look()
    }

    /// Builds a boundary now, for a command in this folder that is expected to come. It stands for a minute. Answers
    /// whether it does: without one, the command is run all the same, a few milliseconds later.
    pub async fn prepare(&self, folder: &Path, boundary: &Boundary) -> bool {
        launch::prepare(self, folder, boundary).await
    }

    /// Runs a command to its end and keeps up to `most` bytes of each stream.
    ///
    /// # Errors
    /// As [`Sandbox::spawn`]. A command that fails is no error.
    pub async fn run_to_end(
        &self,
        command: Command,
        boundary: &Boundary,
        most: usize,
        cancel: CancellationToken,
    ) -> Result<Finished, SandboxError> {
        let mut child = self.spawn(command, boundary, cancel).await?;
        let (mut output, mut errors) = (Kept::default(), Kept::default());
        while let Some(chunk) = child.next().await {
            match chunk.stream {
                Stream::Output => output.add(&chunk.bytes, most),
                Stream::Errors => errors.add(&chunk.bytes, most),
            }
        }
        output.cut(most - most / 2);
        errors.cut(most - most / 2);
        Ok(Finished { ended: child.wait().await, output, errors })
    }

    /// Where a trial has its temporary files: where the system has them.
    fn trial_folder(&self) -> PathBuf {
        [Path::new("/tmp"), Path::new("/var/tmp")]
            .into_iter()
            .find(|folder| folder.is_dir())
            .unwrap_or(Path::new("/"))
            .to_owned()
    }

    /// Looks for control groups, and tries to put a process into one: making a group and joining it are different rights.
    async fn find_groups(&self) -> Result<Groups, String> {
        let groups = Groups::find()?;
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(|error| error.to_string())?;
        let mut process = launch::start(&self.stub.0, theirs.into()).map_err(|error| error.to_string())?;
        let id = process.id().ok_or("the trial has ended too early")?;
        let joined = groups.take_in(&crate::boundary::Limits::default(), id);
        // It waits for a plan until then.
        drop(ours);
        let _ = process.kill().await;
        drop(joined.map_err(|error| format!("a group can be made and not joined: {error}"))?);
        Ok(groups)
    }

    /// Builds a boundary of this tier around a program that does nothing.
    async fn try_tier(&self, tier: Tier) -> Result<(), SandboxError> {
        let mut trial = self.clone();
        trial.report.tier = tier;
        let mut boundary = Boundary::open(std::collections::BTreeMap::new(), &self.trial_folder());
        boundary.writable.clear();
        boundary.shared = vec![PathBuf::from("/tmp")];
        boundary.network = crate::boundary::Network::Off;
        boundary.limits.wall = Some(std::time::Duration::from_secs(10));
        let command = Command::new(String::new(), "/");
        trial.run_to_end(command, &boundary, 1024, CancellationToken::new()).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_stream_is_dropped() {
        let mut kept = Kept::default();
        for part in ["abc", "def", "ghijkl", "mnopqrstuvwxyz"] {
            kept.add(part.as_bytes(), 8);
        }
        kept.cut(4);
        assert_eq!(
            (kept.head.as_slice(), kept.tail.as_slice(), kept.dropped),
            (&b"abcd"[..], &b"wxyz"[..], 18)
        );
        assert_eq!(kept.text(), "abcd\n[18 bytes were left out]\nwxyz");
    }
}

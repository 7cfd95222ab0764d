//! Boundaries that stand before a command comes: building one takes longer than most commands do.
//!
//! One is built while a command runs, or when it has ended and there is none, and used by the next command that needs
//! the same; or it has served a command, and its keeper found nothing left of that. It is used only when everything it was built from is still what it was; the exceptions in
//! writable folders are made when the command comes, because they matter most and may come to be at any time.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::boundary::Boundary;
use crate::error::SandboxError;
use crate::groups::Group;
use crate::launch::{self, Control, SET_UP};
use crate::plan::{Plan, Reachable, Report};
use crate::sandbox::Sandbox;
use crate::tier::Tier;

/// How many wait at a time: one that may write, one that may not.
const MOST: usize = 2;
/// How long one may be used after it was built. What is mounted outside meanwhile is not seen inside.
const AGE: Duration = Duration::from_secs(60);

/// The bits of a mode that say what kind of file it is.
const KIND: u32 = 0o170_000;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A stub with its boundary around it, or about to have it.
#[derive(Debug)]
pub(crate) struct Place {
    id: u64,
    plan: Plan,
    built_from: Seen,
    around: Vec<(PathBuf, Option<Contents>)>,
    began: Instant,
    /// Whether it will be forgotten when it is too old.
    is_timed: bool,
    pub(crate) process: tokio::process::Child,
    pub(crate) control: Control,
    pub(crate) temporary: Option<TempDir>,
    pub(crate) group: Option<Group>,
}

/// What there was at the places that a plan names, in its order: one question for each, asked for every command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    hidden: Vec<Option<Identity>>,
    others: Vec<Option<Identity>>,
}

impl Seen {
    /// Looks at all of them.
    fn of(plan: &Plan) -> Self {
        Self::beside(plan, plan.hidden.iter().map(|path| Identity::at(path)).collect())
    }

    /// Looks at all but the hidden ones, which were looked at when the plan was made.
    pub(crate) fn beside(plan: &Plan, hidden: Vec<Option<Identity>>) -> Self {
        let others =
            [&plan.readable, &plan.writable, &plan.shared].into_iter().flatten().chain([&plan.folder]);
        Self { hidden, others: others.map(|path| Identity::at(path)).collect() }
    }
}

/// What tells a file from another one at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    kind: u32,
}

impl Identity {
    /// What is at a path, whatever that leads to.
    fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|meta| Self::of(&meta))
    }

    pub(crate) fn of(meta: &std::fs::Metadata) -> Self {
        Self { device: meta.dev(), inode: meta.ino(), kind: meta.mode() & KIND }
    }
}

/// What a folder is, and when something last came into it or left it.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    folder: Identity,
    changed: (i64, i64),
}

impl Place {
    /// Starts a stub and tells it what to build. What it is built from was looked at before: what changes meanwhile is
    /// noticed.
    pub(crate) async fn begin(
        sandbox: &Sandbox,
        plan: Plan,
        built_from: Seen,
        boundary: &Boundary,
    ) -> Result<Self, SandboxError> {
        let temporary = temporary(boundary, plan.tier)?;
        let mut whole = plan.clone();
        if let Some(folder) = &temporary {
            whole.writable.push(folder.path().canonicalize().map_err(SandboxError::io("no private folder"))?);
        }
        let began = Instant::now();
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(SandboxError::io("no socket"))?;
        let process = launch::start(&sandbox.stub.0, theirs.into())?;
        let group = match (&sandbox.groups, process.id()) {
            // It worked when it was tried. Where it does not any more, the other limits still hold.
            (Some(groups), Some(id)) => match groups.take_in(&boundary.limits, id) {
                Ok(group) => Some(group),
                Err(error) => {
                    tracing::warn!(%error, "a command runs without a control group");
                    None
                }
            },
            _ => None,
        };
        ours.set_nonblocking(true).map_err(SandboxError::io("no socket"))?;
        let mut control = Control::new(ours).map_err(SandboxError::io("no socket"))?;
        control.send(&whole).await.map_err(SandboxError::io("the stub did not take the plan"))?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (around, is_timed) = (Vec::new(), false);
        Ok(Self { id, plan, built_from, around, began, is_timed, process, control, temporary, group })
    }

    /// The boundary stands; these folders were looked into.
    pub(crate) fn stands(&mut self, around: Vec<PathBuf>) {
        self.around = around.into_iter().map(|path| (path.clone(), contents(&path))).collect();
    }

    /// Waits until the boundary stands.
    async fn built(&mut self) -> bool {
        match tokio::time::timeout(SET_UP, self.control.report()).await {
            Ok(Some(Report::Ready { around })) => {
                self.stands(around);
                true
            }
            _ => false,
        }
    }

    /// Whether it is what would be built now.
    fn fits(&mut self, plan: &Plan, seen: &Seen) -> bool {
        self.plan == *plan
            && self.built_from == *seen
            && self.began.elapsed() < AGE
            && matches!(self.process.try_wait(), Ok(None))
            && self.around.iter().all(|(path, found)| contents(path) == *found)
    }
}

/// The boundaries that wait. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    /// One was built, or was not.
    news: Notify,
}

#[derive(Debug, Default)]
struct Places {
    standing: Vec<Place>,
    building: Vec<Plan>,
}

impl Ready {
    /// Takes one that fits; when one is being built, that is waited for: it has begun earlier than another would. Those
    /// that would fit but for what has changed are ended. `seen` is what the plan's places were when it was made, just now.
    pub(crate) async fn take(&self, plan: &Plan, seen: &Seen) -> Option<Place> {
        let mut later = None;
        loop {
            let built = self.0.news.notified();
            tokio::pin!(built);
            // From here on no news is missed.
            built.as_mut().enable();
            {
                let mut places = self.0.places();
                if let Some(index) = places.standing.iter().position(|place| place.plan == *plan) {
                    let mut place = places.standing.swap_remove(index);
                    return place.fits(plan, later.as_ref().unwrap_or(seen)).then_some(place);
                }
                if !places.building.contains(plan) {
                    return None;
                }
            }
            tokio::time::timeout(SET_UP, built).await.ok()?;
            // That took a while: what was seen before it may not be so any more.
            later = Some(Seen::of(plan));
        }
    }

    /// Whether one stands or is being built for commands that only look.
    pub(crate) fn has_one_to_look(&self) -> bool {
        let places = self.0.places();
        places.standing.iter().map(|place| &place.plan).chain(&places.building).any(|plan| plan.again)
    }

    /// Builds one for the next command like the last, and answers whether it stands.
    pub(crate) async fn build(&self, sandbox: &Sandbox, plan: Plan, boundary: &Boundary) -> bool {
        if !can_stand(&plan) {
            return false;
        }
        let Some(announced) = self.announce(&plan) else { return true };
        self.build_announced(sandbox, boundary, announced).await
    }

    async fn build_announced(&self, sandbox: &Sandbox, boundary: &Boundary, announced: Building) -> bool {
        let plan = announced.plan.clone();
        let seen = Seen::of(&plan);
        let Ok(mut place) = Place::begin(sandbox, plan, seen, boundary).await else { return false };
        if !place.built().await {
            return false;
        }
        self.stand(place);
        true
    }

    /// Says that one like this will stand soon; nothing when none can, one does already, or somebody else has said so.
    pub(crate) fn announce(&self, plan: &Plan) -> Option<Building> {
        if !can_stand(plan) {
            return None;
        }
        let mut places = self.0.places();
        if places.building.contains(plan) || places.standing.iter().any(|place| place.plan == *plan) {
            return None;
        }
        places.building.push(plan.clone());
        Some(Building { ready: self.clone(), plan: plan.clone() })
    }

    /// Sees to it that the one that was announced comes to stand: the one that has served a command, when its keeper says
    /// that it can serve another, or else a new one. Hands out what is not needed any more.
    pub(crate) async fn renew(
        &self,
        sandbox: &Sandbox,
        boundary: &Boundary,
        mut served: Served,
        announced: Building,
    ) -> Option<Place> {
        if let Served::Undisturbed(place) = &mut served
            && announced.plan.again
            && place.began.elapsed() < AGE
            && let Ok(Some(Report::Again)) = tokio::time::timeout(SET_UP, place.control.report()).await
        {
            self.stand(served.place());
            return None;
        }
        self.build_announced(sandbox, boundary, announced).await;
        Some(served.place())
    }

    fn stand(&self, mut place: Place) {
        let (id, age) = (place.id, place.began.elapsed());
        let is_timed = std::mem::replace(&mut place.is_timed, true);
        let mut places = self.0.places();
        if places.standing.len() >= MOST {
            places.standing.remove(0);
        }
        places.standing.push(place);
        drop(places);
        if !is_timed {
            let places = Arc::downgrade(&self.0);
            tokio::spawn(async move {
                tokio::time::sleep(AGE.saturating_sub(age)).await;
                forget(&places, id);
            });
        }
    }
}

impl Shared {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that has served a command.
pub(crate) enum Served {
    /// Its keeper saw the command end, and was told nothing meanwhile.
    Undisturbed(Place),
    /// It was told to end the command, or is gone.
    Disturbed(Place),
}

impl Served {
    pub(crate) fn place(self) -> Place {
        match self {
            Self::Undisturbed(place) | Self::Disturbed(place) => place,
        }
    }
}

/// One that is being built, until it stands or nobody builds it any more.
pub(crate) struct Building {
    ready: Ready,
    plan: Plan,
}

impl Drop for Building {
    fn drop(&mut self) {
        self.ready.0.places().building.retain(|plan| *plan != self.plan);
        self.ready.0.news.notify_waiters();
    }
}

/// Whether one can be built before its command comes. A proxy belongs to one command.
fn can_stand(plan: &Plan) -> bool {
    matches!(plan.network, Reachable::Nothing | Reachable::Everything)
}

fn forget(shared: &Weak<Shared>, id: u64) {
    if let Some(shared) = shared.upgrade() {
        shared.places().standing.retain(|place| place.id != id);
    }
}

/// A folder for temporary files where there is no mount for it.
fn temporary(boundary: &Boundary, tier: Tier) -> Result<Option<TempDir>, SandboxError> {
    if tier == Tier::Namespaces {
        return Ok(None);
    }
    let made = tempfile::Builder::new().prefix("mica-box-").tempdir_in(&boundary.temporary);
    made.map(Some).map_err(SandboxError::io("no private folder for temporary files"))
}

fn contents(path: &Path) -> Option<Contents> {
    let meta = path.symlink_metadata().ok()?;
    Some(Contents { folder: Identity::of(&meta), changed: (meta.mtime(), meta.mtime_nsec()) })
}

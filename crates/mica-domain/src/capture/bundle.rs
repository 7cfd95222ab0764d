//! The actions of a run, as they are kept until a person decides.

use jiff::Timestamp;
use mica_agent::tool::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::{Action, Status};
use crate::approvals::{Deed, Trace};

/// What a bundle is about: a record of the product.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// What it is, such as `thread`.
    pub kind: String,
    /// Which one.
    pub id: String,
}

impl Subject {
    /// A record.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }

    /// One name for both. The kind's length comes first, so that no two subjects share one.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}:{}", self.kind.len(), self.kind, self.id)
    }
}

/// How the subject stood when somebody looked: what came later is activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Base {
    /// Its version, where the product counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When it changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl Base {
    /// By version.
    pub fn version(version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), at: None }
    }

    /// By time.
    pub fn at(at: Timestamp) -> Self {
        Self { version: None, at: Some(at) }
    }

    /// Whether something may have happened between this and `now`: the version differs, or it changed later. Where one says
    /// the version and the other the time they cannot be compared, and it may have. A product that says nothing knows of
    /// nothing.
    pub fn is_outdated_by(&self, now: &Base) -> bool {
        if *now == Self::default() {
            return false;
        }
        let version = self.version.as_ref().zip(now.version.as_ref()).map(|(then, now)| then != now);
        let time = self.at.zip(now.at).map(|(then, now)| now > then);
        match (version, time) {
            (None, None) => true,
            (version, time) => version == Some(true) || time == Some(true),
        }
    }
}

/// What a book is begun with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The id of the bundle it ends as. The same whenever the same run is begun again after a crash.
    pub bundle: String,
    /// What kind of work it was, such as `nightly_sweep`.
    pub kind: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// How the subject stood when the run began. Left out, it counts from the end of the run: for runs that change the
    /// subject themselves.
    pub base: Base,
    /// Who proposes: an agent, a trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The session, for whoever wants to read how it came to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The actions of a run, until a person decides and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// What it is, and what it is about.
    #[serde(flatten)]
    pub about: About,
    /// When it was made.
    pub made: Timestamp,
    /// What the run said about it.
    pub summary: String,
    /// What is proposed, in the order it was called.
    pub actions: Vec<Action>,
    /// Where it stands.
    pub state: State,
    /// Who applies it at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Who decided what about it, and when. Written together with what they decided.
    #[serde(default)]
    pub trail: Vec<Trace>,
}

impl Bundle {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.about.bundle
    }

    /// Whether it proposes the same as another, whatever became of it since.
    pub(crate) fn proposes(&self, other: &Self) -> bool {
        said(&self.actions).eq(said(&other.actions))
    }

    /// Whether it proposes the same as another, and more.
    pub(crate) fn goes_on_from(&self, other: &Self) -> bool {
        let count = other.actions.len();
        count < self.actions.len() && said(&self.actions).take(count).eq(said(&other.actions))
    }

    /// Whether nobody decided anything about it yet.
    pub(crate) fn is_untouched(&self) -> bool {
        let open = self.actions.iter().all(|action| action.status == Status::Open);
        open && self.trail.is_empty() && self.lease.is_none()
    }

    /// What it proposes, in one line for people: that none of it was done because of this.
    pub fn proposal(&self) -> String {
        let digests: Vec<&str> = self.actions.iter().map(|action| action.digest.as_str()).collect();
        format!("Proposed, not done: {}.", digests.join("; "))
    }

    /// Who approved something of it last.
    pub fn approved_by(&self) -> Option<&str> {
        let approved = self.trail.iter().rev().find(|trace| matches!(trace.deed, Deed::Approved { .. }));
        approved.map(|trace| trace.by.as_str())
    }

    /// An action.
    pub fn action(&self, id: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == id)
    }

    /// What the ids of its actions turned out to be: for whoever showed them before.
    pub fn became(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.actions.iter().filter_map(|action| match &action.status {
            Status::Done { made: Some(made), .. } => Some((action.id.as_str(), made)),
            _ => None,
        })
    }

    /// Whether actions that were picked are still to be done.
    pub fn is_under_way(&self) -> bool {
        self.actions.iter().any(|action| matches!(action.status, Status::Picked | Status::Began))
    }

    /// Whether nobody applies it, nothing of it is left in the middle, and nobody waits to know what became of it: then it
    /// is not gone on with, and the keys of its effects are not used again.
    pub fn is_at_rest(&self) -> bool {
        let in_doubt = self.actions.iter().any(|action| action.tried.is_some() && action.is_open());
        self.lease.is_none() && !self.is_under_way() && !in_doubt
    }

    /// Whether a person can approve, reject or put off something of it as it stands: all of it, what was not picked, or what
    /// failed. A stale one has to be renewed before it is approved.
    pub fn is_undecided(&self) -> bool {
        !matches!(self.state, State::Stale { .. }) && self.is_open()
    }

    /// Whether something of it was done, or may have been.
    pub fn is_begun(&self) -> bool {
        let begun = |action: &Action| matches!(action.status, Status::Done { .. } | Status::Unknown { .. });
        self.actions.iter().any(begun)
    }

    /// Whether a person may still decide about something: when it is fresh, snoozed or stale, and about what was not picked.
    pub fn is_open(&self) -> bool {
        match self.state {
            State::Fresh | State::Snoozed { .. } | State::Stale { .. } => true,
            State::PartiallyApproved | State::Approved => self.actions.iter().any(Action::is_open),
            State::Rejected => false,
        }
    }
}

/// What actions propose, whatever became of them.
fn said(actions: &[Action]) -> impl Iterator<Item = (&str, &str, &Args)> {
    actions.iter().map(|action| (action.id.as_str(), action.tool.as_str(), &action.args))
}

/// Where a bundle stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// A person should decide.
    Fresh,
    /// A person should decide, but not yet.
    Snoozed {
        /// When it is fresh again.
        until: Timestamp,
    },
    /// What it is about has changed since. It can be applied once a person renewed it.
    Stale {
        /// Why.
        because: Outdated,
    },
    /// All of it was picked. What became of it is with the actions.
    Approved,
    /// Some of it was picked.
    PartiallyApproved,
    /// A person said no: to all of it, or to what was left of it. What was done before is with the actions.
    Rejected,
}

/// Why a bundle is stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Outdated {
    /// Something happened to its subject.
    Activity,
    /// A newer bundle is about the same subject.
    Superseded {
        /// Which.
        by: String,
    },
}

/// In words for people, behind "stale".
impl std::fmt::Display for Outdated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Activity => f.write_str("what it is about changed since"),
            Self::Superseded { by } => write!(f, "{by} took its place"),
        }
    }
}

/// Who applies a bundle, and until when nobody else may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The process.
    pub holder: String,
    /// Until then.
    pub until: Timestamp,
}

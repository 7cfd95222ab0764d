//! What a copilot is put together from.

use std::sync::Arc;

use jiff::Timestamp;
use mica_agent::{Hooks, Listener, Settings, Tool, ToolSet};
use mica_ai::{Dialect, Model, Provider};
use mica_context::SpillFolder;
use mica_context::keeper::WindowSettings;
use mica_policy::budget::Limits;
use mica_session::Session;

use crate::approvals::{People, Terms};
use crate::autonomy::Autonomy;
use crate::domain::Domain;
use crate::profile::Profile;
use crate::records::{InMemory, Records};
use crate::rights::Rights;
use crate::store::Given;
use crate::tasks::Waker;

/// What tells the time. Nobody below the binary has one of their own.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Puts something around the tools of a page: what stands in for them, for example. What the model sees stays the same.
pub type Around = Arc<dyn Fn(ToolSet) -> ToolSet + Send + Sync>;

/// Finds a model by its name and dialect, with who answers for it: a session goes on with the one that it was switched to.
pub type Models = Arc<dyn Fn(&str, Dialect) -> Option<(Arc<dyn Provider>, Arc<Model>)> + Send + Sync>;

/// Who watches the background work of a session.
#[derive(Clone)]
pub struct Watch {
    /// The name that the session is opened by again, when the work has ended.
    pub session: String,
    /// Wakes whoever watches.
    pub waker: Waker,
}

/// What a copilot is put together from.
pub struct Setup {
    /// The product.
    pub domain: Arc<dyn Domain>,
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: Arc<Model>,
    /// Finds the model that a session was switched to. Without it a session that is opened again goes on with [`model`], and
    /// says so.
    ///
    /// [`model`]: Setup::model
    pub models: Option<Models>,
    /// Settings of every request.
    pub settings: Settings,
    /// How the window is kept.
    pub window: WindowSettings,
    /// What kind of runs these are. The same for the life of a session.
    pub profile: Profile,
    /// What may be done in them: what the agent may, as far as whoever it acts for may, too.
    pub rights: Rights,
    /// What happens to calls that a person would have to be asked about.
    pub autonomy: Autonomy,
    /// Where the conversation is kept; nowhere when absent.
    pub session: Option<Session>,
    /// On which terms people are asked: who may answer what, and for how long.
    pub terms: Terms,
    /// Who sits there: what is answered in place is theirs.
    pub present: Option<String>,
    /// Who people are now: what somebody decided is carried out as long as they may. As they were when they decided, when
    /// absent.
    pub people: Option<Arc<dyn People>>,
    /// What outlives the session and is not part of it.
    pub records: Arc<dyn Records>,
    /// What tools and texts can refer to, as far as the product gives it.
    pub given: Given,
    /// Tools besides those of the domain: what a runner brings along.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Who watches background work that tools begin; nobody here when absent.
    pub watch: Option<Watch>,
    /// What tells the time.
    pub clock: Now,
    /// The ends of a run.
    pub limits: Limits,
    /// Others who have a say, behind the domain and before people are asked.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// What is put around the tools of every page, the innermost first.
    pub around: Vec<Around>,
    /// Others who are told. They hear of the end of a run when the domain is done with it.
    pub listeners: Vec<Arc<dyn Listener>>,
    /// Where long results go; they stay in the conversation when absent.
    pub spill: Option<Arc<SpillFolder>>,
}

impl Setup {
    /// Questions to people in one run. Twenty: more than anybody reads with care.
    pub const APPROVALS: u32 = 20;

    /// A copilot for a person, who may do everything, in a conversation that is not kept.
    pub fn new(domain: Arc<dyn Domain>, provider: Arc<dyn Provider>, model: Arc<Model>, clock: Now) -> Self {
        Self {
            domain,
            provider,
            model,
            models: None,
            settings: Settings::default(),
            window: WindowSettings::default(),
            profile: Profile::default(),
            rights: Rights::All,
            autonomy: Autonomy::default(),
            terms: Terms::default(),
            present: None,
            people: None,
            session: None,
            records: Arc::new(InMemory::default()),
            given: Given::default(),
            tools: Vec::new(),
            watch: None,
            clock,
            limits: Limits { approvals: Some(Self::APPROVALS), ..Limits::default() },
            hooks: Vec::new(),
            around: Vec::new(),
            listeners: Vec::new(),
            spill: None,
        }
    }

    /// Keeps the conversation in a session, and goes on with what is in it.
    #[must_use]
    pub fn in_session(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }
}

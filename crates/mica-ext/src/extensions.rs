//! All extensions of a program, as one: who has a say in what, in which order, for how long.
//!
//! Promises: nothing that an extension does, or fails to do, stops a run. A [`Guard`] that fails, breaks or does not answer
//! in time means no. Everything else that fails is told once, and left out until extensions are loaded anew. People's time
//! counts against no clock. Where nobody has registered, nothing is asked, boxed or copied.
//!
//! One [`Extensions`] is among the hooks and among the listeners of an agent. What it consists of can be exchanged at any
//! time; calls that are under way end with what they began with.

mod asking;
mod hooks;
mod listening;
mod notices;
mod tools;
mod typing;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use mica_agent::{Args, Tool};
use mica_ai::id::CallId;

use crate::concern::{Command, Guard, Input, Lifecycle, Moment, Prompting, Shortcut, Window};
use crate::registry::Registry;
use notices::Notices;

pub use notices::Notice;
pub use typing::{CommandInfo, Said, ShortcutInfo};

/// Where an extension comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the program.
    Compiled,
    /// A script.
    Scripted,
    /// A command that is started when something happens.
    Hook,
}

/// How long one call of an extension may take, without the time of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Judging a call, and looking at what it came to.
    pub guard: Duration,
    /// Changing what is sent.
    pub window: Duration,
    /// Looking at what was typed, and adding to it.
    pub input: Duration,
    /// Being told what happens.
    pub moment: Duration,
    /// A command or a key: somebody waits for it, and can see that it works.
    pub command: Duration,
}

impl Default for Deadlines {
    /// What a person in front of it bears without wondering what hangs.
    fn default() -> Self {
        Self {
            guard: Duration::from_secs(10),
            window: Duration::from_secs(5),
            input: Duration::from_secs(10),
            moment: Duration::from_secs(5),
            command: Duration::from_secs(600),
        }
    }
}

/// Whether an extension still works. Shared by all that belongs to it: what breaks one part of it for good breaks all.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<OnceLock<String>>);

impl Health {
    /// It does not work any more, and why. What was said first stays.
    pub fn fail(&self, reason: impl Into<String>) {
        let _ = self.0.set(reason.into());
    }

    /// Why it does not work any more.
    pub fn failure(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// One extension: what it is called, where it comes from, and what it brings.
pub struct Extension {
    /// Its name, in lists and notices. Unique: of two, the later takes the place of the earlier, unless that one guards
    /// calls.
    pub name: String,
    /// The file or folder it was read from.
    pub source: Option<PathBuf>,
    /// Where it comes from.
    pub origin: Origin,
    /// What it brings.
    pub registry: Registry,
    /// Whether it still works.
    pub health: Health,
}

impl Extension {
    /// An extension.
    pub fn new(name: impl Into<String>, origin: Origin, registry: Registry) -> Self {
        Self { name: name.into(), source: None, origin, registry, health: Health::default() }
    }

    /// With where it was read from.
    #[must_use]
    pub fn from(mut self, source: impl Into<PathBuf>) -> Self {
        self.source = Some(source.into());
        self
    }

    fn judges(&self) -> bool {
        self.registry.guards.iter().any(|guard| guard.judges())
    }

    /// With a health that others share.
    #[must_use]
    pub fn with_health(mut self, health: Health) -> Self {
        self.health = health;
        self
    }
}

/// What a list of extensions shows of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Where it was read from.
    pub source: Option<PathBuf>,
    /// Where it comes from.
    pub origin: Origin,
    /// Why it does not work any more. One that guards calls then refuses them.
    pub failure: Option<String>,
    /// The tools it brings.
    pub tools: Vec<String>,
    /// The commands it brings.
    pub commands: Vec<String>,
    /// Whether it judges calls.
    pub guards: bool,
}

/// All extensions of a program. Clones share them.
#[derive(Clone, Default)]
pub struct Extensions {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    loaded: RwLock<Arc<Loaded>>,
    /// Where somebody has something to say, as bits of [`Says`]. Read before anything is locked.
    says: AtomicU32,
    deadlines: Deadlines,
    notices: Notices,
    /// What calls were changed to, so that a change is not made twice.
    changed: Mutex<VecDeque<(CallId, Args)>>,
    /// What was said and is not told yet: while something is recorded, nobody is waited for.
    said: Mutex<VecDeque<Moment>>,
    /// The last words of the model in this run.
    answer: Mutex<String>,
}

/// What is loaded now, in order.
#[derive(Default)]
struct Loaded {
    all: Vec<Arc<Facts>>,
    guards: Vec<One<dyn Guard>>,
    inputs: Vec<One<dyn Input>>,
    prompting: Vec<One<dyn Prompting>>,
    windows: Vec<One<dyn Window>>,
    lifecycles: Vec<One<dyn Lifecycle>>,
    commands: Vec<One<dyn Command>>,
    shortcuts: Vec<One<dyn Shortcut>>,
    tools: Vec<One<dyn Tool>>,
}

/// What is known of an extension by each part of it.
struct Facts {
    status: Status,
    health: Health,
    deadline: Option<Duration>,
    /// Whether people were told that it does not work any more.
    told: AtomicBool,
}

/// One thing that an extension registered.
struct One<T: ?Sized> {
    it: Arc<T>,
    of: Arc<Facts>,
    /// It failed, and is not asked any more.
    off: AtomicBool,
    /// People were told that it failed.
    told: AtomicBool,
}

/// Where somebody has something to say.
struct Says;

impl Says {
    const JUDGES: u32 = 1;
    const REVIEWS: u32 = 1 << 1;
    const WINDOW: u32 = 1 << 2;
    const HEARS: u32 = 1 << 3;
    const MESSAGES: u32 = 1 << 4;
}

impl Extensions {
    /// Extensions in the order they are asked.
    pub fn new(extensions: Vec<Extension>) -> Self {
        Self::with_deadlines(extensions, Deadlines::default())
    }

    /// The same, with other deadlines.
    pub fn with_deadlines(extensions: Vec<Extension>, deadlines: Deadlines) -> Self {
        let made = Self { inner: Arc::new(Inner { deadlines, ..Inner::default() }) };
        made.exchange(extensions);
        made
    }

    /// Takes these in place of all there were, and tells what about them does not fit together. Those that go should have
    /// been told before ([`Moment::SessionShutdown`](crate::Moment)); calls that are under way in them end.
    pub fn exchange(&self, extensions: Vec<Extension>) {
        let loaded = self.load(extensions);
        let mut says = 0;
        let mut note = |bit, there: bool| says |= if there { bit } else { 0 };
        note(Says::JUDGES, loaded.guards.iter().any(|guard| guard.it.judges()));
        note(Says::REVIEWS, loaded.guards.iter().any(|guard| guard.it.reviews()));
        note(Says::WINDOW, !loaded.windows.is_empty());
        note(Says::HEARS, !loaded.lifecycles.is_empty());
        let of_messages = ["message_start", "message_end", "agent_end"];
        note(Says::MESSAGES, of_messages.iter().any(|kind| loaded.hears(kind)));
        // Whoever reads between the two asks once too often, and never once too rarely: a new guard is not passed by.
        self.inner.says.fetch_or(says, Ordering::AcqRel);
        *self.inner.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        self.inner.says.store(says, Ordering::Release);
    }

    /// What there is, in order.
    pub fn list(&self) -> Vec<Status> {
        self.loaded().all.iter().map(|facts| facts.status()).collect()
    }

    /// What people should be told and nobody has taken yet.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.inner.notices.take()
    }

    /// Tells notices from now on, as they come; those that wait are told at once. Called from any thread, and must not
    /// wait for the run.
    pub fn tell_notices(&self, tell: impl Fn(Notice) + Send + Sync + 'static) {
        let tell: notices::Tell = Arc::new(tell);
        self.inner.notices.tell_to(&tell);
    }

    /// Tells people something about an extension.
    pub fn notice(&self, extension: &str, text: impl Into<String>) {
        self.inner.notices.add(Notice { extension: extension.to_owned(), text: text.into() });
    }

    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.inner.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_said(&self, bit: u32) -> bool {
        self.inner.says.load(Ordering::Acquire) & bit != 0
    }

    fn load(&self, extensions: Vec<Extension>) -> Loaded {
        let mut kept: Vec<Extension> = Vec::with_capacity(extensions.len());
        for extension in extensions {
            match kept.iter_mut().find(|other| other.name == extension.name) {
                // A name is no way to take a guard away.
                Some(earlier) if earlier.judges() => {
                    let text =
                        "there is another of this name, which guards calls and stays: this one is not used";
                    let place = extension.source.as_deref().map(Path::display);
                    let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
                    self.notice(&extension.name, format!("{text}{place}"));
                }
                Some(earlier) => {
                    let place = |source: &Option<PathBuf>| {
                        source.as_deref().map(Path::display).map(|at| at.to_string())
                    };
                    let text = format!(
                        "there are two of this name; {} is used, and not {}",
                        place(&extension.source).unwrap_or_else(|| "the later".to_owned()),
                        place(&earlier.source).unwrap_or_else(|| "the earlier".to_owned())
                    );
                    self.notice(&extension.name, text);
                    *earlier = extension;
                }
                None => kept.push(extension),
            }
        }
        let mut loaded = Loaded::default();
        for extension in kept {
            loaded.add(extension, self);
        }
        loaded
    }
}

impl Loaded {
    fn add(&mut self, extension: Extension, told: &Extensions) {
        let Extension { name, source, origin, registry, health } = extension;
        let taken = |what: &str, key: &str, by: &Facts| {
            let text = format!(
                "its {what} {key} is not used: the extension {} has one of this name",
                by.status.name
            );
            told.notice(&name, text);
        };
        let status = Status {
            name: name.clone(),
            source,
            origin,
            failure: None,
            tools: registry.tools.iter().map(|tool| tool.spec().name.clone()).collect(),
            commands: registry.commands.iter().map(|command| command.name().to_owned()).collect(),
            guards: registry.guards.iter().any(|guard| guard.judges()),
        };
        let facts =
            Arc::new(Facts { status, health, deadline: registry.deadline, told: AtomicBool::new(false) });
        self.guards.extend(all(registry.guards, &facts));
        self.inputs.extend(all(registry.inputs, &facts));
        self.prompting.extend(all(registry.prompting, &facts));
        self.windows.extend(all(registry.windows, &facts));
        self.lifecycles.extend(all(registry.lifecycles, &facts));
        for one in all(registry.commands, &facts) {
            match self.commands.iter().find(|other| other.it.name() == one.it.name()) {
                Some(other) => taken("command", one.it.name(), &other.of),
                None => self.commands.push(one),
            }
        }
        for one in all(registry.shortcuts, &facts) {
            match self.shortcuts.iter().find(|other| other.it.key() == one.it.key()) {
                Some(other) => taken("key", one.it.key(), &other.of),
                None => self.shortcuts.push(one),
            }
        }
        for one in all(registry.tools, &facts) {
            let name = &one.it.spec().name;
            match self.tools.iter().find(|other| other.it.spec().name == *name) {
                Some(other) => taken("tool", name, &other.of),
                None => self.tools.push(one),
            }
        }
        self.all.push(facts);
    }

    /// Whether somebody wants to hear of this kind of moment.
    fn hears(&self, kind: &str) -> bool {
        self.lifecycles.iter().any(|one| one.is_on() && one.it.hears(kind))
    }
}

fn all<T: ?Sized>(registered: Vec<Arc<T>>, of: &Arc<Facts>) -> impl Iterator<Item = One<T>> + use<T> {
    let of = Arc::clone(of);
    registered.into_iter().map(move |it| One {
        it,
        of: Arc::clone(&of),
        off: AtomicBool::new(false),
        told: AtomicBool::new(false),
    })
}

impl<T: ?Sized> One<T> {
    /// Whether it is still asked. Guards are, whatever happened.
    fn is_on(&self) -> bool {
        !self.off.load(Ordering::Acquire) && self.of.health.failure().is_none()
    }

    fn name(&self) -> &str {
        &self.of.status.name
    }
}

impl Facts {
    fn status(&self) -> Status {
        Status { failure: self.health.failure().map(str::to_owned), ..self.status.clone() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

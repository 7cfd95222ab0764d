//! A domain at work in one session: everything between what a product is told and what a model is asked.
//!
//! Promises:
//! - One run at a time. Who speaks while one goes on is told so ([`CopilotError::Busy`]); nothing is queued behind their
//!   back, because a message belongs to the page it was written on. [`Copilot::say_in_turn`] waits instead.
//! - A run belongs to the session, not to who waits for it: dropping the future of [`Copilot::say`] stops nothing.
//! - What people are asked survives the process: a session that is opened again asks the same, and takes the answers.
//! - A person who says something else instead of answering abandons what was asked, once what they say is on record: its calls
//!   are settled as not run, and that run is over. What is not said by a person never takes a question from one ([`CopilotError::Waiting`]).
//! - Tools and system prompt stay the same bytes for as long as the page does.
//! - A continuation (an answer, news of a task) is on the page where the conversation was; a fresh message is where it says
//!   it is, and nowhere when it says nothing.

mod asked;
mod closing;
mod deciding;
mod epoch;
mod error;
mod feed;
mod lives;
mod looking;
mod past;
mod prefix;
mod running;
mod settled;
mod setup;
mod summing;
mod switching;
mod view;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use mica_agent::{Agent, Context, Decisions, HookStack, Hooks, Listener};
use mica_ai::id::carried;
use mica_context::keeper::TurnSections;
use mica_context::section::{Rendered, ToolNames};
use mica_context::{Clock, Spill, WindowKeeper};
use mica_policy::budget::Budget;
use mica_policy::repeats::{Patience, RepeatGuard};
use mica_policy::rules::{RuleSet, Subjects};
use mica_policy::validate::SchemaGate;
use tokio::sync::{Mutex as RunLock, OwnedMutexGuard, watch};

use crate::approvals::Register;
use crate::autonomy::Judge;
use crate::capture::{Book, Bundles};
use crate::cards::Cards;
use crate::hooks::{DomainHooks, Prefill};
use crate::keeping::{Keeper, window};
use crate::lifecycle::Ending;
use crate::resolve::all_acts;
use crate::runners::{Origin, Said, Turned};
use crate::side::{Loose, Side};
use crate::state::Surroundings;
use crate::store::Store;
use crate::tasks::{TaskHooks, TaskKinds};

pub use closing::Audit;
pub use deciding::Answered;
pub use error::CopilotError;
pub use feed::{Anew, Following, Place};
pub use lives::Offer;
pub use looking::ShownAnswer;
pub use setup::{Around, Models, Now, Setup, Watch};
pub use view::{Line, Piece, Role, View};

use asked::Asked;
use closing::Closing;
use epoch::{Calls, Epoch};
use feed::Feed;
use lives::Lives;
use prefix::Prefix;
use settled::Settle;
use summing::AsSeen;

/// What is said about what was captured in a run that nobody ended.
const CRASHED: &str = "The run was cut off before it could say what it came to.";

/// A domain at work in one session. Clones are handles to the same one.
#[derive(Clone)]
pub struct Copilot {
    inner: Arc<Inner>,
}

struct Inner {
    agent: Agent,
    hooks: Arc<HookStack>,
    domain: Arc<DomainHooks>,
    keeper: Option<Keeper>,
    side: Arc<dyn Side>,
    asked: Arc<Asked>,
    register: Arc<Register>,
    epoch: Arc<Epoch>,
    lives: Arc<Lives>,
    closing: Arc<Closing>,
    book: Arc<Book>,
    cards: Cards,
    store: Store,
    window: Arc<WindowKeeper>,
    notices: Vec<String>,
    feed: Arc<Feed>,
    running: Arc<RunLock<()>>,
    /// Whether whoever has the turn has a run go on.
    going: watch::Sender<bool>,
}

impl Copilot {
    /// Puts a domain to work. A session that was kept goes on where it was: with its page, its questions, and what its run
    /// took. What a process that died had taken for a run is released.
    ///
    /// # Errors
    /// [`CopilotError::Domain`]: a mistake in the domain. [`CopilotError::Store`]: an argument is bound that no tool has. [`CopilotError::Session`], [`CopilotError::Kept`]: what was kept
    /// cannot be read.
    pub async fn open(mut setup: Setup) -> Result<Self, CopilotError> {
        let kept = |problem: String| CopilotError::Kept { problem };
        let mut notices = Vec::new();
        let keeper = setup.session.take().map(Keeper::new);
        let side: Arc<dyn Side> = match &keeper {
            Some(keeper) => Arc::new(keeper.clone()),
            None => Arc::new(Loose::default()),
        };
        switching::restore(&mut setup, &*side, &mut notices).map_err(kept)?;
        let told = notices.len();
        let domain = remembering(setup.domain, keeper.as_ref(), &mut notices);
        let name = domain.domain().name().to_owned();
        let forgot = keeper.as_ref().is_some_and(|keeper| keeper.remembered(&name).is_none());
        // What the domain remembered may mean nothing any more; where the conversation was is known all the same.
        if (forgot || notices.len() > told)
            && let Some(page) = running::last_page(&*side).map_err(kept)?
        {
            domain.message(&Surroundings::on(page));
        }
        let domain = Arc::new(domain.within(setup.profile, setup.rights));
        let waiting = keeper.as_ref().and_then(Keeper::waiting);
        let lives = Arc::new(Lives::open(&domain.capabilities(), Arc::clone(&side)).map_err(kept)?);
        let (book, bundles) = (Book::new(Arc::clone(&side)), Bundles::new(Arc::clone(&setup.records)));
        if waiting.is_none() {
            // A process died in a run: what it took is released, and what it captured is not lost.
            lives.end(Ending::Crashed).await;
            let ended = book.end(&bundles, CRASHED, (setup.clock)()).await;
            ended.map_err(|error| kept(error.to_string()))?;
        }
        let now = Arc::clone(&setup.clock);
        let cards = Cards::open(domain.domain().cards(), Arc::clone(&side), Arc::clone(&now))?;
        let capabilities = domain.capabilities();
        let all = capabilities.iter().flat_map(|capability| &capability.tools).chain(&setup.tools);
        // On whatever page it is: a binding of nothing is a mistake that nobody would ever notice.
        setup.given.bindings.check(all.map(|tool| tool.spec()))?;
        let store = Store::open(Arc::clone(&side), now, setup.given)?;
        let name = keeper.as_ref().map(|keeper| keeper.session().header().id.to_string());
        let judge = Arc::new(Judge::new(all_acts(&domain.capabilities()), setup.autonomy.clone()));
        let register = Register::new(
            name.unwrap_or_default(),
            Arc::clone(&side),
            Arc::clone(&setup.records),
            judge,
            setup.terms,
            Arc::clone(&setup.clock),
        );
        let register = Arc::new(register.answered_by(setup.present).knowing(setup.people));
        let settle = Arc::new(Settle::open(Arc::clone(&domain), Arc::clone(&side)).map_err(kept)?);
        let asked = Arc::new(Asked::new(keeper.clone(), waiting.clone()));
        let clock = ticking(&setup.clock);
        let mut window =
            WindowKeeper::new(Arc::clone(&clock)).settings(setup.window).turn_sections(sections(&domain));
        window = window.summarise(Arc::new(AsSeen::new(cards.clone())));
        if let Some(keeper) = &keeper {
            window = window.journal(Arc::new(keeper.clone()));
        }
        let window = Arc::new(window);

        let mut context = Context::new(setup.provider, setup.model);
        context.settings = setup.settings;
        if let Some(keeper) = &keeper {
            let session = keeper.session();
            context.settings.cache_key.get_or_insert_with(|| session.header().id.to_string());
            context.messages = window::restore(&session.live()?);
        }
        context.tally = waiting.map(|waiting| waiting.tally).unwrap_or_default();
        let calls = Calls {
            autonomy: setup.autonomy,
            book: Arc::clone(&book),
            store: store.clone(),
            register: Arc::clone(&register),
            tools: setup.tools,
            around: setup.around,
        };
        let epoch = Epoch::begin(Arc::clone(&domain), Arc::clone(&window), calls, &mut context)?;
        let epoch = Arc::new(epoch);
        let begins = epoch.opened(&context, Prefix::kept(&*side).map_err(kept)?.as_ref());
        let closing = Arc::new(Closing {
            domain: Arc::clone(&domain),
            lives: Arc::clone(&lives),
            asked: Arc::clone(&asked),
            side: Arc::clone(&side),
            clock: Arc::clone(&setup.clock),
            book: Arc::clone(&book),
            bundles,
            run: Mutex::default(),
        });

        let kinds = TaskKinds::new(domain.domain().task_kinds());
        let tasks = setup.watch.filter(|_| kinds.names().next().is_some()).map(|watch| {
            TaskHooks::new(
                watch.session,
                Arc::clone(&setup.records),
                kinds,
                Arc::clone(&setup.clock),
                watch.waker,
            )
        });
        let polls = RuleSet::new(Subjects::new());
        let mut hooks: Vec<Arc<dyn Hooks>> = vec![
            // Before the check of schemas: what is bound or filled in is checked, too, and may be what must be there.
            Arc::new(store.clone()),
            Arc::new(Prefill(Arc::clone(&domain))),
            Arc::new(SchemaGate::new()),
            // Behind it: what is settled is what fits. Before all others: they judge, and people see, what is meant.
            settle,
            Arc::new(RepeatGuard::new(Patience::default(), polls.clone())),
            Arc::clone(&domain) as _,
            Arc::clone(&epoch) as _,
            Arc::new(cards.clone()),
        ];
        hooks.extend(tasks.map(|hooks| Arc::new(hooks) as Arc<dyn Hooks>));
        hooks.extend(setup.hooks);
        // Behind all who ask: they keep what is asked.
        hooks.push(Arc::clone(&register) as _);
        hooks.push(Arc::clone(&asked) as _);
        hooks.extend(setup.spill.map(|folder| Arc::new(Spill::new(folder, clock)) as Arc<dyn Hooks>));
        hooks.extend(keeper.clone().map(|keeper| Arc::new(keeper) as Arc<dyn Hooks>));
        // Behind the record: what could not be kept was not said.
        hooks.push(Arc::clone(&closing) as _);
        hooks.push(Arc::new(Budget::new(setup.limits, polls)));
        hooks.push(Arc::clone(&window) as _);
        let hooks = Arc::new(HookStack::new(hooks));
        let agent = Agent::new(context, vec![Arc::clone(&hooks) as _]);
        // First of all who listen: a run is closed before anybody else hears of its end.
        agent.listen(Arc::clone(&closing) as Arc<dyn Listener>);
        agent.listen(Arc::clone(&register) as Arc<dyn Listener>);
        agent.listen(Arc::clone(&asked) as Arc<dyn Listener>);
        if let Some(keeper) = &keeper {
            agent.listen(Arc::new(keeper.clone()));
        }
        for listener in setup.listeners {
            agent.listen(listener);
        }
        let feed = Feed::new();
        agent.listen(Arc::clone(&feed) as Arc<dyn Listener>);
        let (running, going) = (Arc::default(), watch::Sender::new(false));
        let mut inner = Inner {
            agent,
            hooks,
            domain,
            keeper,
            side,
            asked,
            register,
            epoch,
            lives,
            closing,
            book,
            cards,
            store,
            window,
            notices,
            feed,
            running,
            going,
        };
        // Boxed, like what follows: whoever opens a session need not have room for it all on their stack.
        Box::pin(inner.keep_prefix(begins.as_deref().unwrap_or("the session began"))).await?;
        if let Some(waiting) = inner.asked.waiting() {
            // It is shown again: with what was decided meanwhile, and with things as they stand now.
            let told = Box::pin(inner.register.catch_up(&waiting.asks)).await?;
            inner.notices.extend(told);
            // A process may have died after a question was taken back, and before what took its place was kept.
            Box::pin(inner.register.asked_still(&waiting.asks)).await?;
            Box::pin(inner.look_again()).await?;
        }
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Says something, and runs until the agent stops. By a person, it abandons what they were asked before.
    ///
    /// # Errors
    /// [`CopilotError`]; nothing was said then.
    pub async fn say(&self, said: Said) -> Result<Turned, CopilotError> {
        let turn = Arc::clone(&self.inner.running).try_lock_owned().map_err(|_| CopilotError::Busy)?;
        self.detached(turn, |inner| async move { inner.say(said).await }).await
    }

    /// The same, behind the run that goes on. Those who wait have their turn in the order they came.
    ///
    /// # Errors
    /// As [`Copilot::say`], but for [`CopilotError::Busy`].
    pub async fn say_in_turn(&self, said: Said) -> Result<Turned, CopilotError> {
        let turn = Arc::clone(&self.inner.running).lock_owned().await;
        self.detached(turn, |inner| async move { inner.say(said).await }).await
    }

    /// Says something that goes on where the conversation was: news of a task.
    ///
    /// # Errors
    /// As [`Copilot::say`]; [`CopilotError::Waiting`] while people are asked something.
    pub async fn notify(
        &self,
        text: impl Into<String>,
        kind: impl Into<String>,
        reference: impl Into<String>,
        source: Option<String>,
    ) -> Result<Turned, CopilotError> {
        let origin = Origin::Task { kind: kind.into(), reference: reference.into() };
        self.say(Said { text: text.into(), source, origin, surroundings: None }).await
    }

    /// Answers what people are asked, and runs on. What has no answer is a no.
    ///
    /// # Errors
    /// [`CopilotError::NothingWaits`], and [`CopilotError::Misfit`]: then the same is still asked.
    pub async fn answer(&self, answers: Decisions) -> Result<Turned, CopilotError> {
        self.answer_at(answers, None).await
    }

    /// The same, from where the user is now: what the model called on another page is refused there.
    ///
    /// # Errors
    /// As [`Copilot::answer`].
    pub async fn answer_at(
        &self,
        answers: Decisions,
        surroundings: Option<Surroundings>,
    ) -> Result<Turned, CopilotError> {
        let turn = Arc::clone(&self.inner.running).try_lock_owned().map_err(|_| CopilotError::Busy)?;
        self.detached(turn, |inner| async move { inner.answer(answers, surroundings).await }).await
    }

    /// Makes tools and prompt of the page anew, because what the organisation says has changed. It costs the cached prefix,
    /// and is told with the reason.
    ///
    /// # Errors
    /// [`CopilotError::Busy`] while a run goes on; [`CopilotError::Domain`].
    pub async fn refresh(&self, reason: &str) -> Result<(), CopilotError> {
        let _turn = self.inner.running.try_lock().map_err(|_| CopilotError::Busy)?;
        let epoch = &self.inner.epoch;
        let refreshed = self.inner.agent.with(|cx| epoch.refresh(cx, reason)).await;
        refreshed.map_err(|_| CopilotError::Busy)??;
        self.inner.keep_prefix(reason).await
    }

    /// Work of runs that did not complete, which can be taken back; the newest first.
    pub fn offers(&self) -> Vec<Offer> {
        self.inner.lives.offers()
    }

    /// Takes the work of a run back. Says what was done, for people.
    ///
    /// # Errors
    /// [`CopilotError::NoUndo`], [`CopilotError::NotUndone`], and [`CopilotError::Busy`].
    pub async fn undo(&self, id: &str) -> Result<String, CopilotError> {
        let turn = Arc::clone(&self.inner.running).try_lock_owned().map_err(|_| CopilotError::Busy)?;
        let id = id.to_owned();
        self.detached(turn, |inner| async move { inner.lives.undo(&id).await }).await
    }

    /// Runs in a task of its own: who waits for it may go, and nothing is done by halves.
    async fn detached<T, F>(
        &self,
        turn: OwnedMutexGuard<()>,
        run: impl FnOnce(Arc<Inner>) -> F,
    ) -> Result<T, CopilotError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, CopilotError>> + Send + 'static,
    {
        let running = run(Arc::clone(&self.inner));
        let task = tokio::spawn(carried(async move {
            let ended = running.await;
            drop(turn);
            ended
        }));
        task.await.unwrap_or_else(|error| Err(CopilotError::Broke { problem: error.to_string() }))
    }
}

/// A domain with what it remembered of the session.
pub fn remembering(
    domain: Arc<dyn crate::Domain>,
    keeper: Option<&Keeper>,
    notices: &mut Vec<String>,
) -> DomainHooks {
    let here = Surroundings::default();
    let Some(keeper) = keeper else { return DomainHooks::new(domain, &here) };
    let hooks = match keeper.remembered(domain.name()) {
        None => DomainHooks::new(domain, &here),
        Some(kept) => {
            let (hooks, unreadable) = DomainHooks::restored(domain, &here, &kept);
            notices.extend(unreadable.map(|unreadable| unreadable.to_string()));
            hooks
        }
    };
    hooks.keeping(Arc::new(keeper.clone()))
}

/// What is told with a message: what the domain says, and the references that are meant.
fn sections(domain: &Arc<DomainHooks>) -> TurnSections {
    let domain = Arc::clone(domain);
    Arc::new(move |tools: &ToolNames| {
        let mut sections = domain.turn(tools);
        let text = Some(domain.snapshot().refs.text()).filter(|text| !text.is_empty());
        sections.push(Rendered::turn("references", text));
        sections
    })
}

fn ticking(now: &Now) -> Clock {
    let now = Arc::clone(now);
    Arc::new(move || SystemTime::from(now()))
}

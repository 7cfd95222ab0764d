//! Page epochs: tools and system prompt stay as they are for as long as the user stays on a page.
//!
//! Promise: within an epoch each request is a byte prefix of the next. A change of page between runs makes new ones, and is
//! told with its reason; the same page gives the same bytes again, as long as the domain says the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Step};
use mica_agent::{Context, Hooks, RunError, Tool, Verdict};
use mica_context::WindowKeeper;

use super::prefix::Prefix;
use super::setup::Around;
use crate::approvals::{self, Register};
use crate::autonomy::{Autonomy, AutonomyGate, Judge};
use crate::capture::{self, Book};
use crate::error::DomainError;
use crate::hooks::DomainHooks;
use crate::refs::here::knowing;
use crate::store::{self, Store};

/// What is done with the tools of a page, and with calls that a person would have to be asked about.
pub(super) struct Calls {
    pub(super) autonomy: Autonomy,
    pub(super) book: Arc<Book>,
    pub(super) store: Store,
    /// Who knows whose yes a call has.
    pub(super) register: Arc<Register>,
    /// Tools besides those of the domain.
    pub(super) tools: Vec<Arc<dyn Tool>>,
    /// What is put around all of them.
    pub(super) around: Vec<Around>,
}

/// What a model gets, for as long as the user stays on a page.
pub(super) struct Epoch {
    domain: Arc<DomainHooks>,
    window: Arc<WindowKeeper>,
    calls: Calls,
    /// Who judges the calls of this page.
    gate: Mutex<Option<Arc<AutonomyGate>>>,
    /// The page that the tools are of.
    page: Mutex<Option<String>>,
    /// What can be done here, for people.
    summaries: Mutex<Vec<String>>,
    /// What is to be told with the next turn.
    told: Mutex<Vec<WindowChange>>,
}

/// The kind of a change of the window by a change of page, and by one of what a page has.
const PAGE: &str = "page";
const TOOLS: &str = "tools";
/// The kind of one because the session was opened again, by another program or with other things around it.
const OPENED: &str = "opened";

impl Epoch {
    /// The first epoch, of the page that the session is on.
    pub(super) fn begin(
        domain: Arc<DomainHooks>,
        window: Arc<WindowKeeper>,
        calls: Calls,
        cx: &mut Context,
    ) -> Result<Self, DomainError> {
        let epoch = Self {
            page: Mutex::new(domain.snapshot().page),
            domain,
            window,
            calls,
            gate: Mutex::default(),
            summaries: Mutex::default(),
            told: Mutex::default(),
        };
        epoch.freeze(cx)?;
        Ok(epoch)
    }

    /// What requests begin with now.
    pub(super) fn prefix(&self, cx: &Context) -> Prefix {
        Prefix::of(lock(&self.page).as_deref(), cx)
    }

    /// The session is opened again: when requests begin with something else than they did, that is told with its reason.
    /// Answers the reason.
    pub(super) fn opened(&self, cx: &Context, kept: Option<&Prefix>) -> Option<String> {
        let reason = self.prefix(cx).differs(kept?)?;
        if cx.messages.is_empty() {
            return None;
        }
        let fill = self.window.report(cx).fill.total();
        self.window.rewritten("a session that was opened again");
        // What it was before can only be read in what was sent: nobody has it any more.
        let change =
            WindowChange { kind: OPENED.to_owned(), reason: reason.clone(), before: fill, after: fill };
        lock(&self.told).push(change);
        Some(reason)
    }

    /// What can be done here, for people.
    pub(super) fn summaries(&self) -> Vec<String> {
        lock(&self.summaries).clone()
    }

    /// Goes to the page that the user is on now. Answers why the window changed, when it did.
    pub(super) fn enter(&self, cx: &mut Context) -> Result<Option<String>, DomainError> {
        let (was, now) = (lock(&self.page).clone(), self.domain.snapshot().page);
        if was == now {
            return Ok(None);
        }
        let reason = format!("the user went from {} to {}", named(was.as_deref()), named(now.as_deref()));
        self.change(cx, PAGE, &reason)?;
        *lock(&self.page) = now;
        Ok(Some(reason))
    }

    /// Makes tools and system prompt anew on the same page: what an organisation changed counts from now on.
    pub(super) fn refresh(&self, cx: &mut Context, reason: &str) -> Result<(), DomainError> {
        self.change(cx, TOOLS, reason)
    }

    fn change(&self, cx: &mut Context, kind: &str, reason: &str) -> Result<(), DomainError> {
        let before = self.window.report(cx).fill.total();
        let (tools, system) = (cx.tools.definitions().clone(), cx.system.clone());
        self.freeze(cx)?;
        let same = *tools == **cx.tools.definitions() && system == cx.system;
        // Nothing was sent yet, or it is the same bytes: there is nothing to tell.
        if same || cx.messages.is_empty() {
            return Ok(());
        }
        self.window.rewritten("a change of page");
        let after = self.window.report(cx).fill.total();
        let change = WindowChange { kind: kind.to_owned(), reason: reason.to_owned(), before, after };
        lock(&self.told).push(change);
        Ok(())
    }

    fn freeze(&self, cx: &mut Context) -> Result<(), DomainError> {
        let resolved = self.domain.resolve(&|_| true)?;
        let prompt = self.domain.prompt(&resolved)?;
        cx.system = prompt.system();
        *lock(&self.summaries) = resolved.summaries;
        let Calls { autonomy, book, store, register, tools: more, around } = &self.calls;
        let (acts, mut tools) = (self.domain.acts(), resolved.tools);
        for tool in more {
            tools.add(Arc::clone(tool));
        }
        let tools = around.iter().fold(tools, |tools, around| around(tools));
        let tools = knowing(&store::equipped(&tools, store), &self.domain);
        let tools = approvals::acting(&tools, register);
        let captures = autonomy.captures();
        cx.tools = if captures { capture::wrapped(tools, &acts, autonomy, book) } else { tools };
        let judge = Arc::new(Judge::new(acts, autonomy.clone()));
        let gate = AutonomyGate::new(judge, self.domain.rights().clone()).capturing(Arc::clone(book));
        *lock(&self.gate) = Some(Arc::new(gate));
        Ok(())
    }
}

fn named(page: Option<&str>) -> String {
    page.map_or_else(|| "no page".to_owned(), |page| format!("the page {page}"))
}

#[async_trait]
impl Hooks for Epoch {
    fn says(&self, at: Point) -> bool {
        matches!(at, Point::BeforeTurn | Point::Gate)
    }

    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        Ok((Step::Go, std::mem::take(&mut *lock(&self.told))))
    }

    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        let gate = lock(&self.gate).clone();
        match gate {
            Some(gate) => gate.gate(gated, cx).await,
            None => Verdict::Pass,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Tools whose calls are captured: for the model they are the same, byte for byte.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use mica_agent::{Access, Args, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSet, ToolSpec};
use mica_policy::Schema;
use serde_json::{Value, json};

use super::action::{Action, Predicted, Status};
use super::book::Book;
use super::bundle::About;
use super::temp::{self, Names};
use crate::act::{Act, Minting};
use crate::approvals::digest;
use crate::around::as_within;
use crate::autonomy::{ApprovalMode, Autonomy, Judge};
use crate::capability::Capability;
use crate::page::Page;
use crate::undeclared::undeclared;

/// The member of a result's details that says that nothing was done.
const CAPTURED: &str = "captured";

/// Whether a result was predicted and not earned, by its details. Nothing may be taken from it for true: no variable,
/// nothing that a domain remembers. What it would come to is under `captured.would`, for whoever shows it as that.
pub fn is_captured(details: Option<&Value>) -> bool {
    details.is_some_and(|details| details.get(CAPTURED).is_some())
}

/// The same tools, for the model; their calls that a person would have to be asked about are captured in the book where
/// `autonomy` says so. Where nothing is captured, they are as they were.
pub fn wrapped(tools: ToolSet, acts: &[Act], autonomy: &Autonomy, book: &Arc<Book>) -> ToolSet {
    if !autonomy.captures() {
        return tools;
    }
    let judge = Arc::new(Judge::new(acts.iter().cloned(), autonomy.clone()));
    let mut set = ToolSet::default();
    for tool in tools.iter() {
        set.add(Capturing::around(Arc::clone(tool), &judge, book));
    }
    set
}

/// All tools of a domain, whatever page they are on, and what is said of them: what an
/// [`Applier`](super::Applier) needs, because nobody is on a page when a bundle is applied. Of tools with the same name that of
/// a page goes before the global one, as it does for the model.
pub fn toolbox(capabilities: &[Capability]) -> (ToolSet, Vec<Act>) {
    let (mut tools, mut acts) = (ToolSet::default(), Vec::new());
    let global = capabilities.iter().filter(|capability| capability.page == Page::Global);
    let local = capabilities.iter().filter(|capability| capability.page != Page::Global);
    for capability in global.chain(local) {
        for tool in &capability.tools {
            tools.add(Arc::clone(tool));
        }
        acts.extend(capability.acts.iter().cloned());
    }
    (tools, acts)
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is made.
    Made,
    /// It is captured.
    Captured,
    /// It looks at what does not exist yet: these ids.
    Answered(Vec<String>),
}

impl Fate {
    /// Of a call. One that uses what does not exist yet cannot be made, whoever would have to be asked about it: what only
    /// looks is answered from what was predicted, and what changes something is captured, too.
    ///
    /// An id within a text that a tool only looks for is a word like others. It goes by the tool's specification, so that
    /// the gate and the call come to the same.
    pub(crate) fn of(judge: &Judge, book: &Book, spec: &ToolSpec, args: &Args) -> Self {
        let captures = judge.mode(&spec.name) == ApprovalMode::Capture;
        if captures && judge.asked(spec, args).is_yes() {
            return Self::Captured;
        }
        let names = Names::of(args);
        if names.all().next().is_none() {
            return Self::Made;
        }
        // A book that cannot be read keeps no call: what it has cannot be ruled out.
        let Ok(actions) = book.actions() else { return Self::Captured };
        let is_open = |id: &&str| actions.iter().any(|action| action.id == **id);
        match spec.access {
            Access::Read => {
                let ids: Vec<String> =
                    names.whole.iter().map(String::as_str).filter(is_open).map(str::to_owned).collect();
                if ids.is_empty() { Self::Made } else { Self::Answered(ids) }
            }
            Access::Write | Access::Exclusive if names.all().any(|id| is_open(&id)) => Self::Captured,
            Access::Write | Access::Exclusive => Self::Made,
        }
    }
}

type Tools = Arc<[Arc<dyn Tool>]>;

struct Capturing {
    inner: Arc<dyn Tool>,
    judge: Arc<Judge>,
    book: Arc<Book>,
    schema: OnceLock<Result<Schema, String>>,
    /// The tools behind it, as they are, and around them.
    behind: Mutex<Option<(Tools, Tools)>>,
}

impl Capturing {
    fn around(inner: Arc<dyn Tool>, judge: &Arc<Judge>, book: &Arc<Book>) -> Arc<dyn Tool> {
        book.cover(&inner.spec().name);
        Arc::new(Self {
            inner,
            judge: Arc::clone(judge),
            book: Arc::clone(book),
            schema: OnceLock::new(),
            behind: Mutex::default(),
        })
    }

    /// Puts arguments right where that is certain, or says what is wrong.
    fn judged(&self, args: &mut Args) -> Result<(), String> {
        let spec = self.inner.spec();
        let compiled =
            self.schema.get_or_init(|| Schema::compile(&spec.schema).map_err(|error| error.to_string()));
        match compiled {
            Ok(schema) => match schema.judge(args) {
                // What its tool would drop is not captured: nobody may approve what is not done.
                Ok(_) => match undeclared(spec, args) {
                    None => Ok(()),
                    Some(problem) => Err(format!("{problem} Nothing was captured or done.")),
                },
                Err(invalid) => Err(invalid.for_model(&spec.name)),
            },
            Err(problem) => Err(format!("{} cannot be captured: {problem}. Nothing was done.", spec.name)),
        }
    }

    async fn captured(&self, mut args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let spec = self.inner.spec();
        self.judged(&mut args).map_err(ToolError::new)?;
        let Some((act, mint)) = self.judge.act(&spec.name).and_then(|act| Some((act, act.mint.as_ref()?)))
        else {
            return Err(ToolError::new(format!(
                "{} needs a person's approval, nobody is there, and what it would come to cannot be said beforehand, so it \
                 cannot wait for them either. Nothing was done. Go on without it, and say at the end what is left.",
                spec.name
            )));
        };
        let earlier = self.book.earlier().map_err(|error| ToolError::new(error.to_string()))?;
        let begin = || About { bundle: cx.run.to_string(), ..About::default() };
        let action = self.book.capture(begin, |id, actions| {
            let names = Names::of(&args);
            usable(&names, actions, &earlier)?;
            let needs = actions.iter().filter(|action| names.all().any(|name| name == action.id));
            let needs = needs.map(|action| action.id.clone()).collect();
            let minted = catch_unwind(AssertUnwindSafe(|| mint(&args, &Minting { id: id.clone() })));
            let minted = minted.map_err(|_| {
                tracing::error!(tool = %spec.name, "minting panicked");
                format!(
                    "What {} would come to could not be said, so nothing was captured or done.",
                    spec.name
                )
            })?;
            Ok(Action {
                makes: temp::places(&minted.details, &id),
                needs,
                tool: spec.name.clone(),
                digest: digest(Some(act), &spec.label, &args),
                card: act.card.clone(),
                right: act.needs.clone(),
                amendable: act.amendable.clone(),
                effect: spec.effect,
                amended: None,
                changed: None,
                tried: None,
                status: Status::Open,
                predicted: Predicted { text: minted.text, details: minted.details },
                args,
                id,
            })
        });
        let action = action.await.map_err(|error| ToolError::new(format!("Nothing was done: {error}.")))?;
        Ok(told(&action.map_err(ToolError::new)?))
    }

    /// What is known of ids that nothing exists for yet.
    fn answered(&self, ids: &[String]) -> Result<ToolOutput, ToolError> {
        let actions = self.book.actions().map_err(|error| ToolError::new(error.to_string()))?;
        let mut text = String::new();
        for action in actions.iter().filter(|action| ids.contains(&action.id)) {
            text.push_str(&format!(
                "{} does not exist yet: {} would make it once a person approves. This is predicted, not found:\n{}\n",
                action.id, action.tool, action.predicted.text
            ));
            if !action.predicted.details.is_null() {
                text.push_str(&format!("{}\n", action.predicted.details));
            }
        }
        Ok(ToolOutput::text(text.trim_end()).with_details(json!({ CAPTURED: { "asked_for": ids } })))
    }
}

/// What the model is told of a captured call.
fn told(action: &Action) -> ToolOutput {
    let mut text = format!(
        "Proposed, not done: {} awaits a person's approval, and they may say no. Nothing has changed. If it is approved, this \
         is predicted to come of it:\n{}\nSay that you propose it, not that it was done.",
        action.tool, action.predicted.text
    );
    if !action.makes.is_empty() {
        text.push_str(&format!(
            " Use {} as the id of what this would make, in calls that build on it.",
            action.id
        ));
    }
    let would = &action.predicted.details;
    let captured = json!({ "action": action.id, "digest": action.digest, "would": would });
    ToolOutput::text(text).with_details(json!({ CAPTURED: captured }))
}

/// Whether ids that stand for something are of actions of this bundle, and stand for something.
fn usable(names: &Names, actions: &[Action], earlier: &[String]) -> Result<(), String> {
    for id in &names.whole {
        let Some(action) = actions.iter().find(|action| action.id == *id) else {
            if earlier.contains(id) {
                return Err(format!(
                    "{id} was proposed in an earlier run, and a person may have decided about it since. Look up what became \
                     of it, and use the id that it has now. Nothing was captured or done."
                ));
            }
            let known: Vec<&str> = actions
                .iter()
                .filter(|action| !action.makes.is_empty())
                .map(|action| action.id.as_str())
                .collect();
            let known = if known.is_empty() { "there are none yet".to_owned() } else { known.join(", ") };
            return Err(format!(
                "{id} stands for nothing; the ids that can be used are: {known}. Nothing was captured or done."
            ));
        };
        if action.makes.is_empty() {
            return Err(format!(
                "{id} cannot be used as an id: {} makes nothing new. Nothing was captured or done.",
                action.tool
            ));
        }
    }
    Ok(())
}

#[async_trait]
impl Tool for Capturing {
    as_within!();

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        let now = self.inner.behind();
        let mut kept = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((as_they_are, around)) if same(as_they_are, &now) => Arc::clone(around),
            _ => {
                let around: Tools =
                    now.iter().map(|tool| Self::around(Arc::clone(tool), &self.judge, &self.book)).collect();
                *kept = Some((now, Arc::clone(&around)));
                around
            }
        }
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        self.inner.preview(args).await
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        match Fate::of(&self.judge, &self.book, self.inner.spec(), &args) {
            Fate::Made => self.inner.call(args, cx).await,
            Fate::Captured => self.captured(args, cx).await,
            Fate::Answered(ids) => self.answered(&ids),
        }
    }
}

fn same(one: &Tools, other: &Tools) -> bool {
    one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| Arc::ptr_eq(one, other))
}

#[cfg(test)]
mod tests;

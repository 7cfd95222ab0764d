//! What a person can change in a session that lives, and what a session that goes on begins with: the model and the mode.
//!
//! A model is switched between runs, never in one: a run has one window, one set of tools and one price. A mode can be
//! changed at any time; the next call is judged by it.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, anyhow};
use mica_ai::Provider;
use mica_ai::connect::Means;
use mica_ai::endpoint::Choice;
use mica_ai::model::Effort;
use mica_ext::Moment;
use mica_policy::mode::{Mode, ModeSwitch};
use mica_session::Kind;
use mica_session::entry::{Body, ModelChange};
use mica_tools::subagent::ModelWish;

use crate::cli::RunFlags;
use crate::config::Values;
use crate::reach::{self, Reach};
use crate::work::Work;
use mica_domain::keeping::Keeper;

/// The model that is asked, and those that could be.
pub struct Models {
    reach: Reach,
    means: Means,
    values: Values,
    /// How hard to think, when a person said so for this session.
    effort: Option<String>,
    current: Mutex<Choice>,
}

impl Models {
    /// Asks one of the models within reach.
    pub fn new(reach: Reach, means: Means, values: Values, effort: Option<String>, current: Choice) -> Self {
        Self { reach, means, values, effort, current: Mutex::new(current) }
    }

    /// The model that is asked now.
    pub fn current(&self) -> Choice {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The model that a subagent asks.
    ///
    /// # Errors
    /// A name that nobody knows.
    pub fn wished(&self, wish: &ModelWish) -> Result<Choice> {
        let name = match wish {
            ModelWish::Same => None,
            ModelWish::Small => self.values.small_model.as_deref(),
            ModelWish::Named(name) => Some(name.as_str()),
        };
        name.map_or_else(|| Ok(self.current()), |name| self.reach.switch(&self.values, name))
    }

    /// Who answers for a model.
    pub fn provider(&self, choice: &Choice) -> Arc<dyn Provider> {
        self.means.provider(choice)
    }
}

/// What a session begins or goes on with.
pub struct Outset {
    /// The model, and where it is asked.
    pub choice: Choice,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// How much may be done.
    pub mode: Mode,
    /// What of the session could not be had again.
    pub notices: Vec<String>,
}

impl Outset {
    /// Flags first, then what the session was switched to, then the settings. What differs from what the session has is
    /// kept in it, before the next thing that is said.
    ///
    /// # Errors
    /// No model can be asked, or a setting is wrong.
    pub fn find(values: &Values, flags: &RunFlags, reach: &Reach, keeper: Option<&Keeper>) -> Result<Self> {
        let mut notices = Vec::new();
        let kept = keeper.and_then(model_of);
        let (choice, again) = match &kept {
            Some(change) if flags.model.is_none() => match reach.again(change) {
                Ok(choice) => (choice, Some(change)),
                Err(error) => {
                    let choice = reach.choose(values)?;
                    notices.push(format!(
                        "the session was switched to {}/{}, which cannot be asked ({error:#}); it goes on with {}",
                        change.endpoint, change.model, choice.model.id
                    ));
                    (choice, None)
                }
            },
            _ => (reach.choose(values)?, None),
        };
        let chosen = again.and_then(|change| change.effort.as_deref()).filter(|_| flags.effort.is_none());
        let effort = match chosen.map(str::parse::<Effort>) {
            Some(Ok(effort)) => Some(effort),
            _ => reach::effort(values)?,
        };
        let set: Mode = values.mode.as_deref().unwrap_or("edit").parse()?;
        let was = keeper.and_then(mode_of);
        let mode = match was.as_deref().filter(|_| flags.mode.is_none()).map(str::parse::<Mode>) {
            None => set,
            Some(Ok(mode)) => mode,
            Some(Err(error)) => {
                notices.push(format!("the session goes on in {} mode: {error}", set.name()));
                set
            }
        };
        if let Some(keeper) = keeper {
            let change = reach.change(&choice, flags.effort.clone());
            let named = flags.model.is_some() && !kept.as_ref().is_some_and(|kept| same(kept, &change));
            let harder = again.is_some() && flags.effort.is_some();
            if named || harder {
                keeper.before_next(Body::ModelChange(change));
            }
            if was.as_deref() != Some(mode.name()) {
                keeper.before_next(mode_change(mode));
            }
        }
        Ok(Self { choice, effort, mode, notices })
    }
}

/// Whether two changes lead to the same model. How hard it thinks counts where both say so.
fn same(kept: &ModelChange, now: &ModelChange) -> bool {
    let effort = now.effort.is_none() || kept.effort == now.effort;
    effort && (&kept.endpoint, &kept.model, kept.dialect) == (&now.endpoint, &now.model, now.dialect)
}

fn mode_change(mode: Mode) -> Body {
    Body::ModeChange { mode: mode.name().into() }
}

/// The model that a session was switched to last.
fn model_of(keeper: &Keeper) -> Option<ModelChange> {
    keeper.newest(Kind::ModelChange, |body| match body {
        Body::ModelChange(change) => Some(change),
        _ => None,
    })
}

/// The mode that a session was in last.
fn mode_of(keeper: &Keeper) -> Option<String> {
    keeper.newest(Kind::ModeChange, |body| match body {
        Body::ModeChange { mode } => Some(mode.as_str().to_owned()),
        _ => None,
    })
}

impl Work {
    /// The model that is asked, and where.
    pub fn choice(&self) -> Choice {
        self.models.current()
    }

    /// Asks another model from the next run on. The conversation goes with it; what only the model before can read of it
    /// does not.
    ///
    /// # Errors
    /// A name that nobody knows, a run that goes on, or a session that cannot be written. Then nothing has changed.
    pub async fn switch(&self, name: &str) -> Result<()> {
        if self.swap(name).await? {
            self.model_changed().await;
        }
        Ok(())
    }

    /// Tells extensions that another model is asked. One of them may ask something, so this is done where somebody listens.
    pub async fn model_changed(&self) {
        let model = self.choice().model.id.to_string();
        self.extensions().tell(&Moment::ModelChange { model }).await;
    }

    /// As [`Work::switch`], before extensions hear of it. Answers whether it is another model.
    ///
    /// # Errors
    /// As [`Work::switch`].
    pub async fn swap(&self, name: &str) -> Result<bool> {
        let models = &self.models;
        let choice = models.reach.switch(&models.values, name)?;
        let was = self.choice();
        if choice.origin() == was.origin() {
            return Ok(false);
        }
        let pack = self.makes.pack(&choice)?;
        let swapped = self.agent.with(|cx| -> Result<()> {
            let before = self.domain.domain();
            self.domain.rebuild(pack);
            let kept = self.makes.texts(&self.domain, &|_| true).and_then(|texts| {
                if let Some(keeper) = &self.keeper {
                    let change = models.reach.change(&choice, models.effort.clone());
                    keeper.set(Body::ModelChange(change)).context("the session cannot be written")?;
                }
                Ok(texts)
            });
            let (tools, prompt) = match kept {
                Ok(texts) => texts,
                Err(error) => {
                    self.domain.rebuild(before);
                    return Err(error);
                }
            };
            cx.provider = models.means.provider(&choice);
            cx.model = choice.model.clone();
            cx.tools = tools.tools;
            cx.system = prompt.system();
            self.loading.around.told(cx);
            self.window.model_changed();
            *models.current.lock().unwrap_or_else(PoisonError::into_inner) = choice;
            Ok(())
        });
        swapped.await.map_err(|_| anyhow!(BUSY))??;
        Ok(true)
    }

    /// Changes how much may be done, from the next call on.
    ///
    /// # Errors
    /// When the session cannot be written. Then nothing has changed.
    pub fn set_mode(&self, mode: Mode) -> Result<()> {
        KeptMode { switch: self.mode.clone(), keeper: self.keeper.clone() }.change(mode)
    }
}

/// The mode, and the session that keeps it.
pub struct KeptMode {
    /// Where it stands.
    pub switch: ModeSwitch,
    /// Who keeps it.
    pub keeper: Option<Keeper>,
}

impl KeptMode {
    fn change(&self, mode: Mode) -> Result<()> {
        if mode == self.switch.get() {
            return Ok(());
        }
        if let Some(keeper) = &self.keeper {
            keeper.set(mode_change(mode)).context("the session cannot be written")?;
        }
        self.switch.set(mode);
        Ok(())
    }
}

impl mica_tools::Modes for KeptMode {
    fn mode(&self) -> Mode {
        self.switch.get()
    }

    fn set(&self, mode: Mode) -> Result<(), String> {
        self.change(mode).map_err(|error| format!("{error:#}"))
    }
}

/// Why a model is not switched now.
pub const BUSY: &str =
    "a run is going on, and the model is switched between runs: wait for its end, or stop it";

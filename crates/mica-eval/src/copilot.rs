//! A stage for any domain: a [`Copilot`] as in production, and a [`World`] that the product supplies.
//!
//! A product says what its domain is and what can happen and be looked at around it. Sessions, restarts, answers,
//! stand-ins and what is heard are done here, the same for all of them.

mod clients;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Decision, Decisions, Listener, Tool, ToolSet};
use mica_domain::cards::Segment;
use mica_domain::refs::Ref;
use mica_domain::runners::Turned;
use mica_domain::store::StoreError;
use mica_domain::{Copilot, CopilotError, Domain, Setup, Surroundings};
use mica_session::{Access, Sessions};
use serde_json::{Map, Value, json};

use crate::clock::CaseClock;
use crate::journal::{Journal, Mark};
use crate::mocks::Mocks;
use crate::played::{Played, facts};
use crate::product::{Answering, Came, CardSeen, Happened, Opening, Said, Stage, StageError};

/// What can be looked at in every domain.
pub const LOOKS: [&str; 10] = [
    "page",
    "refs",
    "waiting",
    "clients",
    "wire",
    "wire:bytes",
    "reference:REFERENCE",
    "variable:NAME",
    "kept:NAME",
    "run:NAME",
];

/// What a product supplies besides: its domain, and the world around it.
#[async_trait]
pub trait World: Send {
    /// The domain, as a process that has just begun would make it. Asked when the stage opens and after every restart.
    ///
    /// # Errors
    /// In words.
    async fn domain(&mut self) -> Result<Arc<dyn Domain>, StageError>;

    /// How the copilot is put together: rights, autonomy, records, limits.
    fn shape(&mut self, setup: Setup) -> Setup {
        setup
    }

    /// Where somebody is who says this. By default the page, and what is mentioned as `kind:id`.
    ///
    /// # Errors
    /// In words, when it points at what cannot be pointed at.
    fn surroundings(&self, said: &Said) -> Result<Surroundings, StageError> {
        surroundings(said)
    }

    /// Something happens.
    ///
    /// # Errors
    /// [`StageError::unknown`].
    async fn event(
        &mut self,
        here: &Here,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<Happened, StageError> {
        let _ = (here, args);
        Err(StageError::unknown("event", name, []))
    }

    /// Looks at something. What is in [`LOOKS`] is looked at before: every domain has it.
    ///
    /// # Errors
    /// [`StageError::unknown`].
    async fn look(&mut self, here: &Here, what: &str) -> Result<Value, StageError> {
        let _ = here;
        Err(StageError::unknown("thing to look at", what, LOOKS))
    }

    /// The cards of the last answer.
    async fn cards(&mut self, here: &Here) -> Vec<CardSeen> {
        here.cards().await
    }

    /// Time has passed.
    ///
    /// # Errors
    /// In words.
    async fn advanced(&mut self, here: &Here) -> Result<Option<Came>, StageError> {
        let _ = here;
        Ok(None)
    }
}

/// What a world sees of the stage.
pub struct Here {
    /// The copilot.
    pub copilot: Copilot,
    /// What time it is.
    pub clock: CaseClock,
    /// What is heard.
    pub journal: Journal,
}

impl Here {
    /// The cards that people see in the last answer.
    pub async fn cards(&self) -> Vec<CardSeen> {
        let shown = self.copilot.shown().await.unwrap_or_default();
        let segments = shown.last().map_or(&[][..], |answer| &answer.shown.segments);
        let cards = segments.iter().filter_map(|segment| match segment {
            Segment::Card { card, .. } => Some(CardSeen {
                kind: card.kind.clone(),
                ids: card.items.iter().map(|item| item.id.clone()).collect(),
            }),
            Segment::Text { .. } => None,
        });
        cards.collect()
    }

    /// What came of a run that began at a place in the journal: for worlds that begin runs themselves.
    pub fn came(&self, mark: Mark, turned: &Turned) -> Came {
        let mut came = Came::of(&turned.outcome, self.journal.since(mark));
        if !turned.text.is_empty() {
            came.text.clone_from(&turned.text);
        }
        came
    }
}

/// A stage for a domain.
pub struct CopilotStage<W> {
    world: W,
    here: Option<Here>,
    sessions: Sessions,
    path: PathBuf,
    model: Played,
    mocks: Mocks,
    clock: CaseClock,
    journal: Journal,
    /// What clients saw that lost their connection.
    clients: Value,
}

fn failed(error: impl std::fmt::Display) -> StageError {
    StageError::new(error.to_string())
}

impl<W: World> CopilotStage<W> {
    /// Opens a stage: a new session below the folder of the case.
    ///
    /// # Errors
    /// In words.
    pub async fn open(opening: &Opening, world: W) -> Result<Self, StageError> {
        let clock = opening.clock.clone();
        let now = clock.clone();
        let sessions = Sessions::new(opening.folder.join("sessions"), move || now.now());
        let session = sessions.create(&opening.folder, None).map_err(failed)?;
        let mut stage = Self {
            world,
            here: None,
            sessions,
            path: session.path().to_owned(),
            model: opening.model.clone(),
            mocks: opening.mocks.clone(),
            clock,
            journal: opening.journal.clone(),
            clients: Value::Null,
        };
        stage.begin(session).await?;
        Ok(stage)
    }

    async fn begin(&mut self, session: mica_session::Session) -> Result<(), StageError> {
        let domain = self.world.domain().await?;
        let (provider, model) = (self.model.provider(), self.model.model());
        let setup = Setup::new(domain, provider, model, self.clock.shared()).in_session(session);
        let mut setup = self.world.shape(setup);
        let mocks = self.mocks.clone();
        setup.around.insert(0, Arc::new(move |tools| mocks.around(&tools)));
        setup.listeners.push(Arc::new(self.journal.clone()) as Arc<dyn Listener>);
        let copilot = Copilot::open(setup).await.map_err(failed)?;
        self.here = Some(Here { copilot, clock: self.clock.clone(), journal: self.journal.clone() });
        Ok(())
    }

    fn here(&self) -> Result<&Here, StageError> {
        self.here.as_ref().ok_or_else(|| StageError::new("the session could not be opened again"))
    }

    async fn ended(&mut self, mark: Mark, turned: Result<Turned, CopilotError>) -> Result<Came, StageError> {
        let turned = turned.map_err(failed)?;
        let here = self.here.as_ref().ok_or_else(|| StageError::new("nobody is here"))?;
        let came = here.came(mark, &turned);
        let cards = self.world.cards(here).await;
        Ok(came.showing(cards))
    }
}

#[async_trait]
impl<W: World + Sync> Stage for CopilotStage<W> {
    async fn say(&mut self, mut said: Said) -> Result<Came, StageError> {
        let lost = said.with.shift_remove("lose").map(|after| {
            let after = after.as_u64().filter(|after| *after > 0);
            after.ok_or_else(|| {
                StageError::new("`lose` is after how many events a client loses its connection")
            })
        });
        let lost = lost.transpose()?;
        let surroundings = self.world.surroundings(&said)?;
        let here = self.here()?;
        let mark = here.journal.mark();
        let said = mica_domain::runners::Said {
            text: said.text,
            surroundings: Some(surroundings),
            ..mica_domain::runners::Said::default()
        };
        if let Some(after) = lost {
            let (outcome, clients) = clients::lost(&here.copilot, said, after).await?;
            self.clients = clients;
            return self.ended(mark, Ok(Turned { outcome, text: String::new(), details: Vec::new() })).await;
        }
        let turned = here.copilot.say(said).await;
        self.ended(mark, turned).await
    }

    async fn answer(&mut self, answers: Vec<Answering>) -> Result<Came, StageError> {
        let here = self.here()?;
        let asks = here.copilot.waiting();
        if asks.is_empty() {
            return Err(StageError::new("nothing is asked that could be answered"));
        }
        let decided = Answering::decide(&answers, &asks)?;
        let decisions = asks.iter().enumerate().map(|(index, _)| {
            let given = decided.iter().find(|(of, _)| *of == index).map(|(_, decision)| decision.clone());
            given.unwrap_or(Decision::Deny { reason: "The person gave no answer.".to_owned() })
        });
        let mark = here.journal.mark();
        let turned = here.copilot.answer(Decisions::to(&asks, decisions)).await;
        self.ended(mark, turned).await
    }

    async fn restart(&mut self) -> Result<(), StageError> {
        // Whatever holds the session goes first: it has one writer.
        self.here = None;
        let session = self.sessions.open(&self.path, Access::Write).map_err(failed)?;
        self.begin(session).await
    }

    async fn advanced(&mut self) -> Result<Option<Came>, StageError> {
        let here = self.here.as_ref().ok_or_else(|| StageError::new("nobody is here"))?;
        self.world.advanced(here).await
    }

    async fn event(&mut self, name: &str, args: &Map<String, Value>) -> Result<Happened, StageError> {
        let here = self.here.as_ref().ok_or_else(|| StageError::new("nobody is here"))?;
        if name == "model" {
            let known = ["name", "dialect"];
            if let Some(key) = args.keys().find(|key| !known.contains(&key.as_str())) {
                return Err(StageError::unknown("argument", key, known));
            }
            let name = args.get("name").and_then(Value::as_str);
            let dialect = args.get("dialect").cloned().map(serde_json::from_value).transpose();
            let model = facts(name, dialect.map_err(failed)?);
            let described = json!({ "model": model.id, "dialect": model.dialect });
            self.model.becomes(Arc::clone(&model));
            here.copilot.switch(self.model.provider(), model).await.map_err(failed)?;
            return Ok(described.into());
        }
        self.world.event(here, name, args).await
    }

    async fn look(&mut self, what: &str) -> Result<Value, StageError> {
        let here = self.here.as_ref().ok_or_else(|| StageError::new("nobody is here"))?;
        let state = here.copilot.domain().snapshot();
        let held = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or(Value::Null);
        match what.split_once(':') {
            Some(("kept", name)) => Ok(held(&state.kept, name)),
            Some(("run", name)) => Ok(held(&state.run, name)),
            Some(("reference", reference)) => match here.copilot.store().look(reference) {
                Ok(value) => Ok(value),
                Err(StoreError::Missing { .. }) => Ok(Value::Null),
                Err(error) => Err(failed(error)),
            },
            Some(("variable", name)) => match here.copilot.store().look(&format!("var:{name}")) {
                Ok(value) => Ok(value),
                Err(StoreError::Missing { .. }) => Ok(Value::Null),
                Err(error) => Err(failed(error)),
            },
            _ => match what {
                "page" => Ok(json!(state.page)),
                "clients" => Ok(self.clients.clone()),
                "wire:bytes" => Ok(json!(self.model.watch().requests().pop().map(|asked| asked.body.len()))),
                "wire" => {
                    let sent = self.model.watch().requests().pop();
                    Ok(sent.map_or(Value::Null, |sent| json!(String::from_utf8_lossy(&sent.body))))
                }
                "refs" => Ok(state.refs.iter().map(|one| format!("{}:{}", one.kind, one.id)).collect()),
                "waiting" => Ok(here.copilot.waiting().iter().map(|ask| ask.call.name.clone()).collect()),
                _ => self.world.look(here, what).await,
            },
        }
    }
}

/// The page that somebody is on, and what they mention as `kind:id`.
///
/// # Errors
/// A mention of another form.
pub fn surroundings(said: &Said) -> Result<Surroundings, StageError> {
    let mut here =
        Surroundings { page: said.page.clone(), facts: said.with.clone(), ..Surroundings::default() };
    for mention in &said.mentions {
        let Some((kind, id)) = mention.split_once(':') else {
            return Err(StageError::new(format!(
                "{mention:?} is no mention: write `kind:id`, such as thread:t1"
            )));
        };
        here.refs.add(Ref::mentioned(kind, id));
    }
    Ok(here)
}

impl Mocks {
    /// Tools with their stand-ins.
    pub fn around(&self, tools: &ToolSet) -> ToolSet {
        let mut all = ToolSet::default();
        for tool in tools.iter() {
            all.add(self.over(Arc::clone(tool) as Arc<dyn Tool>));
        }
        all
    }
}

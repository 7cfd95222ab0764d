//! Puts an agent together: a model, a domain, a session, and everyone who has a say.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use mica_agent::{Agent, Context, Decisions, Hooks, Listener, Outcome, Settings};
use mica_ai::usage::Usd;
use mica_context::compact::NamedArguments;
use mica_context::section::Rendered;
use mica_context::spill::SpillLimits;
use mica_context::{Spill, SpillFolder, WindowKeeper};
use mica_domain::{Domain, DomainHooks};
use mica_policy::budget::{Budget, Limits};
use mica_policy::mode::{ModeGate, ModeSwitch, ModeTable};
use mica_policy::repeats::{Patience, RepeatGuard};
use mica_policy::rules::{Action, RuleGate, RuleSet, Subjects};
use mica_policy::validate::SchemaGate;
use mica_session::{Access, Session};
use mica_tools::{Checkpoints, Workspace};

use crate::cli::RunFlags;
use crate::commands::{sessions, undo};
use crate::config::Values;
use crate::equipment::Equipment;
use crate::keeping::Keeper;
use crate::makes::Makes;
use crate::reach::{self, Reach};
use crate::surroundings::Surroundings;
use crate::switching::{Models, Outset};
use crate::undoing::Undoing;
use crate::window;

/// An agent at work. Clones are handles to the same one.
#[derive(Clone)]
pub struct Work {
    /// The agent.
    pub agent: Agent,
    /// Its session.
    pub keeper: Option<Keeper>,
    /// How much it may do.
    pub mode: ModeSwitch,
    /// What keeps its window.
    pub window: Arc<WindowKeeper>,
    /// What a person should know about how it began.
    pub notices: Arc<[String]>,
    /// The model it asks, and those it could.
    pub(crate) models: Arc<Models>,
    /// The domain it works in.
    pub(crate) domain: Arc<DomainHooks>,
    /// What the domain is made from.
    pub(crate) makes: Arc<Makes>,
    /// What takes its changes back.
    pub(crate) undoing: Undoing,
}

/// What an agent is put together from.
pub struct Parts<'a> {
    /// Settings.
    pub values: &'a Values,
    /// Flags.
    pub flags: &'a RunFlags,
    /// The world around.
    pub surroundings: &'a Surroundings,
    /// Who answers questions; nobody when absent.
    pub approver: Option<Arc<dyn Hooks>>,
    /// Who is told.
    pub listeners: Vec<Arc<dyn Listener>>,
}

impl Work {
    /// Puts an agent together.
    ///
    /// # Errors
    /// Settings that do not fit, a model nobody serves, a session that cannot be opened.
    #[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
    pub fn begin(parts: Parts<'_>) -> Result<Self> {
        let Parts { values, flags, surroundings, approver, listeners } = parts;
        let reach = Reach::find(values, flags, surroundings)?;
        let keeper = session(flags, surroundings)?.map(Keeper::new);
        let Outset { choice, effort, mode, mut notices } =
            Outset::find(values, flags, &reach, keeper.as_ref())?;
        let means = reach::means(values, surroundings)?;
        let provider = means.provider(&choice);
        let mode = ModeSwitch::new(mode);
        let mut workspace = Workspace::new(&surroundings.folder)?;
        let spill = match &keeper {
            None => None,
            Some(keeper) => {
                let folder = std::path::absolute(keeper.session().path().with_extension("spill"))?;
                Some(Arc::new(SpillFolder::new(folder, SpillLimits::default())))
            }
        };
        if let Some(spill) = &spill {
            workspace = workspace.with_readable(spill.root())?;
        }

        let since = keeper.as_ref().map_or_else(jiff::Timestamp::now, Keeper::last_spoken);
        let checkpoints = Arc::new(Checkpoints::new(undo::store(&values.undo, surroundings)?));
        workspace = workspace.with_journal(Arc::clone(&checkpoints) as Arc<dyn mica_tools::Journal>);
        let undoing = Undoing::new(checkpoints, workspace.clone(), since);

        let equipment = Equipment::default();
        let makes = Arc::new(Makes::find(workspace, equipment.capabilities, values, surroundings)?);
        let domain = Arc::new(remembering(makes.pack(&choice)?, keeper.as_ref(), &mut notices));
        let (tools, prompt) = Makes::texts(&domain)?;
        makes.turn_is(prompt.turn());

        let clock: mica_context::Clock = Arc::new(std::time::SystemTime::now);
        let (turn, restored) = (Arc::clone(&makes), undoing.clone());
        let sections = move |_: &mica_context::section::ToolNames| {
            vec![Rendered::turn("turn", turn.turn()), Rendered::turn("undo", restored.note())]
        };
        let mut window =
            WindowKeeper::new(Arc::clone(&clock)).files(Arc::new(files())).turn_sections(Arc::new(sections));
        if let Some(keeper) = &keeper {
            window = window.journal(Arc::new(keeper.clone()));
        }
        let window = Arc::new(window);

        let mut context = Context::new(provider, Arc::clone(&choice.model));
        context.settings = Settings {
            max_output: values.max_output,
            effort,
            cache_key: keeper.as_ref().map(|keeper| keeper.session().header().id.to_string()),
        };
        context.tools = tools;
        context.system = prompt.system();
        if let Some(keeper) = &keeper {
            context.messages = window::restore(&keeper.session().live()?);
        }

        let rules = rules(values, flags, surroundings)?;
        let mut hooks: Vec<Arc<dyn Hooks>> = vec![
            Arc::new(SchemaGate::new()),
            Arc::new(RepeatGuard::new(Patience::default(), RuleSet::new(Subjects::new()))),
            Arc::new(ModeGate::new(mode.clone(), ModeTable::builtin(), None)),
        ];
        hooks.extend(equipment.hooks);
        hooks.push(Arc::new(RuleGate::new(rules)));
        hooks.push(Arc::clone(&domain) as Arc<dyn Hooks>);
        hooks.extend(approver);
        if let Some(spill) = spill {
            hooks.push(Arc::new(Spill::new(spill, clock)));
        }
        if let Some(keeper) = &keeper {
            hooks.push(Arc::new(keeper.clone()));
        }
        hooks.push(Arc::new(Budget::new(limits(values), RuleSet::new(Subjects::new()))));
        hooks.push(window.clone());

        let agent = Agent::new(context, hooks);
        if let Some(keeper) = &keeper {
            agent.listen(Arc::new(keeper.clone()));
        }
        agent.listen(Arc::new(undoing.clone()));
        for listener in listeners {
            agent.listen(listener);
        }
        let models = Arc::new(Models::new(reach, means, values.clone(), flags.effort.clone(), choice));
        Ok(Self { agent, keeper, mode, window, notices: notices.into(), models, domain, makes, undoing })
    }

    /// Runs from a prompt until the agent stops.
    ///
    /// # Errors
    /// When a run goes on already, or a suspension cannot be kept.
    pub async fn prompt(&self, text: &str) -> Result<Outcome> {
        self.domain.message(&mica_domain::Surroundings::default());
        self.undoing.begins(self.session_id().as_deref(), text);
        let outcome = self.agent.prompt(text).await?;
        self.ended(outcome).await
    }

    /// Goes on with a suspended run.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn resume(&self, answers: Decisions) -> Result<Outcome> {
        let outcome = self.agent.resume(answers).await?;
        self.ended(outcome).await
    }

    /// Goes on with the run that the session's last one left waiting. What has no answer is asked again.
    ///
    /// # Errors
    /// As [`Work::prompt`], and when nothing waits.
    pub async fn resume_waiting(&self, answers: Decisions) -> Result<Outcome> {
        let waiting =
            self.keeper.as_ref().and_then(Keeper::waiting).context("no run waits for an approval")?;
        self.agent.with(|cx| cx.tally = waiting.tally).await?;
        self.resume(answers).await
    }

    async fn ended(&self, outcome: Outcome) -> Result<Outcome> {
        self.domain.run_ended(&outcome).await.map_err(|error| anyhow!(error))?;
        if let (Outcome::Suspended { asks }, Some(keeper)) = (&outcome, &self.keeper) {
            let tally = self.agent.with(|cx| cx.tally.clone()).await?;
            keeper.waits(asks, &tally).await.map_err(|error| anyhow!(error))?;
        }
        Ok(outcome)
    }

    /// The session's id.
    pub fn session_id(&self) -> Option<String> {
        self.keeper.as_ref().map(|keeper| keeper.session().header().id.to_string())
    }

    /// The model, and where it is asked.
    pub fn asked(&self) -> String {
        let choice = self.choice();
        format!("{} over {} at {}", choice.model.id, choice.dialect, choice.url())
    }

    /// Where the conversation is kept.
    pub fn place(&self) -> String {
        match &self.keeper {
            None => "this conversation is not kept".to_owned(),
            Some(keeper) => {
                let session = keeper.session();
                let later = if session.is_draft() { " (made when something is said)" } else { "" };
                format!("{}{later}", session.path().display())
            }
        }
    }

    /// What the last run took, and how full the window is.
    pub async fn usage(&self) -> String {
        let report = self.agent.with(|cx| (cx.tally.clone(), self.window.report(cx))).await;
        match report {
            Err(busy) => busy.to_string(),
            Ok((tally, window)) => {
                let usage = tally.usage;
                let cost = usage.cost.map_or("price unknown".to_owned(), |cost| cost.total().to_string());
                format!(
                    "last run: {}, {} in ({:.0} % from cache), {} out, {cost}\nwindow: {} of {} tokens; it is shortened at {}",
                    plural(tally.turns, "turn"),
                    usage.input,
                    usage.cache_hit_ratio() * 100.0,
                    usage.output,
                    window.fill.total(),
                    window.window,
                    window.threshold,
                )
            }
        }
    }

    /// What the model can call.
    pub async fn tools(&self) -> String {
        let list = |cx: &mut Context| {
            cx.tools
                .iter()
                .map(|tool| {
                    let spec = tool.spec();
                    let first = spec.description.split_inclusive(". ").next().unwrap_or_default();
                    format!("{:<12} {}", spec.name, shorten(first.trim(), 80))
                })
                .collect::<Vec<_>>()
                .join("\n")
        };
        self.agent.with(list).await.unwrap_or_else(|busy| busy.to_string())
    }
}

/// A domain with what it remembered of the session.
fn remembering(pack: Arc<dyn Domain>, keeper: Option<&Keeper>, notices: &mut Vec<String>) -> DomainHooks {
    let here = mica_domain::Surroundings::default();
    let Some(keeper) = keeper else { return DomainHooks::new(pack, &here) };
    let hooks = match keeper.remembered(pack.name()) {
        None => DomainHooks::new(pack, &here),
        Some(kept) => {
            let (hooks, unreadable) = DomainHooks::restored(pack, &here, &kept);
            notices.extend(unreadable.map(|unreadable| unreadable.to_string()));
            hooks
        }
    };
    hooks.keeping(Arc::new(keeper.clone()))
}

/// A number of things, in words.
fn plural(count: u32, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The beginning of a text, in whole words.
fn shorten(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let cut: String = text.chars().take(longest).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{whole} …")
}

/// What calls do to files, for the ledger that outlives a compaction.
fn files() -> NamedArguments {
    NamedArguments::default()
        .reads("file_read", "path")
        .changes("file_write", "path")
        .changes("file_edit", "path")
}

/// The session to write to: a new one, the newest of this folder, or a named one.
fn session(flags: &RunFlags, surroundings: &Surroundings) -> Result<Option<Session>> {
    if flags.no_session {
        return Ok(None);
    }
    let sessions = sessions::folder(surroundings);
    let path = match (&flags.resume, flags.go_on) {
        (Some(id), _) => Some(sessions::find::session(&sessions, id)?),
        (None, true) => {
            let newest = sessions.list(Some(&surroundings.folder)).sessions.into_iter().next();
            Some(newest.context("there is no session of this folder to continue")?.path)
        }
        (None, false) => None,
    };
    Ok(Some(match path {
        Some(path) => sessions.open(&path, Access::Write)?,
        None => sessions.draft(&surroundings.folder, None),
    }))
}

fn limits(values: &Values) -> Limits {
    let limits = &values.limits;
    let usual = Limits::default();
    Limits {
        turns: limits.turns.or(usual.turns),
        tokens: limits.tokens.or(usual.tokens),
        cost: limits.cost.map(Usd::from_dollars).or(usual.cost),
        active: limits.time.map(std::time::Duration::from_secs).or(usual.active),
        ..usual
    }
}

fn rules(values: &Values, flags: &RunFlags, surroundings: &Surroundings) -> Result<RuleSet> {
    let subjects = Subjects::new()
        .below(&surroundings.folder.display().to_string())
        .path("file_read", "path")
        .path("file_write", "path")
        .path("file_edit", "path");
    let mut rules = RuleSet::new(subjects);
    for rule in &values.deny {
        rules = rules.and(Action::Deny, rule)?;
    }
    for rule in &values.allow {
        rules = rules.and(Action::Allow, rule)?;
    }
    if flags.yes {
        rules = rules.and(Action::Allow, "*")?;
    }
    Ok(rules)
}

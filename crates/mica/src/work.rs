//! Puts an agent together: a model, a domain, a session, and everyone who has a say.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use mica_agent::{Agent, Context, Decisions, Hooks, Listener, Outcome, Settings, ToolSpec};
use mica_ai::id::MessageId;
use mica_ai::usage::Usd;
use mica_ai::{Content, User};
use mica_context::compact::Trigger;
use mica_context::keeper::Announce;
use mica_context::spill::SpillLimits;
use mica_context::{Clock, SpillFolder, WindowKeeper};
use mica_domain::DomainHooks;
use mica_ext::mcp::Servers;
use mica_ext::{CompactTrigger, Extensions, Moment};
use mica_policy::FileGate;
use mica_policy::budget::{Budget, Limits, Meter};
use mica_policy::mode::{ModeSwitch, ModeTable};
use mica_policy::rules::{Action, RuleSet, Subjects};
use mica_session::{Access, Session};
use mica_tools::{Checkpoints, Person, Profiles, Redaction, Tasks, Workspace};
use pack_mi::apply_code_action;
use tokio_util::sync::CancellationToken;

use crate::approvals::KeptApprovals;
use crate::approvals::project::ProjectFile;
use crate::assembly::{self, Own, Shared};
use crate::cli::RunFlags;
use crate::commands::{rules as shell_rules, sessions, undo};
use crate::config::{Values, project};
use crate::equipment::begun::Begun;
use crate::equipment::extensions::added::Added;
use crate::equipment::extensions::screen::Screen;
use crate::equipment::extensions::store::Store;
use crate::equipment::extensions::world::{Around, Commands, Given};
use crate::equipment::extensions::{Loading, Shelf};
use crate::equipment::hooks;
use crate::equipment::mcp;
use crate::equipment::memory::Remembered;
use crate::equipment::mi::Mi;
use crate::equipment::people::People;
use crate::equipment::scratch::Scratch;
use crate::equipment::skills::Knowhow;
use crate::equipment::subagents::{self, Base, Crew};
use crate::equipment::words::Words;
use crate::equipment::{Equipment, Outfit, of_commands};
use crate::makes::Makes;
use crate::reach::{self, Reach};
use crate::surroundings::Surroundings;
use crate::switching::{KeptMode, Models, Outset};
use crate::undoing::Undoing;
use mica_domain::keeping::Keeper;
use mica_domain::keeping::window;

/// How long what works in the background has to end with the session.
const CLOSING: Duration = Duration::from_secs(3);

/// An agent at work. Clones are handles to the same one.
#[derive(Clone)]
pub struct Work {
    /// The agent.
    pub agent: Agent,
    /// Its session.
    pub keeper: Option<Keeper>,
    /// How much it may do.
    pub mode: ModeSwitch,
    /// What people allowed it and want remembered.
    pub approvals: KeptApprovals,
    /// What keeps its window.
    pub window: Arc<WindowKeeper>,
    /// What it does together with a person.
    pub people: Arc<People>,
    /// The kinds of subagents that there are.
    profiles: Arc<Profiles>,
    /// What a person should know about how it began.
    pub notices: Arc<[String]>,
    /// The model it asks, and those it could.
    pub(crate) models: Arc<Models>,
    /// The domain it works in.
    pub(crate) domain: Arc<DomainHooks>,
    /// What the domain is made from.
    pub(crate) makes: Arc<Makes>,
    /// What it and its subagents take.
    meter: Meter,
    /// What outlives the calls that began it.
    tasks: Tasks,
    /// Where output goes when no session is kept.
    _scratch: Arc<Scratch>,
    /// What takes its changes back.
    pub(crate) undoing: Undoing,
    /// Its extensions.
    pub(crate) loading: Arc<Loading>,
    /// What they add to prompts.
    added: Arc<Added>,
    /// The tools that are there without any extension.
    pub(crate) own_tools: Arc<BTreeSet<String>>,
    /// Servers of the Model Context Protocol.
    mcp: Servers,
    /// What command hooks tell people.
    pub(crate) hooks_tell: hooks::Teller,
    /// What stops a command that a person typed.
    pub(crate) stop: Arc<Mutex<Option<CancellationToken>>>,
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
    /// Who can be asked something by a running call; nobody when absent.
    pub person: Option<Arc<dyn Person>>,
    /// Who is told.
    pub listeners: Vec<Arc<dyn Listener>>,
    /// What extensions show people.
    pub screen: Arc<dyn Screen>,
}

impl Work {
    /// Puts an agent together.
    ///
    /// # Errors
    /// Settings that do not fit, a model nobody serves, a session that cannot be opened.
    #[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
    pub fn begin(parts: Parts<'_>) -> Result<Self> {
        let Parts { values, flags, surroundings, approver, person, listeners, screen } = parts;
        let reach = Reach::find(values, flags, surroundings)?;
        let keeper = session(flags, surroundings)?.map(Keeper::new);
        let Outset { choice, effort, mode, mut notices } =
            Outset::find(values, flags, &reach, keeper.as_ref())?;
        notices.extend(project::unused(surroundings));
        let means = reach::means(values, surroundings)?;
        let provider = means.provider(&choice);
        let clock: Clock = Arc::new(std::time::SystemTime::now);
        let mode = ModeSwitch::new(mode);
        let whose = surroundings.clone();
        let mut workspace =
            Workspace::new(&surroundings.folder)?.with_trusted(move |path| project::is_trusted(&whose, path));
        let spill = assembly::spill(keeper.as_ref())?;
        let scratch = Scratch::new(&surroundings.data);
        let logs = spill
            .clone()
            .unwrap_or_else(|| Arc::new(SpillFolder::new(scratch.path(), SpillLimits::default())));
        workspace = workspace.with_readable(logs.root())?;
        let plans = keeper
            .as_ref()
            .map(|keeper| std::path::absolute(keeper.session().path().with_extension("plans")));
        let plans = plans.transpose()?;
        if let Some(plans) = &plans {
            workspace = workspace.with_writable(plans)?;
        }
        let begun = keeper.as_ref().and_then(Begun::of);
        let knowhow = Knowhow::find(values, surroundings, &mut notices).going_on(begun.as_ref());
        for folder in knowhow.folders() {
            workspace = workspace.with_readable(folder)?;
        }
        let remembered = Remembered::find(values, surroundings, &mut notices).going_on(begun.as_ref());
        let since = keeper.as_ref().map_or_else(jiff::Timestamp::now, Keeper::last_spoken);
        let checkpoints = Arc::new(Checkpoints::new(undo::store(&values.undo, surroundings)?));
        workspace = workspace.with_journal(Arc::clone(&checkpoints) as Arc<dyn mica_tools::Journal>);
        let undoing = Undoing::new(checkpoints, workspace.clone(), since);
        let models =
            Arc::new(Models::new(reach, means, values.clone(), flags.effort.clone(), choice.clone()));

        let approvals = KeptApprovals::open(keeper.as_ref(), ProjectFile::of(surroundings), &mut notices);
        let modes = Arc::new(KeptMode { switch: mode.clone(), keeper: keeper.clone() });
        let people =
            Arc::new(People::new(modes, keeper.as_ref(), person.clone(), &workspace, plans.as_deref())?);
        let outfit = Outfit {
            workspace: &workspace,
            values,
            flags,
            surroundings,
            mode: &mode,
            approvals: &approvals,
            keeper: keeper.as_ref(),
            people: &people,
            knowhow: &knowhow,
            remembered: &remembered,
            begun: begun.as_ref(),
            logs,
            clock: Arc::clone(&clock),
        };
        let mut equipment = Equipment::find(&outfit, &mut notices)?;
        if let (Some(keeper), None) = (&keeper, &begun) {
            let mcp = Some(equipment.mcp.kept()).filter(|_| !equipment.mcp.is_empty());
            let (memory, skills) = (remembered.began().clone(), knowhow.began().clone());
            Begun { mcp, memory, skills }.keep(keeper)?;
        }
        let mi = Mi::find(&outfit, &mut equipment)?;
        let words = Words::find(surroundings, &mut notices).with(knowhow.index(), remembered.section());
        let makes = Makes::find(workspace.clone(), mi, values, surroundings)?.told(words, knowhow.is_mi);
        equipment.tail.push(makes.new_instructions());
        let crew = Crew::equip(&mut equipment, values, makes.pack(&choice)?.subagent_profiles())?;
        let Equipment {
            capabilities,
            hooks: equipped,
            exceptions,
            polls,
            anew,
            tasks,
            listeners: hearing,
            tail,
            ground,
            commands,
            web,
            factories,
            hooks_tell,
            mcp: servers,
        } = equipment;
        let around = Arc::new(Around::new(Given {
            folder: surroundings.folder.clone(),
            screen,
            person,
            keeper: keeper.clone(),
            commands: Commands {
                ground,
                gate: commands,
                workspace: workspace.clone(),
                count: AtomicU64::new(0),
            },
            web,
            store: Store::new(surroundings.data.join("extensions")),
        }));
        let shelf = Shelf {
            surroundings: surroundings.clone(),
            values: values.extensions.clone(),
            named: flags.extension.clone(),
        };
        let loading = Arc::new(Loading::new(around, shelf, factories));
        let told = loading.extensions.clone();
        hooks_tell.tell_to(move |text| told.notice(hooks::NAME, text));
        let told = loading.extensions.clone();
        servers.tell_to(move |text| told.notice("mcp", text));
        let added = Arc::<Added>::default();
        let shared = Shared {
            mode: mode.clone(),
            modes: exceptions.into_iter().fold(ModeTable::builtin(), ModeTable::except),
            polls: polls
                .iter()
                .try_fold(RuleSet::new(Subjects::new()), |all, tool| all.and(Action::Allow, tool))?,
            rules: rules(values, flags, surroundings)?,
            files: file_gate(&approvals, surroundings),
            approvals: approvals.clone(),
            people: Arc::clone(&people),
            limits: limits(values),
            meter: Meter::default(),
            tail: tail.into(),
            added: Arc::clone(&added),
            announce: announcing(&loading.extensions),
            mcp: servers.clone(),
            redaction: Redaction::new(&surroundings.folder).with_clock(Arc::clone(&clock)),
            clock,
        };
        let plain = Settings { max_output: values.max_output, effort, cache_key: None };
        makes.mi().ready(&models, &shared, plain.clone());
        let makes = Arc::new(makes.equipped(capabilities));
        let domain =
            Arc::new(mica_domain::copilot::remembering(makes.pack(&choice)?, keeper.as_ref(), &mut notices));
        let (tools, prompt) = makes.texts(&domain, &|_| true)?;
        let window = shared.window(&domain, keeper.as_ref(), Some(undoing.clone()));

        let mut context = Context::new(provider, Arc::clone(&choice.model));
        context.settings = Settings {
            max_output: values.max_output,
            effort,
            cache_key: keeper.as_ref().map(|keeper| keeper.session().header().id.to_string()),
        };
        context.tools = tools.tools;
        context.system = prompt.system();
        if let Some(keeper) = &keeper {
            context.messages = window::restore(&keeper.session().live()?);
        }

        let own_tools = context.tools.iter().cloned().chain(context.tools.behind());
        let own_tools = own_tools.map(|tool| tool.spec().name.clone()).collect();
        loading.around.told(&context);

        let budget = Budget::new(shared.limits.clone(), shared.polls.clone()).metered(shared.meter.clone());
        let hooks = shared.hooks(Own {
            domain: Arc::clone(&domain),
            equipment: equipped.clone(),
            approvers: approver.iter().cloned().collect(),
            keeper: keeper.clone(),
            spill,
            budgets: vec![Arc::new(budget)],
            extensions: vec![Arc::new(loading.extensions.clone()), Arc::clone(&loading.around.steering) as _],
            window: Arc::clone(&window),
            plan_folder: people.plan_folder(),
        });
        let agent = Agent::new(context, hooks);
        loading.around.begins(&agent);
        if let Some(keeper) = &keeper {
            agent.listen(Arc::new(keeper.clone()));
        }
        agent.listen(Arc::new(undoing.clone()));
        agent.listen(Arc::clone(&loading.around) as Arc<dyn Listener>);
        agent.listen(Arc::new(loading.extensions.clone()));
        for listener in listeners.into_iter().chain(hearing) {
            agent.listen(listener);
        }
        crew.ready(Base {
            shared: shared.clone(),
            models: Arc::clone(&models),
            makes: Arc::downgrade(&makes),
            sessions: sessions::folder(surroundings),
            folder: surroundings.folder.clone(),
            keeper: keeper.clone(),
            approver,
            gates: equipped,
            extensions: loading.extensions.clone(),
            steering: Arc::clone(&loading.around.steering),
            anew,
            settings: plain,
            relay: agent.relay(),
        });
        Ok(Self {
            agent,
            keeper,
            mode,
            approvals,
            window,
            people,
            profiles: Arc::new(crew.profiles().clone()),
            notices: notices.into(),
            models,
            domain,
            makes,
            meter: shared.meter,
            tasks,
            _scratch: Arc::new(scratch),
            undoing,
            loading,
            added,
            own_tools: Arc::new(own_tools),
            mcp: servers,
            hooks_tell,
            stop: Arc::default(),
        })
    }

    /// Runs from a prompt until the agent stops, from a user with something in front of them.
    ///
    /// # Errors
    /// When a run goes on already, or a suspension cannot be kept.
    pub async fn prompt(&self, text: &str, here: &mica_domain::Surroundings) -> Result<Outcome> {
        let mut content = vec![Content::text(text)];
        content.extend(self.loading.around.person_speaks());
        self.domain.message(here);
        self.begin_run(text, content).await
    }

    /// Runs from what an extension said.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn unasked(&self, content: Vec<Content>) -> Result<Outcome> {
        self.begin_run("", content).await
    }

    async fn begin_run(&self, text: &str, content: Vec<Content>) -> Result<Outcome> {
        let mut said = self.extensions().before_run(text).await;
        for one in &mut said {
            one.text = self.loading.around.redaction.clean(std::mem::take(&mut one.text)).await;
        }
        self.added.set(said);
        self.undoing.begins(self.session_id().as_deref(), text);
        let outcome = self.agent.prompt(User { id: MessageId::fresh(), content }).await?;
        self.ended(outcome).await
    }

    /// Goes on with a suspended run.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn resume(&self, answers: Decisions) -> Result<Outcome> {
        self.undoing.resumes();
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
        let counted = |cx: &mut Context| {
            cx.tally = waiting.tally;
            self.meter.count(&mut cx.tally);
        };
        self.agent.with(counted).await?;
        self.resume(answers).await
    }

    /// Ends what works in the background, and waits a moment for it. Answers what did not end.
    pub async fn close(&self) -> Vec<String> {
        self.extensions().tell(&Moment::SessionShutdown { reason: "quit" }).await;
        self.extensions().exchange(Vec::new());
        self.loading.around.ends();
        let (tasks, servers) = tokio::join!(self.tasks.close(CLOSING), self.mcp.close(mcp::CLOSING));
        tasks.iter().map(ToString::to_string).chain(servers).collect()
    }

    async fn ended(&self, outcome: Outcome) -> Result<Outcome> {
        // What subagents took in the last turn: the run itself counts before each turn only.
        let _ = self.agent.with(|cx| self.meter.count(&mut cx.tally)).await;
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
                let delegated = match tally.delegated {
                    none if none.total() == 0 => String::new(),
                    some => format!(
                        "\nof which subagents: {} in, {} out{}",
                        some.input,
                        some.output,
                        some.cost.map(|cost| format!(", {}", cost.total())).unwrap_or_default()
                    ),
                };
                format!(
                    "last run: {}, {} in ({:.0} % from cache), {} out, {cost}{delegated}\nwindow: {} of {} tokens; it is shortened at {}",
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

    /// The kinds of subagents that there are, for people.
    pub fn agents(&self) -> String {
        subagents::listing(&self.profiles)
    }

    /// What the model can call.
    pub async fn tools(&self) -> String {
        let list = |cx: &mut Context| {
            let behind: Vec<_> = cx.tools.behind().collect();
            let sent = cx.tools.iter().map(|tool| (tool.spec(), ""));
            let deferred = behind.iter().map(|tool| (tool.spec(), "(deferred) "));
            tool_lines(&sent.chain(deferred).collect::<Vec<_>>())
        };
        self.agent.with(list).await.unwrap_or_else(|busy| busy.to_string())
    }
}

/// A line for each tool with its mark and what it does, in columns as wide as the longest name.
fn tool_lines(tools: &[(&ToolSpec, &str)]) -> String {
    let width = tools.iter().map(|(spec, _)| spec.name.chars().count()).max().unwrap_or_default();
    let line = |(spec, mark): &(&ToolSpec, &str)| {
        let first = spec.description.split_inclusive(". ").next().unwrap_or_default();
        format!("{:<width$} {mark}{}", spec.name, shorten(first.trim(), 80))
    };
    tools.iter().map(line).collect::<Vec<_>>().join("\n")
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

/// The ends of a run, as the settings have them.
pub fn limits(values: &Values) -> Limits {
    let limits = &values.limits;
    let usual = Limits::default();
    Limits {
        turns: limits.turns.or(usual.turns),
        tokens: limits.tokens.or(usual.tokens),
        cost: limits.cost.map(Usd::from_dollars).or(usual.cost),
        active: limits.time.map(Duration::from_secs).or(usual.active),
        ..usual
    }
}

/// Tells extensions that a window is about to be compacted. What the person wants kept stands behind the reason.
fn announcing(extensions: &Extensions) -> Announce {
    let extensions = extensions.clone();
    Arc::new(move |trigger: &Trigger| {
        let (by, focus) = match trigger {
            Trigger::Manual { focus } => (CompactTrigger::Manual, focus.clone()),
            Trigger::Threshold { .. } | Trigger::Overflow => (CompactTrigger::Auto, None),
        };
        let reason = match &focus {
            Some(focus) => format!("{}: {focus}", trigger.reason()),
            None => trigger.reason(),
        };
        let extensions = extensions.clone();
        Box::pin(async move {
            extensions.tell(&Moment::BeforeCompact { reason, trigger: by, focus }).await;
        })
    })
}

/// Who offers to remember a yes to a change, and lets changes through that were allowed so.
fn file_gate(approvals: &KeptApprovals, surroundings: &Surroundings) -> FileGate {
    let place = shell_rules::place(surroundings);
    let gate = FileGate::new(place, approvals.approvals().clone());
    gate.tool("file_write", "path").tool("file_edit", "path").tool(apply_code_action::NAME, "path")
}

fn rules(values: &Values, flags: &RunFlags, surroundings: &Surroundings) -> Result<RuleSet> {
    let subjects = Subjects::new()
        .below(&surroundings.folder.display().to_string())
        .path("file_read", "path")
        .path("file_write", "path")
        .path("file_edit", "path")
        .path(apply_code_action::NAME, "path")
        .host("web_fetch", "url")
        .text("web_search", "query");
    let mut rules = RuleSet::new(subjects);
    // Those about commands are held against commands as they are read, by the judge of commands.
    let others = |rule: &&String| of_commands(rule).is_none();
    for rule in values.deny.iter().filter(others) {
        rules = rules.and(Action::Deny, rule)?;
    }
    for rule in values.allow.iter().filter(others) {
        rules = rules.and(Action::Allow, rule)?;
    }
    if flags.yes {
        rules = rules.and(Action::Allow, "*")?;
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_listed_in_columns_as_wide_as_the_longest_name() {
        let short = ToolSpec::new("grep", "Finds text. And more.", serde_json::json!({}));
        let long = ToolSpec::new("create_data_mapper", "Makes a mapper.", serde_json::json!({}));
        assert_eq!(
            tool_lines(&[(&short, ""), (&long, "(deferred) ")]),
            "grep               Finds text.\ncreate_data_mapper (deferred) Makes a mapper."
        );
        assert_eq!(tool_lines(&[]), "");
    }
}

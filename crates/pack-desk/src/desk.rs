//! The domain: which tools are on which page, what is said of them, and what the model is told.

use std::sync::Arc;

use mica_agent::Tool;
use mica_domain::cards::Kinds;
use mica_domain::profile::Profile;
use mica_domain::section::{Org, OrgView, Section, Static, Turn, TurnView};
use mica_domain::tasks::TaskKind;
use mica_domain::{Act, Capability, Domain, Exclude, Page, RefKinds, Rights, ToolNames};

use crate::error::DeskError;
use crate::kb;
use crate::station::{Sight, Station};
use crate::store::{Result, team};
use crate::tools::{
    add_note, bulk_update_records, create_record, create_task, edit_article, find_threads, get_article,
    get_eval_run, get_record, get_thread, list_members, list_tasks, reindex_articles, reply_to_thread,
    run_eval_suite, search_articles, search_records, set_agent_prompt, suggest_replies, update_record,
    update_thread,
};

/// Puts something around every tool: stand-ins of a test, for example.
pub type Around = Arc<dyn Fn(Arc<dyn Tool>) -> Arc<dyn Tool> + Send + Sync>;

/// The support desk.
pub struct Desk {
    station: Station,
    kinds: Kinds,
    more: Vec<Capability>,
    around: Option<Around>,
}

impl Desk {
    /// The name of the pack.
    pub const NAME: &str = "desk";

    /// The pages, in the order people see them.
    pub const PAGES: &[&str] = &["inbox", "records", "tasks", "kb", "agents", "today", "runs"];

    /// A desk.
    ///
    /// # Errors
    /// [`DeskError::Seed`]: a mistake in the cards that come along.
    pub fn new(station: Station) -> Result<Self> {
        let kinds = toml::from_str(include_str!("cards.toml"))
            .map_err(|error| DeskError::Seed { file: "cards.toml", problem: error.to_string() })?;
        Ok(Self { station, kinds, more: Vec::new(), around: None })
    }

    /// With more tools: those of the plan and of variables, which every domain can have.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Capability>) -> Self {
        self.more.extend(more);
        self
    }

    /// With something put around every tool.
    #[must_use]
    pub fn around(mut self, around: Around) -> Self {
        self.around = Some(around);
        self
    }

    /// What its tools share.
    pub fn station(&self) -> &Station {
        &self.station
    }

    /// What whoever acts may do.
    ///
    /// # Errors
    /// [`DeskError`].
    pub fn rights(&self) -> Result<Rights> {
        self.station.store.look(|connection| team::rights(connection, &self.station.who))
    }

    /// What is said of the tools, by name.
    pub fn acts() -> Vec<Act> {
        let reads = [
            (search_records::NAME, "records.read"),
            (get_record::NAME, "records.read"),
            (list_tasks::NAME, "records.read"),
            (search_articles::NAME, "kb.read"),
            (find_threads::NAME, "mail.read"),
            (get_thread::NAME, "mail.read"),
            (get_article::NAME, "kb.read"),
            (get_eval_run::NAME, "agents.write"),
        ];
        let reads = reads.into_iter().map(|(tool, right)| Act::of(tool).needing(right));
        reads
            .chain([
                create_task::act(),
                update_record::act(),
                bulk_update_records::act(),
                add_note::act(),
                create_record::act(),
                suggest_replies::act(),
                reply_to_thread::act(),
                update_thread::act(),
                edit_article::act(),
                reindex_articles::act(),
                set_agent_prompt::act(),
                run_eval_suite::act(),
            ])
            .collect()
    }

    /// The same at a station: with what their questions rest on, and with what arguments mean there.
    pub fn acts_at(station: &Station) -> Vec<Act> {
        let here = [
            create_task::act_at(station),
            create_record::act_at(station),
            update_record::act_at(station),
            bulk_update_records::act_at(station),
            reply_to_thread::act_at(station),
            update_thread::act_at(station),
            edit_article::act_at(station),
            set_agent_prompt::act_at(station),
        ];
        let mut acts = Self::acts();
        acts.retain(|act| here.iter().all(|other| other.tool != act.tool));
        acts.extend(here);
        acts
    }

    /// How a member's session is run.
    pub fn member_profile() -> Profile {
        Profile::default()
    }
}

/// The tools that every domain can have: a plan, and variables.
fn control() -> Vec<Arc<dyn Tool>> {
    let mut tools = mica_domain::plan::plan_tools();
    tools.push(mica_domain::store::tools::set_variable());
    tools
}

/// A capability with what is said of its tools.
fn capability(station: &Station, page: Page, summary: &str, tools: Vec<Arc<dyn Tool>>) -> Capability {
    let acts = Desk::acts_at(station);
    let names: Vec<String> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
    let mut capability = Capability::new(page, summary, tools);
    for act in acts.into_iter().filter(|act| names.contains(&act.tool)) {
        capability = capability.acting(act);
    }
    capability
}

/// Lines of a prompt whose tools are all there.
fn lines(tools: &ToolNames, lines: &[(&[&str], &str)]) -> Option<String> {
    let said: Vec<&str> = lines
        .iter()
        .filter(|(needs, _)| needs.iter().all(|name| tools.has(name)))
        .map(|(_, line)| *line)
        .collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

impl Domain for Desk {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn capabilities(&self) -> Vec<Capability> {
        let station = &self.station;
        let mut reads = vec![
            search_records::tool(station),
            get_record::tool(station),
            list_tasks::tool(station),
            search_articles::tool(station),
            list_members::tool(station),
        ];
        if station.sight == Sight::Customer {
            // Somebody from outside sees what the articles say, and nothing of the desk.
            reads.retain(|tool| tool.spec().name == search_articles::NAME);
            reads.push(get_article::tool(station));
            return vec![capability(station, Page::Global, "looks things up in the help articles", reads)];
        }
        let writes = vec![
            create_task::tool(station),
            update_record::tool(station),
            bulk_update_records::tool(station),
            add_note::tool(station),
            create_record::tool(station),
        ];
        let inbox = vec![
            find_threads::tool(station),
            get_thread::tool(station),
            reply_to_thread::tool(station),
            update_thread::tool(station),
        ];
        let kb =
            vec![get_article::tool(station), edit_article::tool(station), reindex_articles::tool(station)];
        let agents =
            vec![set_agent_prompt::tool(station), run_eval_suite::tool(station), get_eval_run::tool(station)];
        let named = |name: &str| Exclude::Name(name.to_owned());
        let mut all = vec![
            capability(station, Page::Global, "finds companies, contacts, tasks, articles and colleagues", reads),
            capability(station, Page::Global, "makes tasks and records, changes records, and writes notes", writes),
            capability(station, Page::Global, "offers answers to pick from", vec![suggest_replies::tool()]),
            capability(station, Page::Global, "keeps a plan, and what is worth remembering in a conversation", control()),
            capability(station, Page::named("inbox"), "reads, sorts and answers conversations", inbox)
                .filling_from(get_thread::NAME, "thread", "thread")
                .filling_from(reply_to_thread::NAME, "thread", "thread")
                .filling_from(update_thread::NAME, "thread", "thread")
                .with_prompt(|tools| {
                    lines(
                        tools,
                        &[
                            (&[find_threads::NAME], "# Conversations\n"),
                            (&[get_thread::NAME], "- Read a conversation before you say anything about it."),
                            (
                                &[reply_to_thread::NAME],
                                "- Reply with reply_to_thread. Use the mode \"draft\" unless the person wants it sent.",
                            ),
                            (
                                &[reply_to_thread::NAME, search_articles::NAME],
                                "- When a reply says how something is done, look it up with search_articles first.",
                            ),
                        ],
                    )
                }),
            capability(station, Page::named("records"), "shows companies and contacts", Vec::new()),
            capability(station, Page::named("tasks"), "shows tasks", Vec::new()),
            capability(station, Page::named(kb::PAGE), "reads, edits and indexes help articles", kb)
                .filling_from(get_article::NAME, "article", "article")
                .filling_from(edit_article::NAME, "article", "article")
                .living(Arc::new(kb::Holding::new(station.clone())))
                .with_prompt(|tools| {
                    lines(
                        tools,
                        &[
                            (&[get_article::NAME], "# Articles\n"),
                            (&[edit_article::NAME], "- Change as little as the person asked for, in the article's own tone."),
                            (
                                &[edit_article::NAME, reindex_articles::NAME],
                                "- After the last change, index the articles with reindex_articles.",
                            ),
                        ],
                    )
                }),
            capability(station, Page::named("agents"), "instructs the desk's agents and tries them", agents)
                .filling_from(set_agent_prompt::NAME, "agent", "agent")
                .excluding([
                    named(create_task::NAME),
                    named(update_record::NAME),
                    named(bulk_update_records::NAME),
                    named(create_record::NAME),
                    named(add_note::NAME),
                ])
                .with_prompt(|tools| {
                    lines(
                        tools,
                        &[
                            (&[set_agent_prompt::NAME], "# Agents\n"),
                            (
                                &[set_agent_prompt::NAME, run_eval_suite::NAME],
                                "- After an agent was instructed anew, begin the evals with run_eval_suite and end your turn.",
                            ),
                            (&[suggest_replies::NAME], "- Offer what could come next with suggest_replies."),
                        ],
                    )
                }),
        ];
        all.extend(self.more.clone());
        if let Some(around) = &self.around {
            for tool in all.iter_mut().flat_map(|group| &mut group.tools) {
                *tool = around(Arc::clone(tool));
            }
        }
        all
    }

    fn statics(&self) -> Vec<Section<Static>> {
        crate::prompt::statics()
    }

    fn org(&self, view: &OrgView<'_>) -> Vec<Section<Org>> {
        crate::prompt::org(&self.station, view)
    }

    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<Turn>> {
        crate::prompt::turn(&self.station, view)
    }

    fn cards(&self) -> Kinds {
        self.kinds.clone()
    }

    fn task_kinds(&self) -> Vec<Arc<dyn TaskKind>> {
        crate::jobs::kinds(&self.station.store)
    }

    fn ref_kinds(&self) -> RefKinds {
        RefKinds::default()
            .one("thread")
            .one("article")
            .one("agent")
            .several("record")
            .several("task")
            .several("member")
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! The help desk as a product: a desk of its own for each case, with a member at it, agents, mail and a clock.

mod events;
mod looks;
mod meanwhile;
mod misbehaving;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use mica_agent::{Outcome, Settings};
use mica_ai::usage::Usd;
use mica_context::SpillFolder;
use mica_context::spill::SpillLimits;
use mica_domain::approvals::Person;
use mica_domain::capture::{State, Status};
use mica_domain::copilot::Watch;
use mica_domain::refs::Ref;
use mica_domain::runners::{Conversation, Extras, OpenError, Opens};
use mica_domain::tasks::Waker;
use mica_domain::{Copilot, Domain, Setup, Surroundings};
use mica_eval::copilot::{CopilotStage, Here, World};
use mica_eval::{Came, Happened, Opening, Product, Said, Stage, StageError, given};
use mica_policy::budget::Limits;
use pack_desk::Store;
use pack_desk::office::{Inbound, Means, Office, Ran};
use pack_desk::store::{self, Hand, articles, entities, jobs, mail, notes, team, threads};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The product.
pub struct Desk;

/// What a desk is like at first, besides the data that comes along.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shape {
    /// Who is there; `member:maya` when absent.
    member: Option<String>,
    /// Mail that came in before.
    mails: Vec<Mail>,
    /// Articles that say something else: id and body.
    articles: std::collections::BTreeMap<String, String>,
    /// Titles of articles that are others.
    titles: std::collections::BTreeMap<String, String>,
    /// Fields of records that are others.
    records: std::collections::BTreeMap<String, Map<String, Value>>,
    /// Notes that were written before: id and text.
    notes: std::collections::BTreeMap<String, String>,
    /// Drafts that were kept before: thread and text.
    drafts: std::collections::BTreeMap<String, String>,
    /// What agents are told: id and prompt.
    prompts: std::collections::BTreeMap<String, String>,
    /// Why cases of an eval run before failed.
    reasons: Vec<String>,
    /// Turns that a run may have.
    turns: Option<u32>,
    /// The other ends of a run.
    limits: Ends,
    /// Whether there are tools that behave badly.
    misbehaving: bool,
    /// Results of more bytes are kept in files.
    spill: Option<usize>,
}

/// The ends of a run, as far as they are not the usual ones.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Ends {
    tokens: Option<u64>,
    /// Dollars.
    cost: Option<f64>,
    milliseconds: Option<u64>,
    repeats: Option<usize>,
    failures: Option<u32>,
    approvals: Option<u32>,
}

impl Shape {
    fn limits(&self) -> Limits {
        let (ends, usual) = (&self.limits, Limits::default());
        Limits {
            turns: self.turns.or(usual.turns),
            tokens: ends.tokens.or(usual.tokens),
            cost: ends.cost.map(Usd::from_dollars).or(usual.cost),
            active: ends.milliseconds.map(Duration::from_millis).or(usual.active),
            repeats: ends.repeats.or(usual.repeats),
            failures: ends.failures.or(usual.failures),
            approvals: ends.approvals.or(Some(Setup::APPROVALS)),
            ..usual
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Mail {
    from: String,
    subject: String,
    body: String,
    thread: Option<String>,
}

#[async_trait]
impl Product for Desk {
    fn name(&self) -> &str {
        "desk"
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Stage>, StageError> {
        let shape: Shape = given("setup", opening.setup.clone())?;
        let store = Store::open(opening.folder.join("desk.db")).map_err(failed)?;
        store::seed::fill(&store, opening.clock.now()).map_err(failed)?;
        let meanwhile = meanwhile::Meanwhile::default();
        let means = Means {
            store,
            life: "eval".to_owned(),
            now: opening.clock.shared(),
            zone: TimeZone::UTC,
            provider: opening.model.provider(),
            model: opening.model.model(),
            settings: Settings::default(),
            limits: shape.limits(),
            folder: opening.folder.join("agents"),
            listeners: vec![Arc::new(opening.journal.clone()), Arc::new(meanwhile.clone())],
            around: None,
        };
        let who = shape.member.clone().unwrap_or_else(|| "member:maya".to_owned());
        let spill = shape.spill.map(|inline| {
            let limits = SpillLimits { inline, ..SpillLimits::default() };
            Arc::new(SpillFolder::new(opening.folder.join("results"), limits))
        });
        let misbehaving = shape.misbehaving;
        let office = Office::new(means).map_err(failed)?;
        let world = Playing { office, who, misbehaving, spill, meanwhile };
        world.prepare(&shape).await?;
        Ok(Box::new(CopilotStage::open(&opening, world).await?))
    }
}

struct Playing {
    office: Office,
    who: String,
    misbehaving: bool,
    spill: Option<Arc<SpillFolder>>,
    meanwhile: meanwhile::Meanwhile,
}

fn failed(error: impl std::fmt::Display) -> StageError {
    StageError::new(error.to_string())
}

impl Playing {
    async fn prepare(&self, shape: &Shape) -> Result<(), StageError> {
        for mail in &shape.mails {
            self.mail(mail.clone()).await?;
        }
        let hand = Hand { who: "member:jonas".to_owned(), at: (self.office.means().now)(), key: None };
        let store = &self.office.means().store;
        store
            .change(|tx| {
                for (id, fields) in &shape.records {
                    entities::update(tx, &hand, id, fields)?;
                }
                for (id, body) in &shape.articles {
                    let edit = articles::Edit::Body(body.clone());
                    articles::write(tx, &hand, id, "setup", None, Some(&edit))?;
                }
                for (id, title) in &shape.titles {
                    articles::write(tx, &hand, id, "setup", Some(title), None)?;
                }
                articles::release(tx, "setup", true, "")?;
                for (id, _) in articles::list(tx)? {
                    articles::index(tx, &id)?;
                }
                for (about, text) in &shape.notes {
                    notes::add(tx, &hand, about, text)?;
                }
                for (thread, text) in &shape.drafts {
                    let thread = threads::get(tx, thread)?;
                    let to = mail::recipient(tx, &thread)?;
                    mail::draft(tx, &hand, &thread, &to, text)?;
                }
                for (agent, prompt) in &shape.prompts {
                    team::set_prompt(tx, &hand, agent, prompt)?;
                }
                if !shape.reasons.is_empty() {
                    let failed = |why: &String| json!({ "name": "a case", "passed": false, "why": why });
                    let cases: Vec<Value> = shape.reasons.iter().map(failed).collect();
                    let job =
                        jobs::begin(tx, &hand, pack_desk::jobs::EVAL_SUITE, &json!({ "suite": "desk" }))?;
                    jobs::end(tx, &hand, &job.id, &Ok(json!({ "cases": cases })))?;
                }
                // What was done before the case is no part of it.
                tx.execute("DELETE FROM activity", [])?;
                tx.execute("DELETE FROM article_snapshots", [])?;
                Ok(())
            })
            .map_err(failed)
    }

    async fn mail(&self, mail: Mail) -> Result<threads::Thread, StageError> {
        let Mail { from, subject, body, thread } = mail;
        self.office.inbound(Inbound { from, subject, body, thread }).await.map_err(failed)
    }

    /// What came of runs that nobody watched: the last of them, and what was proposed.
    fn ran(here: &Here, mark: mica_eval::journal::Mark, ran: &[Ran]) -> Happened {
        let bundles: Vec<Value> =
            ran.iter().filter_map(|ran| ran.bundle.as_ref()).map(|bundle| json!(bundle.id())).collect();
        // Only what ended as it should is a run here; what did not says why.
        let problems: Vec<&str> = ran.iter().filter_map(Ran::problem).collect();
        let came = ran.last().filter(|ran| ran.outcome() == "completed");
        let came = came.map(|_| Came::of(&Outcome::Completed, here.journal.since(mark)));
        let outcomes: Vec<&str> = ran.iter().map(Ran::outcome).collect();
        let value =
            json!({ "runs": ran.len(), "bundles": bundles, "outcomes": outcomes, "problems": problems });
        Happened { value, came }
    }

    /// The proposal that is meant: the newest where none is named.
    async fn bundle(&self, named: Option<&String>) -> Result<String, StageError> {
        if let Some(id) = named {
            return Ok(id.clone());
        }
        let all = self.office.bundles().list().await.map_err(failed)?;
        let newest = all.iter().max_by_key(|bundle| (bundle.made, bundle.id().to_owned()));
        newest.map(|bundle| bundle.id().to_owned()).ok_or_else(|| StageError::new("nothing was proposed"))
    }

    /// What people call something.
    fn label(&self, id: &str) -> Option<String> {
        let label = self.office.means().store.look(|connection| {
            Ok(match id.split_once(':').map(|(kind, _)| kind) {
                Some("thread") => threads::get(connection, id)?.subject,
                Some("article") => articles::get(connection, id)?.title,
                Some("task") => pack_desk::store::tasks::get(connection, id)?.title,
                Some("agent") => team::agent(connection, id)?.name,
                _ => entities::get(connection, id)?.name,
            })
        });
        label.ok()
    }

    fn person(&self) -> Result<Person, StageError> {
        let store = &self.office.means().store;
        let rights = store.look(|connection| team::rights(connection, &self.who)).map_err(failed)?;
        Ok(Person::new(&self.who, rights))
    }
}

/// The one session of a case, whatever it is called.
struct Only(Copilot);

#[async_trait]
impl mica_domain::runners::Opening for Only {
    async fn open(&self, _: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(self.0.clone()))
    }

    async fn reopen(&self, _: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(self.0.clone()))
    }
}

fn described(bundle: &mica_domain::capture::Bundle) -> Value {
    let state = match &bundle.state {
        State::Fresh => "fresh",
        State::Snoozed { .. } => "snoozed",
        State::Stale { .. } => "stale",
        State::Approved => "approved",
        State::PartiallyApproved => "partially_approved",
        State::Rejected => "rejected",
    };
    let actions: Vec<Value> = bundle
        .actions
        .iter()
        .map(|action| {
            let status = match &action.status {
                Status::Open => "open",
                Status::Picked => "picked",
                Status::Began => "began",
                Status::Done { .. } => "done",
                Status::Failed { .. } => "failed",
                Status::Skipped { .. } => "skipped",
                Status::Unknown { .. } => "unknown",
            };
            json!({ "id": action.id, "tool": action.tool, "status": status, "needs": action.needs })
        })
        .collect();
    json!({ "state": state, "actions": actions })
}

#[async_trait]
impl World for Playing {
    async fn domain(&mut self) -> Result<Arc<dyn Domain>, StageError> {
        self.office.forget().await;
        // As if the process had ended, and another one had begun.
        self.office.leave().await.map_err(failed)?;
        let means = self.office.means();
        let now = (means.now)();
        means.store.write(move |tx| articles::recover(tx, now)).await.map_err(failed)?;
        if !self.misbehaving {
            return self.office.desk(&self.who).map_err(failed);
        }
        let desk = pack_desk::Desk::new(self.office.station(&self.who)).map_err(failed)?;
        Ok(Arc::new(desk.with([misbehaving::capability()])))
    }

    fn shape(&mut self, mut setup: Setup) -> Setup {
        let store = &self.office.means().store;
        if let Ok(rights) = store.look(|connection| team::rights(connection, &self.who)) {
            setup.rights = rights;
        }
        setup.records = Arc::new(store.clone());
        setup.watch = Some(Watch { session: "case".to_owned(), waker: Waker::default() });
        setup.limits = self.office.means().limits.clone();
        setup.spill.clone_from(&self.spill);
        setup
    }

    /// `open` in `with` is what is open on the page; what is mentioned is an id of the desk.
    fn surroundings(&self, said: &Said) -> Result<Surroundings, StageError> {
        let mut here = Surroundings { page: said.page.clone(), ..Surroundings::default() };
        let kind = |id: &str| match id.split_once(':').map(|(kind, _)| kind) {
            Some("company" | "contact") | None => "record".to_owned(),
            Some(kind) => kind.to_owned(),
        };
        for id in &said.mentions {
            here.refs.add(Ref::mentioned(kind(id), id.clone()));
        }
        for (name, value) in &said.with {
            let ids: Option<Vec<String>> = match (name.as_str(), value) {
                ("open", Value::String(id)) => Some(vec![id.clone()]),
                ("open", Value::Array(ids)) => ids.iter().map(|id| id.as_str().map(str::to_owned)).collect(),
                ("open", _) => None,
                _ => return Err(StageError::unknown("thing to say with a message", name, ["open"])),
            };
            let ids =
                ids.ok_or_else(|| StageError::new("`with.open` is an id of the desk, or a list of them"))?;
            for id in ids {
                // As interfaces do it: with what people call it.
                let open = Ref::open(kind(&id), id.clone());
                here.refs.add(match self.label(&id) {
                    Some(label) => open.called(label),
                    None => open,
                });
            }
        }
        Ok(here)
    }

    async fn event(
        &mut self,
        here: &Here,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<Happened, StageError> {
        self.happens(here, name, args).await
    }

    async fn look(&mut self, here: &Here, what: &str) -> Result<Value, StageError> {
        self.looked_at(here, what).await
    }

    /// Mail leaves, and conversations are told of background work that has ended.
    async fn advanced(&mut self, here: &Here) -> Result<Option<Came>, StageError> {
        let now = here.clock.now();
        self.office.means().store.write(move |tx| mail::leave(tx, now)).await.map_err(failed)?;
        let mark = here.journal.mark();
        let before = here.copilot.shown().await.map_err(failed)?.len();
        self.office.news_through(Arc::new(Only(here.copilot.clone()))).await.map_err(failed)?;
        let after = here.copilot.shown().await.map_err(failed)?;
        Ok((after.len() > before).then(|| Came::of(&Outcome::Completed, here.journal.since(mark))))
    }
}

#[cfg(test)]
mod tests {
    use mica_eval::case::Shapes;

    use super::events::{Args, EVENTS};
    use super::looks::LOOKS;
    use super::*;
    use crate::commands::eval::tests::{cell, code, keys};

    #[test]
    fn what_a_case_of_the_desk_can_say_is_on_the_page() {
        assert_eq!(cell("desk", 1), keys(&Shapes::of::<Shape>(), ""));
        let mut events: Vec<String> = EVENTS.iter().map(|(name, _)| (*name).to_owned()).collect();
        events.sort();
        assert_eq!(cell("desk", 3), events);
        let mut looks: Vec<String> = LOOKS.iter().map(|name| (*name).to_owned()).collect();
        looks.sort();
        assert_eq!(cell("desk", 4), looks);
        let page = code();
        let parts = Shapes::of::<Shape>();
        let inner = keys(&parts, "mails.*").into_iter().chain(keys(&parts, "limits"));
        let given = EVENTS.iter().flat_map(|(_, args)| args.iter().map(|arg| (*arg).to_owned()));
        let missing: Vec<String> = inner.chain(given).filter(|name| !page.contains(name)).collect();
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn nothing_that_an_event_is_given_is_passed_over() {
        let check = |event: &str, args: Value, expect: &str| {
            let Value::Object(args) = args else { panic!("{args}") };
            let read = Args::read(event, &args);
            assert_eq!(read.err().map_or(String::new(), |error| error.to_string()), expect, "{event}");
        };
        check("approve", json!({ "actions": ["a"] }), "");
        check(
            "approve",
            json!({ "actions": "a" }),
            "`args.actions`: this is the text \"a\"; a list is expected",
        );
        check(
            "approve",
            json!({ "action": ["a"] }),
            "there is no argument \"action\"; did you mean \"actions\"? (there are: bundle, actions)",
        );
        check(
            "inbound",
            json!({ "triage": "yes" }),
            "`args.triage`: this is the text \"yes\"; true or false is expected",
        );
        check("change", json!({ "record": "contact:x", "phone": "1" }), "");
        check("snoze", json!({}), &{
            let known: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
            format!("there is no event \"snoze\"; did you mean \"snooze\"? (there are: {})", known.join(", "))
        });
    }
}

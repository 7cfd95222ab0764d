//! A member at the desk: where they are, what is open, and the conversation they have.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mica_agent::{Args, Ask, Outcome};
use mica_ai::id::CallId;
use mica_domain::Records as _;
use mica_domain::approvals::{ApprovalCard, Choice, Person};
use mica_domain::refs::Ref;
use mica_domain::runners::Said;
use mica_domain::{Copilot, Now, Surroundings};
use pack_desk::office::Ran;
use pack_desk::store::team;
use pack_desk::{Office, Store, ids};
use serde_json::{Value, json};

use crate::render::question::{Length, Paint, plain, plain_page, question};

/// The desk's clock: the true one, moved by whoever plays with it.
#[derive(Clone)]
pub struct Clock {
    store: Store,
    offset: Arc<AtomicI64>,
}

/// Where the clock's offset is kept.
const CLOCK: (&str, &str) = ("clock", "offset");

impl Clock {
    /// As it was left.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub fn open(store: &Store) -> Result<Self> {
        let read = store.look(|connection| {
            let mut select = connection.prepare("SELECT doc FROM documents WHERE kind = ?1 AND id = ?2")?;
            let mut rows = select.query([CLOCK.0, CLOCK.1])?;
            Ok(match rows.next()? {
                Some(row) => row.get::<_, String>(0)?.parse::<i64>().unwrap_or_default(),
                None => 0,
            })
        })?;
        Ok(Self { store: store.clone(), offset: Arc::new(AtomicI64::new(read)) })
    }

    /// What time it is at the desk.
    pub fn now(&self) -> Timestamp {
        moved(Timestamp::now(), self.offset.load(Ordering::SeqCst))
    }

    /// The same, to hand on.
    pub fn shared(&self) -> Now {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// Data that cannot be written.
    pub async fn advance(&self, by: SignedDuration) -> Result<()> {
        let seconds = self.offset.load(Ordering::SeqCst).saturating_add(by.as_secs());
        let version = self.store.get(CLOCK.0, CLOCK.1).await?.map(|kept| kept.version);
        self.store.put(CLOCK.0, CLOCK.1, &json!(seconds), version).await?;
        self.offset.store(seconds, Ordering::SeqCst);
        Ok(())
    }
}

fn moved(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now)
}

/// What came of a line.
pub enum Did {
    /// Something is told.
    Said(String),
    /// A run ended, and was told.
    Ran(Outcome),
    /// The person leaves.
    Quit,
}

/// A member at the desk.
pub struct Room {
    /// The desk.
    pub office: Office,
    /// The clock.
    pub clock: Clock,
    /// Who is there.
    pub who: String,
    /// The conversation.
    pub copilot: Copilot,
    /// The page.
    pub page: Option<String>,
    /// What is open.
    pub opened: Vec<Ref>,
    /// What the next line mentions.
    pub mentioned: Vec<Ref>,
    colour: bool,
    /// How many answers of the conversation were shown.
    answers: usize,
    /// What was triggered, ended, and was told.
    told: BTreeSet<String>,
}

impl Room {
    /// Enters: the conversation goes on where it was, and so does what a process left in the middle.
    ///
    /// # Errors
    /// Data that cannot be used; a conversation that is open elsewhere.
    #[allow(clippy::print_stderr, reason = "a program speaks")]
    pub async fn enter(office: Office, clock: Clock, who: String, name: &str, colour: bool) -> Result<Self> {
        let copilot = office.chat(&who, name).await.with_context(|| {
            format!("the conversation {name:?} cannot be opened; is it open elsewhere? --conversation names another")
        })?;
        for problem in office.enter().await?.problems {
            eprintln!("desk: {}", plain(&problem));
        }
        let page = copilot.domain().snapshot().page;
        let answers = copilot.shown().await?.len();
        let told = office.runs().await?.iter().filter(|ran| ran.is_over()).map(|ran| ran.fire.id()).collect();
        Ok(Self {
            office,
            clock,
            who,
            copilot,
            page,
            opened: Vec::new(),
            mentioned: Vec::new(),
            colour,
            answers,
            told,
        })
    }

    /// Leaves: what this process held is free for others at once. When that cannot be said, they wait for a minute.
    pub async fn leave(&self) {
        let _ = self.office.leave().await;
    }

    /// What is shown before a line.
    pub fn prompt(&self) -> String {
        format!("{}> ", self.page.as_deref().unwrap_or("desk"))
    }

    /// What time it is at the desk.
    pub fn said_now(&self) -> String {
        self.office.station(&self.who).said(self.clock.now())
    }

    /// What people are asked.
    pub fn waiting(&self) -> Vec<Ask> {
        self.copilot.waiting()
    }

    /// Takes a line: a command, or words.
    ///
    /// # Errors
    /// In words, for the person.
    pub async fn take(&mut self, line: &str) -> Result<Did> {
        match line.strip_prefix('/') {
            Some(command) => super::commands::command(self, command).await,
            None => self.say(line).await.map(Did::Ran),
        }
    }

    /// Says something to the copilot, and shows what it answers.
    ///
    /// # Errors
    /// In words.
    pub async fn say(&mut self, text: &str) -> Result<Outcome> {
        let mut here = Surroundings { page: self.page.clone(), ..Surroundings::default() };
        for one in self.mentioned.drain(..).chain(mentions(text)) {
            here.refs.add(one);
        }
        for one in &self.opened {
            here.refs.add(one.clone());
        }
        let said = Said { text: text.to_owned(), surroundings: Some(here), ..Said::default() };
        let turned = self.copilot.say(said).await?;
        self.show(&turned.text);
        self.answers = self.copilot.shown().await?.len();
        Ok(turned.outcome)
    }

    /// What an agent did, for people. It is told once.
    pub fn came(&mut self, ran: &[Ran]) -> String {
        self.told.extend(ran.iter().filter(|ran| ran.is_over()).map(|ran| ran.fire.id()));
        ran.iter().map(super::commands::came).collect()
    }

    /// Prints an answer, with its cards.
    #[allow(clippy::print_stdout, reason = "a program speaks")]
    pub fn show(&self, text: &str) {
        if !text.trim().is_empty() {
            let shown = Office::shown(&self.copilot, text);
            print!("{}", plain_page(shown.trim_end()));
        }
    }

    /// What is asked and nobody decided about, with how it is kept.
    fn open_questions(&self) -> Result<Vec<(Ask, Option<ApprovalCard>)>> {
        let asks = self.waiting();
        let open = self.copilot.approvals().standing(&asks)?.open;
        let cards = self.copilot.approvals().cards()?;
        let card = |call: &CallId| cards.iter().rev().find(|card| card.call == *call).cloned();
        let asks = asks.into_iter().filter(|ask| open.contains(&ask.call.id));
        let with_card = |ask: Ask| {
            let card = card(&ask.call.id);
            (ask, card)
        };
        Ok(asks.map(with_card).collect())
    }

    /// What is asked first, of what is not decided.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn question(&self) -> Result<String> {
        let open = self.open_questions()?;
        let paint = if self.colour { Paint::Colours } else { Paint::Plain };
        let Some((ask, card)) = open.first() else { return Ok(String::new()) };
        let more = open.len() - 1;
        let more = if more > 0 { format!("\n  ({more} more after this)") } else { String::new() };
        let edits = card.as_ref().map(amendable).unwrap_or_default();
        let edits = if edits.is_empty() {
            String::new()
        } else {
            format!(", [e]dit NAME=VALUE ({})", edits.join(", "))
        };
        let asked = self.asked(ask, card.as_ref(), paint);
        Ok(format!("? {asked}\n  [y]es, [n]o and why{edits}, [l]ater{more}"))
    }

    /// Everything that is asked.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn questions(&self) -> Result<String> {
        let open = self.open_questions()?;
        let all: Vec<String> =
            open.iter().map(|(ask, card)| self.asked(ask, card.as_ref(), Paint::Plain)).collect();
        Ok(all.join("\n"))
    }

    /// A question, who may say yes, and until when.
    fn asked(&self, ask: &Ask, card: Option<&ApprovalCard>, paint: Paint) -> String {
        let asked = question(ask, Length::Whole, paint);
        let mut asked =
            asked.trim_end_matches("[y]es, [n]o, or say what to do instead:").trim_end().to_owned();
        let station = self.office.station(&self.who);
        if let Some(until) = card.and_then(|card| card.expires) {
            asked.push_str(&format!("\n  an answer counts until {}", station.said(until)));
        }
        let needs = pack_desk::Desk::acts().into_iter().find(|act| act.tool == ask.call.name);
        if let (Some(right), Ok(person)) = (needs.and_then(|act| act.needs), self.person())
            && !person.rights.allow(&right)
        {
            asked.push_str(&format!("\n  {} may only say no: {right} is missing", self.who));
        }
        asked
    }

    /// Who is there, and what they may do now.
    ///
    /// # Errors
    /// A member who is gone.
    pub fn person(&self) -> Result<Person> {
        let rights = self.office.means().store.look(|connection| team::rights(connection, &self.who))?;
        Ok(Person::new(&self.who, rights))
    }

    /// Takes an answer to what is asked.
    ///
    /// # Errors
    /// In words, when it is none, or when they may not give it.
    pub async fn answer(&mut self, line: &str) -> Result<Did> {
        let open = self.open_questions()?;
        let Some((ask, _)) = open.first() else { bail!("nothing is asked") };
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let choice = match word.to_lowercase().as_str() {
            "y" | "yes" | "approve" => Choice::Approve { edits: Args::new() },
            "n" | "no" | "deny" => Choice::Reject {
                reason: if rest.trim().is_empty() { "no".to_owned() } else { rest.trim().to_owned() },
            },
            "e" | "edit" => Choice::Approve { edits: edits(rest)? },
            "l" | "later" => {
                return Ok(Did::Said(
                    "left waiting; /waiting shows it again, and so does the next start".to_owned(),
                ));
            }
            _ => Choice::Reject { reason: line.to_owned() },
        };
        self.decide(vec![(ask.call.id.clone(), choice)]).await
    }

    async fn decide(&mut self, choices: Vec<(CallId, Choice)>) -> Result<Did> {
        let answered = self.copilot.decide(choices, &self.person()?).await?;
        let Some(turned) = answered.turned else {
            let late = if answered.decided.late.is_empty() { "" } else { "somebody answered that before" };
            return Ok(Did::Said(late.to_owned()));
        };
        self.show(&turned.text);
        self.answers = self.copilot.shown().await?.len();
        Ok(Did::Ran(turned.outcome))
    }

    /// Says yes to everything that is asked.
    ///
    /// # Errors
    /// In words: when they may not.
    pub async fn approve_all(&mut self) -> Result<Outcome> {
        let open = self.open_questions()?.into_iter();
        let yes = open.map(|(ask, _)| (ask.call.id, Choice::Approve { edits: Args::new() })).collect();
        match self.decide(yes).await? {
            Did::Ran(outcome) => Ok(outcome),
            Did::Said(_) | Did::Quit => bail!("not everything that is asked could be answered"),
        }
    }

    /// Opens something on the page. Of a kind one is open at a time.
    ///
    /// # Errors
    /// An id of nothing.
    pub fn open(&mut self, text: &str) -> Result<Ref> {
        let one = self.reference(text)?;
        self.opened.retain(|open| open.kind != one.kind);
        self.opened.push(one.clone());
        Ok(one)
    }

    /// What an id stands for, as a reference of the page.
    ///
    /// # Errors
    /// An id of nothing.
    pub fn reference(&self, text: &str) -> Result<Ref> {
        let store = &self.office.means().store;
        let (id, label) = store.look(|connection| {
            let reduced = ids::reduced(text);
            if let Some(("agent" | "member", _)) = reduced.split_once(':') {
                return Ok((ids::actor(connection, &reduced)?, String::new()));
            }
            let id = ids::anything(connection, text)?;
            let label = match id.split_once(':').map(|(kind, _)| kind) {
                Some("thread") => pack_desk::store::threads::get(connection, &id)?.subject,
                Some("article") => pack_desk::store::articles::get(connection, &id)?.title,
                Some("task") => pack_desk::store::tasks::get(connection, &id)?.title,
                _ => pack_desk::store::entities::get(connection, &id)?.name,
            };
            Ok((id, label))
        })?;
        let kind = match id.split_once(':').map(|(kind, _)| kind) {
            Some("company" | "contact") | None => "record",
            Some(kind) => kind,
        };
        let one = Ref::open(kind, id.clone());
        Ok(if label.is_empty() { one } else { one.called(label) })
    }

    /// Does what is due: mail leaves, questions whose time is over are closed, background work that has ended is told, and
    /// so is what agents did. Answers whether something was said.
    ///
    /// # Errors
    /// Data that cannot be used.
    #[allow(clippy::print_stdout, reason = "a program speaks")]
    pub async fn settle(&mut self) -> Result<bool> {
        let mut news = false;
        let now = self.clock.now();
        self.office.means().store.write(move |tx| pack_desk::store::mail::leave(tx, now)).await?;
        if !self.waiting().is_empty() {
            self.copilot.expire().await?;
        }
        if self.office.is_watching().await? {
            self.office.news().await?;
        }
        let all = self.copilot.shown().await?;
        for answer in all.iter().skip(self.answers) {
            self.show(&answer.text);
            news = true;
        }
        self.answers = all.len();
        let mut ran = self.office.runs().await?;
        ran.retain(|ran| ran.is_over() && !self.told.contains(&ran.fire.id()));
        ran.reverse();
        if !ran.is_empty() {
            print!("{}", self.came(&ran));
            news = true;
        }
        Ok(news)
    }

    /// Says how a run ended, when it did not simply end.
    #[allow(clippy::print_stdout, reason = "a program speaks")]
    pub fn tell(&self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed | Outcome::Suspended { .. } => {}
            Outcome::Exhausted { limit } => println!("… stopped: {limit}"),
            Outcome::Aborted => println!("… stopped"),
            Outcome::Failed { error } => println!("✗ {}", plain(&crate::interactive::for_person(error))),
        }
        for offer in self.copilot.offers() {
            println!("… {} can be taken back: /undo {}", plain(&offer.name), plain(&offer.id));
        }
    }
}

/// What a line mentions by id with an `@` before it.
fn mentions(text: &str) -> Vec<Ref> {
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let ids = words.map(|word| ids::reduced(word.trim_end_matches(['.', ',', '!', '?', ';'])));
    ids.filter_map(|id| {
        let kind = match id.split_once(':')?.0 {
            "company" | "contact" => "record".to_owned(),
            kind => kind.to_owned(),
        };
        Some(Ref::mentioned(kind, id))
    })
    .collect()
}

/// What may be changed before a yes.
fn amendable(card: &ApprovalCard) -> Vec<String> {
    card.fields.iter().filter(|field| field.amendable).map(|field| field.name.clone()).collect()
}

/// Changes as a person writes them: `body=Hello Ana`, or a JSON object. Whether they can be made is the register's business.
fn edits(rest: &str) -> Result<Args> {
    if rest.trim_start().starts_with('{') {
        return serde_json::from_str(rest).context("what follows `edit` is no JSON object");
    }
    let Some((name, value)) = rest.split_once('=') else { bail!("write for example: edit body=Hello Ana") };
    Ok(Args::from_iter([(name.trim().to_owned(), Value::String(value.trim().replace("\\n", "\n")))]))
}

//! A member at the desk: where they are, what is open, and the conversation they have.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mica_agent::{Ask, Decision, Decisions, Outcome};
use mica_domain::Records as _;
use mica_domain::refs::Ref;
use mica_domain::runners::Said;
use mica_domain::{Copilot, Now, Surroundings};
use pack_desk::{Desk, Office, Store, ids};
use serde_json::{Map, Value, json};

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
    /// What was decided about the first of what is asked.
    given: Vec<Decision>,
}

impl Room {
    /// Enters: the conversation goes on where it was, and so does what a process left in the middle.
    ///
    /// # Errors
    /// Data that cannot be used; a conversation that is open elsewhere.
    pub async fn enter(office: Office, clock: Clock, who: String, name: &str, colour: bool) -> Result<Self> {
        let copilot = office.chat(&who, name).await.with_context(|| {
            format!("the conversation {name:?} cannot be opened; is it open elsewhere? --conversation names another")
        })?;
        pack_desk::jobs::recover(&office.station(&who)).await?;
        office.resume(&who).await?;
        let page = copilot.domain().snapshot().page;
        Ok(Self {
            office,
            clock,
            who,
            copilot,
            page,
            opened: Vec::new(),
            mentioned: Vec::new(),
            colour,
            given: Vec::new(),
        })
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
        self.given.clear();
        let turned = self.copilot.say(said).await?;
        self.show(&turned.text);
        Ok(turned.outcome)
    }

    /// Prints an answer, with its cards.
    #[allow(clippy::print_stdout, reason = "a program speaks")]
    pub fn show(&self, text: &str) {
        if !text.trim().is_empty() {
            let shown = Office::shown(&self.copilot, text);
            print!("{}", plain_page(shown.trim_end()));
        }
    }

    /// What is asked first, of what is not decided.
    pub fn question(&self) -> String {
        let asks = self.waiting();
        let paint = if self.colour { Paint::Colours } else { Paint::Plain };
        let Some(ask) = asks.get(self.given.len()) else { return String::new() };
        let more = asks.len() - self.given.len() - 1;
        let more = if more > 0 { format!("\n  ({more} more after this)") } else { String::new() };
        let asked = question(ask, Length::Whole, paint);
        let asked = asked.trim_end_matches("[y]es, [n]o, or say what to do instead:").trim_end();
        let edits = self.amendable(ask);
        let edits = if edits.is_empty() {
            String::new()
        } else {
            format!(", [e]dit NAME=VALUE ({})", edits.join(", "))
        };
        format!("? {asked}\n  [y]es, [n]o and why{edits}, [l]ater{more}")
    }

    /// Everything that is asked.
    pub fn questions(&self) -> String {
        let asks = self.waiting();
        let all: Vec<String> = asks.iter().map(|ask| question(ask, Length::Whole, Paint::Plain)).collect();
        all.join("\n")
    }

    fn amendable(&self, ask: &Ask) -> Vec<String> {
        let act = Desk::acts().into_iter().find(|act| act.tool == ask.call.name);
        act.map(|act| act.amendable).unwrap_or_default()
    }

    /// Takes an answer to what is asked.
    ///
    /// # Errors
    /// In words, when it is none.
    pub async fn answer(&mut self, line: &str) -> Result<Did> {
        let asks = self.waiting();
        let Some(ask) = asks.get(self.given.len()) else { bail!("nothing is asked") };
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let decision = match word.to_lowercase().as_str() {
            "y" | "yes" | "approve" => Decision::Allow,
            "n" | "no" | "deny" => Decision::Deny {
                reason: if rest.trim().is_empty() { "no".to_owned() } else { rest.trim().to_owned() },
            },
            "e" | "edit" => Decision::AllowWith { arguments: edited(ask, &self.amendable(ask), rest)? },
            "l" | "later" => {
                return Ok(Did::Said(
                    "left waiting; /waiting shows it again, and so does the next start".to_owned(),
                ));
            }
            _ => Decision::Deny { reason: line.to_owned() },
        };
        self.given.push(decision);
        if self.given.len() < asks.len() {
            return Ok(Did::Said(String::new()));
        }
        let decisions = Decisions::to(&asks, std::mem::take(&mut self.given));
        let turned = self.copilot.answer(decisions).await?;
        self.show(&turned.text);
        Ok(Did::Ran(turned.outcome))
    }

    /// Says yes to everything that is asked.
    ///
    /// # Errors
    /// In words.
    pub async fn approve_all(&mut self) -> Result<Outcome> {
        let asks = self.waiting();
        let decisions = Decisions::to(&asks, asks.iter().map(|_| Decision::Allow));
        let turned = self.copilot.answer(decisions).await?;
        self.show(&turned.text);
        Ok(turned.outcome)
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

    /// Does what is due: mail leaves, and background work that has ended is told. Answers whether something was said.
    ///
    /// # Errors
    /// Data that cannot be used.
    pub async fn settle(&mut self) -> Result<bool> {
        let mut news = false;
        let now = self.clock.now();
        self.office.means().store.write(move |tx| pack_desk::store::mail::leave(tx, now)).await?;
        if self.office.is_watching().await? {
            let before = self.copilot.shown().await?.len();
            self.office.news().await?;
            let all = self.copilot.shown().await?;
            for answer in all.iter().skip(before) {
                self.show(&answer.text);
                news = true;
            }
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

/// Arguments with changes as a person writes them: `body=Hello Ana`, or a JSON object.
fn edited(ask: &Ask, amendable: &[String], rest: &str) -> Result<Value> {
    let changes: Map<String, Value> = if rest.trim_start().starts_with('{') {
        serde_json::from_str(rest).context("what follows `edit` is no JSON object")?
    } else {
        let Some((name, value)) = rest.split_once('=') else {
            bail!("write for example: edit body=Hello Ana")
        };
        Map::from_iter([(name.trim().to_owned(), Value::String(value.trim().replace("\\n", "\n")))])
    };
    let mut arguments = ask.arguments.clone();
    let Value::Object(members) = &mut arguments else { bail!("its arguments cannot be changed") };
    for (name, value) in changes {
        if !amendable.contains(&name) {
            bail!("{name:?} cannot be changed here; what can be is: {}", amendable.join(", "));
        }
        members.insert(name, value);
    }
    Ok(arguments)
}

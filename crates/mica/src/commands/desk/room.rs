//! A member at the desk: where they are, what is open, and the conversation they have.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_agent::{Ask, Outcome};
use mica_ai::Message;
use mica_ai::id::CallId;
use mica_domain::approvals::Person;
use mica_domain::refs::{Origin, Ref};
use mica_domain::runners::Said;
use mica_domain::{Copilot, CopilotError, Surroundings, Turned};
use pack_desk::Office;
use pack_desk::office::Ran;
use pack_desk::store::{mail, team};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::screen::{Screen, row};
use super::{cards, commands, places};

/// The tool whose answers people pick from.
const SUGGESTS: &str = "suggest_replies";

/// What came of a line.
#[derive(Debug)]
pub enum Did {
    /// Something is told.
    Said(String),
    /// Something is told, and not all that was wanted was done: what was not, and why. What is told has it, too.
    Short {
        /// What is told.
        text: String,
        /// What was not done.
        missing: Vec<String>,
    },
    /// An answer was taken, and more is asked before anything is done.
    Asks(String),
    /// A run ended, and was told.
    Ran(Spoke),
    /// The person leaves.
    Quit,
}

/// A run that ended.
#[derive(Debug)]
pub struct Spoke {
    /// How.
    pub outcome: Outcome,
    /// What was said, as people see it.
    pub text: String,
    /// Answers to pick from.
    pub replies: Vec<String>,
    /// What was asked before, and is not any more, because something else was said.
    pub withdrawn: Vec<String>,
    /// What was approved by its name and could not be done: what, and why.
    pub missing: Vec<String>,
}

impl Did {
    /// Something that is told, with what was not done.
    pub fn told(text: String, missing: Vec<String>) -> Self {
        if missing.is_empty() { Self::Said(text) } else { Self::Short { text, missing } }
    }
}

/// Why a run did not simply end, for people.
pub fn why(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Completed | Outcome::Suspended { .. } => None,
        Outcome::Exhausted { limit } => Some(format!("stopped: {limit}")),
        Outcome::Aborted => Some("stopped".to_owned()),
        Outcome::Failed { error } => Some(crate::interactive::for_person(error)),
    }
}

/// Where a member is, as it is kept.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    page: Option<String>,
    opened: Vec<Ref>,
}

/// What it is kept as.
const PLACE: &str = "desk_place";

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
    /// Where it is said.
    pub screen: Arc<Screen>,
    /// The page.
    pub page: Option<String>,
    /// What is open.
    pub opened: Vec<Ref>,
    /// What the next line mentions.
    pub mentioned: Vec<Ref>,
    /// Questions that were put off, and are not asked until somebody wants to see them.
    pub later: BTreeSet<CallId>,
    /// The question that stands on the screen, as it does there.
    pub on_screen: Option<Ask>,
    /// Answers that were offered with the last run.
    pub replies: Vec<String>,
    /// How many answers of the conversation were shown.
    answers: usize,
    /// What was triggered, ended, and was told.
    told: BTreeSet<String>,
    /// What could be taken back, and was told.
    offered: BTreeSet<String>,
    /// Somebody wants to leave at once: nothing is waited for.
    pub hurries: bool,
}

impl Room {
    /// Enters: the conversation goes on where it was, on its page, and so does what a process left in the middle.
    ///
    /// # Errors
    /// Data that cannot be used; a conversation that is open elsewhere.
    pub async fn enter(
        office: Office,
        clock: Clock,
        who: String,
        name: &str,
        screen: Arc<Screen>,
    ) -> Result<Self> {
        let copilot = office.chat(&who, name).await.with_context(|| {
            format!("the conversation {name:?} cannot be opened; is it open elsewhere? --conversation names another")
        })?;
        for problem in office.enter().await?.problems {
            screen.complain(&format!("desk: {problem}"));
        }
        let place = place_of(&copilot)?;
        let answers = copilot.shown().await?.len();
        let told = office.runs().await?.iter().filter(|ran| ran.is_over()).map(|ran| ran.fire.id()).collect();
        Ok(Self {
            office,
            clock,
            who,
            copilot,
            screen,
            page: place.page,
            opened: place.opened,
            mentioned: Vec::new(),
            later: BTreeSet::new(),
            on_screen: None,
            replies: Vec::new(),
            answers,
            told,
            offered: BTreeSet::new(),
            hurries: false,
        })
    }

    /// Keeps where the member is, for the next start.
    ///
    /// # Errors
    /// What cannot be kept.
    pub async fn keep_place(&self) -> Result<()> {
        let place = Place { page: self.page.clone(), opened: self.opened.clone() };
        if place != place_of(&self.copilot)? {
            let place = serde_json::to_value(&place)?;
            self.copilot.side().append(PLACE, place).await.map_err(|problem| anyhow!(problem))?;
        }
        Ok(())
    }

    /// Whether what was said last has no answer: the program ended in the middle of the run, or it failed.
    pub async fn is_cut_off(&self) -> bool {
        let is_open = |message: &Message| match message {
            Message::User(_) => true,
            // Answers to pick from are the end of a run.
            Message::ToolResult(result) => result.tool != SUGGESTS,
            Message::Assistant(answer) => answer.calls().next().is_some(),
        };
        let last = self.copilot.agent().with(|cx| cx.messages.last().is_some_and(is_open)).await;
        last.unwrap_or_default() && self.waiting().is_empty()
    }

    /// Leaves: what this process held is free for others at once. When that cannot be said, they wait for a minute.
    pub async fn leave(&self) {
        let _ = self.office.leave().await;
    }

    /// What is shown before a line.
    pub fn prompt(&self) -> String {
        let waits = match self.open_questions().map(|open| open.len()).unwrap_or_default() {
            0 => String::new(),
            1 => "(1 waits: /waiting) ".to_owned(),
            count => format!("({count} wait: /waiting) "),
        };
        let open = self.opened.first().map(|one| format!(" {}", row(&one.id))).unwrap_or_default();
        format!("{waits}{}{open}> ", self.page.as_deref().unwrap_or("desk"))
    }

    /// What time it is at the desk.
    pub fn said_now(&self) -> String {
        self.office.station(&self.who).said(self.clock.now())
    }

    /// Who is there, and what they may do now.
    ///
    /// # Errors
    /// A member who is gone.
    pub fn person(&self) -> Result<Person> {
        let rights = self.office.means().store.look(|connection| team::rights(connection, &self.who))?;
        Ok(Person::new(&self.who, rights))
    }

    /// Takes a line: a command, or words.
    ///
    /// # Errors
    /// In words, for the person.
    pub async fn take(&mut self, line: &str) -> Result<Did> {
        self.clock.look().await?;
        match line.strip_prefix('/') {
            Some(command) => {
                let did = commands::command_line(self, command).await;
                self.keep_place().await?;
                did
            }
            None => self.say(line).await.map(Did::Ran),
        }
    }

    /// Says something to the copilot, and shows what it answers. A number says one of the answers that were offered.
    ///
    /// # Errors
    /// In words.
    pub async fn say(&mut self, text: &str) -> Result<Spoke> {
        let picked = text.parse::<usize>().ok().and_then(|number| self.replies.get(number.checked_sub(1)?));
        let text = picked.cloned().unwrap_or_else(|| text.to_owned());
        let mut here = Surroundings { page: self.page.clone(), ..Surroundings::default() };
        for one in self.mentioned.iter().cloned().chain(places::mentions(&text)) {
            here.refs.add(one);
        }
        for one in &self.opened {
            here.refs.add(one.clone());
        }
        let asked: Vec<String> =
            self.open_questions()?.iter().map(|(ask, _)| ask.call.name.clone()).collect();
        let said = Said { text, surroundings: Some(here), ..Said::default() };
        let turned = match self.copilot.say(said).await {
            Err(CopilotError::Busy) => {
                bail!("the copilot still works at something else; wait for it, or stop it with Ctrl-C")
            }
            turned => turned?,
        };
        self.mentioned.clear();
        if !asked.is_empty() {
            self.screen.tell(&format!("… withdrawn, because you said something else: {}", asked.join(", ")));
        }
        Ok(Spoke { withdrawn: asked, ..self.turned(turned).await? })
    }

    /// Shows what a run came to.
    ///
    /// # Errors
    /// A conversation that cannot be read.
    pub async fn turned(&mut self, turned: Turned) -> Result<Spoke> {
        let text = self.show(&turned.text);
        let offered = turned.details.iter().rev().find(|(tool, _)| tool == SUGGESTS);
        let offered = offered.and_then(|(_, details)| details["replies"].as_array());
        let offered = offered.into_iter().flatten().filter_map(|reply| reply.as_str());
        self.replies = offered.map(str::to_owned).collect();
        if !self.replies.is_empty() {
            let rows =
                self.replies.iter().enumerate().map(|(at, reply)| format!("  {}  {}\n", at + 1, row(reply)));
            self.screen.tell(&format!("{}  (a number says it)", rows.collect::<String>()));
        }
        self.answers = self.copilot.shown().await?.len();
        let (withdrawn, missing) = (Vec::new(), Vec::new());
        Ok(Spoke { outcome: turned.outcome, text, replies: self.replies.clone(), withdrawn, missing })
    }

    /// What agents did, for people. It is told once.
    pub fn came(&mut self, ran: &[Ran]) -> String {
        self.told.extend(ran.iter().filter(|ran| ran.is_over()).map(|ran| ran.fire.id()));
        ran.iter().map(|ran| commands::proposals::came(self, ran)).collect()
    }

    /// What an agent said, for people.
    pub fn of_agent(&self, text: &str) -> String {
        cards::for_people(&self.office, &self.who, text)
    }

    /// Tells an answer, with its cards.
    fn show(&self, text: &str) -> String {
        let shown = Office::shown(&self.copilot, text).trim_end().to_owned();
        self.screen.tell(&shown);
        shown
    }

    /// Opens something on the page. Of a kind one is open at a time.
    pub fn open(&mut self, one: Ref) {
        self.opened.retain(|open| open.kind != one.kind);
        self.opened.push(one);
    }

    /// Does what is due: mail leaves, questions whose time is over are closed, background work that has ended is told, and
    /// so is what agents did.
    ///
    /// # Errors
    /// Data that cannot be used.
    pub async fn settle(&mut self) -> Result<()> {
        self.clock.look().await?;
        let now = self.clock.now();
        self.office.means().store.write(move |tx| mail::leave(tx, now)).await?;
        if !self.waiting().is_empty() {
            match self.copilot.expire().await {
                // It is answered, or works, at this very moment.
                Ok(_) | Err(CopilotError::Busy | CopilotError::NothingWaits) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.office.is_watching().await? {
            self.office.news().await?;
        }
        let all = self.copilot.shown().await?;
        for answer in all.iter().skip(self.answers) {
            self.show(&answer.text);
        }
        self.answers = all.len();
        let mut ran = self.office.runs().await?;
        ran.retain(|ran| ran.is_over() && !self.told.contains(&ran.fire.id()));
        ran.reverse();
        if !ran.is_empty() {
            let came = self.came(&ran);
            self.screen.tell(&came);
        }
        Ok(())
    }

    /// Says how a run ended, when it did not simply end, and what it left that can be taken back: once.
    pub fn tell(&mut self, outcome: &Outcome) {
        match (outcome, why(outcome)) {
            (Outcome::Failed { .. }, Some(why)) => self.screen.fail(&why),
            (_, Some(why)) => self.screen.tell(&format!("… {why}")),
            (_, None) => {}
        }
        // What cannot be looked at is no offer.
        for (snapshot, problem) in commands::taking_back::undoable(self).unwrap_or_default() {
            let is_offered = snapshot.state == "offered" && problem.is_none();
            if is_offered && self.offered.insert(snapshot.id.clone()) {
                let (article, why, id) = (row(&snapshot.article), row(&snapshot.why), row(&snapshot.id));
                self.screen.tell(&format!("… {article} was changed, and {why}; /undo {id} puts it back"));
            }
        }
    }
}

/// Where the member was last, or where the conversation was, when nobody went anywhere since.
fn place_of(copilot: &Copilot) -> Result<Place> {
    let kept = copilot.side().all(PLACE).map_err(|problem| anyhow!(problem))?.pop();
    if let Some(place) = kept.and_then(|place| serde_json::from_value(place).ok()) {
        return Ok(place);
    }
    let kept = copilot.domain().snapshot();
    let opened = kept.refs.iter().filter(|one| one.origin == Origin::Page).cloned().collect();
    Ok(Place { page: kept.page, opened })
}

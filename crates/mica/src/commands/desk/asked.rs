//! What the copilot asks a member, and what they answer.
//!
//! Promise: a question that was put off is not asked again until somebody wants to see it, and waits all the same.

use anyhow::{Result, anyhow, bail};
use mica_agent::{Args, Ask, Shown};
use mica_ai::id::CallId;
use mica_ai::message::ResultStatus;
use mica_ai::{Content, Message};
use mica_domain::approvals::{ApprovalCard, CardState, Choice};
use pack_desk::Desk;
use serde_json::{Value, json};

use super::answers::{self, Answer};
use super::room::{Did, Room, Spoke};
use crate::render::question::{Length, Paint, question};

/// Where it is kept how questions were shown.
const SHOWN: &str = "desk_shown";

/// A question that somebody named.
struct Found {
    ask: Ask,
    /// By the name it had when it showed something else.
    was_before: bool,
}

impl Room {
    /// What people are asked.
    pub fn waiting(&self) -> Vec<Ask> {
        self.copilot.waiting()
    }

    /// Makes what is asked anew, as things stand now: before it is shown.
    ///
    /// # Errors
    /// Questions that cannot be kept.
    pub async fn look_again(&self) -> Result<()> {
        self.copilot.questions().await?;
        Ok(())
    }

    /// What is asked and nobody decided about, with how it is kept.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn open_questions(&self) -> Result<Vec<(Ask, Option<ApprovalCard>)>> {
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

    /// What is asked now: what is open and was not put off.
    fn asking(&self) -> Result<Vec<(Ask, Option<ApprovalCard>)>> {
        let mut open = self.open_questions()?;
        open.retain(|(ask, _)| !self.later.contains(&ask.call.id));
        Ok(open)
    }

    /// Whether something is asked that was not put off.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn is_asked(&self) -> Result<bool> {
        Ok(!self.asking()?.is_empty())
    }

    /// What is asked first, of what is not decided and was not put off: for the screen, where an answer goes to it as it
    /// stands there, whatever happens meanwhile.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn question(&mut self) -> Result<Option<String>> {
        let open = self.asking()?;
        let paint = if self.screen.colour() { Paint::Colours } else { Paint::Plain };
        self.on_screen = open.first().map(|(ask, _)| ask.clone());
        let Some((ask, card)) = open.first() else { return Ok(None) };
        let more = open.len() - 1;
        let more = if more > 0 { format!("\n  ({more} more after this)") } else { String::new() };
        let edits = card.as_ref().map(amendable).unwrap_or_default();
        let edits = if edits.is_empty() {
            String::new()
        } else {
            format!(", [e]dit NAME=VALUE ({})", edits.join(", "))
        };
        let asked = self.asked(ask, card.as_ref(), paint);
        Ok(Some(format!("? {asked}\n  [y]es, [n]o and why{edits}, [l]ater{more}")))
    }

    /// Everything that is asked, each with its name.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn questions(&self) -> Result<String> {
        let all = self.open_questions()?;
        let one = |(ask, card): &(Ask, Option<ApprovalCard>)| {
            format!(
                "{}\n  its name: {}",
                self.asked(ask, card.as_ref(), Paint::Plain),
                name(ask, card.as_ref())
            )
        };
        Ok(all.iter().map(one).collect::<Vec<_>>().join("\n"))
    }

    /// The same as data.
    ///
    /// # Errors
    /// Questions that cannot be read.
    pub fn questions_as_data(&self) -> Result<Vec<Value>> {
        let one = |(ask, card): (Ask, Option<ApprovalCard>)| {
            let may = self.missing(&ask).is_none();
            json!({ "name": name(&ask, card.as_ref()), "call": ask.call, "reason": ask.reason, "card": card, "may": may })
        };
        Ok(self.open_questions()?.into_iter().map(one).collect())
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
        if let Some(right) = self.missing(ask) {
            asked.push_str(&format!("\n  {} may only say no: {right} is missing", self.who));
        }
        asked
    }

    /// The right that is missing for a yes.
    fn missing(&self, ask: &Ask) -> Option<String> {
        let needs = Desk::acts().into_iter().find(|act| act.tool == ask.call.name)?.needs?;
        self.person().is_ok_and(|person| !person.rights.allow(&needs)).then_some(needs)
    }

    /// Takes an answer to what is asked first.
    ///
    /// # Errors
    /// In words, when it is none, or when they may not give it.
    pub async fn answer(&mut self, line: &str) -> Result<Did> {
        let Some(ask) = self.on_screen.clone() else { bail!("nothing is asked") };
        if !self.asking()?.iter().any(|(open, _)| open.call.id == ask.call.id) {
            bail!("that is not asked any more: somebody answered it, or its time was over");
        }
        let choice = match answers::read(line) {
            Answer::Yes => Choice::Approve { edits: Args::new() },
            Answer::No { reason } => Choice::Reject { reason: reason.unwrap_or_else(|| "no".to_owned()) },
            Answer::Edit(changes) => Choice::Approve { edits: answers::changes(&changes, &ask.arguments)? },
            Answer::Later => {
                self.later.insert(ask.call.id.clone());
                return Ok(Did::Said(
                    "left waiting; /waiting asks it again, and so does the next start. Saying something else to the copilot withdraws it."
                        .to_owned(),
                ));
            }
            Answer::Unclear => bail!(answers::UNCLEAR),
        };
        self.decide(vec![(ask, choice)]).await
    }

    /// The question that somebody names: by its name, its call, or the first part of its name (`q1`). One that was asked anew
    /// since, because what it rests on changed, is found by the name it had, too.
    ///
    /// # Errors
    /// Questions that cannot be read, and a name that several have.
    pub fn named(&self, text: &str) -> Result<Option<Ask>> {
        Ok(self.found(text)?.map(|found| found.ask))
    }

    fn found(&self, text: &str) -> Result<Option<Found>> {
        if text.is_empty() {
            return Ok(None);
        }
        let (open, cards) = (self.open_questions()?, self.copilot.approvals().cards()?);
        // What is asked now goes before what was, and a whole name before a part.
        for (was_before, is_whole) in [(false, true), (false, false), (true, true), (true, false)] {
            let fits = |name: &str| match name.strip_prefix(text) {
                Some(rest) if is_whole => rest.is_empty(),
                Some(rest) => rest.starts_with('-'),
                None => false,
            };
            let has = |ask: &Ask, now: Option<&ApprovalCard>| {
                let now = now.map(|card| card.id.as_str());
                let before =
                    cards.iter().filter(|card| card.call == ask.call.id).map(|card| card.id.as_str());
                match was_before {
                    true => before.filter(|name| Some(*name) != now).any(fits),
                    false => now.into_iter().chain([ask.call.id.as_str()]).any(fits),
                }
            };
            let mut found = open.iter().filter(|(ask, card)| has(ask, card.as_ref()));
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some((ask, _)), None) => return Ok(Some(Found { ask: ask.clone(), was_before })),
                _ => bail!("{text:?} could be several questions: /waiting has their names"),
            }
        }
        Ok(None)
    }

    /// Answers a question by its name. A yes to what it was before is none to what it is now.
    ///
    /// # Errors
    /// In words.
    pub async fn answer_named(&mut self, text: &str, choice: Choice) -> Result<Did> {
        self.look_again().await?;
        let Found { ask, was_before } = self.found(text)?.ok_or_else(|| self.unknown(text))?;
        let is_yes = matches!(choice, Choice::Approve { .. });
        let is_other = was_before || self.was_shown(&ask)?.is_some_and(|shown| shown != ask.shown);
        if is_yes && is_other {
            let anew = self.questions()?;
            self.is_shown().await?;
            bail!(
                "not done: what it rests on has changed since it was shown. It is asked again as it is now:\n{anew}"
            );
        }
        let call = ask.call.id.clone();
        let mut did = self.decide(vec![(ask, choice)]).await?;
        if let (Did::Ran(spoke), true) = (&mut did, is_yes) {
            spoke.missing.extend(self.failed(&call).await);
        }
        Ok(did)
    }

    /// Why a call of the last run failed, when it did.
    async fn failed(&self, call: &CallId) -> Option<String> {
        let of_call = |message: &Message| match message {
            Message::ToolResult(result) if result.call == *call => Some(result.clone()),
            _ => None,
        };
        let result = self.copilot.agent().with(|cx| cx.messages.iter().rev().find_map(of_call)).await;
        let result = result.ok().flatten().filter(|result| result.status == ResultStatus::Failed)?;
        let words = result.content.iter().find_map(|content| match content {
            Content::Text { text } => text.lines().find(|line| !line.trim().is_empty()),
            Content::Image(_) => None,
        });
        Some(format!("{} was approved, and failed: {}", result.tool, words.unwrap_or("it did not say why")))
    }

    /// Keeps how questions were shown to people here, also for the next process: a yes by name counts for that.
    ///
    /// # Errors
    /// Questions that cannot be read, and what cannot be kept.
    pub async fn is_shown(&self) -> Result<()> {
        for (ask, _) in self.open_questions()? {
            if self.was_shown(&ask)?.as_ref() != Some(&ask.shown) {
                let shown = json!({ "call": ask.call.id, "shown": ask.shown });
                self.copilot.side().append(SHOWN, shown).await.map_err(|problem| anyhow!(problem))?;
            }
        }
        Ok(())
    }

    /// How a question was shown last.
    fn was_shown(&self, ask: &Ask) -> Result<Option<Shown>> {
        let all = self.copilot.side().all(SHOWN).map_err(|problem| anyhow!(problem))?;
        let last = all.into_iter().rev().find(|one| one["call"] == ask.call.id.as_str());
        Ok(last.and_then(|mut one| serde_json::from_value(one["shown"].take()).ok()))
    }

    /// What became of a question that is not asked any more, by its name.
    pub fn ended(&self, text: &str) -> Option<String> {
        let cards = self.copilot.approvals().cards().unwrap_or_default();
        let card = cards.into_iter().rev().find(|card| card.id == text)?;
        let who = |by: Option<String>| by.unwrap_or_else(|| "somebody".to_owned());
        Some(match card.state {
            CardState::Pending => return None,
            CardState::Approved { by, .. } => format!("{text} was answered: {} said yes", who(by)),
            CardState::Rejected { by, .. } => format!("{text} was answered: {} said no", who(by)),
            CardState::Expired => format!("the time to answer {text} is over: ask for it again"),
            CardState::Superseded => format!("{text} was taken back: something else was said instead"),
        })
    }

    fn unknown(&self, text: &str) -> anyhow::Error {
        if let Some(ended) = self.ended(text) {
            return anyhow!(ended);
        }
        let all: Vec<String> = self
            .open_questions()
            .unwrap_or_default()
            .iter()
            .map(|(ask, card)| name(ask, card.as_ref()))
            .collect();
        if all.is_empty() {
            anyhow!("there is no question {text:?}: nothing is asked in this conversation")
        } else {
            anyhow!("there is no question {text:?}; asked is: {}", all.join(", "))
        }
    }

    /// Decides about questions as they were shown.
    async fn decide(&mut self, choices: Vec<(Ask, Choice)>) -> Result<Did> {
        let shown = choices.iter().map(|(ask, choice)| (ask, choice.clone()));
        let answered = self.copilot.decide(shown, &self.person()?).await?;
        match answered.turned {
            Some(turned) => Ok(Did::Ran(self.turned(turned).await?)),
            None if answered.decided.late.is_empty() => {
                let left = answered.decided.open.len();
                Ok(Did::Asks(format!("noted; {left} more to answer before it goes on")))
            }
            None => bail!("not done: somebody answered that before, or its time was over"),
        }
    }

    /// Says yes to everything that is asked.
    ///
    /// # Errors
    /// In words: when they may not.
    pub async fn approve_all(&mut self) -> Result<Spoke> {
        let open = self.open_questions()?.into_iter();
        let yes = open.map(|(ask, _)| (ask, Choice::Approve { edits: Args::new() })).collect();
        match self.decide(yes).await? {
            Did::Ran(spoke) => Ok(spoke),
            Did::Said(_) | Did::Short { .. } | Did::Asks(_) | Did::Quit => {
                bail!("not everything that is asked could be answered")
            }
        }
    }
}

/// What a question is called: the name that it is kept under.
fn name(ask: &Ask, card: Option<&ApprovalCard>) -> String {
    card.map_or_else(|| ask.call.id.as_str().to_owned(), |card| card.id.clone())
}

/// What may be changed before a yes.
fn amendable(card: &ApprovalCard) -> Vec<String> {
    card.fields.iter().filter(|field| field.amendable).map(|field| field.name.clone()).collect()
}

//! Agents that answer the threads they have: one conversation for each agent and thread.
//!
//! What an agent answers is kept as a draft, or sent where it is trusted with that and may send. Either happens once under
//! the key of the answer.

use std::sync::Arc;

use async_trait::async_trait;
use mica_domain::Records;
use mica_domain::autonomy::ApprovalMode;
use mica_domain::runners::{Attended, By, Reply, Thread, ThreadAgent, ThreadMessage, ThreadSetup};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::json;

use super::{Office, OfficeError};
use crate::store::{Done, Result, mail, notes, team, threads};
use crate::tools::reply_to_thread;

/// The name that the keys of answers are kept under.
const TOOL: &str = "thread_agent";
/// How often a thread with more to answer is looked at in a row.
const ROUNDS: usize = 8;

impl Office {
    /// Has the agent that a thread is with answer what is to be answered there. `None`: no agent has it.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn answer_in(&self, thread: &str) -> Result<Option<Attended>, OfficeError> {
        let id = thread.to_owned();
        let assignee =
            self.means.store.read(move |connection| Ok(threads::get(connection, &id)?.assignee)).await?;
        let Some(agent) = assignee.filter(|who| who.starts_with("agent:")) else { return Ok(None) };
        let agent = self.thread_agent(&agent).await?;
        let mut attended = agent.attend(thread).await?;
        for _ in 1..ROUNDS {
            if attended != Attended::More {
                break;
            }
            attended = agent.attend(thread).await?;
        }
        Ok(Some(attended))
    }

    /// An agent, in the threads it has.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub async fn thread_agent(&self, agent: &str) -> Result<ThreadAgent, OfficeError> {
        let who = agent.to_owned();
        let rights = self.means.store.read(move |connection| team::rights(connection, &who)).await?;
        let sends = self.answers.of(reply_to_thread::NAME) == ApprovalMode::Auto && rights.allow("mail.send");
        let mut setup = ThreadSetup::new(agent, rights);
        setup.autonomy = self.answers.clone();
        let records: Arc<dyn Records> = Arc::new(self.means.store.clone());
        let threads = Threads { office: self.clone(), agent: agent.to_owned(), sends };
        let opening = Arc::new(Self { dispatcher: None, ..self.clone() });
        Ok(ThreadAgent::new(setup, Arc::new(threads), opening, records, Arc::clone(&self.means.now)))
    }
}

/// The desk's threads, for one agent.
struct Threads {
    office: Office,
    agent: String,
    sends: bool,
}

#[async_trait]
impl Thread for Threads {
    async fn messages(&self, thread: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String> {
        let (thread, after, agent) = (thread.to_owned(), after.map(str::to_owned), self.agent.clone());
        let read = self.office.means.store.read(move |connection| {
            // An agent answers what it has: what was given to somebody else meanwhile is theirs.
            if threads::get(connection, &thread)?.assignee.as_deref() != Some(&agent) {
                return Ok(Vec::new());
            }
            messages(connection, &thread, after.as_deref())
        });
        read.await.map_err(|error| error.to_string())
    }

    async fn reply(&self, thread: &str, reply: &Reply) -> Result<(), String> {
        let station = self.office.station(&self.agent);
        let (thread, text, sends) = (thread.to_owned(), reply.text.clone(), self.sends);
        let replied = station.store.once(TOOL, station.hand(&reply.key), move |tx, hand| {
            let thread = threads::get(tx, &thread)?;
            let to = mail::recipient(tx, &thread)?;
            let details = if sends {
                let message = mail::send(tx, hand, &thread, &to, &text)?;
                json!({ "mail": message })
            } else {
                json!({ "draft": mail::draft(tx, hand, &thread, &to, &text)? })
            };
            Ok(Done { text: String::new(), details })
        });
        replied.await.map(drop).map_err(|error| error.to_string())
    }
}

/// Messages and notes of a thread after a message, in the order they came. Times may be equal; the order of messages among
/// each other is that of their numbers.
fn messages(connection: &Connection, thread: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>> {
    let mut named = connection.prepare(
        "SELECT name FROM contacts WHERE id = ?1 UNION ALL SELECT name FROM members WHERE id = ?1 LIMIT 1",
    )?;
    // Who is in no list is called as they wrote themselves: by an address.
    let mut name = |id: &str| -> Result<String> {
        Ok(named.query_row([id], |row| row.get(0)).optional()?.unwrap_or_else(|| id.to_owned()))
    };
    let mut all = Vec::new();
    for message in threads::every_message(connection, thread)? {
        let by = if message.is_inbound() {
            By::Inbound { name: name(&message.author)? }
        } else if message.author.starts_with("agent:") {
            By::Own { key: mail::key_of(connection, thread, &message.id)? }
        } else {
            By::Teammate { name: name(&message.author)? }
        };
        all.push((message.sent, 0, message.seq, ThreadMessage { id: message.id, by, text: message.body }));
    }
    for (count, note) in (0i64..).zip(notes::every(connection, thread)?) {
        // What an agent noted is no colleague's word, and it knows its own.
        if !note.author.starts_with("agent:") {
            let by = By::Note { name: name(&note.author)? };
            all.push((note.at, 1, count, ThreadMessage { id: note.id, by, text: note.body }));
        }
    }
    // Messages keep the order of their numbers, also when a clock was wrong.
    let mut latest = jiff::Timestamp::MIN;
    for (at, kind, ..) in &mut all {
        if *kind == 0 {
            latest = latest.max(*at);
            *at = latest;
        }
    }
    all.sort_by_key(|(at, kind, count, _)| (*at, *kind, *count));
    let heard = after.and_then(|after| all.iter().position(|(.., message)| message.id == after));
    let new = heard.map_or(0, |heard| heard + 1);
    Ok(all.into_iter().skip(new).map(|(.., message)| message).collect())
}

#[cfg(test)]
mod tests;

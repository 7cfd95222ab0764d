//! Fills an empty desk with the data that comes along. The same clock gives the same desk, byte for byte.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Transaction;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Result, Store, articles};
use crate::error::DeskError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Team {
    members: Vec<Member>,
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    name: String,
    email: String,
    role: String,
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    id: String,
    name: String,
    owner: String,
    rights: Vec<String>,
    prompt: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Companies {
    companies: Vec<Company>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Company {
    id: String,
    name: String,
    domain: String,
    city: String,
    tier: String,
    status: String,
    owner: String,
    about: String,
    age: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contacts {
    contacts: Vec<Contact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contact {
    id: String,
    name: String,
    company: String,
    email: String,
    #[serde(default)]
    phone: String,
    title: String,
    status: String,
    age: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Threads {
    threads: Vec<Thread>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    id: String,
    subject: String,
    contact: String,
    company: String,
    status: String,
    assignee: Option<String>,
    priority: String,
    unread: bool,
    tags: Vec<String>,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    author: String,
    minutes_ago: i64,
    body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tasks {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    id: String,
    title: String,
    assignee: Option<String>,
    about: String,
    thread: Option<String>,
    due_in_hours: Option<i64>,
    done_hours_ago: Option<i64>,
    age: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Articles {
    articles: Vec<Article>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Article {
    id: String,
    title: String,
    topic: String,
    audience: String,
    body: String,
    age: i64,
}

/// Fills the desk when it has no members. Answers whether it did.
///
/// # Errors
/// [`DeskError`]; nothing was written.
pub fn fill(store: &Store, now: Timestamp) -> Result<bool> {
    store.change(|tx| {
        let members: i64 = tx.query_row("SELECT count(*) FROM members", [], |row| row.get(0))?;
        if members > 0 {
            return Ok(false);
        }
        write(tx, now)?;
        Ok(true)
    })
}

fn write(tx: &Transaction<'_>, now: Timestamp) -> Result<()> {
    let ago = |duration: SignedDuration| (now - duration).as_millisecond();
    let days = |days: i64| ago(SignedDuration::from_hours(24 * days));
    let team: Team = read("team.toml", include_str!("../../seed/team.toml"))?;
    for m in &team.members {
        tx.execute(
            "INSERT INTO members (id, name, email, role, about) VALUES (?1, ?2, ?3, ?4, ?5)",
            (&m.id, &m.name, &m.email, &m.role, &m.about),
        )?;
    }
    for a in &team.agents {
        tx.execute(
            "INSERT INTO agents (id, name, owner, rights, prompt, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (&a.id, &a.name, &a.owner, serde_json::to_string(&a.rights)?, &a.prompt, days(30)),
        )?;
    }
    let companies: Companies = read("companies.toml", include_str!("../../seed/companies.toml"))?;
    for c in &companies.companies {
        tx.execute(
            "INSERT INTO companies (id, name, domain, city, tier, status, owner, about, created, updated) VALUES (?1, ?2, ?3, \
             ?4, ?5, ?6, ?7, ?8, ?9, ?9)",
            (&c.id, &c.name, &c.domain, &c.city, &c.tier, &c.status, &c.owner, &c.about, days(c.age)),
        )?;
    }
    let contacts: Contacts = read("contacts.toml", include_str!("../../seed/contacts.toml"))?;
    for c in &contacts.contacts {
        tx.execute(
            "INSERT INTO contacts (id, name, company, email, phone, title, status, created, updated) VALUES (?1, ?2, ?3, ?4, \
             ?5, ?6, ?7, ?8, ?8)",
            (&c.id, &c.name, &c.company, &c.email, &c.phone, &c.title, &c.status, days(c.age)),
        )?;
    }
    let threads: Threads = read("threads.toml", include_str!("../../seed/threads.toml"))?;
    for t in &threads.threads {
        thread(tx, t, &ago)?;
    }
    let tasks: Tasks = read("tasks.toml", include_str!("../../seed/tasks.toml"))?;
    for t in &tasks.tasks {
        let due = t.due_in_hours.map(|hours| ago(SignedDuration::from_hours(-hours)));
        let done = t.done_hours_ago.map(|hours| ago(SignedDuration::from_hours(hours)));
        tx.execute(
            "INSERT INTO tasks (id, title, assignee, about, thread, deadline, done, created, updated) VALUES (?1, ?2, ?3, ?4, \
             ?5, ?6, ?7, ?8, ?8)",
            (&t.id, &t.title, &t.assignee, &t.about, &t.thread, due, done, days(t.age)),
        )?;
    }
    let help: Articles = read("articles.toml", include_str!("../../seed/articles.toml"))?;
    for a in &help.articles {
        tx.execute(
            "INSERT INTO articles (id, title, topic, audience, body, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (&a.id, &a.title, &a.topic, &a.audience, &a.body, days(a.age)),
        )?;
        articles::index(tx, &a.id)?;
    }
    // New ids count on from those that came along.
    for (kind, table) in [("thread", "threads"), ("task", "tasks")] {
        let last = format!("SELECT max(cast(substr(id, instr(id, ':') + 1) AS INTEGER)) FROM {table}");
        let last: i64 = tx.query_row(&last, [], |row| row.get(0))?;
        tx.execute("INSERT INTO numbers (kind, last) VALUES (?1, ?2)", (kind, last))?;
    }
    Ok(())
}

fn thread(tx: &Transaction<'_>, t: &Thread, ago: &dyn Fn(SignedDuration) -> i64) -> Result<()> {
    let times: Vec<i64> =
        t.messages.iter().map(|message| ago(SignedDuration::from_mins(message.minutes_ago))).collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err(DeskError::Seed { file: "threads.toml", problem: format!("{} says nothing", t.id) });
    };
    tx.execute(
        "INSERT INTO threads (id, subject, contact, company, status, assignee, priority, unread, created, last_message, updated) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)",
        (
            &t.id,
            &t.subject,
            &t.contact,
            &t.company,
            &t.status,
            &t.assignee,
            &t.priority,
            t.unread,
            first,
            last,
        ),
    )?;
    let name = t.id.split_once(':').map_or(t.id.as_str(), |(_, name)| name);
    for ((seq, message), sent) in (1i64..).zip(&t.messages).zip(&times) {
        tx.execute(
            "INSERT INTO messages (id, thread, seq, author, body, sent) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (format!("message:{name}-{seq}"), &t.id, seq, &message.author, message.body.trim(), sent),
        )?;
    }
    for tag in &t.tags {
        tx.execute("INSERT INTO thread_tags (thread, tag) VALUES (?1, ?2)", (&t.id, tag))?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| DeskError::Seed { file, problem: error.to_string() })
}

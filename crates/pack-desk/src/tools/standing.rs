//! How things of the desk stand, for questions about calls that would change them: a yes counts for as long as they do.
//!
//! The version of a thing differs whenever it does; what else is named is for people, who are told what has changed.

use mica_domain::{Act, Base};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Args, arguments};
use crate::station::Station;
use crate::store::{Result, articles, entities, tasks, team, threads};

/// What the question about a call rests on.
pub(crate) type Resting<A> = fn(&Station, &Connection, A) -> Result<Base>;

/// Arguments as they are meant here and now.
pub(crate) type Settling = fn(&Station, &Connection, &mut Args) -> Result<()>;

/// An act whose questions rest on something at the desk.
pub(crate) fn resting<A>(act: Act, station: &Station, rests: Resting<A>) -> Act
where
    A: JsonSchema + DeserializeOwned + Send + 'static,
{
    let station = station.clone();
    act.based_on(move |args| {
        let station = station.clone();
        async move {
            let args = arguments::<A>(args).map_err(|error| error.message)?;
            let at = station.clone();
            let stands = station.store.read(move |connection| rests(&at, connection, args)).await;
            stands.map_err(|error| error.for_model())
        }
    })
}

/// An act whose arguments mean something from here and now.
pub(crate) fn settling(act: Act, station: &Station, settles: Settling) -> Act {
    let station = station.clone();
    act.settling(move |mut args| {
        let station = station.clone();
        async move {
            let at = station.clone();
            let settled = station.store.read(move |connection| {
                settles(&at, connection, &mut args)?;
                Ok(args)
            });
            settled.await.map_err(|error| error.for_model())
        }
    })
}

/// Puts what a text argument is meant to be in its place. One that says nothing stays as it is.
pub(crate) fn settle(args: &mut Args, name: &str, meant: impl FnOnce(&str) -> Result<String>) -> Result<()> {
    if let Some(Value::String(text)) = args.get_mut(name)
        && !text.trim().is_empty()
    {
        *text = meant(text)?;
    }
    Ok(())
}

/// Puts whoever acts in the place of `me` among fields of a record.
pub(crate) fn settle_owner(station: &Station, fields: Option<&mut Value>) {
    if let Some(Value::String(owner)) = fields.and_then(|fields| fields.get_mut("owner"))
        && matches!(owner.trim().to_lowercase().as_str(), "me" | "myself")
    {
        owner.clone_from(&station.who);
    }
}

/// How a record stands, with the fields that would change.
pub(crate) fn record<'a>(
    connection: &Connection,
    base: Base,
    id: &str,
    fields: impl IntoIterator<Item = &'a String>,
) -> Result<Base> {
    let entity = entities::get(connection, id)?;
    let mut base = base.with(id, version(entity.version));
    for name in fields {
        base = base.with(format!("{name} of {id}"), entity.get(name).unwrap_or_default());
    }
    Ok(base)
}

/// How a thread stands: what was said there, too.
pub(crate) fn thread(connection: &Connection, base: Base, id: &str) -> Result<Base> {
    let thread = threads::get(connection, id)?;
    let (_, said) = threads::messages(connection, id, Some(1))?;
    Ok(base
        .with(id, version(thread.version))
        .with(format!("messages in {id}"), said.to_string())
        .with(format!("status of {id}"), thread.status)
        .with(format!("assignee of {id}"), thread.assignee.as_deref().unwrap_or("nobody"))
        .with(format!("priority of {id}"), thread.priority)
        .with(format!("tags of {id}"), thread.tags.join(" ")))
}

/// How an article stands.
pub(crate) fn article(connection: &Connection, id: &str) -> Result<Base> {
    let article = articles::get(connection, id)?;
    Ok(Base::of(id, version(article.version)).with(format!("title of {id}"), article.title))
}

/// How an agent stands.
pub(crate) fn agent(connection: &Connection, id: &str) -> Result<Base> {
    let agent = team::agent(connection, id)?;
    Ok(Base::of(id, version(agent.version)))
}

/// How anything stands that a task can be about.
pub(crate) fn anything(connection: &Connection, base: Base, id: &str) -> Result<Base> {
    match id.split_once(':').map(|(kind, _)| kind) {
        Some("thread") => thread(connection, base, id),
        Some("article") => Ok(base.with(id, version(articles::get(connection, id)?.version))),
        Some("task") => {
            let done = tasks::get(connection, id)?.done;
            Ok(base.with(id, done.map_or_else(|| "open".to_owned(), |done| format!("done {done}"))))
        }
        _ => record(connection, base, id, &[]),
    }
}

fn version(version: i64) -> String {
    format!("version {version}")
}

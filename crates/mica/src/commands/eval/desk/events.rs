//! What can happen at the desk of a case: mail, notes, decisions, what a colleague does.

use jiff::tz::TimeZone;
use mica_agent::Outcome;
use mica_domain::capture::Picked;
use mica_domain::runners::Attended;
use mica_eval::copilot::Here;
use mica_eval::{Came, Happened, StageError, given};
use pack_desk::office::Inbound;
use pack_desk::store::{Hand, articles, entities, jobs, notes, threads};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Playing, described, failed};

/// What can happen, and with what: `change` takes the fields that change besides.
pub(super) const EVENTS: [(&str, &[&str]); 14] = [
    ("inbound", &["from", "subject", "body", "thread", "triage"]),
    ("triage", &["thread"]),
    ("sweep", &["thread"]),
    ("note", &["about", "text"]),
    ("assign", &["thread", "to"]),
    ("change", &["record"]),
    ("delete", &["record"]),
    ("reply", &["thread", "body"]),
    ("approve", &["bundle", "actions"]),
    ("reject", &["bundle"]),
    ("snooze", &["bundle", "until"]),
    ("jobs", &[]),
    ("undo", &[]),
    ("answers", &["thread", "meanwhile"]),
];

/// What something happens with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Args {
    thread: Option<String>,
    record: Option<String>,
    about: Option<String>,
    text: Option<String>,
    to: Option<String>,
    body: Option<String>,
    /// The newest when absent.
    bundle: Option<String>,
    /// All when absent.
    actions: Option<Vec<String>>,
    until: Option<String>,
    meanwhile: Vec<String>,
    triage: bool,
}

impl Args {
    /// Reads what an event is given: all of it must mean something to it.
    pub(super) fn read(event: &str, args: &Map<String, Value>) -> Result<Self, StageError> {
        let Some((_, known)) = EVENTS.iter().find(|(name, _)| *name == event) else {
            return Err(StageError::unknown("event", event, EVENTS.iter().map(|(name, _)| *name)));
        };
        let strange = args.keys().find(|key| !known.contains(&key.as_str()));
        if let Some(key) = strange.filter(|_| event != "change") {
            return Err(StageError::unknown("argument", key, known.iter().copied()));
        }
        given("args", args.clone())
    }
}

fn needed(name: &str, value: Option<String>) -> Result<String, StageError> {
    value.ok_or_else(|| StageError::new(format!("the event needs `{name}` in its `args`")))
}

impl Playing {
    /// Something happens.
    ///
    /// # Errors
    /// What cannot happen, or not with that.
    pub(super) async fn happens(
        &self,
        here: &Here,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<Happened, StageError> {
        let fields = args;
        let args = Args::read(name, fields)?;
        let mark = here.journal.mark();
        let store = self.office.means().store.clone();
        let colleague = Hand { who: "member:jonas".to_owned(), at: here.clock.now(), key: None };
        match name {
            "inbound" => {
                let mut fields = fields.clone();
                fields.shift_remove("triage");
                let thread = self.mail(given("args", fields)?).await?;
                if !args.triage {
                    return Ok(json!({ "thread": thread.id }).into());
                }
                let ran = self.office.mailed(&thread.id).await.map_err(failed)?;
                Ok(Self::ran(here, mark, &ran))
            }
            "triage" => {
                let ran = self.office.mailed(&needed("thread", args.thread)?).await.map_err(failed)?;
                Ok(Self::ran(here, mark, &ran))
            }
            "sweep" => {
                let ran = match args.thread.as_deref() {
                    None => self.office.sweep().await.map_err(failed)?,
                    Some(thread) => self.office.sweep_one(thread).await.map_err(failed)?,
                };
                Ok(Self::ran(here, mark, &ran))
            }
            "note" => {
                let (about, words) = (needed("about", args.about)?, needed("text", args.text)?);
                let note = store
                    .write(move |tx| notes::add(tx, &colleague, &about, &words))
                    .await
                    .map_err(failed)?;
                let ran = self.office.mentioned(&note).await.map_err(failed)?;
                Ok(Self::ran(here, mark, &ran))
            }
            "assign" => {
                let (thread, to) = (needed("thread", args.thread)?, needed("to", args.to)?);
                let change = threads::Change { assignee: Some(to), ..Default::default() };
                let id = thread;
                let by = colleague.who.clone();
                let after = store.write(move |tx| threads::update(tx, &colleague, &id, &change)).await;
                let ran = self.office.assigned(&after.map_err(failed)?.1, &by).await.map_err(failed)?;
                Ok(Self::ran(here, mark, &ran))
            }
            "change" => {
                let mut fields = fields.clone();
                let id = needed("record", args.record)?;
                fields.shift_remove("record");
                let changed = if id.starts_with("thread:") {
                    let change = given("args", fields)?;
                    store.write(move |tx| threads::update(tx, &colleague, &id, &change).map(|_| ())).await
                } else {
                    store.write(move |tx| entities::update(tx, &colleague, &id, &fields).map(|_| ())).await
                };
                changed.map_err(failed)?;
                Ok(Value::Null.into())
            }
            "delete" => {
                let id = needed("record", args.record)?;
                store.write(move |tx| entities::delete(tx, &colleague, &id)).await.map_err(failed)?;
                Ok(Value::Null.into())
            }
            "reply" => {
                let (thread, body) = (needed("thread", args.thread)?, needed("body", args.body)?);
                let by = colleague.who.clone();
                store
                    .write(move |tx| threads::say(tx, &colleague, &thread, &by, &body))
                    .await
                    .map_err(failed)?;
                Ok(Value::Null.into())
            }
            "approve" => {
                let id = self.bundle(args.bundle.as_ref()).await?;
                let bundle = self.office.bundles().get(&id).await.map_err(failed)?;
                let picked = match &args.actions {
                    None => Picked::all(&bundle),
                    Some(actions) => Picked::some(actions.iter().map(String::as_str)),
                };
                match self.office.apply(&self.who, &id, &picked).await {
                    Ok(bundle) => Ok(described(&bundle).into()),
                    Err(error) => Ok(json!({ "refused": error.to_string() }).into()),
                }
            }
            "reject" => {
                let id = self.bundle(args.bundle.as_ref()).await?;
                let person = self.person()?;
                let rejected = self
                    .office
                    .bundles()
                    .reject(&id, "no", &person, here.clock.now())
                    .await
                    .map_err(failed)?;
                Ok(described(&rejected).into())
            }
            "snooze" => {
                let id = self.bundle(args.bundle.as_ref()).await?;
                let until = pack_desk::deadline::parse(
                    &needed("until", args.until)?,
                    here.clock.now(),
                    &TimeZone::UTC,
                )
                .map_err(failed)?;
                let person = self.person()?;
                let snoozed = self
                    .office
                    .bundles()
                    .snooze(&id, until, &person, here.clock.now())
                    .await
                    .map_err(failed)?;
                Ok(described(&snoozed).into())
            }
            "answers" => {
                let thread = needed("thread", args.thread)?;
                let bodies = args.meanwhile;
                let id = thread.clone();
                let contact = store.read(move |c| Ok(threads::get(c, &id)?.contact)).await.map_err(failed)?;
                let mail = |body: &str| Inbound {
                    from: contact.clone().unwrap_or_default(),
                    body: body.to_owned(),
                    thread: Some(thread.clone()),
                    ..Inbound::default()
                };
                if !bodies.is_empty() {
                    let mails = bodies.iter().map(|body| mail(body)).collect();
                    self.meanwhile.expect(&self.office, mails);
                }
                let attended = self.office.answer_in(&thread).await.map_err(failed)?;
                if let Some(problem) = self.meanwhile.problem() {
                    return Err(StageError::new(problem));
                }
                let Some(Attended::Done { answers }) = attended else {
                    return Err(StageError::new(format!("{thread} was not answered: {attended:?}")));
                };
                let came = (answers > 0).then(|| Came::of(&Outcome::Completed, here.journal.since(mark)));
                Ok(Happened { value: json!({ "answers": answers }), came })
            }
            "jobs" => {
                let left = store.read(jobs::unfinished).await.map_err(failed)?;
                let station = self.office.station(&self.who);
                for job in &left {
                    pack_desk::jobs::run(&station, &job.id, &|_, _| {}).await.map_err(failed)?;
                }
                Ok(json!({ "ended": left.len() }).into())
            }
            "undo" => {
                let hand = Hand { who: self.who.clone(), at: here.clock.now(), key: None };
                let undone = store.write(move |tx| {
                    let newest = articles::undoable(tx, Some(1))?;
                    newest.first().map(|snapshot| articles::undo(tx, &hand, &snapshot.id)).transpose()
                });
                match undone.await {
                    Ok(article) => Ok(json!({ "article": article.map(|article| article.id) }).into()),
                    Err(error) => Ok(json!({ "refused": error.to_string() }).into()),
                }
            }
            _ => Err(StageError::unknown("event", name, [])),
        }
    }
}

//! What of the desk a case can look at.

use mica_eval::StageError;
use mica_eval::copilot::Here;
use pack_desk::ids;
use pack_desk::store::{activity, articles, entities, jobs, mail, tasks, threads};
use serde_json::{Value, json};

use super::{Playing, described, failed};

/// What can be looked at.
pub(super) const LOOKS: [&str; 14] = [
    "writes",
    "changes",
    "outbox",
    "drafts",
    "tasks",
    "bundles",
    "jobs",
    "undoable",
    "record:ID",
    "thread:ID",
    "task:ID",
    "article:ID",
    "lock:ID",
    "tools",
];

impl Playing {
    /// Looks at something; what is not there is nothing.
    ///
    /// # Errors
    /// What cannot be looked at.
    pub(super) async fn looked_at(&self, here: &Here, what: &str) -> Result<Value, StageError> {
        let store = self.office.means().store.clone();
        let value = |value: Result<Value, pack_desk::DeskError>| match value {
            Ok(value) => Ok(value),
            Err(pack_desk::DeskError::Missing { .. }) => Ok(Value::Null),
            Err(error) => Err(failed(error)),
        };
        match what {
            // Everything that is kept, but what everybody may do unasked: notes, drafts, jobs.
            "writes" => value(store.look(|c| {
                let all = activity::newest(c, None, Some(50))?;
                let counts = |entry: &&activity::Entry| {
                    !matches!(
                        entry.verb.as_str(),
                        "noted" | "drafted" | "received" | "began" | "done" | "failed"
                    )
                };
                Ok(json!(all.iter().filter(counts).count()))
            })),
            "changes" => value(store.look(|c| {
                let all = activity::newest(c, None, Some(50))?;
                Ok(all
                    .iter()
                    .rev()
                    .map(|entry| format!("{} {} {}", entry.who, entry.verb, entry.about))
                    .collect())
            })),
            "outbox" => value(store.look(|c| Ok(json!(mail::outbox(c, Some(50))?)))),
            "drafts" => value(store.look(|c| Ok(json!(mail::drafts(c, None, Some(50))?)))),
            "tasks" => value(store.look(|c| {
                Ok(json!(tasks::search(c, &tasks::Search { done: true, ..Default::default() })?.1))
            })),
            "jobs" => value(store.look(|c| Ok(json!(jobs::newest(c, None, Some(50))?)))),
            "undoable" => value(store.look(|c| Ok(json!(articles::undoable(c, Some(50))?)))),
            "bundles" => {
                let bundles = self.office.bundles();
                bundles.sweep().await.map_err(failed)?;
                let mut all = bundles.list().await.map_err(failed)?;
                all.sort_by_key(|bundle| (bundle.made, bundle.id().to_owned()));
                Ok(all.iter().map(described).collect())
            }
            "tools" => Ok(json!(here.copilot.summaries())),
            _ => {
                let known = |kind: &&str| LOOKS.contains(&format!("{kind}:ID").as_str());
                let Some((kind, id)) = what.split_once(':').filter(|(kind, _)| known(kind)) else {
                    let every = mica_eval::copilot::LOOKS;
                    return Err(StageError::unknown(
                        "thing to look at",
                        what,
                        LOOKS.into_iter().chain(every),
                    ));
                };
                let id = id.to_owned();
                value(store.look(|c| {
                    Ok(match kind {
                        "record" => json!(entities::get(c, &ids::record(c, &id, None)?)?),
                        "thread" => {
                            let id = ids::of_kind(&id, "thread")?;
                            let mut thread = json!(threads::get(c, &id)?);
                            thread["messages"] = json!(threads::messages(c, &id, None)?.0);
                            thread
                        }
                        "task" => json!(tasks::get(c, &ids::of_kind(&id, "task")?)?),
                        "article" => json!(articles::get(c, &ids::of_kind(&id, "article")?)?),
                        _ => json!(articles::holder(c, &ids::of_kind(&id, "article")?)?),
                    })
                }))
            }
        }
    }
}

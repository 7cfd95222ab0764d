//! Does the work of jobs, and says how they ended when somebody asks.
//!
//! A job is a row before anything is done, so that it is found again after a crash: [`recover`] goes on with what nobody
//! works on any more. Both kinds may be done twice without harm.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_domain::tasks::{Summary, TaskKind, TaskStatus};
use serde_json::{Value, json};

use crate::error::DeskError;
use crate::life::AtWork;
use crate::station::Station;
use crate::store::jobs::{self, Job};
use crate::store::{Result, Store, articles};

/// Indexing articles anew.
pub const REINDEX: &str = "reindex";
/// Running a suite of evals.
pub const EVAL_SUITE: &str = "eval-suite";

/// Between two looks at a job that somebody else does.
const LOOK: Duration = Duration::from_millis(200);

/// Does a job to its end, whatever that is.
///
/// # Errors
/// [`DeskError`] when not even that can be kept.
pub async fn run(station: &Station, id: &str, told: &(dyn Fn(i64, i64) + Send + Sync)) -> Result<Job> {
    let (job, _at_work) = loop {
        let named = id.to_owned();
        let job = station.store.read(move |connection| jobs::get(connection, &named)).await?;
        if job.is_over() {
            return Ok(job);
        }
        match claim(station, id).await? {
            Claim::Had(at_work) => break (job, at_work),
            // Whoever does it ends it, or is gone one day.
            Claim::Others => tokio::time::sleep(LOOK).await,
        }
    };
    let result = match job.kind.as_str() {
        REINDEX => reindex(station, &job.id, told).await.map_err(|error| error.to_string()),
        _ => suite(station, &job, told).await,
    };
    let (named, hand) = (job.id.clone(), station.own_hand());
    station.store.write(move |tx| jobs::end(tx, &hand, &named, &result)).await
}

async fn reindex(station: &Station, id: &str, told: &(dyn Fn(i64, i64) + Send + Sync)) -> Result<Value> {
    let all = station.store.read(articles::list).await?;
    let total = i64::try_from(all.len()).unwrap_or_default();
    for (done, (article, _)) in (1i64..).zip(all) {
        let job = id.to_owned();
        let step = station.store.write(move |tx| {
            articles::index(tx, &article)?;
            jobs::progress(tx, &job, done, total)
        });
        step.await?;
        told(done, total);
    }
    Ok(json!({ "articles": total }))
}

async fn suite(
    station: &Station,
    job: &Job,
    told: &(dyn Fn(i64, i64) + Send + Sync),
) -> Result<Value, String> {
    let suite = job.request["suite"].as_str().unwrap_or("desk").to_owned();
    let (store, id) = (station.store.clone(), job.id.clone());
    let progress = move |done: i64, total: i64| {
        let kept = store.change(|tx| jobs::progress(tx, &id, done, total));
        if let Err(error) = kept {
            tracing::warn!(%error, "how far a job is could not be kept");
        }
        told(done, total);
    };
    station.suites.run(&suite, &station.store, &progress).await
}

/// Whose a job is.
enum Claim {
    Had(Option<AtWork>),
    Others,
}

/// Takes a job, unless somebody does it who is there.
async fn claim(station: &Station, id: &str) -> Result<Claim> {
    let Some(life) = &station.life else { return Ok(Claim::Had(None)) };
    let Some(at_work) = life.at_work(id) else { return Ok(Claim::Others) };
    let (named, own) = (id.to_owned(), life.clone());
    let claimed = station.store.write(move |tx| {
        own.beat_with(tx)?;
        jobs::claim(tx, &named, own.id(), own.now())
    });
    if !claimed.await? {
        return Ok(Claim::Others);
    }
    life.keep();
    Ok(Claim::Had(Some(at_work)))
}

/// Does a job in the background. It ends with the process, and is found again by [`recover`].
pub fn spawn(station: &Station, id: &str) {
    let (station, id) = (station.clone(), id.to_owned());
    tokio::spawn(mica_ai::id::apart(async move {
        if let Err(error) = run(&station, &id, &|_, _| {}).await {
            tracing::error!(job = %id, %error, "a job could not be ended");
        }
    }));
}

/// Goes on with jobs whose process is gone, and lets go of articles that such a process held. Call it when a program begins,
/// and every now and then: what belongs to a process that lives is left to it. Answers how many jobs.
///
/// # Errors
/// [`DeskError`].
pub async fn recover(station: &Station) -> Result<usize, DeskError> {
    let now = (station.now)();
    let own = station.life.clone();
    let released = station.store.write(move |tx| {
        // Whoever judges by the clock is there: after a long sleep, its own sign of life is as old as that of the dead.
        if let Some(life) = &own {
            life.beat_with(tx)?;
        }
        articles::recover(tx, now)
    });
    released.await?;
    let left = station.store.read(move |connection| jobs::left(connection, now)).await?;
    for job in &left {
        // It stays the work of whoever began it.
        spawn(&station.clone().of(&job.who), &job.id);
    }
    Ok(left.len())
}

/// The kinds of background work that conversations are told about.
pub fn kinds(store: &Store) -> Vec<Arc<dyn TaskKind>> {
    let kind = |kind: &'static str| -> Arc<dyn TaskKind> { Arc::new(Kind { kind, store: store.clone() }) };
    vec![kind(REINDEX), kind(EVAL_SUITE)]
}

struct Kind {
    kind: &'static str,
    store: Store,
}

#[async_trait]
impl TaskKind for Kind {
    fn kind(&self) -> &str {
        self.kind
    }

    async fn load(&self, reference: &str) -> Result<Option<Value>, String> {
        let id = reference.to_owned();
        match self.store.read(move |connection| jobs::get(connection, &id)).await {
            Ok(job) if job.kind == self.kind => {
                Ok(Some(serde_json::to_value(job).map_err(|error| error.to_string())?))
            }
            Ok(_) | Err(DeskError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn is_terminal(&self, task: &Value) -> bool {
        matches!(task["state"].as_str(), Some("done" | "failed"))
    }

    fn summarise(&self, task: &Value) -> Summary {
        let id = task["id"].as_str().unwrap_or_default();
        let result = &task["result"];
        if task["state"] == "failed" {
            let problem = result["problem"].as_str().unwrap_or("nobody knows why");
            return Summary {
                status: TaskStatus::Failed,
                line: format!("{id} failed: {problem}"),
                instruction: "Tell the person that it failed and why. Do not begin it again unless they ask."
                    .to_owned(),
            };
        }
        let (line, instruction) = if self.kind == REINDEX {
            let line = format!("{id}: {} articles are indexed", result["articles"]);
            (line, "Tell the person in one sentence. Do not index again.")
        } else {
            let cases = result["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
            let passed = cases.iter().filter(|case| case["passed"] == true).count();
            let line = format!("{id}: {passed} of {} cases passed", cases.len());
            (
                line,
                "Read the run with get_eval_run if a case failed, and tell the person what came out. Do not run it again.",
            )
        };
        Summary { status: TaskStatus::Completed, line, instruction: instruction.to_owned() }
    }
}

#[cfg(test)]
mod tests;

//! An agent over a pipe: JSON lines in, JSON lines out.
//!
//! A request is `{"id": …, "method": …, …}`; its answer is `{"id": …, "result": …}` or `{"id": …, "error": {"message"}}`.
//! Events are lines without an `id`: `{"event": {…}}`. Everything written is one line. `docs/rpc.md` has every method.

mod asked;
mod desk;
mod extending;
mod method;

use std::sync::Arc;

use anyhow::{Result, anyhow};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::mpsc;

use crate::inquiries::Inquiries;
use crate::questions::Question;
use crate::render::json::JsonLines;
use crate::saying::Said;
use crate::surroundings::Surroundings;
use crate::work::Work;
use asked::Asking;
use desk::Desk;
use method::Method;

pub use asked::{Asked, listener};

/// Serves requests until the input ends.
///
/// # Errors
/// When the input cannot be read.
pub async fn serve(
    work: &Work,
    surroundings: &Surroundings,
    input: impl AsyncRead + Unpin,
    out: &Arc<JsonLines>,
    mut questions: mpsc::Receiver<Question>,
    (asked, inquiries): (Asked, Inquiries),
) -> Result<()> {
    let mut lines = BufReader::new(input).lines();
    let mut listens = Some(work.loading.around.listens());
    let starts = starts(work);
    let (ended, mut outcomes) = mpsc::channel::<(Value, Result<Said>)>(4);
    let mut desk = Desk {
        work,
        surroundings,
        out,
        ended,
        asked,
        asking: Asking::default(),
        inquiries,
        running: false,
        starts,
    };
    let mut reading = true;
    loop {
        tokio::select! {
            line = lines.next_line(), if reading => match line? {
                None if desk.running => {
                    // What was asked will not be answered any more, nor what will be.
                    listens = None;
                    desk.inquiries.decline_all();
                    work.agent.abort();
                    reading = false;
                }
                None => {
                    drop(listens.take());
                    desk.inquiries.decline_all();
                    return Ok(());
                }
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match serde_json::from_str::<Method>(&line) {
                    Err(error) => {
                        let id = serde_json::from_str::<Value>(&line).ok().and_then(|value| value.get("id").cloned());
                        desk.answer(&id.unwrap_or(Value::Null), Err(anyhow!("this is no request: {error}")));
                    }
                    Ok(method) => desk.handle(method).await,
                },
            },
            Some(question) = questions.recv() => {
                desk.asking.open = Some(question);
                desk.asking.settle();
            }
            Some((id, outcome)) = outcomes.recv() => {
                desk.running = false;
                desk.asking.forget(&desk.asked);
                desk.answer(&id, outcome.map(|said| told(&said)));
                if !reading {
                    return Ok(());
                }
            }
        }
    }
}

/// The session begins, for extensions: told once, in a task of its own, and waited for by whatever they have a say in.
type Starts = Shared<BoxFuture<'static, ()>>;

fn starts(work: &Work) -> Starts {
    let work = work.clone();
    let starts = async move { work.session_starts().await }.boxed().shared();
    tokio::spawn(starts.clone());
    starts
}

/// Answers a request.
fn answer(out: &JsonLines, id: &Value, made: Result<Value>) {
    out.line(&match made {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(error) => json!({ "id": id, "error": { "message": format!("{error:#}") } }),
    });
}

/// What came of a prompt.
fn told(said: &Said) -> Value {
    match said {
        Said::Ran(outcome) => json!(outcome),
        Said::Handled(text) => json!({ "outcome": "handled", "text": text }),
        Said::Refused(reason) | Said::Misplaced(reason) => json!({ "outcome": "refused", "reason": reason }),
    }
}

/// The empty result of what needs none.
fn done<E: Into<anyhow::Error>>(outcome: Result<(), E>) -> Result<Value> {
    outcome.map(|()| json!({})).map_err(Into::into)
}

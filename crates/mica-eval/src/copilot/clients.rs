//! Clients of a session: one that stays, one that loses its connection in the middle of a run and comes back where it
//! was, and one that comes anew at that moment. In the end all of them have the same.

use std::time::Duration;

use mica_agent::{EventKind, Outcome};
use mica_domain::Copilot;
use mica_domain::copilot::{Following, View};
use mica_domain::runners::Said;
use serde_json::{Value, json};

use crate::product::StageError;

/// Between two events of a run. Who waits longer waits for nothing.
const PATIENCE: Duration = Duration::from_secs(10);

struct Client {
    following: Following,
    view: View,
    seqs: Vec<u64>,
}

impl Client {
    async fn new(copilot: &Copilot) -> Result<Self, StageError> {
        let following = copilot.follow(None).await.map_err(super::failed)?;
        let view = following.anew.as_ref().map(View::begin).unwrap_or_default();
        Ok(Self { following, view, seqs: Vec::new() })
    }

    /// The next event. Answers how the run ended, when it did.
    async fn hear(&mut self) -> Result<Option<Outcome>, StageError> {
        let next = tokio::time::timeout(PATIENCE, self.following.next()).await;
        let Ok(Some(event)) = next else {
            return Err(StageError::new("a client that follows the session hears nothing any more"));
        };
        self.view.take(&event);
        self.seqs.push(event.seq);
        Ok(match event.kind {
            EventKind::RunEnd { outcome } => Some(outcome),
            _ => None,
        })
    }

    async fn hear_out(&mut self) -> Result<Outcome, StageError> {
        loop {
            if let Some(outcome) = self.hear().await? {
                return Ok(outcome);
            }
        }
    }
}

/// Says something as a client that goes away after so many events, and comes back. Answers how the run ended, and what
/// the clients have.
pub(super) async fn lost(copilot: &Copilot, said: Said, after: u64) -> Result<(Outcome, Value), StageError> {
    let mut stays = Client::new(copilot).await?;
    let mut leaves = Client::new(copilot).await?;
    let waits = {
        let copilot = copilot.clone();
        tokio::spawn(mica_ai::id::carried(async move { copilot.say(said).await.map(|_| ()) }))
    };
    for _ in 0..after {
        if leaves.hear().await?.is_some() {
            return Err(StageError::new(format!("the run was over before {after} events: lose it earlier")));
        }
    }
    // It goes away, and whoever waited for the run with it.
    waits.abort();
    let Some(place) = leaves.following.place() else {
        return Err(StageError::new("the client has no place to come back to"));
    };
    let was_running = leaves.view.is_running;
    let Client { view, seqs, .. } = leaves;
    let following = copilot.follow(Some(&place)).await.map_err(super::failed)?;
    let resumed = following.anew.is_none();
    let mut back = Client { following, view, seqs };
    let mut comes = Client::new(copilot).await?;
    let outcome = stays.hear_out().await?;
    back.hear_out().await?;
    if comes.view != stays.view {
        comes.hear_out().await?;
    }
    copilot.idle().await;
    // One that comes when all is over has nothing but what is kept.
    let late = Client::new(copilot).await?;
    let without_gap = back.seqs.windows(2).all(|pair| matches!(pair, [one, next] if one + 1 == *next));
    let clients = json!({
        "lost_in_the_run": was_running,
        "came_back_to_its_place": resumed,
        "without_gap": without_gap && back.seqs == stays.seqs,
        "back": back.view == stays.view,
        "anew": comes.view == stays.view,
        "late": late.view == stays.view,
        "lines": stays.view.lines.len(),
    });
    Ok((outcome, clients))
}

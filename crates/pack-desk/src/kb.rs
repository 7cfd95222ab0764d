//! What happens around a run on the page of articles: the open article is held, what it says is kept, and both are given
//! back.

use async_trait::async_trait;
use mica_domain::State;
use mica_domain::lifecycle::{Ending, Lifecycle};
use serde_json::{Value, json};

use crate::life::Life;
use crate::station::Station;
use crate::store::{articles, lives};

/// The page.
pub const PAGE: &str = "kb";

/// Holds articles for a run.
pub struct Holding {
    station: Station,
}

impl Holding {
    /// For the runs of a session.
    pub fn new(station: Station) -> Self {
        Self { station }
    }
}

#[async_trait]
impl Lifecycle for Holding {
    fn name(&self) -> &str {
        "articles"
    }

    async fn begin(&self, state: &State) -> Result<Value, String> {
        let token = mica_ai::id::fresh();
        let open = state.refs.find("article").map(|found| found.id.clone());
        let article = open.as_deref().map(|id| crate::ids::of_kind(id, "article")).transpose();
        let article = article.map_err(|error| error.to_string())?;
        let (hand, run, held) = (self.station.own_hand(), token.clone(), article.clone());
        let life = self.station.life.clone();
        let begun = self.station.store.write(move |tx| {
            // Whatever this run comes to hold is held for as long as this process lives.
            if let Some(life) = &life {
                life.beat_with(tx)?;
                lives::run_of(tx, &run, life.id())?;
            }
            let holding = articles::Holding { run: &run, life: life.as_ref().map(Life::id) };
            held.map(|article| articles::hold(tx, &hand, &article, holding)).transpose()
        });
        begun.await.map_err(|error| error.to_string())?;
        if let Some(life) = &self.station.life {
            life.keep();
        }
        self.station.set_token(Some(token.clone()));
        Ok(json!({ "run": token, "article": article }))
    }

    async fn end(&self, taken: &Value, ending: Ending) -> Result<(), String> {
        let (run, well) = (token(taken), ending == Ending::Completed);
        let why = match ending {
            Ending::Completed => "",
            Ending::Exhausted => "the run reached a limit",
            Ending::Aborted => "the run was stopped",
            Ending::Failed => "the run failed",
            Ending::Crashed => "the program was cut off",
        };
        let released = self.station.store.write(move |tx| articles::release(tx, &run, well, why));
        released.await.map(|_| ()).map_err(|error| error.to_string())
    }

    async fn release(&self, taken: &Value) {
        let run = token(taken);
        if self.station.token().as_deref() == Some(&run) {
            self.station.set_token(None);
        }
        // Usually done when it ended; what could not be done then is tried once more.
        let released =
            self.station.store.write(move |tx| articles::release(tx, &run, false, "the run ended")).await;
        if let Err(error) = released {
            tracing::warn!(%error, "an article could not be let go of");
        }
    }

    async fn undo(&self, taken: &Value) -> Result<String, String> {
        let (run, hand) = (token(taken), self.station.own_hand());
        let undone = self.station.store.write(move |tx| {
            let mut back = Vec::new();
            for snapshot in articles::undoable(tx, Some(50))?.iter().filter(|snapshot| snapshot.run == run) {
                back.push(articles::undo(tx, &hand, &snapshot.id)?.id);
            }
            Ok(back)
        });
        let back = undone.await.map_err(|error| error.to_string())?;
        if back.is_empty() {
            Err("nothing is left to put back".to_owned())
        } else {
            Ok(format!("put back: {}", back.join(", ")))
        }
    }
}

fn token(taken: &Value) -> String {
    taken["run"].as_str().unwrap_or_default().to_owned()
}

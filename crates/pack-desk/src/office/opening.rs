//! Sessions that are opened without a client: to be told of background work, by agents, by whatever fires.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Ask, Outcome};
use mica_domain::capture::{About, Bundle};
use mica_domain::refs::Ref;
use mica_domain::runners::{
    Conversation, Extras, Heard, OpenError, Opening, Opens, Origin, Past, Said, SayError, Turned, parts,
};
use mica_domain::{Copilot, Records as _, Surroundings};
use mica_session::SessionError;

use super::sweeping::SWEEP;
use super::{Office, OfficeError, Opener, SESSION};

#[async_trait]
impl Opening for Office {
    async fn open(&self, opens: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        if let [kind, trigger, occurrence] = parts(&opens.session).as_slice()
            && kind == "fire"
            && trigger == SWEEP
        {
            return Ok(Arc::new(Sweep { office: self.clone(), occurrence: occurrence.clone() }));
        }
        let opener = Opener {
            who: &opens.agent,
            profile: opens.profile,
            autonomy: opens.autonomy.clone(),
            within: Some(opens.rights.clone()),
        };
        let copilot = self.copilot(&opens.session, opener).await;
        copilot
            .map(|copilot| Arc::new(Placed { copilot, about: Mutex::default() }) as Arc<dyn Conversation>)
            .map_err(|error| closed(&opens.session, &error))
    }

    async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        let kept = self.means.store.get(SESSION, session).await.map_err(|error| unopened(session, &error))?;
        let Some(kept) = kept else {
            return Err(OpenError::Gone {
                session: session.to_owned(),
                reason: "it was never begun".to_owned(),
            });
        };
        let read = |name: &str| kept.doc[name].clone();
        let wrong = |error: serde_json::Error| unopened(session, &error);
        let opener = Opener {
            who: kept.doc["who"].as_str().unwrap_or_default(),
            profile: serde_json::from_value(read("profile")).map_err(wrong)?,
            autonomy: serde_json::from_value(read("autonomy")).map_err(wrong)?,
            within: serde_json::from_value(read("within")).map_err(wrong)?,
        };
        let copilot = self.copilot(session, opener).await;
        copilot
            .map(|copilot| Arc::new(Placed { copilot, about: Mutex::default() }) as Arc<dyn Conversation>)
            .map_err(|error| closed(session, &error))
    }
}

/// Why a conversation cannot be had: somebody has it who gives it back, or something is wrong.
fn closed(session: &str, error: &OfficeError) -> OpenError {
    match error {
        OfficeError::Session(SessionError::Locked { pid, .. }) => {
            let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
            let problem =
                format!("another desk has it open{process}; what is said there waits until it is free");
            OpenError::InUse { session: session.to_owned(), problem }
        }
        error => unopened(session, error),
    }
}

fn unopened(session: &str, error: &dyn std::fmt::Display) -> OpenError {
    OpenError::Failed { session: session.to_owned(), problem: error.to_string() }
}

/// A conversation of an agent: whoever triggers it says what it is about, and the agent finds that open in the inbox.
struct Placed {
    copilot: Copilot,
    about: Mutex<Option<Ref>>,
}

#[async_trait]
impl Conversation for Placed {
    async fn heard(&self, source: &str) -> Result<Heard, String> {
        Conversation::heard(&self.copilot, source).await
    }

    async fn waiting(&self) -> Vec<Ask> {
        Conversation::waiting(&self.copilot).await
    }

    async fn recall(&self, past: Vec<Past>) -> Result<(), SayError> {
        Conversation::recall(&self.copilot, past).await
    }

    async fn say(&self, mut said: Said) -> Result<Turned, SayError> {
        if said.surroundings.is_none() && matches!(said.origin, Origin::Trigger { .. } | Origin::Person) {
            let about = self.about.lock().unwrap_or_else(PoisonError::into_inner).take();
            let here = Surroundings::on("inbox");
            said.surroundings = Some(match about {
                Some(about) => here.with(about),
                None => here,
            });
        }
        Conversation::say(&self.copilot, said).await
    }

    async fn go_on(&self) -> Result<Turned, SayError> {
        Conversation::go_on(&self.copilot).await
    }

    async fn capturing(&self, about: About) -> Result<(), String> {
        let open = about.subject.as_ref().map(|subject| {
            let kind = match subject.kind.as_str() {
                "company" | "contact" => "record",
                kind => kind,
            };
            Ref::open(kind, subject.id.clone())
        });
        *self.about.lock().unwrap_or_else(PoisonError::into_inner) = open;
        Conversation::capturing(&self.copilot, about).await
    }

    async fn captured(&self) -> Option<Bundle> {
        Conversation::captured(&self.copilot).await
    }
}

/// What runs when it is time for the sweep: no model is needed to see which threads are quiet. What is found is on record
/// when it ends, each thread under a name of this time, so that doing it again finds nothing new.
struct Sweep {
    office: Office,
    occurrence: String,
}

#[async_trait]
impl Conversation for Sweep {
    async fn heard(&self, _: &str) -> Result<Heard, String> {
        Ok(Heard::No)
    }

    async fn say(&self, _: Said) -> Result<Turned, SayError> {
        let found = self.office.sweep_at(&self.occurrence).await;
        let found = found.map_err(|error| SayError::Failed { problem: error.to_string() })?;
        let text = match found.as_slice() {
            [] => "No other thread waits for so long.".to_owned(),
            all => format!("Waits for too long: {}.", all.join(", ")),
        };
        Ok(Turned { outcome: Outcome::Completed, text, details: Vec::new() })
    }

    async fn go_on(&self) -> Result<Turned, SayError> {
        self.say(Said::default()).await
    }

    async fn capturing(&self, _: About) -> Result<(), String> {
        Ok(())
    }
}

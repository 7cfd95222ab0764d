//! A desk at work for tests: a script answers, and the clock stands until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use mica_ai::Dialect;
use mica_testkit::{Scenario, ScriptedModel};

use super::*;
use crate::store::tests::{filled, now};

/// The clock of a test.
#[derive(Clone, Default)]
pub(crate) struct Moved(Arc<AtomicI64>);

impl Moved {
    pub(crate) fn by(&self, by: SignedDuration) {
        self.0.fetch_add(by.as_secs(), Ordering::SeqCst);
    }

    fn now(&self) -> Timestamp {
        now() + SignedDuration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// A desk where a script answers.
pub(crate) struct Played {
    pub(crate) office: Office,
    pub(crate) clock: Moved,
    pub(crate) model: ScriptedModel,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn played(script: &str, listeners: Vec<Arc<dyn Listener>>) -> Played {
    let (folder, store) = filled();
    let scenario: Scenario = toml::from_str(script).unwrap();
    let model = ScriptedModel::new(scenario);
    let clock = Moved::default();
    let means = means(&folder, store, &model, &clock, listeners);
    Played { office: Office::new(means).unwrap(), clock, model, folder }
}

fn means(
    folder: &tempfile::TempDir,
    store: Store,
    model: &ScriptedModel,
    clock: &Moved,
    listeners: Vec<Arc<dyn Listener>>,
) -> Means {
    let moved = clock.clone();
    Means {
        store,
        life: "first".to_owned(),
        now: Arc::new(move || moved.now()),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
        provider: Arc::new(model.clone()),
        model: Arc::new(Model::assumed("script", Dialect::Responses)),
        settings: Settings::default(),
        limits: Limits::default(),
        folder: folder.path().join("sessions"),
        listeners,
        around: None,
    }
}

impl Played {
    /// Another process on the same file, with a handle of its own.
    pub(crate) fn beside(&self, life: &str) -> Office {
        let store = Store::open(self.office.means().store.path()).unwrap();
        let means = Means { store, life: life.to_owned(), ..self.office.means().clone() };
        Office::new(means).unwrap()
    }

    /// As if the process had ended, and another one had begun.
    pub(crate) async fn restarted(self) -> Self {
        let Self { office, clock, model, folder } = self;
        office.forget().await;
        let means = Means { life: format!("{}+", office.means().life), ..office.means().clone() };
        drop(office);
        Self { office: Office::new(means).unwrap(), clock, model, folder }
    }
}

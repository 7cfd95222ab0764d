//! Sessions by name on disk, and a thread of mails, for runs without a client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_domain::runners::{
    Attended, By, Making, OpenError, OpenSessions, Opens, Reply, Thread, ThreadAgent, ThreadMessage,
};
use mica_domain::{InMemory, Records, Setup};
use mica_session::Access;
use mica_testkit::{Scenario, ScriptedModel};

use crate::support::Desk;

/// An office whose sessions are opened by name.
pub(crate) struct Shop {
    pub(crate) desk: Desk,
    pub(crate) model: ScriptedModel,
    pub(crate) records: InMemory,
    files: Mutex<BTreeMap<String, PathBuf>>,
}

impl Shop {
    pub(crate) fn new(scenario: Scenario) -> Arc<Self> {
        Arc::new(Self {
            desk: Desk::default(),
            model: ScriptedModel::new(scenario),
            records: InMemory::default(),
            files: Mutex::default(),
        })
    }

    pub(crate) fn sessions(self: &Arc<Self>) -> OpenSessions {
        OpenSessions::new(Arc::clone(self) as Arc<dyn Making>)
    }

    pub(crate) fn records(&self) -> Arc<dyn Records> {
        Arc::new(self.records.clone())
    }
}

#[async_trait]
impl Making for Shop {
    async fn setup(&self, session: &str, _: Option<&Opens>) -> Result<Setup, OpenError> {
        let mut files = self.files.lock().unwrap();
        let file = match files.get(session) {
            Some(path) => self.desk.sessions().open(path, Access::Write).unwrap(),
            None => self.desk.sessions().create(Path::new("/product"), None).unwrap(),
        };
        files.insert(session.to_owned(), file.path().to_owned());
        let mut setup = self.desk.setup(&self.model);
        setup.records = self.records();
        Ok(setup.in_session(file))
    }
}

/// A thread of mails.
#[derive(Clone, Default)]
pub(crate) struct Mail(pub(crate) Arc<Mutex<Vec<ThreadMessage>>>, Late);

/// A mail that comes the moment after somebody looked and found nothing new, and who is told of it then.
type Late = Arc<Mutex<Option<(String, ThreadAgent)>>>;

impl Mail {
    pub(crate) fn comes(&self, id: &str) {
        let by = By::Inbound { name: "Ann".to_owned() };
        let text = format!("words of {id}");
        self.0.lock().unwrap().push(ThreadMessage { id: id.to_owned(), by, text });
    }

    /// One more mail comes, the moment after the agent has looked and found nothing.
    pub(crate) fn comes_late(&self, id: &str, agent: &ThreadAgent) {
        *self.1.lock().unwrap() = Some((id.to_owned(), agent.clone()));
    }

    pub(crate) fn replies(&self) -> Vec<String> {
        let messages = self.0.lock().unwrap();
        let own = messages.iter().filter(|message| matches!(message.by, By::Own { .. }));
        own.map(|message| format!("{}: {}", message.id, message.text)).collect()
    }
}

#[async_trait]
impl Thread for Mail {
    async fn messages(&self, thread: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String> {
        let found: Vec<ThreadMessage> = {
            let messages = self.0.lock().unwrap();
            let from = messages.iter().position(|message| Some(message.id.as_str()) == after);
            messages.iter().skip(from.map_or(0, |from| from + 1)).cloned().collect()
        };
        let is_new = found.iter().any(|message| matches!(message.by, By::Inbound { .. }));
        let late = if is_new { None } else { self.1.lock().unwrap().take() };
        if let Some((id, agent)) = late {
            self.comes(&id);
            assert_eq!(agent.attend(thread).await.unwrap(), Attended::Handed);
        }
        Ok(found)
    }

    async fn reply(&self, _: &str, reply: &Reply) -> Result<(), String> {
        let by = By::Own { key: Some(reply.key.clone()) };
        let mut messages = self.0.lock().unwrap();
        if !messages.iter().any(|message| message.by == by) {
            messages.push(ThreadMessage { id: format!("re {}", reply.to), by, text: reply.text.clone() });
        }
        Ok(())
    }
}

//! What the program gives: where programs run, what they inherit, who can be asked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mica_sandbox::Sandbox;
use mica_tools::{Ground, Person};

/// What servers are looked after with.
#[derive(Clone)]
pub struct Given {
    /// Where programs run that a person wants confined.
    pub ground: Arc<dyn Ground>,
    /// Where all others run: they may do what the person may, and end with this program.
    pub open: Sandbox,
    /// What every program inherits: nothing that looks like a secret.
    pub environment: BTreeMap<String, String>,
    /// The system's folder for temporary files.
    pub temporary: PathBuf,
    /// The project's folder.
    pub root: PathBuf,
    /// Where lists, logs and tokens are kept.
    pub data: PathBuf,
    /// Who is asked what a server wants to know.
    pub person: Arc<dyn Person>,
    /// How patient it is.
    pub patience: Patience,
}

/// How long things may take that no server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// The pause before a server that broke is started again. Doubles with every time.
    pub pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// How long a call waits for a pause to end; when there is more of it left, it fails.
    pub waits: Duration,
    /// A server that lived so long has not broken in a row.
    pub lived: Duration,
    /// How long a call may take, whatever it says of its progress.
    pub longest_call: Duration,
    /// How long it is waited until a server was told that nobody waits any more.
    pub grace: Duration,
    /// How long [`super::Servers::ready`] waits for servers whose tools are not known.
    pub first: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            waits: Duration::from_secs(5),
            lived: Duration::from_secs(30),
            longest_call: Duration::from_secs(900),
            grace: Duration::from_secs(1),
            first: Duration::from_secs(5),
        }
    }
}

impl Patience {
    /// The pause after so many times in a row.
    pub(super) fn pause(&self, times: u32) -> Duration {
        let doubled = self.pause.saturating_mul(1_u32 << times.saturating_sub(1).min(16));
        doubled.min(self.longest_pause)
    }
}

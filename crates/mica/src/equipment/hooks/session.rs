//! What hooks are told of the session, and where they tell people something.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mica_ext::hooks::{Session, Situation};
use mica_policy::Mode;
use mica_policy::mode::ModeSwitch;

use mica_domain::keeping::Keeper;

/// Texts that wait until somebody can tell them. More than this is dropped: what goes wrong is told once anyway.
const WAITING: usize = 64;

/// Where hooks tell people something. Clones are the same one.
#[derive(Clone, Default)]
pub struct Teller(Arc<Mutex<Telling>>);

/// Tells somebody a text.
type Tell = Arc<dyn Fn(String) + Send + Sync>;

#[derive(Default)]
struct Telling {
    to: Option<Tell>,
    waiting: Vec<String>,
}

impl Teller {
    /// Tells from now on, and what waits at once. Must not wait for the run.
    pub fn tell_to(&self, to: impl Fn(String) + Send + Sync + 'static) {
        let to: Tell = Arc::new(to);
        let waiting = {
            let mut telling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            telling.to = Some(Arc::clone(&to));
            std::mem::take(&mut telling.waiting)
        };
        waiting.into_iter().for_each(|text| to(text));
    }

    pub(super) fn tell(&self, text: String) {
        let to = {
            let mut telling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match telling.to.clone() {
                Some(to) => to,
                None if telling.waiting.len() < WAITING => return telling.waiting.push(text),
                None => return,
            }
        };
        to(text);
    }
}

/// The session that hooks are told of.
pub struct HookSession {
    /// The session, when it is kept.
    pub keeper: Option<Keeper>,
    /// The folder that is worked in.
    pub folder: PathBuf,
    /// How much may be done.
    pub mode: ModeSwitch,
    /// Whether everything that would be asked is allowed.
    pub yes: bool,
    teller: Teller,
}

impl HookSession {
    /// A session in a folder.
    pub fn new(keeper: Option<Keeper>, folder: PathBuf, mode: ModeSwitch, yes: bool) -> Self {
        Self { keeper, folder, mode, yes, teller: Teller::default() }
    }

    /// Who tells people.
    pub fn teller(&self) -> Teller {
        self.teller.clone()
    }
}

impl Session for HookSession {
    fn situation(&self) -> Situation {
        let kept = self.keeper.as_ref().map(|keeper| {
            let session = keeper.session();
            (session.header().id.to_string(), session.path().to_owned(), !session.is_draft())
        });
        let (session, transcript, is_resumed) = match kept {
            Some((id, path, said)) => (id, Some(std::path::absolute(&path).unwrap_or(path)), said),
            None => ("not-kept".to_owned(), None, false),
        };
        // Both of the careful modes change nothing, which is what others call planning.
        let mode = match self.mode.get() {
            Mode::Ask | Mode::Plan => "plan",
            Mode::Edit if self.yes => "bypassPermissions",
            Mode::Edit => "default",
        };
        Situation { session, transcript, folder: self.folder.clone(), mode, is_resumed }
    }

    fn tell(&self, text: String) {
        self.teller.tell(text);
    }
}

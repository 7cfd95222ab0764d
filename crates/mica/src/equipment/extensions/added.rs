//! What extensions add to prompts: it rides at the tail of the conversation, and is told again only when it changed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mica_context::section::Rendered;
use mica_ext::extensions::Said;

/// What each extension added last. One that adds nothing any more is told as gone.
#[derive(Default)]
pub struct Added(Mutex<BTreeMap<String, Option<String>>>);

impl Added {
    /// A run begins, and this is added to its prompt.
    pub fn set(&self, said: Vec<Said>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values_mut().for_each(|text| *text = None);
        for Said { extension, text } in said {
            // Two additions of one extension stand one after the other.
            let entry = all.entry(extension).or_default();
            *entry = Some(entry.take().map_or(text.clone(), |before| format!("{before}\n\n{text}")));
        }
    }

    /// As sections of the prompt's tail.
    pub fn sections(&self) -> Vec<Rendered> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(name, text)| Rendered::turn(format!("extension-{name}"), text.clone())).collect()
    }
}

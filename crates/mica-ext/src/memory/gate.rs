//! Who must agree before notes change: always a person, and never without.
//!
//! Invariant: a call of `remember` or `forget` is asked about or denied. No rule, no mode, no approval that was remembered and
//! no flag makes it run unasked, because a question outweighs every yes, and where nobody can be asked it is denied.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};
use serde_json::Value;

use super::tools::{FORGET, ForgetArgs, REMEMBER, RememberArgs};
use super::{Memory, Scope};

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Somebody watches.
    Person,
    /// Nobody does.
    Nobody,
}

/// Judges calls that change notes, and nothing else.
pub struct MemoryGate {
    memory: Memory,
    asking: Asking,
}

impl MemoryGate {
    /// A gate for a session.
    pub fn new(memory: Memory, asking: Asking) -> Self {
        Self { memory, asking }
    }

    /// What would be changed. Puts into the arguments what a person is asked about, word for word.
    fn judged(&self, gated: &mut Gated<'_>) -> Result<(), String> {
        let given = Value::Object(gated.args.clone());
        let wrong = |error: serde_json::Error| format!("The arguments do not fit the tool: {error}.");
        if gated.spec.name == REMEMBER {
            let args: RememberArgs = serde_json::from_value(given).map_err(wrong)?;
            let line =
                self.memory.could_add(args.scope, args.section, &args.text).map_err(|error| error.told())?;
            let words = line.strip_prefix("- ").unwrap_or(&line);
            gated.args.insert("text".to_owned(), words.into());
        } else {
            let args: ForgetArgs = serde_json::from_value(given).map_err(wrong)?;
            let (scope, line) = found(&self.memory, &args)?;
            let words = line.trim_start_matches(['-', '*', '+']).trim();
            gated.args.insert("text".to_owned(), words.into());
            gated.args.insert("scope".to_owned(), scope.name().into());
        }
        Ok(())
    }
}

/// The note that is to go. Without a scope, both files are looked at.
pub(super) fn found(memory: &Memory, args: &ForgetArgs) -> Result<(Scope, String), String> {
    let scopes = args.scope.map_or(Scope::ALL.to_vec(), |scope| vec![scope]);
    let looked: Vec<_> =
        scopes.into_iter().map(|scope| (scope, memory.could_forget(scope, &args.text))).collect();
    let mut hits = looked.iter().filter_map(|(scope, line)| Some((*scope, line.as_ref().ok()?.clone())));
    match (hits.next(), hits.next()) {
        (Some(hit), None) => Ok(hit),
        (Some(_), Some(_)) => Err("Both memories have such a note; say which scope is meant.".to_owned()),
        (None, _) => {
            // One that says more than that nothing is there comes first.
            let mut reasons = looked.iter().filter_map(|(_, line)| line.as_ref().err());
            let telling = reasons.clone().find(|error| !matches!(error, super::MemoryError::Missing { .. }));
            Err(telling.or_else(|| reasons.next()).map(super::MemoryError::told).unwrap_or_default())
        }
    }
}

#[async_trait]
impl Hooks for MemoryGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if !matches!(gated.spec.name.as_str(), REMEMBER | FORGET) {
            return Verdict::Pass;
        }
        let denied = |reason: String| Verdict::Deny { reason, rule: Some("memory".to_owned()) };
        if self.asking == Asking::Nobody {
            return denied(
                "Nothing was changed: the memory is the user's, and nobody is there to agree. Say at the end of your answer \
                 what you would have remembered; the user can add it with `mica memory add`."
                    .to_owned(),
            );
        }
        match self.judged(gated) {
            Err(reason) => denied(format!("{} Nothing was changed.", ended(&reason))),
            Ok(()) => Verdict::Ask {
                reason: "later sessions are told what the memory says, so you are always asked".to_owned(),
                rule: Some("memory".to_owned()),
                proposals: Vec::new(),
            },
        }
    }
}

/// A sentence with its end.
pub(super) fn ended(text: &str) -> String {
    let mut letters = text.trim().chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let text = format!("{first}{}", letters.as_str());
    if text.ends_with(['.', '!', '?', '"']) { text } else { format!("{text}.") }
}

//! One call that was captured, and what became of it.

use mica_agent::{Args, Effect};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call that was captured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Names it within its bundle: the id of what it would make, such as `temp_1`. Later actions use it in their arguments.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, as the model gave them.
    pub args: Args,
    /// The call in one line, for people.
    pub digest: String,
    /// The kind of card that shows it, when the general one does not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// What the model was told it would come to.
    pub predicted: Predicted,
    /// Where the details of the true result have the id that stands for this one, as JSON pointers: where the predicted
    /// details have it. Empty: nothing that could be used later is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<String>,
    /// The actions it needs: those whose ids stand in its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The right that whoever approves it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<String>,
    /// Arguments that whoever approves may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amendable: Vec<String>,
    /// What may happen when it is done again after a crash.
    pub effect: Effect,
    /// The arguments as whoever approved it changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amended: Option<Args>,
    /// The call in one line as whoever approved it changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// What it was done with when nobody knows whether it was: whatever is tried again under its key is tried with these,
    /// and they cannot be changed before it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Args>,
    /// What became of it.
    #[serde(default)]
    pub status: Status,
}

impl Action {
    /// The arguments it is done with: as they were changed, or as the model gave them.
    pub fn arguments(&self) -> &Args {
        self.amended.as_ref().unwrap_or(&self.args)
    }

    /// The arguments that whoever picks it (again) starts from: as they were changed when it may have been done with those,
    /// else as the model gave them.
    pub fn standing(&self) -> &Args {
        if self.tried.is_some() { self.arguments() } else { &self.args }
    }

    /// The call in one line, for people: what is done of it when somebody changed it, and what was proposed.
    pub fn shown(&self) -> String {
        match &self.changed {
            None => self.digest.clone(),
            Some(changed) if *changed == self.digest => format!("{changed} (changed)"),
            Some(changed) => format!("{changed} (proposed: {})", self.digest),
        }
    }

    /// The arguments that somebody changed, each as it was proposed and as it is done. `None`: it is not given.
    pub fn changes(&self) -> impl Iterator<Item = (&str, Option<&Value>, Option<&Value>)> {
        let now = self.amended.iter();
        now.flat_map(|now| {
            let left_out = self.args.iter().filter(|(name, _)| !now.contains_key(*name));
            let other = now.iter().filter(|(name, value)| self.args.get(*name) != Some(value));
            let other = other.map(|(name, value)| (name.as_str(), self.args.get(name), Some(value)));
            other.chain(left_out.map(|(name, value)| (name.as_str(), Some(value), None)))
        })
    }

    /// It is being done with these arguments.
    pub(super) fn begin(&mut self, args: Args) {
        self.status = Status::Began;
        self.tried = Some(args);
    }

    /// This became of it. `in_doubt`: it was tried before, and nobody knows what became of that.
    ///
    /// What was changed of it counts for the decision it was changed in: when that came to nothing, it is what was
    /// proposed again.
    pub(super) fn end(&mut self, status: Status, in_doubt: bool) {
        match &status {
            Status::Done { .. } => self.tried = None,
            Status::Failed { .. } | Status::Skipped { .. } if !in_doubt => {
                (self.tried, self.amended, self.changed) = (None, None, None);
            }
            _ => {}
        }
        self.status = status;
    }

    /// Whether a person may pick it (again). What is done, or may be done, is not done a second time; what failed, or was
    /// left out because of others, may be tried again, unless trying again could do it twice.
    pub fn is_open(&self) -> bool {
        match self.status {
            Status::Open | Status::Skipped { .. } => true,
            Status::Failed { .. } | Status::Unknown { .. } => self.effect != Effect::Unsafe,
            Status::Picked | Status::Began | Status::Done { .. } => false,
        }
    }
}

/// A result that was not earned yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// What the model read.
    pub text: String,
    /// The same as data.
    #[serde(default)]
    pub details: Value,
}

/// What became of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Status {
    /// Nobody decided yet.
    #[default]
    Open,
    /// A person picked it; it will be done.
    Picked,
    /// It is being done. After a crash this means that it may have been done.
    Began,
    /// It was done.
    Done {
        /// What it came to, in words.
        text: String,
        /// The same as data.
        #[serde(default)]
        details: Value,
        /// The id of what it made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        made: Option<Value>,
    },
    /// It was tried, and failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was not tried, because something that it needs is missing. It may be decided about anew.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It may have been done, and nobody knows. It is not tried again by itself.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Status {
    /// Whether it is what became of a picked action in the end.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Open | Self::Picked | Self::Began)
    }
}

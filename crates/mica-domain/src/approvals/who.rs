//! Who may approve what.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::act::Act;
use crate::rights::Rights;

/// Somebody who decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Who it is, for the record.
    pub name: String,
    /// What they may do. Roles are rights, too.
    pub rights: Rights,
}

impl Person {
    /// Somebody.
    pub fn new(name: impl Into<String>, rights: Rights) -> Self {
        Self { name: name.into(), rights }
    }
}

/// Who people are now. What somebody decided is carried out by whoever is there, with the rights that they have by then.
#[async_trait]
pub trait People: Send + Sync {
    /// Somebody by name. `None`: they are not there any more.
    ///
    /// # Errors
    /// In words, when that cannot be found out.
    async fn person(&self, name: &str) -> Result<Option<Person>, String>;
}

/// Who may approve calls of which tool, besides having the right that the call itself needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approvers {
    /// Of tools that are not named: who has one of these. Empty: anybody who may do it themselves.
    pub usually: BTreeSet<String>,
    /// By tool.
    pub tools: BTreeMap<String, BTreeSet<String>>,
}

impl Approvers {
    /// Otherwise for one tool: whoever has one of these rights or roles.
    #[must_use]
    pub fn with<'a>(mut self, tool: impl Into<String>, any: impl IntoIterator<Item = &'a str>) -> Self {
        self.tools.insert(tool.into(), any.into_iter().map(str::to_owned).collect());
        self
    }

    /// Whether somebody may approve calls of a tool that need a right. What the agent may do does not matter: they decide,
    /// so it is they who need the right.
    ///
    /// # Errors
    /// What they would need.
    pub fn may(&self, person: &Person, tool: &str, needs: Option<&str>) -> Result<(), String> {
        if let Some(right) = needs.filter(|right| !person.rights.allow(right)) {
            return Err(format!("the right {right}"));
        }
        let any = self.tools.get(tool).unwrap_or(&self.usually);
        if any.is_empty() || any.iter().any(|right| person.rights.allow(right)) {
            return Ok(());
        }
        Err(any.iter().map(|right| format!("the right {right}")).collect::<Vec<_>>().join(" or "))
    }

    /// The same, by what is said of the tool.
    ///
    /// # Errors
    /// What they would need.
    pub fn may_act(&self, person: &Person, tool: &str, act: Option<&Act>) -> Result<(), String> {
        self.may(person, tool, act.and_then(|act| act.needs.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_approve() {
        let approvers = Approvers::default().with("send", ["lead", "owner"]);
        let check = |rights: &[&str], tool: &str, needs: Option<&str>, expect: Result<(), &str>| {
            let person = Person::new("ann", Rights::of(rights.iter().copied()));
            assert_eq!(
                approvers.may(&person, tool, needs),
                expect.map_err(str::to_owned),
                "{rights:?} {tool}"
            );
        };
        check(&[], "note", None, Ok(()));
        check(&[], "note", Some("notes.write"), Err("the right notes.write"));
        check(&["notes.write"], "note", Some("notes.write"), Ok(()));
        check(&["mail.send"], "send", Some("mail.send"), Err("the right lead or the right owner"));
        check(&["lead"], "send", Some("mail.send"), Err("the right mail.send"));
        check(&["mail.send", "owner"], "send", Some("mail.send"), Ok(()));
        let anybody = Person::new("root", Rights::All);
        assert_eq!(approvers.may(&anybody, "send", Some("mail.send")), Ok(()));
    }
}

//! Several token sources, tried in order: the same program runs on a developer's machine and in a cluster.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;

use super::token::{AccessToken, Patience, Scope, TokenError, TokenSource};
use crate::error::Reply;

/// The longest one member may keep the others waiting while looking around.
const PER_MEMBER: Duration = Duration::from_secs(20);

/// Tries its members in order, and stays with the first one that works.
///
/// It stays for good: an identity that changed in the middle of a run, because the first one was away for a moment,
/// would be harder to understand than an error.
pub struct DefaultChain {
    members: Vec<Arc<dyn TokenSource>>,
    chosen: OnceLock<usize>,
}

impl DefaultChain {
    /// A chain of these, in this order.
    pub fn new(members: Vec<Arc<dyn TokenSource>>) -> Self {
        Self { members, chosen: OnceLock::new() }
    }

    fn chosen(&self) -> Option<&Arc<dyn TokenSource>> {
        self.members.get(*self.chosen.get()?)
    }
}

#[async_trait]
impl TokenSource for DefaultChain {
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError> {
        if let Some(member) = self.chosen() {
            return member.fetch(scope, patience).await;
        }
        let mut said = Vec::new();
        let mut hints = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let attempt = tokio::time::timeout(PER_MEMBER, member.fetch(scope, Patience::Probe));
            let failure = match attempt.await {
                Ok(Ok(token)) => {
                    // Losing a race against another caller is fine: both found a member that works.
                    let _ = self.chosen.set(index);
                    return Ok(token);
                }
                Ok(Err(failure)) => failure,
                Err(_) => TokenError::local(
                    format!("no answer within {} s", PER_MEMBER.as_secs()),
                    "Check the network, or leave this credential out.",
                ),
            };
            said.push(format!("{}. {}: {}", index + 1, member.describe(), failure.reply));
            hints.push(format!("{}. {}", index + 1, failure.hint));
        }
        if said.is_empty() {
            return Err(TokenError::local(
                "there is no credential to try",
                "Set an API key, or the variables of an Azure identity, or sign in with `az login`.",
            ));
        }
        Err(TokenError {
            reply: Reply::local(format!("none of {} credentials works. {}", said.len(), said.join("; "))),
            hint: format!("One of them is enough. {}", hints.join(" ")),
        })
    }

    fn describe(&self) -> String {
        match self.chosen() {
            Some(member) => format!("{} (chosen from a chain of {})", member.describe(), self.members.len()),
            None => {
                let names: Vec<String> = self.members.iter().map(|member| member.describe()).collect();
                format!("chain of [{}]", names.join(", "))
            }
        }
    }

    fn hint(&self) -> String {
        match self.chosen() {
            Some(member) => {
                let more = member.hint();
                let space = if more.is_empty() { "" } else { " " };
                format!("{more}{space}If another identity was meant, name it instead of using the chain.")
            }
            None => String::new(),
        }
    }
}

impl fmt::Debug for DefaultChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DefaultChain({})", self.describe())
    }
}

#[cfg(test)]
mod tests;

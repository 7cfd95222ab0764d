//! Who the members of the desk are now: what somebody approved is done as long as they may approve it.

use async_trait::async_trait;
use mica_domain::approvals::{People, Person};

use crate::error::DeskError;
use crate::store::{Store, team};

/// The members of the desk.
pub(super) struct Team(pub(super) Store);

#[async_trait]
impl People for Team {
    async fn person(&self, name: &str) -> Result<Option<Person>, String> {
        let who = name.to_owned();
        match self.0.read(move |connection| team::rights(connection, &who)).await {
            Ok(rights) => Ok(Some(Person::new(name, rights))),
            Err(DeskError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;

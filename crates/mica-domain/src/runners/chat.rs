//! A turn of a chat: somebody says something in a session, which is opened for it if it is not.

use crate::runners::opening::{OpenError, Opening, Opens, Said, SayError, Turned};

/// Why a turn could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It could not be said.
    #[error(transparent)]
    Say(#[from] SayError),
}

/// Says something in a session, as whoever `opens` says, and answers what came of it.
///
/// # Errors
/// [`ChatError`].
pub async fn chat(opening: &dyn Opening, opens: &Opens, said: Said) -> Result<Turned, ChatError> {
    let session = opening.open(opens, crate::runners::Extras::default()).await?;
    Ok(session.say(said).await?)
}

//! OpenAI Responses, as Azure AI Foundry and OpenAI serve it.
//!
//! Used without state on the server: `store` is off, reasoning travels encrypted, and no item ids are sent back.
//! Replaying ids is the most frequent way agents break on Azure ("Item with id 'rs_…' not found").

pub mod request;
pub mod stream;
mod wire;

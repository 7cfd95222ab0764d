//! The Messages wire: Claude, on Azure AI Foundry and at Anthropic.
//!
//! Invariant: a body is either one the provider's documented rules allow, or not sent at all; an answer is either
//! what the provider said in full, or an error with what arrived.

pub mod request;
pub mod stream;

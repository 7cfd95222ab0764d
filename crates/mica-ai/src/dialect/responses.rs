//! The Responses wire.

pub mod request;
pub mod stream;

//! The Messages wire.

pub mod request;
pub mod stream;

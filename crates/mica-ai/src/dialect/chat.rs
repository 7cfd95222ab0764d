//! The Chat wire.

pub mod request;
pub mod stream;

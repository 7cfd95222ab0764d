//! What a run looks like to whoever watches it.

pub mod json;
pub mod question;
pub mod text;

//! What a run looks like to whoever watches it, and what was found in files.

pub mod checks;
pub mod findings;
pub mod inquiry;
pub mod json;
pub mod page;
pub mod paint;
pub mod question;
pub mod text;
pub mod todos;

//! Pure decisions: may this happen, and why.
pub mod budget;
mod glob;
pub mod mode;
pub mod repeats;
pub mod rules;
pub mod validate;

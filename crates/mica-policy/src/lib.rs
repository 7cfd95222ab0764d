//! Pure decisions: may this happen, and why.
pub mod validate;
mod glob;
pub mod rules;

//! Pure decisions: may this happen, and why.
pub mod validate;

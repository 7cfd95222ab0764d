//! Decides what goes into the window.
pub mod breakpoints;
pub mod compact;
pub mod digest;
pub mod prune;
pub mod section;
pub mod segments;
pub mod spill;
pub mod tokens;

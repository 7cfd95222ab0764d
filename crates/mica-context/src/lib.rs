//! Decides what goes into the window.
pub mod breakpoints;
pub mod digest;
pub mod section;
pub mod segments;
pub mod tokens;

//! `xpath()`.
use super::context::Context;
use super::value::{Failure, refuse};

pub(super) fn text(_context: &Context, _path: &str, _variable: Option<&str>) -> Result<String, Failure> {
    refuse("")
}
pub(super) fn nodes(
    _context: &Context,
    _path: &str,
    _variable: Option<&str>,
) -> Result<Vec<String>, Failure> {
    refuse("")
}

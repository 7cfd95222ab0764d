//! Parts that read nothing always give the same: they are evaluated, and what fails is certain.

use super::Look;
use crate::expr::ast::Node;

pub(super) fn look(_root: &Node, _look: &mut Look<'_>) {}

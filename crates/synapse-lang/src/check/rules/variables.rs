//! Variables: whether anybody set them, whether the value is still there, and whether it fits its type.

mod bits;
mod declared;
mod effects;
mod state;
mod trace;
mod unset;

pub(crate) use effects::Effects;

use super::Rule;
use crate::expr::ast::{Expression, Node, NodeKind};

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[&unset::Unset, &declared::Declared];

/// The names that an expression asks for with `exists()`: their absence is expected.
pub(in crate::check) fn guarded(expression: &Expression) -> Vec<&str> {
    let mut names = Vec::new();
    expression.root.walk(&mut |node: &Node| {
        let NodeKind::Call(call) = &node.kind else { return };
        if call.name == "exists" {
            for argument in &call.arguments {
                argument.walk(&mut |inner: &Node| match &inner.kind {
                    NodeKind::Variable(variable) => names.push(variable.name.value.as_str()),
                    NodeKind::Lookup(lookup) => names.push(lookup.name.value.as_str()),
                    _ => {}
                });
            }
        }
    });
    names
}

#[cfg(test)]
mod tests;

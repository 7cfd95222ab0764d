//! Parts that read nothing always give the same: they are evaluated, and what fails then fails for certain.

use super::{Look, codes};
use crate::diagnostic::Class;
use crate::expr::ast::{Call, Expression, Node, NodeKind};
use crate::expr::value::Failure;
use crate::expr::{Context, Mode, value_of};

/// Larger parts are left alone; nobody writes them without reading something.
const LARGEST: u32 = 2000;

/// Looks at a node after everything below it, so that the smallest part that fails is named.
pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let leaf = matches!(
        node.kind,
        NodeKind::Null | NodeKind::Boolean(_) | NodeKind::Number(_) | NodeKind::Text(_) | NodeKind::Group(_)
    );
    if leaf || node.span.len() > LARGEST || look.is_muted(node) || look.found_in(node.span) {
        return;
    }
    let root = if is_constant(node) {
        node.clone()
    } else if let Some(root) = with_any_text(node) {
        root
    } else {
        return;
    };
    let part = Expression { source: String::new(), root, dropped: Vec::new() };
    let Err(failure) = value_of(&part, &Context::default(), Mode::Text) else { return };
    let (class, reason) = match &failure {
        Failure::Evaluation(reason) => (Class::Empty, reason),
        Failure::Crash(reason) => (Class::Crash, reason),
    };
    let message = format!("this always fails: {reason}");
    look.report(codes::ALWAYS_FAILS, node.span, message).class(class);
}

/// A character set is the same whatever is encoded: the call with a text in place of what it reads.
fn with_any_text(node: &Node) -> Option<Node> {
    let NodeKind::Call(call) = &node.kind else { return None };
    let [text, charset] = call.arguments.as_slice() else { return None };
    if !matches!(&*call.name, "base64encode" | "urlEncode") || !is_constant(charset) {
        return None;
    }
    let witness = Node { kind: NodeKind::Text("'a'".to_owned()), ..text.clone() };
    let call = Call { arguments: vec![witness, charset.clone()], ..call.clone() };
    Some(Node { kind: NodeKind::Call(call), ..node.clone() })
}

/// Whether a node reads nothing: no message, no clock, no registry.
fn is_constant(node: &Node) -> bool {
    let mut constant = true;
    node.walk(&mut |one| match &one.kind {
        NodeKind::Payload(_) | NodeKind::Variable(_) | NodeKind::Lookup(_) => constant = false,
        NodeKind::Call(call) => {
            constant &=
                !matches!(&*call.name, "now" | "registry" | "xpath" | "wso2-vault" | "hashicorp-vault");
        }
        _ => {}
    });
    constant
}

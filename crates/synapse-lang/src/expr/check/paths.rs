//! Where paths lead: the kind at their end, whether they give one value or a list, and fields that are not there.

use super::infer::Inference;
use super::kind::{Atom, Kind};
use super::shape::Shape;
use crate::expr::ast::{Access, Index, IndexKind, NodeKind, Path, Step, StepKind, Variable};
use crate::text::Span;

/// What stands at the end of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// A value of a kind and a shape.
    Value(Kind, Shape),
    /// Nothing: the step at the place leads nowhere.
    Nothing(Missing),
}

/// A step that leads nowhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Missing {
    /// The step.
    pub span: Span,
    /// What was there before it.
    pub before: Shape,
}

/// The kind of `payload` and a path.
pub(super) fn payload(inference: &Inference<'_>, access: &Access) -> Kind {
    match end_of_payload(inference, access) {
        End::Value(kind, _) => kind,
        End::Nothing(_) => Kind::NEVER,
    }
}

pub(super) fn end_of_payload(inference: &Inference<'_>, access: &Access) -> End {
    let shape = &inference.env.payload;
    match &access.path {
        Some(path) => follow(inference, path, shape.clone()),
        None if *shape == Shape::Any => End::Value(Kind::UNKNOWN, Shape::Any),
        None => End::Value(shape.element(), shape.clone()),
    }
}

/// The kind of a variable and a path.
pub(super) fn variable(inference: &Inference<'_>, variable: &Variable) -> Kind {
    match end_of_variable(inference, variable) {
        Some(End::Value(kind, _)) => kind,
        Some(End::Nothing(_)) | None => Kind::NEVER,
    }
}

/// What a variable's path leads to; nothing when there is no such variable.
pub(super) fn end_of_variable(inference: &Inference<'_>, variable: &Variable) -> Option<End> {
    let env = inference.env;
    let known = env.variables.get(&variable.name.value);
    if known.is_none() && env.all_variables {
        return None;
    }
    Some(match (known, &variable.path) {
        (None, None) => End::Value(Kind::UNKNOWN, Shape::Any),
        (Some(known), None) => End::Value(known.kind, known.shape.clone()),
        (Some(known), Some(path)) => {
            let json = Kind::OBJECT.or(Kind::ARRAY).or(Kind::TEXT).or(Kind::SCALAR).or(Kind::one(Atom::Map));
            if known.kind.cannot_be(json) {
                let span = path.steps.first().map_or(path.span, |step| step.span);
                End::Nothing(Missing { span, before: known.shape.clone() })
            } else if known.shape == Shape::Any && !known.kind.is(Kind::OBJECT.or(Kind::ARRAY)) {
                unknown(inference, path)
            } else {
                follow(inference, path, known.shape.clone())
            }
        }
        (None, Some(path)) => unknown(inference, path),
    })
}

/// A path into something that may be a map: its first step can give a value of any kind.
fn unknown(inference: &Inference<'_>, path: &Path) -> End {
    if path.steps.len() == 1
        && is_definite(path)
        && !matches!(path.steps.last(), Some(step) if is_aggregate(step))
    {
        return End::Value(Kind::UNKNOWN, Shape::Any);
    }
    follow(inference, path, Shape::Any)
}

/// The kind behind a path on unknown JSON.
pub(super) fn behind(inference: &Inference<'_>, path: &Path) -> Kind {
    match follow(inference, path, Shape::Any) {
        End::Value(kind, _) => kind,
        End::Nothing(_) => Kind::NEVER,
    }
}

fn follow(inference: &Inference<'_>, path: &Path, from: Shape) -> End {
    let mut shape = from;
    let mut kind = Kind::UNKNOWN;
    let mut many = false;
    for step in &path.steps {
        if let StepKind::Aggregate(name) = &step.kind {
            return End::Value(aggregate(name, &shape), Shape::Any);
        }
        if many || !is_definite_step(step) {
            (shape, kind, many) = (Shape::List(Box::new(Shape::Any)), Kind::ARRAY, true);
            continue;
        }
        let (next, is_element) = match &step.kind {
            StepKind::Field(name) => (shape.field(name), Kind::MEMBER),
            StepKind::Index(index) => indexed(inference, index, &shape),
            _ => (Some(Shape::Any), Kind::UNKNOWN),
        };
        let Some(next) = next else { return End::Nothing(Missing { span: step.span, before: shape }) };
        kind = match &next {
            Shape::Any => is_element,
            known if is_element == Kind::ELEMENT => known.element(),
            known => known.member(),
        };
        shape = next;
    }
    End::Value(kind, shape)
}

/// What an index gives, and whether it is an element or a member.
fn indexed(inference: &Inference<'_>, index: &Index, shape: &Shape) -> (Option<Shape>, Kind) {
    match &index.kind {
        IndexKind::Number(text) => (text.parse().map_or(Some(Shape::Any), |at| shape.at(at)), Kind::ELEMENT),
        IndexKind::Text(text) => {
            let name = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            (shape.field(name), Kind::MEMBER)
        }
        IndexKind::Computed(node) => {
            let kind = inference.kind(node);
            let literal = match &node.ungrouped().kind {
                NodeKind::Number(text) => text.parse().ok(),
                _ => None,
            };
            if let Some(at) = literal {
                (shape.at(at), Kind::ELEMENT)
            } else if kind.is(Kind::INT.or(Kind::LONG)) {
                (element_of(shape), Kind::ELEMENT)
            } else if kind.is(Kind::TEXT) {
                let field = matches!(shape, Shape::Any | Shape::Object { .. });
                (field.then_some(Shape::Any), Kind::MEMBER)
            } else {
                (Some(Shape::Any), Kind::MEMBER.or(Kind::ELEMENT))
            }
        }
        _ => (Some(Shape::Any), Kind::UNKNOWN),
    }
}

fn element_of(shape: &Shape) -> Option<Shape> {
    match shape {
        Shape::Any => Some(Shape::Any),
        Shape::List(element) => Some((**element).clone()),
        Shape::Array(items) => {
            let first = items.first()?;
            Some(if items.iter().all(|item| item == first) { first.clone() } else { Shape::Any })
        }
        _ => None,
    }
}

fn aggregate(name: &str, shape: &Shape) -> Kind {
    match name {
        "length()" | "size()" => match shape {
            Shape::Any => Kind::of(&[Atom::Long, Atom::Null]).opened(),
            Shape::Array(_) | Shape::List(_) | Shape::Object { .. } => Kind::one(Atom::Long),
            _ => Kind::one(Atom::Null),
        },
        "min()" | "max()" | "avg()" | "sum()" | "stddev()" => Kind::one(Atom::Double),
        _ => Kind::UNKNOWN,
    }
}

/// Whether a path gives one value, not a list of matches.
pub(super) fn is_definite(path: &Path) -> bool {
    path.steps.iter().all(is_definite_step)
}

/// Whether a step gives one value.
pub(super) fn is_definite_step(step: &Step) -> bool {
    match &step.kind {
        StepKind::Field(_) | StepKind::Aggregate(_) => true,
        StepKind::Descend(_) | StepKind::DescendAll | StepKind::All => false,
        StepKind::Index(index) => {
            matches!(index.kind, IndexKind::Number(_) | IndexKind::Text(_) | IndexKind::Computed(_))
        }
    }
}

/// Whether a step is `.sum()` or the like.
pub(super) const fn is_aggregate(step: &Step) -> bool {
    matches!(step.kind, StepKind::Aggregate(_))
}

/// The path of a node that has one.
pub(super) fn path_of(kind: &NodeKind) -> Option<&Path> {
    match kind {
        NodeKind::Payload(access) => access.path.as_ref(),
        NodeKind::Variable(variable) => variable.path.as_ref(),
        _ => None,
    }
}

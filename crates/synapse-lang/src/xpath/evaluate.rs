//! Evaluates XPath 1.0.

use super::ast::{Axis, Expr, ExprKind, Name, Operator, Step, Test, XPath};
use super::functions;
use super::tree::{Forest, Kind, NodeRef, QName};
use super::value::Value;
use std::cell::Cell;

/// How many nodes one evaluation may look at.
pub const WORK_LIMIT: u64 = 5_000_000;

/// What an evaluation is given beside the XPath.
pub trait Environment {
    /// The trees.
    fn forest(&self) -> &Forest;
    /// The node to start at; none when there is no document.
    fn start(&self) -> Option<NodeRef>;
    /// The namespace of a prefix of the XPath.
    fn namespace(&self, prefix: &str) -> Option<&str>;
    /// The value of a variable.
    fn variable(&self, prefix: Option<&str>, local: &str) -> Option<Value>;
    /// The result of a function that is not part of XPath, or none when there is no such function.
    fn function(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, EvaluateError>>;
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// A prefix that no namespace belongs to.
    #[error("no namespace belongs to the prefix `{0}`")]
    UnknownPrefix(String),
    /// A variable that does not exist.
    #[error("there is no variable `{0}`")]
    UnknownVariable(String),
    /// A function that does not exist.
    #[error("there is no function `{0}`")]
    UnknownFunction(String),
    /// A wrong number of arguments.
    #[error("`{0}` does not take so many arguments")]
    Arguments(String),
    /// Nodes were needed.
    #[error("nodes are needed, but the value is none")]
    NotNodes,
    /// More work than [`WORK_LIMIT`].
    #[error("the XPath looks at more than {WORK_LIMIT} nodes")]
    TooMuchWork,
}

/// Evaluates an XPath.
///
/// # Errors
/// Names that nothing belongs to, steps from what is no node, and too much work.
pub fn evaluate(xpath: &XPath, environment: &dyn Environment) -> Result<Value, EvaluateError> {
    let evaluator = Evaluator { environment, work: Cell::new(0) };
    let focus = Focus { node: environment.start(), position: 1, size: 1 };
    evaluator.expr(&xpath.root, focus)
}

/// The context of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus {
    pub(super) node: Option<NodeRef>,
    pub(super) position: usize,
    pub(super) size: usize,
}

pub(super) struct Evaluator<'a> {
    pub(super) environment: &'a dyn Environment,
    work: Cell<u64>,
}

impl Evaluator<'_> {
    pub(super) fn forest(&self) -> &Forest {
        self.environment.forest()
    }

    fn spend(&self, nodes: usize) -> Result<(), EvaluateError> {
        let total = self.work.get().saturating_add(nodes as u64).saturating_add(1);
        self.work.set(total);
        if total > WORK_LIMIT { Err(EvaluateError::TooMuchWork) } else { Ok(()) }
    }

    /// Reading the text of nodes walks all that is below them.
    pub(super) fn spend_on(&self, value: &Value) -> Result<(), EvaluateError> {
        match value {
            Value::Nodes(nodes) => self.spend(nodes.iter().map(|node| self.forest().size(*node)).sum()),
            _ => Ok(()),
        }
    }

    pub(super) fn expr(&self, expr: &Expr, focus: Focus) -> Result<Value, EvaluateError> {
        self.spend(0)?;
        Ok(match &expr.kind {
            ExprKind::Literal(text) => Value::Text(text.clone()),
            ExprKind::Number(number) => Value::Number(*number),
            ExprKind::Negate(inner) => Value::Number(-self.expr(inner, focus)?.to_number(self.forest())),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, focus)?,
            ExprKind::Variable(name) => self.variable(name)?,
            ExprKind::Call(name, arguments) => functions::call(self, name, arguments, focus)?,
            ExprKind::Path { absolute, steps } => {
                let start = focus.node.map(|node| if *absolute { self.forest().root(node) } else { node });
                Value::Nodes(self.steps(start.into_iter().collect(), steps)?)
            }
            ExprKind::Filter { primary, predicates, steps } => {
                let value = self.expr(primary, focus)?;
                if predicates.is_empty() && steps.is_empty() {
                    return Ok(value);
                }
                let Value::Nodes(mut nodes) = value else { return Err(EvaluateError::NotNodes) };
                for predicate in predicates {
                    nodes = self.filtered(nodes, predicate)?;
                }
                Value::Nodes(self.steps(nodes, steps)?)
            }
        })
    }

    fn variable(&self, name: &Name) -> Result<Value, EvaluateError> {
        let found = self.environment.variable(name.prefix.as_deref(), &name.local);
        found.ok_or_else(|| {
            let prefix = name.prefix.as_ref().map(|prefix| format!("{prefix}:")).unwrap_or_default();
            EvaluateError::UnknownVariable(format!("${prefix}{}", name.local))
        })
    }

    fn binary(
        &self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        focus: Focus,
    ) -> Result<Value, EvaluateError> {
        let forest = self.forest();
        let a = self.expr(left, focus)?;
        match operator {
            Operator::Or if a.to_bool() => return Ok(Value::Bool(true)),
            Operator::And if !a.to_bool() => return Ok(Value::Bool(false)),
            _ => {}
        }
        let b = self.expr(right, focus)?;
        let number = |calculate: fn(f64, f64) -> f64| {
            Value::Number(calculate(a.to_number(forest), b.to_number(forest)))
        };
        Ok(match operator {
            Operator::Or | Operator::And => Value::Bool(b.to_bool()),
            Operator::Add => number(|a, b| a + b),
            Operator::Subtract => number(|a, b| a - b),
            Operator::Multiply => number(|a, b| a * b),
            Operator::Divide => number(|a, b| a / b),
            Operator::Modulo => number(|a, b| a % b),
            Operator::Union => match (a, b) {
                (Value::Nodes(mut nodes), Value::Nodes(more)) => {
                    nodes.extend(more);
                    nodes.sort_unstable();
                    nodes.dedup();
                    Value::Nodes(nodes)
                }
                _ => return Err(EvaluateError::NotNodes),
            },
            _ => Value::Bool(self.compare(operator, &a, &b)?),
        })
    }

    /// Comparisons hold for nodes when they hold for one of them.
    fn compare(&self, operator: Operator, left: &Value, right: &Value) -> Result<bool, EvaluateError> {
        let forest = self.forest();
        self.spend_on(left)?;
        self.spend_on(right)?;
        match (left, right) {
            (Value::Nodes(nodes), Value::Nodes(others)) => {
                let texts = others.iter().map(|node| Value::Text(forest.string(*node))).collect::<Vec<_>>();
                for node in nodes {
                    self.spend(texts.len())?;
                    let text = Value::Text(forest.string(*node));
                    if texts.iter().any(|other| scalars(operator, &text, other, forest)) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Nodes(_), Value::Bool(_)) => {
                Ok(scalars(operator, &Value::Bool(left.to_bool()), right, forest))
            }
            (Value::Bool(_), Value::Nodes(_)) => {
                Ok(scalars(operator, left, &Value::Bool(right.to_bool()), forest))
            }
            (Value::Nodes(nodes), other) => {
                self.spend(nodes.len())?;
                Ok(nodes
                    .iter()
                    .any(|node| scalars(operator, &Value::Text(forest.string(*node)), other, forest)))
            }
            (other, Value::Nodes(nodes)) => {
                self.spend(nodes.len())?;
                Ok(nodes
                    .iter()
                    .any(|node| scalars(operator, other, &Value::Text(forest.string(*node)), forest)))
            }
            (left, right) => Ok(scalars(operator, left, right, forest)),
        }
    }

    fn steps(&self, start: Vec<NodeRef>, steps: &[Step]) -> Result<Vec<NodeRef>, EvaluateError> {
        let mut nodes = start;
        for step in steps {
            let mut next = Vec::new();
            for node in nodes {
                next.extend(self.step(node, step)?);
            }
            next.sort_unstable();
            next.dedup();
            nodes = next;
        }
        Ok(nodes)
    }

    fn step(&self, node: NodeRef, step: &Step) -> Result<Vec<NodeRef>, EvaluateError> {
        let reached = self.axis(node, step.axis);
        self.spend(reached.len())?;
        let mut kept = Vec::new();
        for candidate in reached {
            if self.passes(candidate, step.axis, &step.test)? {
                kept.push(candidate);
            }
        }
        for predicate in &step.predicates {
            kept = self.filtered(kept, predicate)?;
        }
        Ok(kept)
    }

    /// The nodes of an axis in its own order: backwards for those that go up or back.
    fn axis(&self, node: NodeRef, axis: Axis) -> Vec<NodeRef> {
        let forest = self.forest();
        let up = |from: Option<NodeRef>| std::iter::successors(from, |node| forest.parent(*node));
        let siblings = || forest.parent(node).map(|parent| forest.children(parent)).unwrap_or_default();
        let is_attribute = matches!(forest.kind(node), Some(Kind::Attribute(..)));
        match axis {
            Axis::Itself => vec![node],
            Axis::Child => forest.children(node),
            Axis::Descendant => forest.descendants(node).collect(),
            Axis::DescendantOrSelf => std::iter::once(node).chain(forest.descendants(node)).collect(),
            Axis::Parent => forest.parent(node).into_iter().collect(),
            Axis::Ancestor => up(forest.parent(node)).collect(),
            Axis::AncestorOrSelf => up(Some(node)).collect(),
            Axis::Attribute => forest.attributes(node),
            Axis::Following => forest.following(node),
            Axis::Preceding => forest.preceding(node),
            Axis::FollowingSibling if !is_attribute => {
                siblings().into_iter().filter(|other| *other > node).collect()
            }
            Axis::PrecedingSibling if !is_attribute => {
                siblings().into_iter().rev().filter(|other| *other < node).collect()
            }
            // Namespace nodes carry nothing that an integration reads; the axis is there and empty.
            Axis::FollowingSibling | Axis::PrecedingSibling | Axis::Namespace => Vec::new(),
        }
    }

    fn passes(&self, node: NodeRef, axis: Axis, test: &Test) -> Result<bool, EvaluateError> {
        let Some(kind) = self.forest().kind(node) else { return Ok(false) };
        let name = match (kind, axis) {
            (Kind::Attribute(name, _), Axis::Attribute) => Some(name),
            (Kind::Element(name), axis) if axis != Axis::Attribute => Some(name),
            _ => None,
        };
        Ok(match test {
            Test::Node => true,
            Test::Text => matches!(kind, Kind::Text(_)),
            Test::Comment => matches!(kind, Kind::Comment(_)),
            Test::Instruction(None) => matches!(kind, Kind::Instruction(..)),
            Test::Instruction(Some(target)) => matches!(kind, Kind::Instruction(name, _) if name == target),
            Test::Any(None) => name.is_some(),
            Test::Any(Some(prefix)) => {
                let namespace = self.namespace(prefix)?;
                name.is_some_and(|name| name.namespace.as_deref() == Some(namespace))
            }
            Test::Name(wanted) => {
                let namespace = wanted.prefix.as_deref().map(|prefix| self.namespace(prefix)).transpose()?;
                name.is_some_and(|name| same_name(name, &wanted.local, namespace))
            }
        })
    }

    fn namespace(&self, prefix: &str) -> Result<&str, EvaluateError> {
        self.environment.namespace(prefix).ok_or_else(|| EvaluateError::UnknownPrefix(prefix.to_owned()))
    }

    /// A number as condition is a position.
    fn filtered(&self, nodes: Vec<NodeRef>, predicate: &Expr) -> Result<Vec<NodeRef>, EvaluateError> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (at, node) in nodes.into_iter().enumerate() {
            let value = self.expr(predicate, Focus { node: Some(node), position: at + 1, size })?;
            #[expect(
                clippy::cast_precision_loss,
                reason = "there are fewer nodes than a double counts exactly"
            )]
            let holds = match value {
                Value::Number(number) => number == (at + 1) as f64,
                other => other.to_bool(),
            };
            if holds {
                kept.push(node);
            }
        }
        Ok(kept)
    }
}

fn same_name(name: &QName, local: &str, namespace: Option<&str>) -> bool {
    name.local == local && name.namespace.as_deref() == namespace
}

fn scalars(operator: Operator, left: &Value, right: &Value, forest: &Forest) -> bool {
    let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
    if equality {
        let same = match (left, right) {
            (Value::Bool(_), _) | (_, Value::Bool(_)) => left.to_bool() == right.to_bool(),
            (Value::Number(_), _) | (_, Value::Number(_)) => {
                left.to_number(forest) == right.to_number(forest)
            }
            _ => left.to_text(forest) == right.to_text(forest),
        };
        return same == (operator == Operator::Equal);
    }
    let (left, right) = (left.to_number(forest), right.to_number(forest));
    match operator {
        Operator::Less => left < right,
        Operator::LessEqual => left <= right,
        Operator::Greater => left > right,
        _ => left >= right,
    }
}

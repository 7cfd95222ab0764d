//! Looks at an expression without running it: what does not parse, what parses into something else than it seems to
//! say, what fails whatever the data, and what fails for some data.
//!
//! Kinds of values are inferred over the tree ([`kind_of`]) with what is known about the surroundings ([`Env`]).
//! A family of findings is a file; it is shown every node once.
//!
//! Invariant: nothing that the engine evaluates is an error. Failures that depend on unknown data are warnings, and
//! say which data.

mod absence;
mod arguments;
mod calls;
pub mod codes;
mod coercion;
mod dates;
mod dropped;
mod env;
mod equality;
mod filters;
mod fit;
mod fold;
mod indices;
mod infer;
mod kind;
mod literals;
mod names;
mod operators;
mod paths;
mod precedence;
mod roots;
mod sample;
mod shape;
mod signatures;
mod syntax;
mod texts;

pub use env::{Env, InTemplate, Known, Wanted};
pub use fit::Fit;
pub use kind::{Atom, Kind};
pub use shape::Shape;

use std::collections::HashSet;

use super::ast::{Expression, Node, NodeKind};
use crate::diagnostic::{Class, Code, Edit, Fix, Severity};
use crate::pages;
use crate::text::Span;
use infer::Inference;

/// More findings than anybody reads in one expression.
const MOST: usize = 100;

/// A finding in an expression. Places count from the start of the expression's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprFinding {
    /// Its code.
    pub code: u16,
    /// Where it is.
    pub span: Span,
    /// What is wrong and why.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// What the runtime does.
    pub class: Class,
    /// Repairs, the best first.
    pub fixes: Vec<Fix>,
}

/// Checks the text between `${` and `}`. Findings come in the order of their places.
#[must_use]
pub fn check(source: &str, env: &Env) -> Vec<ExprFinding> {
    match super::parse(source) {
        Ok(expression) => check_parsed(&expression, env),
        Err(error) => syntax::findings(source, &error),
    }
}

/// Checks a parsed expression.
#[must_use]
pub fn check_parsed(expression: &Expression, env: &Env) -> Vec<ExprFinding> {
    let inference = Inference::new(env);
    let mut look = Look {
        source: &expression.source,
        kinds: &inference,
        guard: Guard::None,
        in_chain: false,
        muted: HashSet::new(),
        found: Vec::new(),
    };
    dropped::look(expression, &mut look);
    look.visit(&expression.root);
    let mut found = look.found;
    found.truncate(MOST);
    found.sort_by_key(|one| (one.span.start, one.code, one.span.end));
    found.dedup_by(|a, b| a.code == b.code && a.span == b.span);
    found
}

/// The kind of an expression's value: what it may be, as far as it is known without running it.
#[must_use]
pub fn kind_of(expression: &Expression, env: &Env) -> Kind {
    Inference::new(env).kind(&expression.root)
}

/// Why a part may not be evaluated, or may fail without harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// It is evaluated whenever the expression is.
    None,
    /// It is evaluated only in one case of a condition.
    Branch,
    /// `exists()` turns its failure into false.
    Exists,
}

/// What the families of findings are shown, and where they put what they find.
struct Look<'a> {
    source: &'a str,
    kinds: &'a Inference<'a>,
    guard: Guard,
    /// The node belongs to a chain of comparisons, `and` and `or` that was already looked at as a whole.
    in_chain: bool,
    /// Nodes about which something better was said, by their addresses.
    muted: HashSet<usize>,
    found: Vec<ExprFinding>,
}

impl Look<'_> {
    fn env(&self) -> &Env {
        self.kinds.env
    }

    fn kind(&self, node: &Node) -> Kind {
        self.kinds.kind(node)
    }

    /// A node as it is written.
    fn text(&self, node: &Node) -> &str {
        node.span.of(self.source)
    }

    /// Notes a finding with the class and severity of its page.
    fn report(&mut self, code: u16, span: Span, message: impl Into<String>) -> &mut ExprFinding {
        let mut finding = ExprFinding::new(code, span, message);
        // What may not be evaluated, or fails without harm, is not certainly wrong.
        if self.guard != Guard::None {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        let at = self.found.len();
        self.found.push(finding);
        &mut self.found[at]
    }

    /// Leaves a node to the finding that was made of it.
    fn mute(&mut self, node: &Node) {
        self.muted.insert(std::ptr::from_ref(node).addr());
    }

    fn is_muted(&self, node: &Node) -> bool {
        self.muted.contains(&std::ptr::from_ref(node).addr())
    }

    /// A conditional in the place of a node, in parentheses where it would otherwise take in its neighbours.
    fn conditional(&self, node: &Node, text: String) -> Edit {
        let before = Span::new(0, node.span.start).of(self.source).trim_end();
        let after = self.source.get(node.span.end as usize..).unwrap_or_default().trim_start();
        let alone =
            (before.is_empty() || before.ends_with('(')) && (after.is_empty() || after.starts_with(')'));
        Edit::replace(node.span, if alone { text } else { format!("({text})") })
    }

    /// Whether something was found in a part of the text.
    fn found_in(&self, span: Span) -> bool {
        self.found.iter().any(|one| one.severity >= Severity::Warning && span.covers(one.span))
    }

    fn visit(&mut self, node: &Node) {
        if self.found.len() >= MOST {
            return;
        }
        precedence::look(node, self);
        coercion::look(node, self);
        equality::look(node, self);
        absence::look(node, self);
        arguments::look(node, self);
        calls::look(node, self);
        dates::look(node, self);
        filters::look(node, self);
        indices::look(node, self);
        literals::look(node, self);
        names::look(node, self);
        roots::look(node, self);
        let (guard, in_chain) = (self.guard, self.in_chain);
        self.in_chain = false;
        match &node.kind {
            NodeKind::Conditional { condition, then, otherwise } => {
                self.visit(condition);
                if guard == Guard::None {
                    self.guard = Guard::Branch;
                }
                self.visit(then);
                self.visit(otherwise);
            }
            NodeKind::Call(call) if call.name == "exists" => {
                self.guard = Guard::Exists;
                for child in node.children() {
                    self.visit(child);
                }
            }
            NodeKind::Binary { operator, left, right, .. } if precedence::chains(*operator) => {
                for child in [left, right] {
                    self.in_chain = precedence::is_chain(child);
                    self.visit(child);
                }
            }
            _ => {
                for child in node.children() {
                    self.visit(child);
                }
            }
        }
        (self.guard, self.in_chain) = (guard, in_chain);
        fold::look(node, self);
    }
}

impl ExprFinding {
    fn new(code: u16, span: Span, message: impl Into<String>) -> Self {
        let (class, severity) = pages::page(Code(code))
            .map_or((Class::Surprise, Severity::Error), |page| (page.class, page.severity));
        Self { code, span, message: sentence(&message.into()), severity, class, fixes: Vec::new() }
    }

    /// Not worse than that.
    fn at_most(&mut self, severity: Severity) -> &mut Self {
        self.severity = self.severity.min(severity);
        self
    }

    fn class(&mut self, class: Class) -> &mut Self {
        self.class = class;
        self
    }

    fn fix(&mut self, fix: Fix) -> &mut Self {
        self.fixes.push(fix);
        self
    }

    fn safe(&mut self, title: impl Into<String>, edits: Vec<Edit>) -> &mut Self {
        self.fix(Fix::safe(title, edits))
    }

    fn review(&mut self, title: impl Into<String>, edits: Vec<Edit>) -> &mut Self {
        self.fix(Fix::review(title, edits))
    }
}

/// A message begins like a sentence, unless it begins with code.
fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    match rest.next() {
        Some(first) => first.to_uppercase().chain(rest).collect(),
        None => String::new(),
    }
}

/// Puts a text around a node: `string(` and `)`.
fn around(node: &Node, before: &str, after: &str) -> Vec<Edit> {
    vec![Edit::insert(node.span.start, before), Edit::insert(node.span.end, after)]
}

#[cfg(test)]
mod tests;

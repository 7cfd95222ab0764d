//! XPath 1.0: a parser that says whether the runtime's library (Jaxen) accepts a text, and an evaluator for the core
//! language.
//!
//! The runtime adds variables and functions (`$ctx:x`, `get-property('x')`); an [`Environment`] supplies them. Parsing
//! and evaluation are bounded: [`MAX_NESTING`] levels, [`WORK_LIMIT`] steps.

pub mod ast;
mod evaluate;
mod functions;
mod lexer;
mod parser;
pub mod tree;
mod value;

pub use ast::{Expr, XPath};
pub use evaluate::{Environment, EvaluateError, WORK_LIMIT, evaluate};
pub use parser::{MAX_NESTING, XPathError, parse};
pub use tree::{Forest, NodeRef};
pub use value::Value;

#[cfg(test)]
mod tests;

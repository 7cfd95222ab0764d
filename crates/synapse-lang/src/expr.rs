//! The expression language of Micro Integrator 4.4 and later: `${payload.order.total > 100}`.
//!
//! [`parse`] accepts exactly what the runtime's grammar accepts.

pub mod ast;
pub mod check;
pub mod functions;
pub mod hint;
pub mod lexer;
pub mod parser;

pub use ast::Expression;
pub use parser::{SyntaxError, parse};

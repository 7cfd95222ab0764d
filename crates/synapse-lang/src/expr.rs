//! The expression language of Micro Integrator 4.4 and later: `${payload.order.total > 100}`.
//!
//! [`parse`] accepts exactly what the runtime's grammar accepts; [`evaluate`] gives what the runtime's engine gives,
//! with its number kinds, its printed forms and its ways to fail. [`functions`] is the one table of functions.

pub mod ast;
pub mod check;
pub mod context;
pub mod eval;
pub mod functions;
pub mod hint;
pub mod lexer;
mod operators;
pub mod parser;
mod substitute;
pub mod template;
pub mod value;
mod xml_payload;
mod xpath_call;

pub use ast::Expression;
pub use context::Context;
pub use eval::{Evaluation, Mode, Status, evaluate, evaluate_as, evaluate_text, is_content_aware, value_of};
pub use parser::{SyntaxError, parse};

//! The expression language of Micro Integrator 4.4 and later: `${payload.order.total > 100}`.
//!
//! [`parse`] accepts exactly what the runtime's grammar accepts; [`evaluate`] gives what the runtime's engine gives,
//! with its number kinds, its printed forms and its ways to fail. [`functions`] is the one table of functions, and
//! [`template`] finds and fills the placeholders of log messages and payload formats.
//!
//! ```
//! use synapse_lang::expr::{Context, Status, evaluate_text};
//!
//! let context = Context { payload: Some(r#"{"items":[3,1],"total":10}"#.to_owned()), ..Context::default() };
//! assert_eq!(evaluate_text("payload.total + 1", &context).string, "11");
//! // An element of an array counts as a double.
//! assert_eq!(evaluate_text("payload.items[0] + 1", &context).string, "4.0");
//! // A missing member is an error, not null.
//! assert_eq!(evaluate_text("payload.none == null", &context).status, Status::EvalError);
//! assert_eq!(evaluate_text("payload.total -1", &context).status, Status::SyntaxError);
//! ```

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

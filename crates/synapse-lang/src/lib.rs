//! The language of WSO2 Micro Integrator: Synapse XML artifacts and Synapse expressions, without a JVM.
//!
//! It parses what people really write (broken documents included), says what would fail to deploy, fault, go
//! empty or be ignored at run time, offers the repair as a text edit, and evaluates expressions with the
//! results of the runtime's own engine.
//!
//! The main nouns are the [`syntax`] tree, the model (what exists in the language, as data) and the
//! [`diagnostic::Diagnostic`].
//!
//! It must not know models, agents, editors, terminals, or where files lie: callers hand it text and names.

pub mod check;
pub mod diagnostic;
pub mod expr;
pub mod fix;
pub mod java;
pub mod json;
pub mod jsonpath;
pub mod model;
pub mod near;
pub mod outline;
pub mod pages;
pub mod project;
pub mod syntax;
pub mod text;

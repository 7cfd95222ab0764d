//! Reference knowledge: documents made of named parts, loaded and searched on demand.
//!
//! A [`Reference`] is a Markdown file under `knowledge/` with a TOML head. Tables of functions, operators, elements,
//! properties and findings are not written in it: placeholders are filled from the description of the language that
//! the checker reads too, so a document and the checker cannot disagree. Examples are [proved](prove) by the tests:
//! what a document calls good has no findings, what it calls bad has them, and what it says an expression gives is
//! what the evaluator gives.
//!
//! Its nouns: a [`Library`] holds the references, [`Selected`] is what somebody asked for, a [`Hit`] is the row of a
//! document that answers a question.
//!
//! ```
//! use pack_mi::knowledge::{Index, Library, SearchLimits};
//!
//! let library = Library::builtin();
//! let asked = library.select("Expression Spec: type-coercion")?;
//! assert_eq!(asked.to_string(), "synapse-expression-spec:type_coercion");
//! let hits = Index::builtin().search("integer + double", None, SearchLimits::default());
//! assert_eq!(hits.hits[0].selector(), "synapse-expression-spec:type_coercion");
//! # Ok::<(), pack_mi::knowledge::LookupError>(())
//! ```

mod document;
mod expand;
mod fence;
mod head;
mod index;
mod library;
mod load;
pub mod prove;
pub mod search;
mod select;
pub mod tools;

pub use document::{BadDocument, Problem, Reference, Section};
pub use fence::{Fence, fences};
pub use head::Span as RuntimeSpan;
pub use index::index;
pub use library::Library;
pub use load::{Loaded, MOST_BYTES};
pub use search::{Hit, Hits, Index, SearchLimits};
pub use select::{Gate, LookupError, Selected};
pub use tools::{RuntimeVersion, tools};

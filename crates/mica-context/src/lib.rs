//! Decides what goes into the window: sections, breakpoints, compaction, spill, pruning.
//!
//! It must not know which domain it serves. It has no clock and no home: both are given. Only [`spill`] touches a disk.
//!
//! Its nouns: [`Sections`](section::Sections) make the prompt, a [`WindowKeeper`] keeps the window of a session as one of
//! its hooks, a [`CompactionRecord`](compact::CompactionRecord) says what a summary took the place of, and a
//! [`Journal`] keeps that.
//!
//! ```
//! use std::sync::Arc;
//! use mica_context::section::{OrgView, Section, Sections, ToolNames};
//! use mica_context::WindowKeeper;
//!
//! struct Desk;
//! impl mica_context::section::Facts for Desk {
//!     type Org = String;
//!     type Turn = ();
//! }
//!
//! let sections = Sections::<Desk>::default()
//!     .with_static(Section::new("who", |_| Some("You answer tickets.".to_owned())))
//!     .with_org(Section::new("org", |view: &OrgView<Desk>| Some(format!("You work for {}.", view.org))));
//! let system = sections.system(&ToolNames::new(["search"]), &Arc::new("Acme".to_owned()));
//! assert_eq!(system, ["You answer tickets.", "You work for Acme."]);
//!
//! // Only programs have a clock. The keeper goes last into the hooks of an `Agent`.
//! let keeper = WindowKeeper::new(Arc::new(|| std::time::SystemTime::UNIX_EPOCH));
//! keeper.request_compaction(Some("the open tickets".to_owned()));
//! ```

pub mod breakpoints;
pub mod compact;
pub mod digest;
pub mod fence;
pub mod journal;
pub mod keeper;
pub mod measure;
pub mod prune;
pub mod section;
pub mod segments;
pub mod spill;
pub mod tokens;

pub use journal::Journal;
pub use keeper::{WindowKeeper, WindowSettings};
pub use spill::{Clock, Spill, SpillFolder};

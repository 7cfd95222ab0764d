//! The seam between engine and product: what a domain is, and when it is asked.
//!
//! It must not know: any particular product. A product adds tools, texts and checks by writing a [`Domain`]; nothing here
//! or below changes for it.
//!
//! Its nouns: a [`Domain`] is what a product tells the engine, a [`Capability`] is a group of its tools on a [`Page`],
//! [`resolve()`] chooses what a model gets, a [`Prompt`] says only what is true of it, [`Packs`] pick a domain for a folder,
//! and [`DomainHooks`] ask it during a run. What is true of every pack that works in a folder is here too: [`Facts`] about
//! where it runs, [`Instructions`] of the project, [`advice`] about the tools that all packs have, and what the user has
//! open in an [`editor`].
//!
//! ```
//! use mica_domain::{Domain, DomainHooks, Section, Static, Surroundings};
//! use std::sync::Arc;
//!
//! struct Greeter;
//!
//! impl Domain for Greeter {
//!     fn name(&self) -> &str {
//!         "greeter"
//!     }
//!     fn statics(&self) -> Vec<Section<Static>> {
//!         vec![Section::<Static>::fixed("identity", "You greet people.")]
//!     }
//! }
//!
//! let hooks = DomainHooks::new(Arc::new(Greeter), &Surroundings::default());
//! let tools = hooks.resolve(&|_| true)?;
//! assert_eq!(hooks.prompt(&tools)?.system(), ["You greet people."]);
//! # Ok::<(), mica_domain::DomainError>(())
//! ```

pub mod act;
pub mod advice;
pub mod approvals;
mod around;
pub mod autonomy;
pub mod capability;
pub mod capture;
pub mod cards;
pub mod copilot;
pub mod domain;
pub mod editor;
pub mod error;
pub mod facts;
pub mod hooks;
pub mod instructions;
pub mod keeping;
pub mod lifecycle;
mod lint;
pub mod memory;
pub mod page;
pub mod plan;
pub mod profile;
pub mod prompt;
pub mod records;
pub mod refs;
pub mod registry;
pub mod resolve;
pub mod rights;
pub mod runners;
pub mod section;
pub mod side;
pub mod state;
pub mod store;
pub mod tasks;
pub mod triggers;
mod undeclared;
pub mod upkeep;

pub use act::{Act, Asks, Mint, Minted, Minting};
pub use autonomy::{ApprovalMode, Autonomy, AutonomyGate};
pub use capability::{Capability, Delivery, Exclude, Input, Telling, Words};
pub use copilot::{Around, Copilot, CopilotError, Now, Setup, ShownAnswer};
pub use domain::{Confidence, Domain, Remark};
pub use error::DomainError;
pub use facts::Facts;
pub use hooks::{DomainHooks, Prefill};
pub use instructions::{Instruction, Instructions, Trust};
pub use keeping::Keeper;
pub use lifecycle::{Ending, Lifecycle};
pub use memory::{Memory, Unreadable};
pub use mica_agent::Base;
pub use mica_context::fence;
pub use mica_context::section::ToolNames;
pub use page::Page;
pub use profile::{Audience, Profile, RunMode, Surface};
pub use prompt::Prompt;
pub use records::{InMemory, Kept, RecordError, Records, Unread};
pub use refs::{Ref, RefKinds, Refs};
pub use registry::Packs;
pub use resolve::{Resolved, resolve, resolve_deferring};
pub use rights::Rights;
pub use runners::{Origin, Said, Turned};
pub use section::{Org, OrgView, Piece, Section, Static, StaticView, Tier, Turn, TurnView};
pub use side::{Loose, Side};
pub use state::{State, Surroundings};

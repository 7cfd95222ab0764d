//! The domain of a support desk with a light CRM, on SQLite.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.
//!
//! Its nouns: a [`Store`] is the desk's data in one file, a [`Station`] is what the tools of one session share, and a
//! [`Desk`] is the domain.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jiff::tz::TimeZone;
//! use mica_domain::Domain;
//! use pack_desk::{Desk, Station, Store, store::seed};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().join("desk.db"))?;
//! let now: jiff::Timestamp = "2026-11-15T19:00:00Z".parse()?;
//! seed::fill(&store, now)?;
//! let desk = Desk::new(Station::new(store, "member:maya", Arc::new(move || now), TimeZone::UTC))?;
//! assert_eq!(desk.capabilities().iter().map(|group| group.tools.len()).sum::<usize>(), 24);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod deadline;
pub mod desk;
pub mod error;
pub mod ids;
pub mod jobs;
pub mod kb;
pub mod life;
pub mod office;
mod prompt;
pub mod station;
pub mod store;
pub mod suite;
pub mod tools;

pub use desk::Desk;
pub use error::DeskError;
pub use life::Life;
pub use office::Office;
pub use station::{Now, Sight, Station, Suites};
pub use store::Store;

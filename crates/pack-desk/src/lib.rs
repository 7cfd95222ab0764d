//! The domain of a support desk with a light CRM, on SQLite.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.

pub mod deadline;
pub mod error;
pub mod ids;
pub mod store;

pub use error::DeskError;
pub use store::Store;

//! The context store: what tools and people of a session can refer to by name.

pub mod path;
pub mod reference;
pub mod variables;

pub use variables::Variables;

use std::sync::Arc;

use crate::side::Side;

/// The context store of a session.
#[derive(Clone)]
pub struct Store {
    side: Arc<dyn Side>,
}

impl Store {
    /// The store of a session, with what was kept of it.
    ///
    /// # Errors
    /// In words, when what was kept cannot be read.
    pub fn open(side: Arc<dyn Side>) -> Result<Self, String> {
        side.all("store")?;
        Ok(Self { side })
    }

    /// Where it is kept.
    pub fn side(&self) -> &Arc<dyn Side> {
        &self.side
    }
}

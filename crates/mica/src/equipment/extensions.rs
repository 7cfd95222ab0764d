//! Extensions: files that people drop into a folder, and that change what the agent does.
//!
//! Promise: where there are none, a start costs two looks at folders that are not there.

pub mod added;
pub mod found;
pub mod permits;
pub mod screen;
pub mod store;
pub mod world;

use std::sync::Arc;

use mica_ext::{Extension, Extensions, Factory, Origin, Registry};

use world::Around;

/// All extensions of a session, and what they are made from.
pub struct Loading {
    /// What is loaded.
    pub extensions: Extensions,
    /// The program as they see it.
    pub around: Arc<Around>,
    factories: Vec<(Origin, Arc<dyn Factory>)>,
}

impl Loading {
    /// Nothing is loaded yet.
    pub fn new(around: Arc<Around>, factories: Vec<(Origin, Arc<dyn Factory>)>) -> Self {
        Self { extensions: Extensions::default(), around, factories }
    }

    /// Loads everything anew, side by side. What fails is told and left out.
    pub async fn load(&self) {
        let mut loaded = Vec::new();
        for (origin, factory) in &self.factories {
            let mut registry = Registry::default();
            match factory.register(&mut registry).await {
                Ok(()) => loaded.push(Extension::new(factory.name(), *origin, registry)),
                Err(why) => self.extensions.notice(factory.name(), format!("it is not used: {why}")),
            }
        }
        self.around.steering.anew();
        self.extensions.exchange(loaded);
    }
}

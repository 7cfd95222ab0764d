//! The packs of a binary, and which one a folder gets.

use std::path::Path;
use std::sync::Arc;

use crate::domain::Domain;
use crate::error::DomainError;

/// The packs there are, in the order of preference among equals.
#[derive(Clone, Default)]
pub struct Packs {
    packs: Vec<Arc<dyn Domain>>,
}

impl Packs {
    /// Adds a pack behind the others.
    #[must_use]
    pub fn with(mut self, pack: Arc<dyn Domain>) -> Self {
        self.packs.push(pack);
        self
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.packs.iter().map(|pack| pack.name())
    }

    /// The pack of a name, or else the one that is surest of a folder.
    ///
    /// # Errors
    /// [`DomainError`] when there is none, with those there are.
    pub fn pick(&self, name: Option<&str>, folder: &Path) -> Result<Arc<dyn Domain>, DomainError> {
        let known = || self.names().map(str::to_owned).collect();
        if let Some(name) = name {
            let named = self.packs.iter().find(|pack| pack.name() == name);
            return named
                .cloned()
                .ok_or_else(|| DomainError::UnknownPack { name: name.to_owned(), known: known() });
        }
        let mut best = None;
        for pack in &self.packs {
            if let Some(confidence) = pack.detect(folder)
                && best.as_ref().is_none_or(|(most, _)| confidence > *most)
            {
                best = Some((confidence, pack));
            }
        }
        match best {
            Some((_, pack)) => Ok(Arc::clone(pack)),
            None => Err(DomainError::NoPack { folder: folder.display().to_string(), known: known() }),
        }
    }
}

#[cfg(test)]
mod tests;

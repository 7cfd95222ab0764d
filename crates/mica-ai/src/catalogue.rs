//! What is known about which models: the built-in facts, a user's corrections, and finding a model by name.
//!
//! Invariant: a name gets the facts of a model only when it is that model's id, an alias, or one of the two with
//! something added that does not make it another model (a date, a version, a vendor, a deployment's suffix).
//! Everything else is unknown, and says so: wrong facts cost more than none.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::model::Model;

mod check;
mod error;
mod names;
mod patch;
mod read;

pub use check::Fault;
pub use error::{CatalogueError, Place, UnknownModel};

pub(crate) use names::normal;

use names::NameRules;
use patch::Patch;

const BUILTIN: &str = include_str!("../models.toml");

/// A list of models, found by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    families: BTreeMap<String, Patch>,
    entries: BTreeMap<String, Patch>,
    rules: NameRules,
    models: BTreeMap<String, Arc<Model>>,
    /// Normal forms of ids and aliases, to ids.
    keys: BTreeMap<String, String>,
}

/// A model that was found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its facts. The deployment is the model's id until someone sets it.
    pub model: Arc<Model>,
    /// How the name led to it.
    pub by: MatchedBy,
    /// The name without what says who makes or serves the model: `azure/gpt-5.5` is `gpt-5.5`.
    pub bare: String,
}

/// How a name led to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// The name is the id.
    Id,
    /// The name is an alias, or the id in another spelling.
    Alias,
    /// The name is the id or an alias with something added. The facts are very likely right; show them as such.
    Likeness,
}

impl Catalogue {
    /// The facts mica comes with. Read once.
    pub fn builtin() -> &'static Catalogue {
        // A test reads the data strictly, so the fallback to an empty catalogue, in which every model is unknown, is
        // for a broken build only. It is preferred to a panic because a library must not take its caller down.
        static CATALOGUE: LazyLock<Catalogue> =
            LazyLock::new(|| Catalogue::parse(BUILTIN).unwrap_or_default());
        &CATALOGUE
    }

    /// Reads a catalogue that stands alone.
    ///
    /// # Errors
    /// As [`Catalogue::with_overrides`].
    pub fn parse(text: &str) -> Result<Catalogue, CatalogueError> {
        Catalogue::default().with_overrides(text)
    }

    /// This catalogue with a TOML fragment of the same shape merged over it, field by field. New models are allowed.
    ///
    /// # Errors
    /// When the text is not TOML, has a field that is not known, or a value that cannot be right. The error names the
    /// model, the field and the line.
    pub fn with_overrides(&self, text: &str) -> Result<Catalogue, CatalogueError> {
        let fragment = read::fragment(text)?;
        let mut merged = self.clone();
        for (name, patch) in fragment.families {
            merged.families.entry(name).or_default().merge(patch);
        }
        let mut places = BTreeMap::new();
        for (id, patch, place) in fragment.models {
            merged.entries.entry(id.clone()).or_default().merge(patch);
            places.insert(id, place);
        }
        merged.rules.extend(fragment.rules);
        merged.rebuild(&places)?;
        Ok(merged)
    }

    /// Finds a model by the name a person or a configuration gives it.
    ///
    /// # Errors
    /// [`UnknownModel`], with names that look alike.
    pub fn resolve(&self, name: &str) -> Result<Found, UnknownModel> {
        let given = name.trim();
        if let Some(model) = self.models.get(given) {
            return Ok(Found { model: Arc::clone(model), by: MatchedBy::Id, bare: given.to_owned() });
        }
        let bare = self.rules.without_vendor(given);
        let form = normal(bare);
        let (key, by) = match self.keys.get_key_value(&form) {
            Some((key, _)) => (key.as_str(), MatchedBy::Alias),
            None => {
                (self.longest_prefix(&form).ok_or_else(|| self.unknown_model(given))?, MatchedBy::Likeness)
            }
        };
        let model =
            self.keys.get(key).and_then(|id| self.models.get(id)).ok_or_else(|| self.unknown_model(given))?;
        Ok(Found { model: Arc::clone(model), by, bare: bare.to_owned() })
    }

    /// All models, by id.
    pub fn models(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.models.values()
    }

    /// The aliases of a model, as the data spells them.
    pub fn aliases(&self, id: &str) -> &[String] {
        self.entries.get(id).and_then(|entry| entry.aliases.as_deref()).unwrap_or_default()
    }

    /// The longest id or alias that `form` begins with, when what follows does not make it another model. A longer
    /// match that is refused is not replaced by a shorter one: `gpt-5-mini-tts` is neither `gpt-5-mini` nor `gpt-5`.
    fn longest_prefix(&self, form: &str) -> Option<&str> {
        let (key, rest) = form
            .match_indices(['-', ':'])
            .filter_map(|(at, _)| {
                let (key, _) = self.keys.get_key_value(form.get(..at)?)?;
                Some((key.as_str(), form.get(at + 1..)?))
            })
            .next_back()?;
        self.rules.same_model(rest).then_some(key)
    }

    fn unknown_model(&self, name: &str) -> UnknownModel {
        let form = normal(self.rules.without_vendor(name));
        let family = form.split(['-', ':']).next().unwrap_or_default();
        let alike = self
            .models
            .keys()
            .filter(|id| !family.is_empty() && normal(id).starts_with(family))
            .take(5)
            .cloned()
            .collect();
        UnknownModel { name: name.to_owned(), alike }
    }

    /// Makes models of entries and families, and the keys they are found by.
    fn rebuild(&mut self, places: &BTreeMap<String, Place>) -> Result<(), CatalogueError> {
        self.models.clear();
        self.keys.clear();
        for (id, entry) in &self.entries {
            let place = places.get(id).copied().unwrap_or_default();
            let mut whole = Patch::default();
            if let Some(family) = &entry.family {
                let patch = self.families.get(family).ok_or_else(|| CatalogueError::UnknownFamily {
                    model: id.clone(),
                    family: family.clone(),
                    place,
                    known: self.families.keys().cloned().collect(),
                })?;
                whole.merge(patch.clone());
            }
            whole.merge(entry.clone());
            let model = whole.into_model(id).map_err(|missing| CatalogueError::MissingField {
                model: id.clone(),
                field: missing,
                place,
            })?;
            if let Some(fault) = check::faults(&model).into_iter().next() {
                return Err(CatalogueError::BadFacts { model: id.clone(), fault, place });
            }
            self.models.insert(id.clone(), Arc::new(model));
        }
        for (id, entry) in &self.entries {
            let aliases = entry.aliases.iter().flatten();
            for name in std::iter::once(id).chain(aliases) {
                if let Some(other) = self.keys.insert(normal(name), id.clone())
                    && other != *id
                {
                    let place = places.get(id).copied().unwrap_or_default();
                    return Err(CatalogueError::SameName {
                        name: name.clone(),
                        model: id.clone(),
                        other,
                        place,
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod data_tests;
#[cfg(test)]
mod tests;

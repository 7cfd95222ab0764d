//! The modules of a cage, and which of them an import means.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::ScriptError;
use crate::strip::{Stripped, strip};

/// A module that was found for an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is called from now on. The same module has the same name, whoever imports it.
    pub name: String,
    /// Its TypeScript.
    pub source: String,
}

/// Finds modules that a cage was not given.
///
/// It is asked on the thread of the cage, for imports that none of the given modules answers.
pub trait Resolver: Send {
    /// The module that an import in `from` means; `from` is empty when the caller of the cage asks.
    fn resolve(&mut self, from: &str, import: &str) -> Option<Found>;
}

/// Finds nothing: a cage has the modules that it is given.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Resolver for Nothing {
    fn resolve(&mut self, _: &str, _: &str) -> Option<Found> {
        None
    }
}

/// The modules of a cage, by name.
pub(crate) struct Modules {
    known: BTreeMap<String, Arc<Stripped>>,
    resolver: Box<dyn Resolver>,
    source_limit: usize,
}

impl Modules {
    pub(crate) fn new(resolver: Box<dyn Resolver>, source_limit: usize) -> Self {
        Self { known: BTreeMap::new(), resolver, source_limit }
    }

    /// Takes a module in. Answers whether there was one of this name.
    pub(crate) fn add(&mut self, name: &str, source: &str) -> Result<bool, ScriptError> {
        if source.len() > self.source_limit {
            let (bytes, limit) = (source.len(), self.source_limit);
            return Err(ScriptError::TooLarge { what: "source", bytes, limit });
        }
        let stripped = strip(source, name)?;
        Ok(self.known.insert(name.to_owned(), Arc::new(stripped)).is_some())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Stripped>> {
        self.known.get(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.known.keys().cloned().collect()
    }

    /// The name of the module that an import means. `None`: there is none.
    pub(crate) fn resolve(&mut self, from: &str, import: &str) -> Result<Option<String>, ScriptError> {
        let path = if import.starts_with("./") || import.starts_with("../") {
            beside(from, import)
        } else {
            Some(import.to_owned())
        };
        let known = path.and_then(|path| candidates(&path).find(|name| self.known.contains_key(name)));
        if known.is_some() {
            return Ok(known);
        }
        let Some(found) = self.resolver.resolve(from, import) else { return Ok(None) };
        if !self.known.contains_key(&found.name) {
            self.add(&found.name, &found.source)?;
        }
        Ok(Some(found.name))
    }
}

/// What TypeScript lets an import leave out.
fn candidates(path: &str) -> impl Iterator<Item = String> {
    let stem = path.strip_suffix(".js").unwrap_or(path);
    [path.to_owned(), format!("{stem}.ts"), format!("{path}.js"), format!("{path}/index.ts")].into_iter()
}

/// A path beside the module that names it. `None`: it leads out. For resolvers, which find modules by paths, too.
pub fn beside(from: &str, import: &str) -> Option<String> {
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in import.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_mean_what_typescript_says() {
        let mut modules = Modules::new(Box::new(Nothing), 1000);
        for name in ["map.ts", "dm-utils.ts", "lib/index.ts", "lib/a.ts", "plain.js", "mica"] {
            modules.add(name, "").unwrap();
        }
        for (from, import, expected) in [
            ("map.ts", "./dm-utils", Some("dm-utils.ts")),
            ("map.ts", "./dm-utils.ts", Some("dm-utils.ts")),
            ("map.ts", "./dm-utils.js", Some("dm-utils.ts")),
            ("map.ts", "./lib", Some("lib/index.ts")),
            ("lib/index.ts", "./a", Some("lib/a.ts")),
            ("lib/a.ts", "../map", Some("map.ts")),
            ("lib/a.ts", "../plain", Some("plain.js")),
            ("map.ts", "mica", Some("mica")),
            ("map.ts", "../map", None),
            ("map.ts", "/etc/passwd", None),
            ("map.ts", "fs", None),
        ] {
            assert_eq!(modules.resolve(from, import).unwrap().as_deref(), expected, "{import} in {from}");
        }
    }

    #[test]
    fn a_resolver_is_asked_last() {
        struct One;
        impl Resolver for One {
            fn resolve(&mut self, from: &str, import: &str) -> Option<Found> {
                let found = Found { name: "found.ts".to_owned(), source: format!("// {from}") };
                (import == "far").then_some(found)
            }
        }
        let mut modules = Modules::new(Box::new(One), 1000);
        assert_eq!(modules.resolve("a.ts", "far").unwrap().as_deref(), Some("found.ts"));
        assert_eq!(modules.resolve("a.ts", "near").unwrap(), None);
        assert_eq!(modules.names(), ["found.ts"]);
    }

    #[test]
    fn large_sources_are_refused() {
        let mut modules = Modules::new(Box::new(Nothing), 3);
        let error = modules.add("a.ts", "1234").unwrap_err();
        assert_eq!(error, ScriptError::TooLarge { what: "source", bytes: 4, limit: 3 });
    }
}

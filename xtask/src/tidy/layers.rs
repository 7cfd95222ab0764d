//! The layers: a crate depends on what is below it, and on nothing else.
//!
//! The picture is data (`xtask/layers.toml`); this reads it, and judges every manifest by it. Normal, build and
//! platform dependencies count. So do dev-dependencies, with one more choice: `mica-testkit`.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeTable;

use super::Finding;

/// Where the picture is.
pub(crate) const TABLE: &str = "xtask/layers.toml";

/// The one crate that stands beside the stack for the tests of all.
const TESTKIT: &str = "mica-testkit";

/// Which crates each crate may depend on.
#[derive(Debug)]
pub(crate) struct Layers {
    allowed: BTreeMap<String, BTreeSet<String>>,
}

impl Layers {
    /// Reads the picture and adds what follows from it: what is below a crate's layer is below the crate.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let below = table.get("below").and_then(toml::Value::as_table).ok_or("there is no table [below]")?;
        let mut drawn = BTreeMap::new();
        for (name, list) in below {
            let list = list.as_array().ok_or_else(|| format!("{name} needs a list of crates"))?;
            let list: Vec<&str> = list.iter().filter_map(toml::Value::as_str).collect();
            drawn.insert(name.as_str(), list);
        }
        let mut allowed = BTreeMap::new();
        for name in drawn.keys() {
            let mut reached = BTreeSet::new();
            let mut open = drawn[name].clone();
            while let Some(next) = open.pop() {
                let list =
                    drawn.get(next).ok_or_else(|| format!("{next} is below a crate and has no entry"))?;
                if next == *name {
                    return Err(format!("{name} is below itself"));
                }
                if reached.insert(next.to_owned()) {
                    open.extend(list);
                }
            }
            allowed.insert((*name).to_owned(), reached);
        }
        Ok(Self { allowed })
    }

    /// Judges a manifest; other files are fine.
    pub(crate) fn check(&self, path: &str, text: &str) -> Vec<Finding> {
        let Some(folder) = crate_folder(path) else {
            return Vec::new();
        };
        let manifest = match DeTable::parse(text) {
            Ok(manifest) => manifest.into_inner(),
            Err(error) => return vec![Finding::new(path, 1, format!("not TOML: {}", error.message()))],
        };
        let name = manifest
            .get("package")
            .and_then(|package| package.get_ref().get("name"))
            .and_then(|name| name.get_ref().as_str())
            .unwrap_or(folder);
        if name != folder {
            return vec![Finding::new(
                path,
                1,
                format!("the crate {name} is in the folder {folder}: give both one name"),
            )];
        }
        let Some(allowed) = self.allowed.get(name) else {
            return vec![Finding::new(
                path,
                1,
                format!("the crate {name} has no layer: give it an entry in {TABLE}"),
            )];
        };
        let mut findings = Vec::new();
        for Edge { to, kind, at } in edges(&manifest) {
            let is_ours = self.allowed.contains_key(&to);
            let for_tests = kind == Kind::Dev && (to == TESTKIT || to == name);
            if is_ours && !allowed.contains(&to) && !for_tests {
                findings.push(Finding::new(
                    path,
                    line_of(text, at),
                    format!("{name} may not depend on {to}, which is not below it in {TABLE}: move the code, or hand in what is needed"),
                ));
            }
        }
        findings
    }
}

/// The folder of the crate that a manifest belongs to.
fn crate_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    let name = folder.strip_prefix("crates/").unwrap_or(folder);
    // Crates lie flat. Manifests deeper down are test data, and fuzz/ may reach every layer.
    (!name.contains('/') && (folder != name || name == "xtask")).then_some(name)
}

/// A dependency.
#[derive(Debug)]
struct Edge {
    to: String,
    kind: Kind,
    /// Where it stands, in bytes.
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Normal,
    Build,
    Dev,
}

/// All dependencies of a manifest, those of single platforms included.
fn edges(manifest: &DeTable<'_>) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(|target| target.get_ref().as_table()) {
        tables.extend(targets.values().filter_map(|platform| platform.get_ref().as_table()));
    }
    for table in tables {
        for (section, kind) in [
            ("dependencies", Kind::Normal),
            ("build-dependencies", Kind::Build),
            ("dev-dependencies", Kind::Dev),
        ] {
            let listed = table.get(section).and_then(|section| section.get_ref().as_table());
            for (key, value) in listed.into_iter().flatten() {
                // `package` is the crate's real name, when the key renames it.
                let renamed = value.get_ref().get("package").and_then(|name| name.get_ref().as_str());
                let to = renamed.unwrap_or(key.get_ref().as_ref()).to_owned();
                edges.push(Edge { to, kind, at: key.span().start });
            }
        }
    }
    edges
}

/// The number of the line that a byte is on.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;

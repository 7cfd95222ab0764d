//! Turns the language's data, readable TOML under `model/`, into one compact JSON text for the crate to embed.
//!
//! Reading TOML costs several times what reading JSON costs, and every `mica check` starts cold. Files are merged
//! in the order of their paths: lists are appended, so the same key may stand in many files. An element that is
//! `like` another takes over everything it does not say itself; its lists are put before the other's, and an
//! attribute or a child of the same name replaces the other's.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

type Table = Map<String, Value>;

/// Writes `model.json`.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=model");
    let mut files = Vec::new();
    collect(Path::new("model"), &mut files)?;
    files.sort();
    let mut merged = Table::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = std::fs::read_to_string(file)?;
        let table: Table = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        for (key, value) in table {
            let Value::Array(items) = value else {
                return Err(format!("{}: {key} is not a list of tables", file.display()).into());
            };
            if let Value::Array(list) = merged.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
                list.extend(items);
            }
        }
    }
    if let Some(Value::Array(elements)) = merged.get_mut("element") {
        inherit(elements)?;
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("model.json");
    std::fs::write(out, serde_json::to_string(&merged)?)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Completes every element that is `like` another.
fn inherit(elements: &mut [Value]) -> Result<(), Box<dyn Error>> {
    let own: HashMap<String, Table> = elements
        .iter()
        .filter_map(|element| Some((element.get("id")?.as_str()?.to_owned(), element.as_object()?.clone())))
        .collect();
    for element in elements {
        let Value::Object(table) = element else { continue };
        let mut next = table.remove("like");
        // A chain longer than this goes round in a circle.
        for _ in 0..8 {
            let Some(base) = next else { break };
            let base = base
                .as_str()
                .and_then(|id| own.get(id))
                .ok_or_else(|| format!("nothing is called {base}"))?;
            next = base.get("like").cloned();
            take_over(table, base);
        }
    }
    Ok(())
}

fn take_over(table: &mut Table, base: &Table) {
    for (key, value) in base {
        match (table.get_mut(key), value) {
            _ if matches!(
                key.as_str(),
                "id" | "kind" | "name" | "title" | "like" | "examples" | "file" | "group"
            ) => {}
            (None, _) => {
                table.insert(key.clone(), value.clone());
            }
            (Some(Value::Array(mine)), Value::Array(theirs)) => {
                let label = |one: &Value| one.get("name").or_else(|| one.get("part")).cloned();
                let names: Vec<Value> = mine.iter().filter_map(label).collect();
                let new = theirs.iter().filter(|one| label(one).is_none_or(|name| !names.contains(&name)));
                mine.extend(new.cloned());
            }
            (Some(_), _) => {}
        }
    }
}

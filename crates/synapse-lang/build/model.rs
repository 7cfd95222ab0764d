//! Turns the language's data, readable TOML under `model/`, into one compact JSON text for the crate to embed.
//!
//! Reading TOML costs several times what reading JSON costs, and every `mica check` starts cold. Files are merged
//! in the order of their paths: lists are appended, so the same key may stand in many files.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=model");
    let mut files = Vec::new();
    collect(Path::new("model"), &mut files)?;
    files.sort();
    let mut merged = Map::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = std::fs::read_to_string(file)?;
        let table: Map<String, Value> =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        for (key, value) in table {
            let Value::Array(items) = value else {
                return Err(format!("{}: {key} is not a list of tables", file.display()).into());
            };
            match merged.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(list) => list.extend(items),
                _ => return Err("only lists are merged".into()),
            }
        }
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

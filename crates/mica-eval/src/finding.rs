//! Finds cases: files, and whatever lies below folders.

use std::path::{Path, PathBuf};

use crate::case::{Case, ModelKind, digest};
use crate::error::EvalError;

/// Reads the cases in files and below folders, by name. Files below folders count when they end in `.toml`; those in
/// folders called `data` do not, nor do hidden ones, nor what lies behind links to folders.
///
/// # Errors
/// Everything that is wrong with any of them: all are read before one is played.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Case>, Vec<EvalError>> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            if let Err(error) = below(path, path, &mut files) {
                errors.push(error);
            }
            if files.len() == before {
                let problem = format!("{}: there is no case (*.toml) below this folder", path.display());
                errors.push(EvalError::Nothing { problem });
            }
        } else {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, path.clone()));
        }
    }
    files.sort();
    files.dedup_by(|one, other| one.1 == other.1);
    let mut cases: Vec<Case> = Vec::new();
    for (name, path) in files {
        let read = std::fs::read_to_string(&path)
            .map_err(|source| vec![EvalError::File { path: path.clone(), source }])
            .and_then(|text| Case::parse(&name, &path, &text));
        match read {
            // Two folders may have cases of one name, and a report needs to tell them apart.
            Ok(mut case) => {
                if let Some(scenario) = scenario(&case) {
                    case.digest = digest(format!("{}{scenario}", case.digest).as_bytes());
                }
                if cases.iter().any(|other| other.name == case.name) {
                    case.name = path.with_extension("").display().to_string();
                }
                cases.push(case);
            }
            Err(wrong) => errors.extend(wrong),
        }
    }
    if errors.is_empty() { Ok(cases) } else { Err(errors) }
}

/// The scenario that a case plays: it is as much a part of it as turns are. A recording is not: it is what a model said.
fn scenario(case: &Case) -> Option<String> {
    let file = case.file.model.file.as_ref().filter(|_| case.file.model.kind == ModelKind::Scenario)?;
    std::fs::read_to_string(case.file(file).ok()?).ok()
}

fn below(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), EvalError> {
    let failed = |source| EvalError::File { path: folder.to_path_buf(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "data" {
            continue;
        }
        if path.is_dir() {
            // A link to a folder may lead in a circle, or to cases that are others'.
            if !path.is_symlink() {
                below(root, &path, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            files.push((name.display().to_string(), path));
        }
    }
    Ok(())
}

/// Whether a case is meant by a word: it is in its name, one of its tags, or its sentence.
pub fn is_meant(case: &Case, word: &str) -> bool {
    let word = word.to_lowercase();
    case.name.to_lowercase().contains(&word)
        || case.file.tags.iter().any(|tag| tag.to_lowercase() == word)
        || case.file.about.to_lowercase().contains(&word)
}

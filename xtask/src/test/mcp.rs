//! What the tests of MCP and of skills run: official clients, servers, validators and conformance suites.

use std::path::{Path, PathBuf};

use super::parts::{Part, Parts};
use super::{peers, venv};
use crate::failure::{Failure, Result};

/// Adds the parts. They are small enough to be set up always, but for the Node.js that the suites need (190 MB).
pub(crate) fn add(parts: &mut Parts) {
    let python = venv::ensure("mcp", "requirements-mcp.txt");
    let validator = python.as_ref().map_err(|_| Failure::new("its Python is not ready")).and_then(|python| {
        beside(python, "agentskills").ok_or_else(|| Failure::new("skills-ref has no program agentskills"))
    });
    parts.add(Part::new("MCP client in Python", "MICA_PYTHON_MCP"), python);
    parts.add(Part::new("validator of skills", "MICA_SKILLS_REF"), validator);
    parts.add(Part::new("MCP servers", "MICA_MCP_SERVERS"), servers());
    parts.add(Part::new("MCP conformance suites", "MICA_MCP_CONFORMANCE"), conformance());
}

/// A folder whose `node_modules` have two official servers.
fn servers() -> Result<PathBuf> {
    let needed = [
        "@modelcontextprotocol/server-everything/dist/index.js",
        "@modelcontextprotocol/server-filesystem/dist/index.js",
    ];
    peers::npm_folder("mcp-servers", "mcp-servers", &needed)
}

/// A folder whose `node_modules` have the suites: the released one under its name, the next one as `conformance-next`,
/// and on Linux a Node.js that is new enough for both.
fn conformance() -> Result<PathBuf> {
    let needed = ["@modelcontextprotocol/conformance/dist/index.js", "conformance-next/dist/index.js"];
    peers::npm_folder("mcp-conformance", "mcp-conformance", &needed)
}

/// A program that lies beside a Python.
fn beside(python: &Path, name: &str) -> Option<PathBuf> {
    let name = if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() };
    Some(python.parent()?.join(name)).filter(|program| program.is_file())
}

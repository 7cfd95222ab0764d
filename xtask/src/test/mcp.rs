//! What the tests of MCP and of skills run: official clients, servers, validators and conformance suites.

use std::path::{Path, PathBuf};

use super::parts::{Part, Parts};
use super::{peers, venv};
use crate::failure::{Failure, Result};
use crate::{process, workspace};

/// Adds the parts. They are small enough to be set up always, but for the Node.js that the suites need (190 MB). When
/// CI=true they are required where Python and npm are; a machine that lacks one of these passes without, and is told so.
///
/// # Errors
/// When a part is required and cannot be set up.
pub(crate) fn add(parts: &mut Parts) -> Result<()> {
    let there = |tool: &'static str| {
        let is_there = || process::output(process::program(tool).arg("--version")).is_ok();
        (workspace::is_ci() && is_there()).then_some(tool)
    };
    let (pip, npm) = (there("python3"), there("npm"));
    let python = venv::ensure("mcp", "requirements-mcp.txt");
    let validator = python.as_ref().map_err(|_| Failure::new("its Python is not ready")).and_then(|python| {
        beside(python, "agentskills").ok_or_else(|| Failure::new("skills-ref has no program agentskills"))
    });
    parts.require(Part::new("MCP client in Python", "MICA_PYTHON_MCP"), python, pip)?;
    parts.require(Part::new("validator of skills", "MICA_SKILLS_REF"), validator, pip)?;
    parts.require(Part::new("MCP servers", "MICA_MCP_SERVERS"), servers(), npm)?;
    parts.require(Part::new("MCP conformance suites", "MICA_MCP_CONFORMANCE"), conformance(), npm)
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

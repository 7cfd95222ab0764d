//! The files of a project that a server is started from: who trusts a server trusts them as they are.
//!
//! Found is what its command and its arguments name below the project. Not found is what these read in turn, as a module
//! does, and what a launcher looks up by itself.

use std::path::Path;

use super::config::{Confine, ServerConfig, Transport};
use crate::hooks::scripts::{self, Scripts};

/// The files that a server is started from, as they are now.
///
/// # Errors
/// In words, when one cannot be read or is too large to be looked through.
pub fn files(config: &ServerConfig, project: &Path) -> Result<Scripts, String> {
    let Transport::Stdio { command, args, cwd, .. } = &config.transport else { return Ok(Scripts::new()) };
    let from = cwd.as_deref().unwrap_or(project);
    let words = std::iter::once(command.as_str()).chain(args.iter().map(super::config::Hidden::reveal));
    scripts::of_words(words, from, project)
}

/// Whether it matters that they stay what they are: a server that is confined can do no more than the agent itself.
pub(super) fn matter(config: &ServerConfig) -> bool {
    matches!(&config.transport, Transport::Stdio { confine: Confine::Open, .. })
}

/// What is other than it was, in words.
pub(super) fn changed(config: &ServerConfig, project: &Path, before: &Scripts) -> Option<String> {
    let now = match files(config, project) {
        Ok(now) => now,
        Err(problem) => return Some(problem),
    };
    let differs = |path: &&std::path::PathBuf| now.get(*path) != before.get(*path);
    let path = now.keys().chain(before.keys()).find(differs)?;
    Some(format!(
        "{} has changed since this session began, and it would run without a sandbox: look at it, then begin anew (`mica \
         trust`, when the project names the server), or confine the server with \"sandbox\": true",
        path.display()
    ))
}

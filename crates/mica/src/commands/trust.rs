//! `mica trust`: look at what a project brings, trust it as it is now, or take the trust back.
//!
//! Promise: what is printed of a project is all that is in it. Nothing in it moves a cursor, turns a line around or stays
//! unseen.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::cli::{Form, TrustFlags};
use crate::config::project::{self, Part};
use crate::equipment::extensions::guards;
use crate::equipment::hooks;
use crate::render::question::{plain, plain_page};
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// When there is nothing to trust, or what was said cannot be kept.
pub fn run(surroundings: &Surroundings, folder: Option<&Path>, flags: &TrustFlags) -> Result<String> {
    let folder = folder.unwrap_or(&surroundings.folder);
    let folder = folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))?;
    let (parts, problems) = project::all_parts(surroundings, &folder);
    if parts.is_empty() && flags.revoke && hooks::forget(surroundings, &folder)? {
        return Ok("hooks that are no longer there, or cannot be read, are no longer trusted\n".to_owned());
    }
    let parts = chosen(parts, &flags.only, &folder)?;
    let mut out = match (flags.list, flags.revoke) {
        (true, _) => list(surroundings, &folder, &parts, flags.format),
        (false, true) => {
            let said = revoke(surroundings, &folder, &parts)?;
            if flags.only.is_empty() {
                // Also those that cannot be read, and so are no part.
                hooks::forget(surroundings, &folder)?;
            }
            said
        }
        (false, false) => trust(surroundings, &folder, &parts)?,
    };
    if flags.format == Form::Text {
        for problem in &problems {
            let _ = writeln!(out, "note: {}", plain(problem));
        }
    }
    Ok(out)
}

/// The parts that were named; all when none was.
fn chosen(parts: Vec<Part>, only: &[PathBuf], folder: &Path) -> Result<Vec<Part>> {
    if parts.is_empty() {
        bail!("{} brings nothing that needs trust", folder.display());
    }
    if only.is_empty() {
        return Ok(parts);
    }
    let mut found = Vec::new();
    for name in only {
        let part = parts.iter().find(|part| part.path == folder.join(name));
        let part = part.with_context(|| {
            let there: Vec<String> =
                parts.iter().map(|part| plain(&part.shown(folder).to_string())).collect();
            format!(
                "{} brings no {}; what it brings is {}",
                folder.display(),
                name.display(),
                there.join(", ")
            )
        })?;
        found.push(part.clone());
    }
    Ok(found)
}

fn list(surroundings: &Surroundings, folder: &Path, parts: &[Part], form: Form) -> String {
    if form == Form::Json {
        let row = |part: &Part| {
            json!({
                "kind": part.kind.word,
                "path": part.path,
                "state": part.state(surroundings).to_string(),
                "asks": part.asks,
                "digest": part.digest(),
                "text": part.text,
            })
        };
        return format!("{}\n", json!(parts.iter().map(row).collect::<Vec<_>>()));
    }
    let mut out = String::new();
    for part in parts {
        let _ = writeln!(out, "{}: {}\n", plain(&part.line(folder)), part.state(surroundings));
        let _ = writeln!(out, "{}", indented(&part.text));
    }
    out.push_str("`mica trust` trusts all of it as it is now, `mica trust --only PATH` one of it.\n");
    out
}

fn trust(surroundings: &Surroundings, folder: &Path, parts: &[Part]) -> Result<String> {
    let mut out = String::new();
    for part in parts {
        part.trust(surroundings)?;
        let _ = writeln!(
            out,
            "{} is trusted as it is now; a change needs trust anew:\n\n{}",
            plain(&part.line(folder)),
            indented(&part.text)
        );
    }
    Ok(out)
}

/// A text of the project, apart from what this program says about it.
fn indented(text: &str) -> String {
    plain_page(text).lines().map(|line| format!("    {line}\n")).collect()
}

fn revoke(surroundings: &Surroundings, folder: &Path, parts: &[Part]) -> Result<String> {
    let mut out = String::new();
    for part in parts {
        // Who takes the trust back does not miss it.
        guards::forget(surroundings, &part.path);
        let said = if part.revoke(surroundings)? { "is no longer trusted" } else { "was not trusted" };
        let _ = writeln!(out, "{} {} {said}", part.kind.word, plain(&part.shown(folder).to_string()));
    }
    Ok(out)
}

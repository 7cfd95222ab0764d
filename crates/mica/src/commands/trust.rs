//! `mica trust`: look at what a project brings, trust it as it is now, or take the trust back.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::cli::{Form, TrustFlags};
use crate::config::project::{self, Part};
use crate::equipment::extensions::guards;
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// When there is nothing to trust, or what was said cannot be kept.
pub fn run(surroundings: &Surroundings, folder: Option<&Path>, flags: &TrustFlags) -> Result<String> {
    let folder = folder.unwrap_or(&surroundings.folder);
    let folder = folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))?;
    let (parts, problems) = project::all_parts(surroundings, &folder);
    let parts = chosen(parts, &flags.only, &folder)?;
    let mut out = match (flags.list, flags.revoke) {
        (true, _) => list(surroundings, &folder, &parts, flags.format),
        (false, true) => revoke(surroundings, &folder, &parts)?,
        (false, false) => trust(surroundings, &folder, &parts)?,
    };
    if flags.format == Form::Text {
        for problem in &problems {
            let _ = writeln!(out, "note: {problem}");
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
            let there: Vec<String> = parts.iter().map(|part| part.shown(folder).to_string()).collect();
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
        let _ = writeln!(out, "{}: {}\n", part.line(folder), part.state(surroundings));
        for line in part.text.lines() {
            let _ = writeln!(out, "    {line}");
        }
        out.push('\n');
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
            part.line(folder),
            part.text
        );
    }
    Ok(out)
}

fn revoke(surroundings: &Surroundings, folder: &Path, parts: &[Part]) -> Result<String> {
    let mut out = String::new();
    for part in parts {
        // Who takes the trust back does not miss it.
        guards::forget(surroundings, &part.path);
        let said = if part.revoke(surroundings)? { "is no longer trusted" } else { "was not trusted" };
        let _ = writeln!(out, "{} {} {said}", part.kind.word, part.shown(folder));
    }
    Ok(out)
}

//! Makes the table of codes from their pages in `docs/synapse`.
//!
//! A page is the one place where a code's name, class and severity stand; the checker, `explain` and the tests of
//! the examples all read it. A page that cannot be read fails the build with its name and what is wrong.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes `pages.rs`.
pub(crate) fn write() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = root.join("../../docs/synapse");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<PathBuf> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| name(path).starts_with("SYN") && name(path).ends_with(".md"))
        .collect();
    pages.sort();
    let mut table = String::from("&[\n");
    for page in &pages {
        println!("cargo::rerun-if-changed={}", page.display());
        match row(page) {
            Ok(row) => table.push_str(&row),
            Err(what) => {
                println!("cargo::error=docs/synapse/{}: {what}", name(page));
                return;
            }
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("pages.rs");
    if let Err(error) = fs::write(&out, table) {
        println!("cargo::error=cannot write {}: {error}", out.display());
    }
}

/// One row of the table.
fn row(page: &Path) -> Result<String, String> {
    let text = fs::read_to_string(page).map_err(|error| error.to_string())?;
    let text = text.replace("\r\n", "\n");
    let rest = text.strip_prefix("---\n").ok_or("does not begin with a line of three dashes")?;
    let (head, body) = rest.split_once("\n---\n").ok_or("its head has no end: a line of three dashes")?;
    let field = |wanted: &str| {
        head.lines()
            .find_map(|line| line.strip_prefix(wanted)?.strip_prefix(':'))
            .map(|value| value.trim().to_owned())
            .ok_or_else(|| format!("its head has no `{wanted}`"))
    };
    let code = field("code")?;
    if format!("{code}.md") != name(page) {
        return Err(format!("says it is {code}"));
    }
    let number: u16 = code
        .strip_prefix("SYN")
        .filter(|digits| digits.len() == 4)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| format!("{code:?} is not SYN and four digits"))?;
    let class =
        variant(&field("class")?, &["deploy", "fault", "crash", "empty", "ignored", "surprise", "style"])?;
    let severity = variant(&field("severity")?, &["hint", "info", "warning", "error"])?;
    let title = body
        .lines()
        .find_map(|line| line.strip_prefix("# "))
        .ok_or("has no title: a line that begins with one #")?;
    let mut row = String::new();
    let _ = writeln!(
        row,
        "Page {{ code: Code({number}), name: {:?}, title: {title:?}, class: Class::{class}, severity: Severity::{severity}, body: {body:?} }},",
        field("name")?,
    );
    Ok(row)
}

/// The name of an enum's variant for a word of the head.
fn variant(word: &str, known: &[&str]) -> Result<String, String> {
    if !known.contains(&word) {
        return Err(format!("{word:?} is not one of {}", known.join(", ")));
    }
    let mut letters = word.chars();
    Ok(letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect())
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

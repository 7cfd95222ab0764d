//! `mica explain`: the page of a code.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use synapse_lang::near::nearest;
use synapse_lang::pages::{self, Page};

use super::language::Said;
use crate::render::findings::text::at_run_time;
use crate::render::page::render;
use crate::render::paint::{Paint, Style};

/// The page of a code or a name.
///
/// # Errors
/// When there is no such page; near names are told.
pub fn run(wanted: &str, paint: Paint) -> Result<Said> {
    let page = pages::find(wanted).ok_or_else(|| unknown(wanted))?;
    let mut out = format!(
        "{} {} {}\n",
        paint.paint(Style::Bold, &page.code.to_string()),
        page.name,
        paint.paint(Style::Dim, &format!("({})", page.severity.word()))
    );
    if let Some(words) = at_run_time(page.class) {
        let _ = writeln!(out, "{} {words}", paint.paint(Style::Dim, "At run time:"));
    }
    out.push('\n');
    out.push_str(&render(page.body.trim(), paint));
    Ok(Said::done(out))
}

/// All codes.
pub fn list(paint: Paint) -> Said {
    let widest = pages::all().iter().map(|page| page.name.len()).max().unwrap_or_default();
    let mut out = String::new();
    for page in pages::all() {
        let code = paint.paint(Style::Bold, &page.code.to_string());
        let _ = writeln!(out, "{code}  {:7}  {:widest$}  {}", page.severity.word(), page.name, page.title);
    }
    Said::done(out)
}

/// That there is no such page, with what could be meant.
pub fn unknown(wanted: &str) -> anyhow::Error {
    let near = similar(wanted);
    let hint = if near.is_empty() {
        String::new()
    } else {
        let listed: Vec<String> = near.iter().map(|page| format!("{} {}", page.code, page.name)).collect();
        format!("; near are {}", listed.join(", "))
    };
    anyhow!("there is no finding {wanted:?}{hint}. `mica explain --list` lists all")
}

/// Pages whose name is a slip away, has the words that were typed, or whose number is next to the one typed.
fn similar(wanted: &str) -> Vec<&'static Page> {
    const MOST: usize = 5;
    if let Ok(code) = wanted.trim().parse::<synapse_lang::diagnostic::Code>() {
        let mut by_distance: Vec<&Page> = pages::all().iter().collect();
        by_distance.sort_by_key(|page| page.code.0.abs_diff(code.0));
        by_distance.truncate(3);
        by_distance.sort_by_key(|page| page.code);
        return by_distance;
    }
    let lower = wanted.trim().to_lowercase();
    let slip = nearest(&lower, pages::all().iter().map(|page| page.name));
    let slip = slip.and_then(pages::find);
    let words: Vec<&str> =
        lower.split(|one: char| !one.is_alphanumeric()).filter(|word| word.len() > 2).collect();
    let shares = |page: &&Page| words.iter().any(|word| page.name.split('-').any(|part| part == *word));
    let mut found: Vec<&Page> = slip.into_iter().collect();
    found.extend(
        pages::all().iter().filter(shares).filter(|page| Some(page.code) != slip.map(|slip| slip.code)),
    );
    found.truncate(MOST);
    found
}

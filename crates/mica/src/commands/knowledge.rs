//! `mica knowledge`: the references that the agent reads, for people and for other programs.

pub mod export;

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anyhow::{Result, anyhow};
use pack_mi::knowledge::{Hits, Index, Library, LookupError, Reference, RuntimeSpan, SearchLimits, Selected};
use serde_json::{Value, json};
use synapse_lang::model::Version;

use super::language::Said;
use crate::cli::language::{KnowledgeCommand, PlainForm};
use crate::exit::Exit;
use crate::render::page::render;
use crate::render::paint::{Paint, Style, clean};
use crate::sources;

/// Lists, shows, searches or writes references.
///
/// # Errors
/// When something is asked for that is not there, or a file cannot be written.
pub fn run(command: &KnowledgeCommand, paint: Paint) -> Result<Said> {
    match command {
        KnowledgeCommand::List { runtime, format } => {
            list(sources::runtime(runtime.as_deref())?, *format, paint)
        }
        KnowledgeCommand::Show { names, runtime } => {
            show(names, sources::runtime(runtime.as_deref())?, paint)
        }
        KnowledgeCommand::Search { query, limit, runtime, format } => {
            search(&query.join(" "), *limit, sources::runtime(runtime.as_deref())?, *format, paint)
        }
        KnowledgeCommand::Export { folder, force } => export::run(folder, *force),
    }
}

fn list(version: Option<Version>, form: PlainForm, paint: Paint) -> Result<Said> {
    let fits = |runtimes: RuntimeSpan| version.is_none_or(|version| runtimes.has(version));
    let shown = Library::builtin().references().iter().filter(|one| fits(one.runtimes));
    Ok(Said::done(match form {
        PlainForm::Json => {
            let listed: Vec<Value> = shown.map(as_json).collect();
            serde_json::to_string(&listed)? + "\n"
        }
        PlainForm::Text => {
            let mut out = String::new();
            let mut total = 0;
            for one in shown {
                let tokens = one.tokens();
                total += tokens;
                let needs = one.runtimes.words().map_or_else(String::new, |words| format!(", MI {words}"));
                let facts = paint.paint(Style::Dim, &format!("({tokens} tokens{needs})"));
                let _ =
                    writeln!(out, "{} {facts}\n    {}", paint.paint(Style::Bold, &one.name), one.description);
                let sections: Vec<&str> = one.sections.iter().map(|section| section.name.as_str()).collect();
                let _ = writeln!(out, "    {}", paint.paint(Style::Dim, &sections.join(" ")));
            }
            let _ = writeln!(out, "\n{total} tokens in all. `mica knowledge show NAME[:SECTION]` shows one.");
            out
        }
    }))
}

/// A reference for programs: what it is, without its text.
pub fn as_json(one: &Reference) -> Value {
    let sections: Vec<Value> = one
        .sections
        .iter()
        .map(|section| {
            json!({
                "name": section.name,
                "description": section.description,
                "tokens": section.tokens(),
                "minRuntime": section.runtimes.min.map(|version| version.to_string()),
                "maxRuntime": section.runtimes.max.map(|version| version.to_string()),
            })
        })
        .collect();
    json!({
        "name": one.name,
        "title": one.title,
        "description": one.description,
        "aliases": one.aliases,
        "tokens": one.tokens(),
        "minRuntime": one.runtimes.min.map(|version| version.to_string()),
        "maxRuntime": one.runtimes.max.map(|version| version.to_string()),
        "sections": sections,
    })
}

fn show(names: &[String], version: Option<Version>, paint: Paint) -> Result<Said> {
    let library = Library::builtin();
    let mut chosen: Vec<Selected<'_>> = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match library.select(name).map_err(|error| told(&error)).and_then(|one| fitting(one, version)) {
            Ok(one) => chosen.push(one),
            Err(error) => wrong.push(error),
        }
    }
    if !wrong.is_empty() {
        return Err(anyhow!("{}", wrong.join("\nmica: ")));
    }
    let markdown: Vec<String> =
        chosen.iter().map(|one| one.markdown().trim_end().to_owned() + "\n").collect();
    let markdown = markdown.join("\n");
    let people = std::io::stdout().is_terminal();
    Ok(Said::done(if people { render(&markdown, paint) } else { markdown }))
}

/// What was chosen, when it is true for the runtime.
fn fitting(one: Selected<'_>, version: Option<Version>) -> Result<Selected<'_>, String> {
    match version {
        Some(version) if !one.runtimes().has(version) => {
            Err(format!("`{one}` needs MI {}, not {version}", one.runtimes().words().unwrap_or_default()))
        }
        _ => Ok(one),
    }
}

/// Why something was not found, with what a person can do about it.
fn told(error: &LookupError) -> String {
    match error {
        LookupError::NoReference { .. } => {
            let stop = if error.to_string().ends_with('?') { "" } else { "." };
            format!("{error}{stop} `mica knowledge list` lists all")
        }
        _ => error.to_string(),
    }
}

fn search(
    query: &str,
    limit: usize,
    version: Option<Version>,
    form: PlainForm,
    paint: Paint,
) -> Result<Said> {
    if query.trim().is_empty() {
        return Err(anyhow!("there is nothing to search for; give identifiers, operators or words"));
    }
    let hits = Index::builtin().search(query, version, SearchLimits::of_hits(limit));
    let exit = if hits.hits.is_empty() { Exit::Error } else { Exit::Done };
    let out = match form {
        PlainForm::Json => serde_json::to_string(&found(query, &hits))? + "\n",
        PlainForm::Text => as_text(query, &hits, paint),
    };
    Ok(Said { out, err: String::new(), exit })
}

/// What a search found, for programs.
pub fn found(query: &str, hits: &Hits) -> Value {
    let listed: Vec<Value> = hits
        .hits
        .iter()
        .map(|hit| {
            json!({
                "selector": hit.selector(),
                "reference": hit.reference,
                "section": hit.section,
                "under": hit.under,
                "header": hit.header,
                "text": hit.text,
                "score": (hit.score * 100.0).round() / 100.0,
            })
        })
        .collect();
    json!({ "query": query, "hits": listed, "more": hits.more, "otherRuntimes": hits.other_runtimes })
}

fn as_text(query: &str, hits: &Hits, paint: Paint) -> String {
    if hits.hits.is_empty() {
        let others = if hits.other_runtimes > 0 {
            format!(" for that runtime; {} rows are about others", hits.other_runtimes)
        } else {
            String::new()
        };
        return format!("Nothing fits {:?}{others}.\n", clean(query));
    }
    let mut out = String::new();
    for hit in &hits.hits {
        let mut place = hit.selector();
        for heading in &hit.under {
            let _ = write!(place, " > {heading}");
        }
        let _ = writeln!(out, "{}", paint.paint(Style::Bold, &place));
        for line in hit.shown().lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    if hits.more > 0 {
        let _ = writeln!(
            out,
            "\n{}",
            paint.paint(Style::Dim, &format!("{} more rows fit less well.", hits.more))
        );
    }
    out
}

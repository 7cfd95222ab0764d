//! A new body for a mapping that is there, without losing what somebody mapped before.

use std::ops::Range;

use mica_script::outline::{Literal, Outline};
use mica_script::{ScriptError, outline};

use super::typescript::{FUNCTION, MappingFile, indented};

/// A mapping as it was given: the body of the function, the function, or a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// What goes between the braces.
    pub(crate) body: String,
    /// What else came with it: functions, tables and types, by name.
    pub(crate) helpers: Vec<(String, String)>,
}

/// Takes a mapping apart. Models put code into fences, and give more or less of a file.
pub(crate) fn given(text: &str) -> Result<Given, ScriptError> {
    let text = unfenced(text);
    if let Ok(whole) = outline(text, "mapping.ts")
        && let Some(function) = whole.functions.iter().find(|function| function.name == FUNCTION)
    {
        let helpers = named(&whole)
            .filter(|(name, _)| name != FUNCTION)
            .filter_map(|(name, at)| Some((name, text.get(at)?.to_owned())))
            .collect();
        return Ok(Given { body: text.get(function.body.clone()).unwrap_or_default().to_owned(), helpers });
    }
    // An object alone is what is returned.
    let body = match text.trim() {
        object
            if object.starts_with('{') && outline(&format!("const a = {object};"), "mapping.ts").is_ok() =>
        {
            format!("return {};", object.trim_end_matches(';'))
        }
        body => body.to_owned(),
    };
    Ok(Given { body, helpers: Vec::new() })
}

/// What a source has names for, and where.
fn named(outline: &Outline) -> impl Iterator<Item = (String, Range<usize>)> {
    let types = outline.types.iter().map(|one| (one.name.clone(), one.at.clone()));
    // Several names of one statement go together.
    let values = outline.values.iter().map(|one| (one.names.join(", "), one.at.clone()));
    let functions = outline.functions.iter().map(|one| (one.name.clone(), one.at.clone()));
    types.chain(values).chain(functions)
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(start) = text.find("```") else { return text };
    let inside = &text[start + 3..];
    let Some((_, code)) = inside.split_once('\n') else { return text };
    code.split("```").next().unwrap_or(code)
}

/// The file with another body, and helpers that it does not have yet.
pub(crate) fn with_body(source: &str, file: &MappingFile, given: &Given) -> String {
    let body = &file.function.body;
    let (before, after) =
        (source.get(..body.start).unwrap_or_default(), source.get(body.end..).unwrap_or_default());
    let mut text = format!("{before}\n{}\n{after}", indented(&given.body));
    let known: Vec<String> = outline(source, "mapping.ts")
        .map(|outline| named(&outline).map(|(name, _)| name).collect())
        .unwrap_or_default();
    for (_, helper) in given.helpers.iter().filter(|(name, _)| !known.contains(name)) {
        text = format!("{}\n\n{helper}\n", text.trim_end());
    }
    text
}

/// What happens to fields that are mapped now and would not be any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Protected {
    /// There are none.
    Nothing,
    /// They were put into the new mapping.
    Kept {
        /// The file.
        source: String,
        /// Their paths.
        fields: Vec<String>,
    },
    /// They cannot be put there.
    Lost {
        /// Their paths. Empty: nobody can say which.
        fields: Vec<String>,
    },
}

/// Keeps what is mapped now and the new mapping says nothing of.
pub(crate) fn protect(old: &str, old_file: &MappingFile, new: &str, new_file: &MappingFile) -> Protected {
    if is_untouched(old, old_file) {
        return Protected::Nothing;
    }
    let Some(was) = &old_file.function.returned else { return Protected::Lost { fields: Vec::new() } };
    let Some(is) = &new_file.function.returned else {
        // A mapping that is more than an object cannot be compared field by field.
        let fields = was.members.iter().map(|member| member.name.clone()).collect();
        return Protected::Lost { fields };
    };
    let mut dropped: Vec<Dropped<'_>> = Vec::new();
    compare(was, is, "", &mut dropped);
    if dropped.is_empty() {
        return Protected::Nothing;
    }
    let fields = dropped.iter().map(|one| one.path.clone()).collect();
    // What was mapped from variables of the old body would mean something else now.
    if old_file.function.statements > 1 {
        return Protected::Lost { fields };
    }
    let mut source = new.to_owned();
    let mut literals: Vec<&Literal> = Vec::new();
    for one in &dropped {
        if !literals.iter().any(|literal| literal.at == one.into.at) {
            literals.push(one.into);
        }
    }
    // From behind, so that places stay what they are.
    literals.sort_by_key(|literal| std::cmp::Reverse(end_of_members(literal)));
    for literal in literals {
        let members = dropped.iter().filter(|one| one.into.at == literal.at);
        let texts: Vec<&str> = members.filter_map(|one| old.get(one.at.clone())).collect();
        insert(&mut source, literal, &texts);
    }
    Protected::Kept { source, fields }
}

struct Dropped<'a> {
    path: String,
    at: std::ops::Range<usize>,
    into: &'a Literal,
}

fn compare<'a>(was: &Literal, is: &'a Literal, path: &str, dropped: &mut Vec<Dropped<'a>>) {
    // What is spread into it may well have the rest.
    if is.has_spread {
        return;
    }
    for member in &was.members {
        let here = if path.is_empty() { member.name.clone() } else { format!("{path}.{}", member.name) };
        match is.members.iter().find(|other| other.name == member.name) {
            None => dropped.push(Dropped { path: here, at: member.at.clone(), into: is }),
            Some(other) => {
                if let (Some(was), Some(is)) = (&member.inner, &other.inner) {
                    compare(was, is, &here, dropped);
                }
            }
        }
    }
}

/// Where the next member goes.
fn end_of_members(literal: &Literal) -> usize {
    literal.members.iter().map(|one| one.at.end).max().unwrap_or(literal.at.start + 1)
}

/// Puts members at the end of an object.
fn insert(source: &mut String, literal: &Literal, members: &[&str]) {
    let at = end_of_members(literal);
    let text = match literal.members.iter().map(|one| one.at.start).min() {
        Some(first) => {
            let line = source.get(..first).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
            let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            members.iter().map(|member| format!(",\n{indent}{member}")).collect()
        }
        None => format!("\n        {}\n    ", members.join(",\n        ")),
    };
    source.insert_str(at, &text);
}

/// Whether nobody has mapped anything yet.
pub(crate) fn is_untouched(source: &str, file: &MappingFile) -> bool {
    let body = source.get(file.function.body.clone()).unwrap_or_default();
    let plain: String = body.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
    matches!(plain.as_str(), "" | "return{}" | "return[]")
}

#[cfg(test)]
mod tests;

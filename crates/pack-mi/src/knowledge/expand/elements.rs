//! Tables of elements: their attributes, and their children with theirs.

use std::fmt::Write as _;

use synapse_lang::model::{Attribute, Child, Content, Element, Kind, Place, Refusal};

use super::catalogues::{does, place, value};
use super::{CannotFill, Table, model, unknown};

/// How deep children are followed. Deeper ones have tables of their own where they matter.
const DEPTH: usize = 3;

/// One table of an element. It is named as people name it (`log`, `http`), or by its id (`artifact.api`). With `own`
/// behind the name, the attributes of its children are left out.
pub(super) fn tables(asked: &str) -> Result<String, CannotFill> {
    let (name, depth) = asked.strip_suffix(" own").map_or((asked, DEPTH), |name| (name.trim(), 1));
    let element = find(name).ok_or_else(|| {
        let names = model().elements().flat_map(|one| [one.id.as_str(), one.name.as_str()]);
        unknown("element", name, names)
    })?;
    let mut out = String::new();
    let _ = write!(out, "`<{}>`: {}", element.name, element.summary);
    if let Some(since) = element.since {
        let _ = write!(out, " Since {since}.");
    }
    if let Some(until) = element.until {
        let _ = write!(out, " Gone in {until}.");
    }
    if let Some(legacy) = &element.legacy {
        let _ = write!(out, " Kept for old projects: {legacy}");
    }
    if let Some(notes) = &element.notes {
        let _ = write!(out, " {notes}");
    }
    out.push_str("\n\n");
    let mut table = Table::new(&["attribute or child", "value", "required or default", "what it does"]);
    let rows = rows(&mut table, element, "", depth);
    if rows > 0 {
        out.push_str(&table.finish());
        out.push('\n');
    }
    for rule in &element.rules {
        let _ = writeln!(out, "- Rule: {}.", rule.message().trim_end_matches('.'));
    }
    for mistake in &element.mistakes {
        let right = mistake.right.as_ref().map_or_else(String::new, |right| format!(", write `{right}`"));
        let _ = writeln!(out, "- Not `{}`{right}: {}", mistake.wrong, mistake.note);
    }
    Ok(out)
}

fn find(name: &str) -> Option<&'static Element> {
    let model = model();
    let artifact = || model.elements().find(|one| one.kind == Kind::Artifact && one.name == name);
    let endpoint = || model.elements().find(|one| one.kind == Kind::Endpoint && one.name == name);
    model.element(name).or_else(|| model.mediator(name)).or_else(artifact).or_else(endpoint)
}

/// Rows of an element's attributes and children; `path` is how the children are written.
fn rows(table: &mut Table, element: &Element, path: &str, depth: usize) -> usize {
    let mut count = 0;
    for one in &element.attributes {
        let mut name = format!("`{path}@{}`", one.name);
        versions(&mut name, one);
        let mut takes = if one.place == Place::Literal || one.place == Place::Value {
            value(&one.value, one.unit)
        } else {
            place(one.place).to_owned()
        };
        if one.place == Place::Value {
            let _ = write!(takes, "; {}", place(one.place));
        }
        refused(&mut takes, one.refuses.as_ref());
        for newer in &one.newer {
            let _ = write!(takes, "; `{}` since {}", newer.value, newer.since);
        }
        if let Some(class) = one.wrong {
            let _ = write!(takes, "; else {}", does(class));
        }
        let need = match (one.required, &one.default) {
            (Some(class), _) => format!("**required** ({})", does(class)),
            (None, Some(default)) => format!("= `{default}`"),
            (None, None) => String::new(),
        };
        let notes = one.notes.as_deref().unwrap_or_default();
        table.row(&[name, takes, need, format!("{} {notes}", one.summary)]);
        count += 1;
    }
    for (child, part) in model().parts(element) {
        let inner = format!("{path}{}/", part.name);
        table.row(&[format!("`{path}{}`", part.name), content(part), number(child), part.summary.clone()]);
        count += 1;
        let own = part.kind == Kind::Part && part.id != element.id;
        if own && depth > 1 {
            count += rows(table, part, &inner, depth - 1);
        }
    }
    count
}

fn versions(name: &mut String, attribute: &Attribute) {
    if let Some(since) = attribute.since {
        let _ = write!(name, " since {since}");
    }
    if let Some(until) = attribute.until {
        let _ = write!(name, " gone in {until}");
    }
}

fn refused(takes: &mut String, refusal: Option<&Refusal>) {
    if let Some(refusal) = refusal {
        let _ = write!(takes, "; `${{…}}`: {}, {}", does(refusal.class), refusal.reason);
    }
}

/// What stands inside an element, in a few words.
fn content(part: &Element) -> String {
    let mut out = match &part.content {
        Content::Empty => "empty",
        Content::Parts => "children",
        Content::Mediators | Content::MediatorsUnless(_) => "mediators",
        Content::Text | Content::Mixed => "text",
        Content::Markup => "XML",
        Content::Parameters => "parameters",
    }
    .to_owned();
    if let Some(text) = &part.text {
        if text.place == Place::Literal {
            out = value(&text.value, text.unit);
        } else {
            let _ = write!(out, ": {}", place(text.place));
        }
        refused(&mut out, text.refuses.as_ref());
    }
    if let Some(since) = part.since {
        let _ = write!(out, "; since {since}");
    }
    out
}

/// How often a child stands there.
fn number(child: &Child) -> String {
    let least = if child.min > 0 && child.when.is_none() {
        format!("**required** ({})", does(child.missing))
    } else {
        String::new()
    };
    match child.max {
        None if least.is_empty() => "any number".to_owned(),
        None => format!("{least}, any number"),
        Some(_) => least,
    }
}

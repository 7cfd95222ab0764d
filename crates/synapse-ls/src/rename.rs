//! Renaming, everywhere at once, or not at all.
//!
//! What cannot be renamed is refused with the reason. A file that carries the name of its artifact is renamed too,
//! when the client can do that.

use std::collections::{BTreeMap, HashMap};

use gen_lsp_types::{PrepareRenamePlaceholder, TextEdit, Uri};
use serde_json::{Value, json};
use synapse_lang::expr::lexer::{TokenKind, lex};
use synapse_lang::model::RefKind;
use synapse_lang::text::Span;

use crate::rpc::Refused;
use crate::target::{self, Site, Target};
use crate::uri;
use crate::view::View;

/// Whether what a place names can be renamed: where the name stands, and what it is.
pub(crate) fn prepare(view: &View<'_>, offset: u32) -> Result<PrepareRenamePlaceholder, Refused> {
    let (target, span) = renamable(view, offset)?;
    let placeholder = match target {
        Target::Artifact(_, name)
        | Target::Variable(name)
        | Target::Parameter { name, .. }
        | Target::File(name)
        | Target::Foreign(_, name) => name,
    };
    Ok(PrepareRenamePlaceholder { range: view.range(span), placeholder })
}

fn renamable(view: &View<'_>, offset: u32) -> Result<(Target, Span), Refused> {
    use RefKind as R;
    let refused = |reason: &str| Err(Refused::failed(reason));
    let Some(found) = target::at(view, offset) else {
        return refused(
            "nothing here has a name that can be changed: put the cursor on the name of an artifact, a variable or a template's parameter",
        );
    };
    let across_files = !matches!(found.0, Target::Variable(_));
    if across_files && !view.ready {
        return refused("the project is still being read: try again in a moment");
    }
    match &found.0 {
        Target::Variable(_) | Target::Parameter { .. } => {}
        Target::Artifact(R::Sequence, name) if matches!(name.as_str(), "main" | "fault") => {
            return refused("the runtime finds this sequence by its name: main and fault cannot be renamed");
        }
        Target::Artifact(
            kind @ (R::Sequence
            | R::Endpoint
            | R::Template
            | R::EndpointTemplate
            | R::LocalEntry
            | R::Connection
            | R::MessageStore),
            name,
        ) => {
            if name.contains(':') {
                return refused("this is a key of the registry: rename the file and its descriptor instead");
            }
            if view.project.definitions(*kind, name).next().is_none() {
                return refused(&format!("{name} is not defined in this project"));
            }
        }
        Target::Artifact(..) => {
            return refused("clients and settings outside of the project know this name: change it by hand");
        }
        Target::File(_) => return refused("this names a file: rename the file instead"),
        Target::Foreign(RefKind::Class, _) => {
            return refused("this names a Java class: rename it in its own project");
        }
        Target::Foreign(..) => {
            return refused("properties are read in many ways that cannot all be seen: change them by hand");
        }
    }
    Ok(found)
}

/// The edits that give a new name to what a place names.
pub(crate) fn rename(
    view: &View<'_>,
    offset: u32,
    new: &str,
    versions: &HashMap<String, i32>,
) -> Result<Value, Refused> {
    let (target, _) = renamable(view, offset)?;
    let new = new.trim();
    judge(view, &target, new)?;
    let mut sites = target::sites(view, &target);
    let mut files = Vec::new();
    if let Target::Artifact(kind, old) = &target {
        if *kind == RefKind::Connection {
            sites.extend(init_names(view, old));
        }
        if view.client.renames_files {
            files = renamed_files(view, *kind, old, new);
        }
    }
    let mut edits: BTreeMap<String, Vec<(Span, String)>> = BTreeMap::new();
    for site in sites {
        edits.entry(site.path).or_default().push((site.span, new.to_owned()));
    }
    for (from, to) in &files {
        // Tests name artifacts by their files.
        for site in target::sites(view, &Target::File(from.clone())) {
            let slash = if view
                .project
                .file(&site.path)
                .is_some_and(|file| site.span.of(file.document().source()).starts_with('/'))
            {
                "/"
            } else {
                ""
            };
            edits.entry(site.path).or_default().push((site.span, format!("{slash}{to}")));
        }
    }
    let edits = edits.into_iter().map(|(path, list)| {
        let list: Vec<TextEdit> = list
            .into_iter()
            .map(|(span, new_text)| TextEdit { range: view.range_in(&path, span), new_text })
            .collect();
        (view.uri_of(&path), list)
    });
    let mut edit = workspace_edit(view, edits.collect(), versions);
    if let Some(root) = view.root
        && let Some(changes) = edit.get_mut("documentChanges").and_then(Value::as_array_mut)
    {
        for (from, to) in files {
            let (from, to) = (uri::of(&root.join(from)), uri::of(&root.join(to)));
            changes.push(json!({ "kind": "rename", "oldUri": from, "newUri": to }));
        }
    }
    Ok(edit)
}

/// Whether a name may be given.
fn judge(view: &View<'_>, target: &Target, new: &str) -> Result<(), Refused> {
    if new.is_empty() {
        return Err(Refused::failed("a name must not be empty"));
    }
    match target {
        Target::Variable(old) | Target::Parameter { name: old, .. } => {
            let tokens = lex(new).tokens;
            let plain = matches!(tokens.as_slice(), [one] if one.kind == TokenKind::Identifier && one.span.of(new) == new);
            if !plain {
                return Err(Refused::failed(format!(
                    "{new:?} cannot be written after a dot in an expression: use letters, digits, _ and -, and no word of the language"
                )));
            }
            let renamed = match target {
                Target::Parameter { template, .. } => {
                    Target::Parameter { template: template.clone(), name: new.to_owned() }
                }
                _ => Target::Variable(new.to_owned()),
            };
            if new != old && !target::sites(view, &renamed).is_empty() {
                return Err(Refused::failed(format!(
                    "{new} is in use already: the two could not be told apart"
                )));
            }
        }
        Target::Artifact(kind, old) => {
            let bad = |c: char| c.is_control() || "<>&\"'{}$\\/:*?|,".contains(c);
            if let Some(sign) = new.chars().find(|c| bad(*c)) {
                return Err(Refused::failed(format!("{sign:?} cannot be in the name of an artifact")));
            }
            if new != old && view.project.definitions(*kind, new).next().is_some() {
                return Err(Refused::failed(format!("{new} exists already in this project")));
            }
        }
        Target::File(_) | Target::Foreign(..) => {}
    }
    Ok(())
}

/// A connection says its name a second time, in its init operation.
fn init_names(view: &View<'_>, name: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    for (path, definition) in view.project.definitions(RefKind::Connection, name) {
        let Some(file) = view.project.file(path) else { continue };
        let Some(entry) = file.document().node_at(definition.name_span.start).element else { continue };
        for init in entry.elements().filter(|child| child.local().ends_with(".init")) {
            if let Some(own) = init.first("name").filter(|own| own.text() == name)
                && let Some(span) = own.content_span()
            {
                sites.push(Site { path: path.to_owned(), span, write: true });
            }
        }
    }
    sites
}

/// The files that carry the name of the artifact that they define, with their new paths.
fn renamed_files(view: &View<'_>, kind: RefKind, old: &str, new: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    if view.root.is_none() || old == new {
        return files;
    }
    for (path, _) in view.project.definitions(kind, old) {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        if let Some((stem, extension)) = name.rsplit_once('.')
            && stem == old
        {
            let separator = if folder.is_empty() { "" } else { "/" };
            let to = format!("{folder}{separator}{new}.{extension}");
            if !view.project.has_file(&to) {
                files.push((path.to_owned(), to));
            }
        }
    }
    files
}

/// Edits of several documents in the form that the client takes.
pub(crate) fn workspace_edit(
    view: &View<'_>,
    edits: Vec<(Uri, Vec<TextEdit>)>,
    versions: &HashMap<String, i32>,
) -> Value {
    if view.client.document_changes {
        let changes: Vec<Value> = edits
            .into_iter()
            .map(|(uri, edits)| {
                let version = versions.get(uri.as_ref());
                json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits })
            })
            .collect();
        json!({ "documentChanges": changes })
    } else {
        let changes: serde_json::Map<String, Value> =
            edits.into_iter().map(|(uri, edits)| (uri.0, json!(edits))).collect();
        json!({ "changes": changes })
    }
}

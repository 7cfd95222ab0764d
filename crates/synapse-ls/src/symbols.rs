//! Outlines of documents, and the artifacts of the workspace by name.

use std::path::Path;

use gen_lsp_types::{BaseSymbolInformation, DocumentSymbol, Location, SymbolInformation, SymbolKind, Uri};
use serde_json::Value;
use synapse_lang::model::RefKind;
use synapse_lang::outline::{Item, ItemKind, outline};
use synapse_lang::text::Unit;

use crate::dispatch::Answer;
use crate::folder::Shared;
use crate::view::View;
use crate::{hover, places, uri};

/// Trees are no deeper: they are written and read by recursion, by the client too.
const DEEPEST: usize = 60;
/// More than anybody scrolls through.
const MOST: usize = 500;

/// The outline of a document, as a tree where the client takes one.
pub(crate) fn of_document(view: &View<'_>) -> Answer {
    let items = outline(view.document);
    let answer = if view.client.symbol_trees {
        serde_json::to_value(tree(view, &items))
    } else {
        serde_json::to_value(list(view, &items))
    };
    Ok(answer.unwrap_or(Value::Null))
}

fn list(view: &View<'_>, items: &[Item]) -> Vec<SymbolInformation> {
    let one = |item: &Item| {
        let location = Location { uri: view.uri.clone(), range: view.range(item.span) };
        information(item.label.clone(), symbol_kind(item.kind), location, None)
    };
    items.iter().map(one).collect()
}

fn information(
    name: String,
    kind: SymbolKind,
    location: Location,
    container: Option<String>,
) -> SymbolInformation {
    let base_symbol_information = BaseSymbolInformation { name, kind, tags: None, container_name: container };
    #[allow(deprecated, reason = "the field exists, and is left empty")]
    SymbolInformation { deprecated: None, location, base_symbol_information }
}

fn tree(view: &View<'_>, items: &[Item]) -> Vec<DocumentSymbol> {
    // From the last to the first: the entries that wait at a depth are the children of the next one above.
    let mut waiting: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); DEEPEST + 2];
    for item in items.iter().rev() {
        let depth = item.depth.min(DEEPEST);
        let below = if item.depth < DEEPEST { waiting.get_mut(depth + 1).map(std::mem::take) } else { None };
        let mut children = below.unwrap_or_default();
        children.reverse();
        let (range, selected) = (view.range(item.span), view.range(item.name_span));
        let children = (!children.is_empty()).then_some(children);
        let symbol = DocumentSymbol::new(
            item.label.clone(),
            None,
            symbol_kind(item.kind),
            None,
            None,
            range,
            selected,
            children,
        );
        if let Some(list) = waiting.get_mut(depth) {
            list.push(symbol);
        }
    }
    let mut roots = waiting.into_iter().next().unwrap_or_default();
    roots.reverse();
    roots
}

const fn symbol_kind(kind: ItemKind) -> SymbolKind {
    match kind {
        ItemKind::Artifact => SymbolKind::Class,
        ItemKind::Flow => SymbolKind::Method,
        ItemKind::Step => SymbolKind::Function,
        ItemKind::Operation => SymbolKind::Event,
        ItemKind::Endpoint => SymbolKind::Interface,
        ItemKind::Part => SymbolKind::Property,
    }
}

/// The artifacts whose names have the letters of a query in its order.
pub(crate) fn of_workspace<'a>(
    folders: impl Iterator<Item = (&'a Path, &'a Shared)>,
    query: &str,
    unit: Unit,
) -> Vec<SymbolInformation> {
    let mut found = Vec::new();
    for (root, shared) in folders {
        let project = shared.read();
        for (path, file) in project.files() {
            for one in file.definitions().iter().filter(|one| matches(query, &one.name)) {
                let uri: Uri = uri::of(&root.join(path));
                let range = places::range(file.document(), one.name_span, unit);
                let container = Some(hover::kind_word(one.kind).to_owned());
                let kind = match one.kind {
                    RefKind::Sequence | RefKind::Template => SymbolKind::Method,
                    RefKind::Endpoint | RefKind::EndpointTemplate => SymbolKind::Interface,
                    RefKind::LocalEntry | RefKind::Connection => SymbolKind::Constant,
                    _ => SymbolKind::Class,
                };
                found.push(information(one.name.clone(), kind, Location { uri, range }, container));
            }
        }
    }
    // The shortest name that fits is the most likely one.
    found.sort_by_key(|one| one.base_symbol_information.name.len());
    found.truncate(MOST);
    found
}

fn matches(query: &str, name: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_of_a_query_are_found_in_their_order() {
        for (query, name, expected) in [
            ("", "a", true),
            ("os", "OrderService", true),
            ("so", "OrderService", false),
            ("xyz", "x", false),
        ] {
            assert_eq!(super::matches(query, name), expected, "{query} {name}");
        }
    }
}

//! Attributes that an element does not have yet.

use gen_lsp_types::{CompletionItem, CompletionItemKind};
use synapse_lang::check::walk::Role;
use synapse_lang::model::Model;
use synapse_lang::syntax::{Attribute, Element};
use synapse_lang::text::Span;

use super::Item;
use crate::prose;
use crate::view::View;

/// The attributes for a place in a start tag; `typed` is the one whose name is being typed.
pub(super) fn complete(
    view: &View<'_>,
    element: Element<'_>,
    span: Span,
    typed: Option<Attribute<'_>>,
) -> Vec<CompletionItem> {
    let tree = view.tree();
    let Some(placed) = tree.entry(element) else { return Vec::new() };
    let absent = |name: &str| {
        !element.attributes().any(|attribute| attribute.name() == name && Some(attribute) != typed)
    };
    // An attribute that has a value already gets a name and nothing else.
    let bare = typed.is_none_or(|attribute| !attribute.has_value());
    let finished = |item: Item<'_>, name: &str| {
        if bare { item.snippet(format!("{name}=\"$1\"")).done() } else { item.text(name.to_owned()).done() }
    };
    let mut items = Vec::new();
    if let Some(definition) = placed.definition {
        let known = Model::get().attributes(definition);
        for one in known.filter(|one| absent(&one.name) && view.runtime().has(one.since, one.until)) {
            let rank = match (&one.required, one.name.as_str()) {
                (Some(_), _) => 1,
                (None, "description") => 3,
                (None, _) => 2,
            };
            let item = Item::new(view, &one.name, CompletionItemKind::Property, span)
                .detail(one.value.to_string())
                .documentation(prose::attribute(one, element.local()))
                .rank(rank);
            items.push(finished(item, &one.name));
        }
    } else if placed.role == Role::Operation {
        for rule in Model::get().connector_rules() {
            if let Some(name) = rule.name.strip_prefix('@').filter(|name| absent(name)) {
                let item = Item::new(view, name, CompletionItemKind::Property, span)
                    .detail(rule.value.to_string())
                    .documentation(rule.summary.clone())
                    .rank(2);
                items.push(finished(item, name));
            }
        }
    }
    items
}

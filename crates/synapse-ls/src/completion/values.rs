//! Values of attributes and texts: closed sets, names of the project, well-known names.

use std::collections::BTreeSet;

use gen_lsp_types::{CompletionItem, CompletionItemKind};
use synapse_lang::check::walk::Role;
use synapse_lang::model::{Model, Place, RefKind, ValueType};
use synapse_lang::syntax::{Attribute, Element, escape_attribute};
use synapse_lang::text::Span;

use super::{Item, escaped, parameters_of};
use crate::target;
use crate::view::View;
use crate::{hover, prose};

/// Names of HTTP headers.
pub(super) fn headers() -> impl Iterator<Item = &'static str> {
    include_str!("../../data/headers.txt").lines()
}

/// The values of an attribute.
pub(super) fn of_attribute(view: &View<'_>, attribute: Attribute<'_>, offset: u32) -> Vec<CompletionItem> {
    let element = attribute.element();
    let tree = view.tree();
    let Some(placed) = tree.entry(element) else { return Vec::new() };
    let span = attribute.value_span();
    let quote = attribute.quote().unwrap_or('"');
    if let Some(items) = special(view, element, attribute, span) {
        return items;
    }
    let Some(known) = placed.definition.and_then(|one| Model::get().attribute(one, attribute.name())) else {
        if placed.role == Role::Operation && attribute.name() == "configKey" {
            return names(view, RefKind::Connection, span, Some(quote));
        }
        return Vec::new();
    };
    let mut items = suggestions(view, &known.value, span, offset);
    if let Some(kind) = known.reference {
        items.extend(names(view, kind, span, Some(quote)));
    }
    if known.refuses.is_none() {
        items.extend(wrapper(view, known.place, span));
    }
    items
}

/// The texts of an element.
pub(super) fn of_text(view: &View<'_>, element: Option<Element<'_>>, offset: u32) -> Vec<CompletionItem> {
    let tree = view.tree();
    let Some(placed) = element.and_then(|element| tree.entry(element)) else { return Vec::new() };
    if placed.element.has_element_children() {
        return Vec::new();
    }
    let content = placed.element.content_span().unwrap_or(Span::at(offset));
    let text = content.of(view.document.source());
    let start = content.start + u32::try_from(text.len() - text.trim_start().len()).unwrap_or(0);
    let span = if text.trim().is_empty() {
        Span::at(offset)
    } else {
        Span::new(start, start + u32::try_from(text.trim().len()).unwrap_or(0))
    };
    if placed.role == Role::Parameter {
        return wrapper(view, Place::Value, span).into_iter().collect();
    }
    let Some(known) = placed.definition.and_then(|definition| definition.text.as_ref()) else {
        return Vec::new();
    };
    let mut items = suggestions(view, &known.value, span, offset);
    if let Some(kind) = known.reference {
        items.extend(names(view, kind, span, None));
    }
    if known.refuses.is_none() {
        let span = if known.place == Place::Template { Span::at(offset) } else { span };
        items.extend(wrapper(view, known.place, span));
    }
    items
}

/// Names that depend on what stands around: parameters, properties, headers.
fn special(
    view: &View<'_>,
    element: Element<'_>,
    attribute: Attribute<'_>,
    span: Span,
) -> Option<Vec<CompletionItem>> {
    if attribute.name() != "name" {
        return None;
    }
    let scope = element.value("scope").map(|scope| scope.trim().to_owned());
    match element.local() {
        "with-param" => {
            let call = element.parent()?;
            let template = call.value("target")?.trim().to_owned();
            let given = |name: &str| {
                let mut others = call.elements().filter(|one| *one != element && one.local() == "with-param");
                others.any(|one| one.value("name").as_deref() == Some(name))
            };
            let definitions = view.project.definitions(RefKind::Template, &template);
            let parameters = definitions.flat_map(|(_, definition)| definition.parameters.iter());
            let items = parameters.filter(|one| !given(&one.name)).map(|one| {
                let detail = if one.mandatory { "mandatory" } else { "optional" };
                Item::new(view, &one.name, CompletionItemKind::Field, span)
                    .detail(detail)
                    .rank(if one.mandatory { 1 } else { 2 })
                    .done()
            });
            Some(items.collect())
        }
        "parameter" => {
            let artifact = element.ancestors().last()?;
            let parameters = parameters_of(artifact);
            let item = |one: &&synapse_lang::model::Parameter| {
                Item::new(view, &one.name, CompletionItemKind::Field, span)
                    .detail(one.value.to_string())
                    .documentation(prose::parameter(one))
                    .rank(if one.required.is_some() { 1 } else { 2 })
                    .done()
            };
            (!parameters.is_empty()).then(|| parameters.iter().map(item).collect())
        }
        "property" if element.parent().is_some_and(|parent| parent.local() == "log") => None,
        "property" if scope.as_deref() == Some("transport") => Some(header_names(view, span)),
        "property" => {
            let mut items: Vec<CompletionItem> = Vec::new();
            let mut seen = BTreeSet::new();
            let known = Model::get().properties().iter().filter(|one| !one.prefix);
            for one in known.filter(|one| scope.as_deref().is_none_or(|scope| scope == one.scope)) {
                if seen.insert(one.name.as_str()) {
                    items.push(
                        Item::new(view, &one.name, CompletionItemKind::Constant, span)
                            .detail(format!("scope {}", one.scope))
                            .documentation(prose::property(one))
                            .rank(2)
                            .done(),
                    );
                }
            }
            let own =
                view.file.references().iter().filter(|one| one.kind == RefKind::Property && one.span != span);
            for one in own {
                if seen.insert(one.name.as_str()) {
                    items.push(Item::new(view, &one.name, CompletionItemKind::Variable, span).rank(1).done());
                }
            }
            Some(items)
        }
        "header" => Some(header_names(view, span)),
        _ => None,
    }
}

fn header_names(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    headers()
        .map(|name| Item::new(view, name, CompletionItemKind::Constant, span).detail("header").rank(2).done())
        .collect()
}

fn suggestions(view: &View<'_>, kind: &ValueType, span: Span, offset: u32) -> Vec<CompletionItem> {
    // Of a list of words, the one at the cursor is replaced.
    let span = if matches!(kind, ValueType::Words(_)) {
        let text = view.document.source();
        let before = Span::new(span.start, offset).of(text);
        let after = Span::new(offset, span.end).of(text);
        let start =
            before.rfind(' ').map_or(span.start, |at| span.start + u32::try_from(at).unwrap_or(0) + 1);
        let end = after.find(' ').map_or(span.end, |at| offset + u32::try_from(at).unwrap_or(0));
        Span::new(start, end)
    } else {
        span
    };
    let item = |value: &&str| Item::new(view, value, CompletionItemKind::EnumMember, span).rank(1).done();
    kind.suggestions().iter().map(item).collect()
}

/// The names of a kind in the project.
fn names(view: &View<'_>, kind: RefKind, span: Span, quote: Option<char>) -> Vec<CompletionItem> {
    let mut found: BTreeSet<(String, &'static str)> = BTreeSet::new();
    for defined in target::definition_kinds(kind) {
        let word = hover::kind_word(*defined);
        found.extend(view.project.names(*defined).map(|name| (name.to_owned(), word)));
    }
    match kind {
        RefKind::Resource => found.extend(target::registry_keys(view.project).map(|key| (key, "Registry"))),
        RefKind::Variable | RefKind::Property => {
            let word = hover::kind_word(kind);
            let own = view.file.references().iter().filter(|one| one.kind == kind && one.span != span);
            found.extend(own.map(|one| (one.name.clone(), word)));
        }
        RefKind::File => {
            let files = view.project.files().map(|(path, _)| path).filter(|path| *path != view.path);
            found.extend(files.map(|path| (path.to_owned(), "File")));
        }
        _ => {}
    }
    let item = |(name, word): (String, &'static str)| {
        let text = quote.map_or_else(|| name.clone(), |quote| escape_attribute(&name, quote).into_owned());
        Item::new(view, &name, CompletionItemKind::Reference, span).detail(word).text(text).rank(1).done()
    };
    found.into_iter().map(item).collect()
}

/// The braces of an expression, in the form that the place takes.
fn wrapper(view: &View<'_>, place: Place, span: Span) -> Option<CompletionItem> {
    if view.runtime() < synapse_lang::model::Version::EXPRESSIONS {
        return None;
    }
    let (label, snippet) = match place {
        Place::Path | Place::Template => ("${\u{2026}}", format!("{}$1{}", escaped("${"), escaped("}"))),
        Place::Value => ("{${\u{2026}}}", format!("{}$1{}", escaped("{${"), escaped("}}"))),
        Place::XPath | Place::Query | Place::Literal | Place::Resolved => return None,
    };
    let filter = view.document.source().get(std::ops::Range::from(span)).unwrap_or_default();
    let filter = if filter.is_empty() { "${".to_owned() } else { filter.to_owned() };
    let item = Item::new(view, label, CompletionItemKind::Snippet, span).detail("an expression");
    Some(item.snippet(snippet).filter(filter).rank(3).done())
}

//! Elements: those that may stand at a place, and end tags.

use gen_lsp_types::{CompletionItem, CompletionItemKind};
use synapse_lang::model::{self, Content, Kind, Model, Namespace, SYNAPSE_NAMESPACE};
use synapse_lang::syntax::{Element, Node};
use synapse_lang::text::Span;

use super::Item;
use crate::prose;
use crate::view::View;

/// The elements that could have the name that is being typed in a start tag.
pub(super) fn named(view: &View<'_>, element: Element<'_>, span: Span) -> Vec<CompletionItem> {
    // A tag that goes on already gets a name and nothing else.
    let fresh = element.attributes().next().is_none() && !element.has_complete_tag();
    offered(view, element.parent(), Some(element))
        .into_iter()
        .map(|offer| {
            let item = offer.item(view, span);
            if fresh { item.snippet(offer.tag()) } else { item.text(offer.name.clone()) }
        })
        .map(Item::done)
        .collect()
}

/// The elements that could stand between tags, with their brackets.
pub(super) fn inside(view: &View<'_>, parent: Option<Element<'_>>, offset: u32) -> Vec<CompletionItem> {
    let source = view.document.source();
    let before = source.get(..offset as usize).unwrap_or_default();
    let word =
        before.len() - before.trim_end_matches(|c: char| c.is_alphanumeric() || "_-.".contains(c)).len();
    let span = Span::new(offset - u32::try_from(word).unwrap_or(0), offset);
    offered(view, parent, None)
        .into_iter()
        .map(|offer| {
            offer.item(view, span).snippet(format!("<{}", offer.tag())).filter(offer.name.clone()).done()
        })
        .collect()
}

/// The end tag of the innermost element that is open at a place.
pub(super) fn close(view: &View<'_>, start: u32, offset: u32) -> Vec<CompletionItem> {
    let place = view.document.node_at(start.saturating_sub(2));
    let around = place.element.into_iter().flat_map(|one| std::iter::once(one).chain(one.ancestors()));
    let mut around =
        around.filter(|one| !one.name().is_empty() && one.open_span().end <= start.saturating_sub(2));
    let Some(element) = around.next() else { return Vec::new() };
    let source = view.document.source();
    let rest = source.get(offset as usize..).unwrap_or_default();
    let tail =
        rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.:".contains(c)).len();
    let end = offset + u32::try_from(tail).unwrap_or(0);
    let closed = source.get(end as usize..).is_some_and(|after| after.starts_with('>'));
    let name = element.name();
    let text = if closed { name.to_owned() } else { format!("{name}>") };
    let span = Span::new(start, end);
    vec![Item::new(view, name, CompletionItemKind::Struct, span).detail("end tag").text(text).done()]
}

/// An element that may stand at a place.
struct Offer {
    definition: &'static model::Element,
    /// Its name, with the prefix that its parent has.
    name: String,
    rank: u8,
    /// What a root needs besides its required attributes.
    declares: bool,
}

impl Offer {
    fn item<'a>(&self, view: &'a View<'a>, span: Span) -> Item<'a> {
        let definition = self.definition;
        let kind = match definition.kind {
            Kind::Artifact => CompletionItemKind::Class,
            Kind::Mediator => CompletionItemKind::Function,
            Kind::Endpoint => CompletionItemKind::Interface,
            Kind::Part => CompletionItemKind::Field,
        };
        Item::new(view, &self.name, kind, span)
            .detail(definition.summary.clone())
            .documentation(prose::element(definition))
            .deprecated(definition.legacy.is_some())
            .rank(self.rank)
    }

    /// The element from its name on, with places to fill in for what it must have.
    fn tag(&self) -> String {
        let definition = self.definition;
        let mut tag = self.name.clone();
        if self.declares && definition.namespace == Namespace::Synapse {
            tag.push_str(&format!(" xmlns=\"{SYNAPSE_NAMESPACE}\""));
        }
        let required = definition.attributes.iter().filter(|attribute| attribute.required.is_some());
        for (index, attribute) in required.enumerate() {
            tag.push_str(&format!(" {}=\"${}\"", attribute.name, index + 1));
        }
        let has_inside = match definition.content {
            Content::Empty | Content::Markup => false,
            Content::Mediators | Content::MediatorsUnless(_) | Content::Text | Content::Parameters => true,
            Content::Parts | Content::Mixed => !definition.children.is_empty() || definition.text.is_some(),
        };
        if has_inside {
            tag.push_str(&format!(">$0</{}>", self.name));
        } else {
            tag.push_str("/>$0");
        }
        tag
    }
}

/// The elements that may stand in a parent, at the root without one.
fn offered(view: &View<'_>, parent: Option<Element<'_>>, typed: Option<Element<'_>>) -> Vec<Offer> {
    let (model, runtime) = (Model::get(), view.runtime());
    let exists = |one: &model::Element| runtime.has(one.since, one.until);
    let offer = |definition: &'static model::Element, prefix: Option<&str>, rank: u8, declares: bool| Offer {
        definition,
        name: prefix
            .map_or_else(|| definition.name.clone(), |prefix| format!("{prefix}:{}", definition.name)),
        rank: if definition.legacy.is_some() { 8 } else { rank },
        declares,
    };
    let Some(parent) = parent else {
        // A document has one root.
        let other = view.document.top_level().filter_map(Node::as_element).any(|one| Some(one) != typed);
        if other {
            return Vec::new();
        }
        return model.artifacts().filter(|one| exists(one)).map(|one| offer(one, None, 1, true)).collect();
    };
    let tree = view.tree();
    let Some(definition) = tree.entry(parent).and_then(|placed| placed.definition) else { return Vec::new() };
    let prefix = parent.prefix();
    let count =
        |name: &str| parent.elements().filter(|one| one.local() == name && Some(*one) != typed).count();
    let mut offers: Vec<Offer> = Vec::new();
    let steps = definition.takes_mediators(|name| count(name) > 0);
    for (child, part) in model.parts(definition) {
        let room = child.max.is_none_or(|max| count(&part.name) < usize::from(max));
        if room && exists(part) {
            offers.push(offer(part, prefix, if child.min > 0 { 1 } else { 2 }, false));
        }
    }
    if steps {
        for mediator in model.mediators().filter(|one| exists(one)) {
            if !offers.iter().any(|offer| offer.definition.name == mediator.name) {
                offers.push(offer(mediator, prefix, 3, false));
            }
        }
    }
    offers
}

//! What could be typed at a place.
//!
//! Every item replaces exactly the word that is being typed, so that clients need not guess what a word is.

mod attributes;
mod elements;
mod expression;
mod values;

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTag, CompletionItemTextEdit, CompletionList,
    Documentation, InsertTextFormat, TextEdit,
};
use synapse_lang::model::{Model, Parameter};
use synapse_lang::syntax::{Element, Spot};
use synapse_lang::text::Span;

use crate::view::View;
use crate::{lookups, prose};

/// The items for a place.
pub(crate) fn complete(view: &View<'_>, offset: u32) -> CompletionList {
    let items = items(view, offset);
    CompletionList { is_incomplete: false, item_defaults: None, apply_kind: None, items }
}

fn items(view: &View<'_>, offset: u32) -> Vec<CompletionItem> {
    if let Some(typed) = lookups::typed(view.document, offset) {
        return expression::complete(view, offset, &typed);
    }
    if let Some(start) = closing(view.document.source(), offset) {
        return elements::close(view, start, offset);
    }
    let place = view.document.node_at(offset);
    match place.spot {
        Spot::ElementName => match place.element {
            Some(element) => elements::named(view, element, place.span),
            None => Vec::new(),
        },
        Spot::AttributeName(attribute) => {
            attributes::complete(view, attribute.element(), place.span, Some(attribute))
        }
        Spot::TagSpace => match place.element {
            Some(element) => attributes::complete(view, element, Span::at(offset), None),
            None => Vec::new(),
        },
        Spot::AttributeValue(attribute) => values::of_attribute(view, attribute, offset),
        Spot::Text(_) | Spot::CData(_) | Spot::Content => {
            let mut items = values::of_text(view, place.element, offset);
            if !matches!(place.spot, Spot::CData(_)) {
                items.extend(elements::inside(view, place.element, offset));
            }
            items
        }
        _ => Vec::new(),
    }
}

/// Where the name of an end tag that is being typed begins.
fn closing(source: &str, offset: u32) -> Option<u32> {
    let before = source.get(..offset as usize)?;
    let name =
        before.len() - before.trim_end_matches(|c: char| c.is_alphanumeric() || "_-.:".contains(c)).len();
    let start = before.len() - name;
    before.get(..start)?.ends_with("</").then_some(u32::try_from(start).ok()?)
}

/// An item in the making.
struct Item<'a> {
    view: &'a View<'a>,
    item: CompletionItem,
}

impl<'a> Item<'a> {
    /// An item that puts its label in the place of a span.
    fn new(view: &'a View<'a>, label: &str, kind: CompletionItemKind, span: Span) -> Self {
        let edit = TextEdit { range: view.range(span), new_text: label.to_owned() };
        let item = CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
            ..CompletionItem::default()
        };
        Self { view, item }
    }

    /// Puts another text than the label.
    fn text(mut self, text: String) -> Self {
        if let Some(CompletionItemTextEdit::TextEdit(edit)) = &mut self.item.text_edit {
            edit.new_text = text;
        }
        self
    }

    /// Puts a text with places to fill in, or the same without for a client that knows none.
    fn snippet(self, snippet: String) -> Self {
        let mut item = self.text(snippet);
        if item.view.client.snippets {
            item.item.insert_text_format = Some(InsertTextFormat::Snippet);
        } else if let Some(CompletionItemTextEdit::TextEdit(edit)) = &mut item.item.text_edit {
            edit.new_text = plain(&edit.new_text);
        }
        item
    }

    /// One line beside the label.
    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.item.detail = Some(detail.into());
        self
    }

    /// The words for people.
    fn documentation(mut self, text: String) -> Self {
        let markup = prose::markup(text, self.view.client.markdown_items);
        self.item.documentation = Some(Documentation::MarkupContent(markup));
        self
    }

    /// The group it is sorted in; within a group by label.
    fn rank(mut self, rank: u8) -> Self {
        self.item.sort_text = Some(format!("{rank}{}", self.item.label));
        self
    }

    /// What the typed word is compared with, when that is not the label.
    fn filter(mut self, filter: String) -> Self {
        self.item.filter_text = Some(filter);
        self
    }

    /// Kept for old projects only.
    fn deprecated(mut self, deprecated: bool) -> Self {
        if deprecated {
            self.item.tags = Some(vec![CompletionItemTag::Deprecated]);
        }
        self
    }

    fn done(self) -> CompletionItem {
        self.item
    }
}

/// A text that stands for itself in a snippet.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// A snippet as plain text: the places to fill in are left empty.
fn plain(snippet: &str) -> String {
    let mut text = String::with_capacity(snippet.len());
    let mut rest = snippet.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            '\\' => text.extend(rest.next()),
            '$' => while rest.next_if(char::is_ascii_digit).is_some() {},
            other => text.push(other),
        }
    }
    text
}

/// The parameters that an artifact with a protocol or an implementation class takes.
pub(crate) fn parameters_of(artifact: Element<'_>) -> Vec<&'static Parameter> {
    let own: Vec<String> = ["protocol", "class"]
        .iter()
        .filter_map(|name| artifact.value(name).map(|value| value.trim().to_owned()))
        .collect();
    let catalogues = Model::get().catalogues(artifact.local());
    let fitting = catalogues.filter(|one| one.name.is_empty() || own.contains(&one.name));
    fitting.flat_map(|one| one.parameters.iter()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_become_plain_text() {
        for (snippet, expected) in [
            ("log", "log"),
            ("a name=\"$1\">$0</a>", "a name=\"\"></a>"),
            ("\\${$1\\}", "${}"),
            ("f($12)", "f()"),
        ] {
            assert_eq!(plain(snippet), expected, "{snippet}");
        }
        assert_eq!(plain(&escaped("a$b}c\\")), "a$b}c\\");
    }

    #[test]
    fn end_tags_are_seen_while_they_are_typed() {
        assert_eq!(closing("<a></", 5), Some(5));
        assert_eq!(closing("<a></lo", 7), Some(5));
        assert_eq!(closing("<a>lo", 5), None);
        assert_eq!(closing("</", 1), None);
    }
}

//! What stands under the cursor, explained.

use gen_lsp_types::{Contents, Hover};
use synapse_lang::check::value;
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::expr::functions;
use synapse_lang::expr::lexer::{TokenKind, lex};
use synapse_lang::model::{Model, RefKind};
use synapse_lang::pages;
use synapse_lang::syntax::{Attribute, Element, Spot};
use synapse_lang::text::Span;

use crate::prose;
use crate::target::{self, Target};
use crate::view::View;

/// What is known about a place: the model's words, and the titles of the findings there.
pub(crate) fn hover(view: &View<'_>, offset: u32, found: &[Diagnostic]) -> Option<Hover> {
    let known = known(view, offset);
    let findings: Vec<String> = found
        .iter()
        .filter(|one| one.span.touches(offset))
        .filter_map(|one| {
            let page = pages::page(one.code)?;
            Some(format!("**{}** {}", one.code, page.title))
        })
        .collect();
    let (text, span) = match known {
        Some((text, span)) if findings.is_empty() => (text, Some(span)),
        Some((text, span)) => (format!("{text}\n\n---\n\n{}", findings.join("\n\n")), Some(span)),
        None if findings.is_empty() => return None,
        None => (findings.join("\n\n"), None),
    };
    let contents = Contents::MarkupContent(prose::markup(text, view.client.markdown_hovers));
    Some(Hover { contents, range: span.map(|span| view.range(span)) })
}

fn known(view: &View<'_>, offset: u32) -> Option<(String, Span)> {
    let place = view.document.node_at(offset);
    match place.spot {
        Spot::ElementName | Spot::CloseName => {
            let text = element(view, place.element?)?;
            Some((text, place.span))
        }
        Spot::AttributeName(attribute) => Some((self::attribute(view, attribute)?, place.span)),
        Spot::AttributeValue(attribute) => in_expression(view, offset)
            .or_else(|| named(view, offset))
            .or_else(|| Some((value_of(view, attribute)?, place.span))),
        Spot::Text(_) | Spot::CData(_) => in_expression(view, offset).or_else(|| named(view, offset)),
        _ => None,
    }
}

fn element(view: &View<'_>, element: Element<'_>) -> Option<String> {
    let tree = view.tree();
    let definition = tree.entry(element)?.definition?;
    Some(prose::element(definition))
}

fn attribute(view: &View<'_>, attribute: Attribute<'_>) -> Option<String> {
    let tree = view.tree();
    let element = attribute.element();
    if let Some(definition) = tree.entry(element)?.definition {
        let known = Model::get().attribute(definition, attribute.name())?;
        return Some(prose::attribute(known, element.local()));
    }
    let rules = Model::get().connector_rules();
    let rule = rules.iter().find(|rule| rule.name.strip_prefix('@') == Some(attribute.name()))?;
    Some(format!("`{}` of a connector's operation\n\n{}", attribute.name(), rule.summary))
}

/// A value: a property that the runtime knows, a parameter of a protocol, or what its attribute says.
fn value_of(view: &View<'_>, at: Attribute<'_>) -> Option<String> {
    let element = at.element();
    let value = at.value();
    if at.name() == "name" && element.local() == "property" {
        let known = Model::get().property(value.trim()).map(prose::property);
        return known.or_else(|| attribute(view, at));
    }
    if at.name() == "name" && element.local() == "parameter" {
        let artifact = element.ancestors().last()?;
        let found =
            crate::completion::parameters_of(artifact).into_iter().find(|one| one.name == value.trim());
        return found.map(prose::parameter).or_else(|| attribute(view, at));
    }
    attribute(view, at)
}

/// Something of the project.
fn named(view: &View<'_>, offset: u32) -> Option<(String, Span)> {
    let (target, span) = target::at(view, offset)?;
    let text = match &target {
        Target::Artifact(kind, name) => {
            let (path, definition) = view.project.definitions(*kind, name).next()?;
            let mut text = format!("{} `{name}`\n\nDefined in `{path}`", kind_word(*kind));
            if view.root.is_none() {
                text = format!("{} `{name}`", kind_word(*kind));
            }
            if !definition.parameters.is_empty() {
                text.push_str("\n\nParameters:\n");
                for one in &definition.parameters {
                    let must = if one.mandatory { ", mandatory" } else { "" };
                    text.push_str(&format!("\n- `{}`{must}", one.name));
                }
            }
            text
        }
        Target::Variable(name) => {
            let writes = target::sites(view, &target).iter().filter(|site| site.write).count();
            let times = if writes == 1 { "once".to_owned() } else { format!("{writes} times") };
            format!("Variable `{name}`, written {times} in this file")
        }
        Target::Parameter { template, name } => format!("Parameter `{name}` of the template `{template}`"),
        Target::File(path) => format!("File `{path}`"),
        Target::Foreign(RefKind::Property, name) => prose::property(Model::get().property(name)?),
        Target::Foreign(..) => return None,
    };
    Some((text, span))
}

/// A kind in words.
pub(crate) const fn kind_word(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Sequence => "Sequence",
        RefKind::Endpoint => "Endpoint",
        RefKind::Template => "Template",
        RefKind::EndpointTemplate => "Endpoint template",
        RefKind::LocalEntry => "Local entry",
        RefKind::Resource => "Resource",
        RefKind::Connection => "Connection",
        RefKind::MessageStore => "Message store",
        RefKind::Proxy => "Proxy service",
        RefKind::Api => "API",
        RefKind::DataService => "Data service",
        RefKind::InboundEndpoint => "Inbound endpoint",
        RefKind::Class => "Class",
        RefKind::Variable => "Variable",
        RefKind::Property => "Property",
        RefKind::File => "File",
    }
}

/// A function or a root of an expression.
fn in_expression(view: &View<'_>, offset: u32) -> Option<(String, Span)> {
    for value in value::of(&view.tree(), Model::get()) {
        if !value.span().touches(offset) {
            continue;
        }
        for range in value.expressions() {
            let text = value.text().get(range.clone()).unwrap_or_default();
            for token in lex(text).tokens {
                let inside = range.start + token.span.start as usize..range.start + token.span.end as usize;
                let span = value.source_span(inside);
                if !span.touches(offset) {
                    continue;
                }
                let word = token.span.of(text);
                let known = match token.kind {
                    TokenKind::Function => functions::find(word).map(prose::function),
                    TokenKind::Vars
                    | TokenKind::Payload
                    | TokenKind::Headers
                    | TokenKind::Configs
                    | TokenKind::Params
                    | TokenKind::Properties => root(word),
                    _ => None,
                };
                if let Some(known) = known {
                    return Some((known, span));
                }
            }
        }
    }
    None
}

/// The forms of a root of expressions.
pub(crate) fn root(name: &str) -> Option<String> {
    let forms: Vec<String> = Model::get()
        .roots()
        .iter()
        .filter(|root| root.name == name)
        .map(|root| {
            let notes = root.notes.as_deref().map(|notes| format!(" {notes}")).unwrap_or_default();
            format!("`{}`: {}{notes}", root.form, root.summary)
        })
        .collect();
    (!forms.is_empty()).then(|| forms.join("\n\n"))
}

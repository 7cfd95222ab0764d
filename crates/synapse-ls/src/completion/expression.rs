//! Inside `${…}`: roots, functions, and the names that can be looked up.

use std::collections::BTreeMap;

use gen_lsp_types::{CompletionItem, CompletionItemKind};
use synapse_lang::expr::functions;
use synapse_lang::expr::lexer::{TokenKind, lex};
use synapse_lang::model::{Model, RefKind};
use synapse_lang::syntax::{Element, escape_attribute};
use synapse_lang::text::Span;

use super::{Item, values};
use crate::lookups::{self, Root, Typed};
use crate::view::View;
use crate::{hover, prose, target};

/// The items for the end of what is typed of an expression.
pub(super) fn complete(view: &View<'_>, offset: u32, typed: &Typed) -> Vec<CompletionItem> {
    let word = typed.text.len()
        - typed.text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c)).len();
    // A name cannot begin with a digit or a sign: then a number or an operator is being typed.
    let tail = typed.text.get(typed.text.len() - word..).unwrap_or_default();
    if tail.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        return Vec::new();
    }
    let text = typed.text.get(..typed.text.len() - word).unwrap_or_default();
    let tokens = lex(text).tokens;
    if tokens.iter().any(|token| token.kind == TokenKind::Quote) {
        // A string is being typed.
        return Vec::new();
    }
    let span = Span::new(offset - u32::try_from(word).unwrap_or(0), offset);
    let kinds: Vec<TokenKind> = tokens.iter().map(|token| token.kind).collect();
    if let Some(root) = lookups::expects_name(text, &tokens) {
        return names(view, root, offset, span, typed);
    }
    match kinds.as_slice() {
        [.., TokenKind::Params, TokenKind::Dot] => {
            words(view, &["pathParams", "queryParams", "functionParams"], span)
        }
        [.., TokenKind::Properties, TokenKind::Dot] => words(view, &["synapse", "axis2"], span),
        [.., TokenKind::Dot | TokenKind::DoubleDot] => Vec::new(),
        [.., last] if last.ends_a_value() => words(view, &["and", "or"], span),
        _ => beginnings(view, span),
    }
}

fn words(view: &View<'_>, words: &[&str], span: Span) -> Vec<CompletionItem> {
    words.iter().map(|word| Item::new(view, word, CompletionItemKind::Keyword, span).rank(1).done()).collect()
}

/// Roots and functions.
fn beginnings(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    let mut items = Vec::new();
    for (root, next) in
        [("payload", ""), ("vars", "."), ("headers", "."), ("params", "."), ("props", "."), ("configs", ".")]
    {
        let item =
            Item::new(view, root, CompletionItemKind::Keyword, span).rank(1).text(format!("{root}{next}"));
        items.push(item.documentation(hover::root(root).unwrap_or_default()).done());
    }
    for function in functions::all() {
        let empty = function.signatures.iter().all(|one| one.arguments.is_empty());
        let call = if empty { format!("{}()$0", function.name) } else { format!("{}($1)$0", function.name) };
        let item = Item::new(view, &function.name, CompletionItemKind::Function, span)
            .detail(function.forms().join(", "))
            .documentation(prose::function(function))
            .snippet(call)
            .rank(2);
        items.push(item.done());
    }
    items
}

/// The names that can stand after a root.
fn names(view: &View<'_>, root: Root, offset: u32, span: Span, typed: &Typed) -> Vec<CompletionItem> {
    // By name: the rank, and what stands beside it.
    let mut found: BTreeMap<String, (u8, String)> = BTreeMap::new();
    let mut add = |name: &str, rank: u8, detail: String| {
        let known = found.entry(name.to_owned()).or_insert((rank, detail.clone()));
        if rank < known.0 {
            *known = (rank, detail);
        }
    };
    let element = view.document.node_at(offset).element;
    match root {
        Root::Variable => variables(view, element, offset, &mut add),
        Root::Config => {
            for name in view.project.config_names() {
                add(name, 1, "configurable".to_owned());
            }
        }
        Root::Header => {
            for name in values::headers() {
                add(name, 1, "header".to_owned());
            }
        }
        Root::PathParam | Root::QueryParam => {
            for name in template_variables(element, root == Root::QueryParam) {
                add(&name, 1, "of the uri-template".to_owned());
            }
        }
        Root::FunctionParam => {
            let template = element.and_then(target::template_around).unwrap_or_default();
            let parameters = view.project.definitions(RefKind::Template, &template);
            for one in parameters.flat_map(|(_, definition)| definition.parameters.iter()) {
                add(&one.name, 1, "parameter of the template".to_owned());
            }
        }
        Root::Synapse | Root::Axis2 => {
            let scope = if root == Root::Axis2 { "axis2" } else { "default" };
            for one in Model::get().properties().iter().filter(|one| one.scope == scope && !one.prefix) {
                add(&one.name, 2, one.summary.clone());
            }
            let own = view.document.elements().filter(|one| one.local() == "property");
            for property in own {
                let of = property.value("scope");
                if of.as_deref().unwrap_or("default") == scope
                    && let Some(name) = property.value("name").filter(|name| !name.contains(['{', '$']))
                    && property.parent().is_none_or(|parent| parent.local() != "log")
                {
                    add(name.trim(), 1, "set in this file".to_owned());
                }
            }
        }
    }
    let kind =
        if root == Root::Variable { CompletionItemKind::Variable } else { CompletionItemKind::Constant };
    found
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, (rank, detail))| {
            if is_plain(&name) {
                return Item::new(view, &name, kind, span).detail(detail).rank(rank).done();
            }
            // Other names need brackets in the place of the dot. After `vars`, only double quotes work.
            let quote = if root == Root::Variable || typed.quote == Some('\'') { '"' } else { '\'' };
            let text = format!("[{quote}{name}{quote}]");
            let text =
                typed.quote.map_or_else(|| text.clone(), |outer| escape_attribute(&text, outer).into_owned());
            let bracketed = Span::new(span.start.saturating_sub(1), span.end);
            Item::new(view, &name, kind, bracketed)
                .detail(detail)
                .text(text)
                .filter(format!(".{name}"))
                .rank(rank)
                .done()
        })
        .collect()
}

/// Whether a name can stand after a dot.
fn is_plain(name: &str) -> bool {
    let tokens = lex(name).tokens;
    let word = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    word && matches!(tokens.as_slice(), [one] if one.span.of(name) == name)
}

/// Variables: those written before the place in the same flow first, then those of the file, then of other files.
fn variables(
    view: &View<'_>,
    element: Option<Element<'_>>,
    offset: u32,
    add: &mut impl FnMut(&str, u8, String),
) {
    let flow = element.and_then(|element| {
        let around = std::iter::once(element).chain(element.ancestors());
        around.filter(|one| matches!(one.local(), "resource" | "target")).last()
    });
    let flow = flow.map_or(Span::new(0, u32::MAX), |flow| flow.span());
    for one in
        view.file.references().iter().filter(|one| one.kind == RefKind::Variable && !one.span.touches(offset))
    {
        let near = flow.covers(one.span) && one.span.start < offset;
        add(&one.name, if near { 1 } else { 2 }, "variable".to_owned());
    }
    for response in view.document.elements().filter(|one| one.local() == "responseVariable") {
        let near = flow.covers(response.span()) && response.span().start < offset;
        add(response.text().trim(), if near { 1 } else { 2 }, "response of a connector".to_owned());
    }
    for (path, file) in view.project.files().filter(|(path, _)| *path != view.path) {
        for one in file.references().iter().filter(|one| one.kind == RefKind::Variable) {
            let name = path.rsplit('/').next().unwrap_or_default();
            add(&one.name, 3, format!("written in {name}"));
        }
    }
}

/// The variables of the template of the resource around an element: `/orders/{id}?page={page}`.
fn template_variables(element: Option<Element<'_>>, query: bool) -> Vec<String> {
    let around = element.into_iter().flat_map(|one| std::iter::once(one).chain(one.ancestors()));
    let Some(template) = around.filter_map(|one| one.value("uri-template")).next() else { return Vec::new() };
    let (path, asked) = template.split_once('?').unwrap_or((template.as_ref(), ""));
    if query {
        let names = asked.split('&').filter_map(|pair| pair.split('=').next());
        return names.map(str::to_owned).filter(|name| !name.is_empty() && !name.contains('{')).collect();
    }
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    names
        .map(|name| name.trim_start_matches(['+', '#', '/', '.', ';']).trim_end_matches('*').to_owned())
        .collect()
}

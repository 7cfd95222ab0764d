//! The arguments of the function whose call is being typed.

use gen_lsp_types::{
    ActiveParameter, Documentation, ParameterInformation, ParameterInformationLabel, SignatureHelp,
    SignatureInformation,
};
use synapse_lang::expr::functions::{self, Function};
use synapse_lang::expr::lexer::{TokenKind, lex};

use crate::view::View;
use crate::{lookups, prose};

/// The forms of the innermost call around a place, and which argument the place is in.
pub(crate) fn help(view: &View<'_>, offset: u32) -> Option<SignatureHelp> {
    let typed = lookups::typed(view.document, offset)?;
    let (function, argument) = call(&typed.text)?;
    let markdown = view.client.markdown_items;
    let mut text = function.doc.clone();
    if let Some(note) = &function.note {
        text.push_str("\n\n");
        text.push_str(note);
    }
    let signatures = function.signatures.iter().map(|one| {
        let names = one.arguments.iter().map(|(name, kind)| ParameterInformation {
            label: ParameterInformationLabel::String(prose::argument(name, *kind)),
            documentation: None,
        });
        SignatureInformation {
            label: prose::signature(&function.name, one),
            documentation: Some(Documentation::MarkupContent(prose::markup(text.clone(), markdown))),
            parameters: Some(names.collect()),
            active_parameter: None,
        }
    });
    let fits = function.signatures.iter().position(|one| one.arguments.len() > argument);
    let fits = fits.unwrap_or(function.signatures.len().saturating_sub(1));
    Some(SignatureHelp {
        signatures: signatures.collect(),
        active_signature: u32::try_from(fits).ok(),
        active_parameter: u32::try_from(argument).ok().map(ActiveParameter::from),
    })
}

/// The innermost call that is open at the end of a text, and the number of the argument there.
fn call(text: &str) -> Option<(&'static Function, usize)> {
    let tokens = lex(text).tokens;
    let mut open: Vec<(Option<&'static Function>, usize)> = Vec::new();
    let mut before = None;
    for token in &tokens {
        match token.kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => open.push((before, 0)),
            TokenKind::CloseParen | TokenKind::CloseBracket => {
                open.pop();
            }
            TokenKind::Comma => {
                if let Some((_, argument)) = open.last_mut() {
                    *argument += 1;
                }
            }
            _ => {}
        }
        before = (token.kind == TokenKind::Function).then(|| functions::find(token.span.of(text))).flatten();
    }
    open.into_iter().rev().find_map(|(function, argument)| Some((function?, argument)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_and_its_argument_are_found() {
        let check = |text: &str, expected: Option<(&str, usize)>| {
            let found = call(text).map(|(function, argument)| (function.name.as_str(), argument));
            assert_eq!(found, expected, "{text}");
        };
        check("replace(", Some(("replace", 0)));
        check("replace(payload.a, 'x', ", Some(("replace", 2)));
        check("replace(toUpper(", Some(("toUpper", 0)));
        check("replace(toUpper('a'), ", Some(("replace", 1)));
        check("replace((payload.a", Some(("replace", 0)));
        check("toUpper('a')", None);
        check("payload.a", None);
    }
}

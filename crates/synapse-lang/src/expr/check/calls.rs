//! Calls that do something else than they seem to: ignored paths, patterns, tests that always say the same.

use super::coercion::is_many;
use super::kind::{Atom, Kind};
use super::{Look, codes, signatures};
use crate::diagnostic::{Edit, Severity};
use crate::expr::ast::{Call, Node, NodeKind, Suffix};
use crate::expr::functions;

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Call(call) = &node.kind else { return };
    let Some(function) = functions::find(&call.name) else { return };
    if function.signature(call.arguments.len()).is_none() {
        let forms = function.forms().iter().map(|form| format!("`{form}`")).collect::<Vec<_>>().join(" or ");
        let count = match call.arguments.len() {
            0 => "no arguments".to_owned(),
            1 => "one argument".to_owned(),
            many => format!("{many} arguments"),
        };
        look.report(
            codes::ARITY,
            node.span,
            format!("there is no `{}` with {count}: write {forms}", call.name),
        );
        return;
    }
    if let Some(suffix) = &call.suffix
        && !function.path
    {
        ignored(node, call, suffix, look);
    }
    match &*call.name {
        "exists" => exists(node, call, look),
        "split" => split(call, look),
        "log" if call.arguments.len() == 1 => {
            let message = "with one argument `log` is the logarithm to base 10";
            let end = call.arguments.first().map_or(node.span.end, |argument| argument.span.end);
            look.report(codes::LOG_BASE, call.name_span, message)
                .review("Take the natural logarithm", vec![Edit::insert(end, ", 2.718281828459045")]);
        }
        "isNumber" => always(call, Kind::LONG, codes::IS_NUMBER_LONG, "`isNumber` is false for longs", look),
        "boolean" => {
            let wrong = Kind::NUMERIC.or(Kind::OBJECT).or(Kind::ARRAY);
            always(
                call,
                wrong,
                codes::BOOLEAN_OF_NUMBER,
                "`boolean` is true only for true and its text, so this is always false",
                look,
            );
        }
        _ => {}
    }
}

/// A test whose answer is known from the kind of its argument.
fn always(call: &Call, kind: Kind, code: u16, message: &str, look: &mut Look<'_>) {
    if let Some(argument) = call.arguments.first()
        && look.kind(argument).is(kind)
    {
        look.report(code, argument.span, message);
    }
}

fn ignored(node: &Node, call: &Call, suffix: &Suffix, look: &mut Look<'_>) {
    let span = match suffix {
        Suffix::Path(path) => path.span,
        Suffix::Property { span, .. } => *span,
    };
    let message = format!("what follows `{}(…)` is ignored: the whole result is the value", call.name);
    let finding = look.report(codes::IGNORED_PATH, span, message);
    if call.name == "split" {
        let edits = vec![Edit::insert(node.span.start, "array("), Edit::insert(span.start, ")")];
        finding.safe("Wrap the call in `array()`", edits);
    }
}

fn exists(node: &Node, call: &Call, look: &mut Look<'_>) {
    let Some(argument) = call.arguments.first() else { return };
    if let Some(text) = signatures::literal(call, 0) {
        let message = "a text always exists: ask for the value itself, without quotes";
        let parses = crate::expr::parse(text).is_ok();
        let text = text.to_owned();
        let finding = look.report(codes::EXISTS_TEXT, argument.span, message);
        if parses {
            finding.safe("Remove the quotes", vec![Edit::replace(argument.span, text)]);
        }
        return;
    }
    if look.kind(argument).is(Kind::one(Atom::Map)) {
        let message = format!(
            "`{}` holds a map, which reads as null when it is used as a whole: ask for a part, such as `.payload`",
            look.text(argument)
        );
        look.report(codes::WHOLE_MAP, argument.span, message)
            .review("Ask for its payload", vec![Edit::insert(argument.span.end, ".payload")]);
        return;
    }
    if is_many(argument) {
        let inner = look.text(argument).to_owned();
        let message = format!("`{inner}` gives a list of matches, which exists even when it is empty");
        look.report(codes::EXISTS_MANY, node.span, message)
            .safe("Count the matches", vec![Edit::replace(node.span, format!("(length({inner}) > 0)"))]);
    }
}

/// The separator is a pattern.
fn split(call: &Call, look: &mut Look<'_>) {
    let (Some(separator), Some(node)) = (signatures::literal(call, 1), call.arguments.get(1)) else { return };
    let mut signs = separator.chars();
    let (Some(sign), None) = (signs.next(), signs.next()) else { return };
    let meaning = match sign {
        '.' => "any character, so that nothing is left",
        '|' => "nothing or nothing, which splits between all characters",
        '^' => "the beginning of the text, so that nothing is split",
        '$' => "the end of the text, so that nothing is split",
        '*' | '+' | '?' | '(' | '[' | '{' | '\\' => {
            let message = format!("the separator is a regular expression, and `{sign}` alone is none");
            let edit = Edit::replace(node.span, literal(sign));
            look.report(codes::BAD_SPLIT_PATTERN, node.span, message)
                .safe("Write it as a character", vec![edit]);
            return;
        }
        _ => return,
    };
    let message = format!("the separator is a regular expression: `{sign}` means {meaning}");
    look.report(codes::SPLIT_PATTERN, node.span, message)
        .at_most(Severity::Warning)
        .safe("Write it as a character", vec![Edit::replace(node.span, literal(sign))]);
}

/// A pattern that matches one character. Escapes are not translated, so only a class works for most.
fn literal(sign: char) -> String {
    match sign {
        '^' | '\\' => format!("'\\\\{sign}'"),
        _ => format!("'[{sign}]'"),
    }
}

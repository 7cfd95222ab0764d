//! Arguments of the wrong kind, for certain or for some data.

use super::env::Wanted;
use super::kind::{Atom, Kind};
use super::texts::auto_text;
use super::{Look, around, codes, signatures};
use crate::diagnostic::{Edit, Fix};
use crate::expr::ast::{Call, Node, NodeKind};
use crate::expr::functions::{self, ArgumentKind, Signature};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Call(call) = &node.kind else { return };
    let Some(signature) = functions::find(&call.name).and_then(|one| one.signature(call.arguments.len()))
    else {
        return;
    };
    let kinds: Vec<Kind> = call.arguments.iter().map(|argument| look.kind(argument)).collect();
    if call.name == "exists" || kinds.iter().any(|kind| kind.is_never()) {
        return;
    }
    match signatures::refused(call, signature, &kinds) {
        Some(refused) => {
            let (Some(argument), Some(kind)) =
                (call.arguments.get(refused.argument), kinds.get(refused.argument))
            else {
                return;
            };
            if refused.null {
                null(call, argument, *kind, look);
            } else {
                wrong(call, signature, refused.argument, argument, *kind, look);
            }
        }
        None => {
            for ((argument, kind), (_, takes)) in call.arguments.iter().zip(&kinds).zip(&signature.arguments)
            {
                possible(call, argument, *kind, signatures::accepted(call, *takes), look);
            }
            text(call, look);
        }
    }
}

fn null(call: &Call, argument: &Node, kind: Kind, look: &mut Look<'_>) {
    if kind.is(Kind::one(Atom::Map)) {
        return;
    }
    let message = format!("`{}` fails when an argument is null", call.name);
    look.report(codes::NULL_ARGUMENT, argument.span, message);
}

fn wrong(call: &Call, signature: &Signature, at: usize, argument: &Node, kind: Kind, look: &mut Look<'_>) {
    let what = kind.without(Kind::NULL);
    if call.name == "integer" {
        let message = format!("`integer` takes an int or the text of one, and this is {what}");
        let double = kind.is(Kind::DOUBLE);
        let name = call.name_span;
        let finding = look.report(codes::INTEGER_OF_DECIMAL, argument.span, message);
        if double {
            finding.review("Round it", vec![Edit::replace(name, "round")]);
        }
        return;
    }
    let Some((name, takes)) = signature.arguments.get(at) else { return };
    let wanted = wanted(call, *takes);
    let message = format!("`{}` takes {wanted} as `{name}`, and this is {what}", call.name);
    let fix = repair(*takes, kind, argument);
    let finding = look.report(codes::ARGUMENT_KIND, argument.span, message);
    finding.fixes.extend(fix);
}

/// How people call what an argument takes.
fn wanted(call: &Call, kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Any | ArgumentKind::Expression => "a value",
        ArgumentKind::String => "a string",
        ArgumentKind::Number => "an int or a double",
        ArgumentKind::Numeric => "a number",
        ArgumentKind::Int => "an int",
        ArgumentKind::Boolean => "a boolean",
        ArgumentKind::Scalar => "a string or a JSON scalar",
        ArgumentKind::TextOrArray => "a string or a JSON array",
        ArgumentKind::Json if call.name == "array" => "a JSON array or the text of one",
        ArgumentKind::Json => "a JSON object or the text of one",
    }
}

/// The conversion that makes an argument fit.
fn repair(takes: ArgumentKind, kind: Kind, argument: &Node) -> Option<Fix> {
    let function = match takes {
        ArgumentKind::String | ArgumentKind::Scalar | ArgumentKind::TextOrArray
            if kind.is(Kind::NUMERIC.or(Kind::BOOLEAN)) =>
        {
            "string"
        }
        ArgumentKind::Number if kind.is(Kind::LONG.or(Kind::TEXT)) => "float",
        ArgumentKind::Numeric if kind.is(Kind::TEXT) => "float",
        ArgumentKind::Int if kind.is(Kind::one(Atom::Double)) => "round",
        ArgumentKind::Int if kind.is(Kind::TEXT) => "integer",
        ArgumentKind::Boolean if kind.may_be(Kind::TEXT) => "boolean",
        _ => return None,
    };
    Some(Fix::review(format!("Wrap it in `{function}()`"), around(argument, &format!("{function}("), ")")))
}

/// Look-ups whose text reads as a number are numbers, and text functions refuse those.
fn possible(call: &Call, argument: &Node, kind: Kind, accepted: Kind, look: &mut Look<'_>) {
    if look.env().wanted == Wanted::Object
        && kind.may_be(Kind::one(Atom::Nodes))
        && !accepted.may_be(Kind::one(Atom::Nodes))
    {
        let message = format!(
            "where the value itself is wanted `xpath()` gives nodes, which `{}` does not take: give the variable the type STRING",
            call.name
        );
        look.report(codes::XPATH_OBJECT, argument.span, message);
        return;
    }
    let Some(name) = auto_text(argument) else { return };
    let refused = kind.without(accepted);
    if kind.is_open() || refused.is_never() || !accepted.may_be(Kind::TEXT) || !kind.may_be(Kind::TEXT) {
        return;
    }
    let message = format!(
        "`{}` fails when {name} reads as a number, such as 42, because it is then one: write `string(…)`",
        call.name
    );
    look.report(codes::AUTO_ARGUMENT, argument.span, message)
        .safe("Wrap it in `string()`", around(argument, "string(", ")"));
}

/// Literal texts that do not convert.
fn text(call: &Call, look: &mut Look<'_>) {
    let Some(literal) = signatures::literal(call, 0) else { return };
    let Some(span) = call.arguments.first().map(|argument| argument.span) else { return };
    match &*call.name {
        "integer" if literal.parse::<i32>().is_err() => {
            let decimal = literal.trim().parse::<f64>().is_ok();
            let message = format!("`{literal}` is not the text of an int, and `integer` refuses it");
            let name = call.name_span;
            let literal = literal.trim().to_owned();
            let finding = look.report(codes::INTEGER_OF_DECIMAL, span, message);
            if decimal {
                finding.review("Round it", vec![Edit::replace(name, "round"), Edit::replace(span, literal)]);
            }
        }
        "float" if !is_double(literal) => {
            let message = format!("`{literal}` is not the text of a number, and `float` refuses it");
            look.report(codes::ARGUMENT_KIND, span, message);
        }
        _ => {}
    }
}

/// Whether Java may read a text as a double.
fn is_double(text: &str) -> bool {
    let text = text.trim();
    let plain = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    plain.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("0X") || text.contains("0x")
}

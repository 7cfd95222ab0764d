//! Roots and names that lead nowhere: variables in single quotes, special properties, parameters that do not exist.

use super::env::InTemplate;
use super::kind::{Atom, Kind};
use super::{Guard, Look, codes};
use crate::diagnostic::Edit;
use crate::expr::ast::{Lookup, NameForm, Node, NodeKind, Place, Variable};
use crate::near;

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    match &node.kind {
        NodeKind::Variable(variable) => self::variable(node, variable, look),
        NodeKind::Lookup(lookup) => self::lookup(node, lookup, look),
        _ => {}
    }
}

fn variable(node: &Node, variable: &Variable, look: &mut Look<'_>) {
    let name = &variable.name;
    match name.form {
        NameForm::SingleQuoted => {
            let message = "a variable's name in single quotes crashes: use double quotes";
            look.report(codes::SINGLE_QUOTED_VARIABLE, name.span, message)
                .safe("Use double quotes", vec![Edit::replace(name.span, format!("\"{}\"", name.value))]);
            return;
        }
        NameForm::DotText => {
            let inner = name.value.trim_matches(['"', '\'']).to_owned();
            let message =
                format!("this looks for a variable whose name has quotes: write `vars[\"{inner}\"]`");
            let dot = crate::text::Span::new(name.span.start.saturating_sub(1), name.span.end);
            look.report(codes::QUOTED_VARIABLE, name.span, message)
                .safe("Use brackets", vec![Edit::replace(dot, format!("[\"{inner}\"]"))]);
            return;
        }
        NameForm::Dot | NameForm::DoubleQuoted => {}
    }
    let known = look.env().variables.get(&name.value).map(|known| known.kind);
    if known.is_none() && look.env().all_variables && look.guard != Guard::Exists {
        let near =
            near::nearest(&name.value, look.env().variables.keys().map(String::as_str)).map(str::to_owned);
        let message = match &near {
            Some(near) => format!("the variable `{}` is never set; did you mean `{near}`?", name.value),
            None => format!("the variable `{}` is never set", name.value),
        };
        let finding = look.report(codes::UNKNOWN_VARIABLE, name.span, message);
        if let (Some(near), NameForm::Dot) = (near, name.form) {
            finding.review(format!("Write `{near}`"), vec![Edit::replace(name.span, near)]);
        }
    }
    if known.is_some_and(|kind| kind.is(Kind::one(Atom::Map)))
        && variable.path.is_none()
        && look.guard != Guard::Exists
    {
        let message = format!(
            "`vars.{}` holds a map, which reads as null when it is used as a whole: read a part, such as `.payload`",
            name.value
        );
        look.report(codes::WHOLE_MAP, node.span, message)
            .review("Read its payload", vec![Edit::insert(node.span.end, ".payload")]);
    }
}

/// Names that XPath's `get-property` computes and that are no stored properties.
const SPECIAL: [&str; 18] = [
    "To",
    "From",
    "Action",
    "FaultTo",
    "ReplyTo",
    "MessageID",
    "RelatesTo",
    "FAULT",
    "MESSAGE_FORMAT",
    "OperationName",
    "OperationNamespace",
    "SYSTEM_DATE",
    "SYSTEM_TIME",
    "SERVER_IP",
    "TRANSPORT_IN_NAME",
    "WSDL_URL",
    "FAULT_CODE",
    "FAULT_STRING",
];

fn lookup(node: &Node, lookup: &Lookup, look: &mut Look<'_>) {
    let name = lookup.name.value.clone();
    match lookup.place {
        Place::Synapse if SPECIAL.contains(&name.as_str()) && !known(lookup, look) => {
            let message = format!(
                "`{name}` is no stored property: only XPath computes it, with `xpath(\"get-property('{name}')\")`"
            );
            let text = format!("xpath(\"get-property('{name}')\")");
            look.report(codes::SPECIAL_PROPERTY, node.span, message)
                .review("Ask with XPath", vec![Edit::replace(node.span, text)]);
        }
        Place::FunctionParam if look.env().in_template == InTemplate::No => {
            let message = "parameters of templates exist only in templates: elsewhere this crashes";
            look.report(codes::FUNCTION_PARAMETER, node.span, message);
        }
        Place::FunctionParam => {
            let known = look.env().template_parameters.clone();
            undeclared(lookup, known, "the template declares no parameter", look);
        }
        Place::PathParam => {
            let known = look.env().path_parameters.clone();
            undeclared(lookup, known, "the resource's path has no parameter", look);
        }
        _ if look.env().all_texts && !known(lookup, look) && look.guard != Guard::Exists => {
            let message = format!("{} is never set", super::texts::called(lookup));
            look.report(codes::UNKNOWN_PARAMETER, lookup.name.span, message);
        }
        _ => {}
    }
}

fn known(lookup: &Lookup, look: &Look<'_>) -> bool {
    look.env().texts.contains_key(&(lookup.place, lookup.name.value.clone()))
}

/// A parameter that is not among the declared ones.
fn undeclared(
    lookup: &Lookup,
    declared: Option<std::collections::BTreeSet<String>>,
    what: &str,
    look: &mut Look<'_>,
) {
    let missing_text = look.env().all_texts && !known(lookup, look);
    let name = &lookup.name;
    let Some(declared) = declared else {
        if missing_text && look.guard != Guard::Exists {
            let message = format!("{what} `{}`", name.value);
            look.report(codes::UNKNOWN_PARAMETER, name.span, message);
        }
        return;
    };
    if declared.contains(&name.value) || look.guard == Guard::Exists {
        return;
    }
    let near = near::nearest(&name.value, declared.iter().map(String::as_str));
    let message = match near {
        Some(near) => format!("{what} `{}`; did you mean `{near}`?", name.value),
        None => format!("{what} `{}`", name.value),
    };
    let finding = look.report(codes::UNKNOWN_PARAMETER, name.span, message);
    if let (Some(near), NameForm::Dot) = (near, name.form) {
        finding.review(format!("Write `{near}`"), vec![Edit::replace(name.span, near)]);
    }
}

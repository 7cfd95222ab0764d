//! Older ways to read a value, as an expression.

use crate::expr;
use crate::model::Model;

/// The expression, without `${}`, that reads what a simple XPath or `json-eval()` reads; nothing for the rest.
pub(super) fn expression(text: &str, model: &Model) -> Option<String> {
    let text = text.trim();
    let converted = if let Some(path) = text.strip_prefix("json-eval(") {
        json(path.strip_suffix(')')?)
    } else if let Some(arguments) = text.strip_prefix("get-property(") {
        property(arguments.strip_suffix(')')?, model)
    } else if let Some(inner) = text.strip_prefix("${") {
        Some(inner.strip_suffix('}')?.to_owned())
    } else if let Some(variable) = text.strip_prefix('$') {
        let (scope, name) = variable.split_once(':')?;
        scoped(scope, name)
    } else {
        None
    }?;
    expr::parse(&converted).is_ok().then_some(converted)
}

/// `$.a.b[0]`: names and numbers only, because filters differ.
fn json(path: &str) -> Option<String> {
    let rest = path.trim().strip_prefix('$')?;
    let plain = rest.chars().all(|one| one.is_ascii_alphanumeric() || "._[]".contains(one));
    let steps = !rest.contains("..") && !rest.ends_with('.') && !rest.contains("[]");
    (plain && steps).then(|| format!("payload{rest}"))
}

fn property(arguments: &str, model: &Model) -> Option<String> {
    let quoted = |text: &str| {
        let text = text.trim();
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let inner = inner.or_else(|| text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')));
        inner.filter(|inner| !inner.contains(['\'', '"', '(', ','])).map(str::to_owned)
    };
    match arguments.split(',').collect::<Vec<_>>().as_slice() {
        [name] => {
            let name = quoted(name)?;
            // Some names are answered although nobody set them; expressions do not know them.
            let special = model.special_names().iter().any(|one| one.name == name);
            if special { None } else { scoped("ctx", &name) }
        }
        [scope, name] => {
            let name = quoted(name)?;
            match quoted(scope)?.as_str() {
                "default" => scoped("ctx", &name),
                "axis2" => scoped("axis2", &name),
                "transport" => scoped("trp", &name),
                "func" => scoped("func", &name),
                _ => None,
            }
        }
        _ => None,
    }
}

fn scoped(scope: &str, name: &str) -> Option<String> {
    if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || "_-.".contains(one)) {
        return None;
    }
    let (root, name) = match scope {
        "ctx" => match (name.strip_prefix("uri.var."), name.strip_prefix("query.param.")) {
            (Some(name), _) => ("params.pathParams", name),
            (_, Some(name)) => ("params.queryParams", name),
            _ => ("props.synapse", name),
        },
        "axis2" => ("props.axis2", name),
        "trp" => ("headers", name),
        "func" => ("params.functionParams", name),
        "var" => ("vars", name),
        _ => return None,
    };
    let simple = name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && !name.contains('.');
    let dotted = format!("{root}.{name}");
    Some(if simple && expr::parse(&dotted).is_ok() { dotted } else { format!("{root}[\"{name}\"]") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_forms_have_an_expression() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(expression(text, Model::get()).as_deref(), expected, "{text}");
        };
        check("json-eval($.a.b[0].c)", Some("payload.a.b[0].c"));
        check("json-eval($)", Some("payload"));
        check("json-eval($..a)", None);
        check("json-eval($.a[?(@.b)])", None);
        check("$ctx:kind", Some("props.synapse.kind"));
        check("$ctx:uri.var.id", Some("params.pathParams.id"));
        check("$ctx:a.b", Some("props.synapse[\"a.b\"]"));
        check("$trp:X-Kind", Some("headers.X-Kind"));
        check("$body/a", None);
        check("get-property('kind')", Some("props.synapse.kind"));
        check("get-property('axis2', 'HTTP_SC')", Some("props.axis2.HTTP_SC"));
        check("get-property('registry', 'conf:/a')", None);
        check("get-property('To')", None);
        check("//a", None);
        check("json-eval($.size)", None);
    }
}

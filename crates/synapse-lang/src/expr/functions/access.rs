//! Functions that read from elsewhere: the registry, XML, secrets; and `exists`, which looks whether something can be read.

use super::{Answer, invalid};
use crate::expr::ast::Node;
use crate::expr::eval::{Evaluator, Mode};
use crate::expr::value::{Failure, Outcome, Value, crash, refuse};
use crate::expr::xpath_call;

/// True when the expression gives a value. Exceptions that the engine does not catch are not caught here either.
pub(super) fn exists(evaluator: &Evaluator<'_>, argument: &Node) -> Outcome {
    match evaluator.node(argument) {
        Ok(value) => Ok(Some(Value::Bool(value.is_some()))),
        Err(Failure::Evaluation(_)) => Ok(Some(Value::Bool(false))),
        Err(crash) => Err(crash),
    }
}

pub(super) fn call(evaluator: &Evaluator<'_>, name: &str, values: &[Value]) -> Answer {
    Some(match (name, values) {
        ("registry", [path] | [path, _]) => registry(evaluator, path, values.get(1)),
        ("xpath", [path] | [path, _]) => xpath(evaluator, path, values.get(1)),
        ("wso2-vault", [alias]) => no_secret(alias),
        ("hashicorp-vault", [_, field] | [_, _, field]) => no_secret(field),
        _ => return None,
    })
}

fn registry(evaluator: &Evaluator<'_>, path: &Value, property: Option<&Value>) -> Result<Value, Failure> {
    let Some(path) = path.as_string()? else {
        // With one argument the engine trips over the property that is not there.
        return match property {
            Some(property) => invalid("registry", &[path.clone(), property.clone()]),
            None => crash("java.lang.NullPointerException"),
        };
    };
    let resource = evaluator.context.reg.get(&path);
    match property.map(Value::as_string).transpose()?.flatten() {
        Some(name) => match resource.and_then(|resource| resource.property(&name)) {
            Some(text) => Ok(Value::Text(text.to_owned())),
            None => refuse(format!("Could not find the property: {name} in the registry resource: {path}")),
        },
        None => match resource {
            Some(resource) => Ok(Value::Text(resource.text().to_owned())),
            None => refuse(format!("Could not find the registry resource: {path}")),
        },
    }
}

fn xpath(evaluator: &Evaluator<'_>, path: &Value, variable: Option<&Value>) -> Result<Value, Failure> {
    let path = path.print()?;
    let variable = variable.map(Value::print).transpose()?;
    match evaluator.mode {
        Mode::Text => xpath_call::text(evaluator.context, &path, variable.as_deref()).map(Value::Text),
        Mode::Object => xpath_call::nodes(evaluator.context, &path, variable.as_deref()).map(Value::Nodes),
    }
}

/// A context holds no secrets.
fn no_secret(alias: &Value) -> Result<Value, Failure> {
    refuse(format!("Error fetching secret value for alias: {}", alias.print()?))
}

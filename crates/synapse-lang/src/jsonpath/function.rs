//! The functions at the end of paths: `length()`, `sum()`, `keys()` and the others.

use std::borrow::Cow;

use super::Path;
use super::compile::{Parameter, Token};
use super::evaluate::{Fail, Model, Walk, weight};
use crate::json::{self, Json, Number};

/// Calls a function on a model. Numbers in the result are what the library stores: longs and doubles.
pub(super) fn call<'doc>(
    walk: &mut Walk<'doc>,
    name: &str,
    parameters: &[Parameter],
    model: &Model<'doc>,
) -> Result<Cow<'doc, Json>, Fail> {
    walk.charge(1)?;
    let result = match name {
        "length" | "size" => length(walk, parameters, model)?,
        "keys" => model.value.as_object().map_or(Json::Null, |object| {
            Json::Array(object.iter().map(|(name, _)| Json::from(name)).collect())
        }),
        "min" | "max" | "avg" | "sum" | "stddev" => aggregate(walk, name, parameters, model)?,
        "first" => nth(walk, 0, model)?,
        "last" => nth(walk, -1, model)?,
        "index" => {
            let numbers = numbers(walk, parameters)?;
            let index =
                numbers.first().ok_or_else(|| Fail::OutOfRange("index() needs a number".to_owned()))?;
            #[expect(clippy::cast_possible_truncation, reason = "Java's intValue saturates the same way")]
            let index = *index as i32;
            nth(walk, index, model)?
        }
        "concat" => concat(walk, parameters, model)?,
        "append" => return append(walk, parameters, model),
        _ => return Err(Fail::Invalid(format!("Function with name: {name} does not exist."))),
    };
    Ok(Cow::Owned(result))
}

fn length<'doc>(walk: &mut Walk<'doc>, parameters: &[Parameter], model: &Model<'doc>) -> Result<Json, Fail> {
    if let Some(parameter) = parameters.first() {
        let Parameter::Path(path) = parameter else {
            return Err(Fail::Crash("length() takes a path".to_owned()));
        };
        // The library asks for all children of what the path finds and counts them.
        let mut tokens = path.tokens.clone();
        if !path.is_function_path() && !tokens.is_empty() {
            tokens.push(Token::Wildcard);
        }
        let children = Path::new(path.from_root, tokens);
        if let Json::Array(elements) = walk.value(&children, model, false)?.value.as_ref() {
            return Ok(count(elements.len()));
        }
    }
    Ok(match model.value.as_ref() {
        Json::Array(elements) => count(elements.len()),
        Json::Object(object) => count(object.len()),
        _ => Json::Null,
    })
}

fn count(count: usize) -> Json {
    Json::Number(Number::Long(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn aggregate<'doc>(
    walk: &mut Walk<'doc>,
    name: &str,
    parameters: &[Parameter],
    model: &Model<'doc>,
) -> Result<Json, Fail> {
    let mut all: Vec<f64> = Vec::new();
    if let Json::Array(elements) = model.value.as_ref() {
        walk.charge(elements.len())?;
        all.extend(elements.iter().filter_map(Json::as_number).map(Number::to_f64));
    }
    all.extend(numbers(walk, parameters)?);
    if all.is_empty() {
        return Err(Fail::Crash(
            "Aggregation function attempted to calculate value using empty array".to_owned(),
        ));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let count = all.len() as f64;
    let sum: f64 = all.iter().fold(0.0, |sum, number| sum + number);
    let result = match name {
        // The library starts from the least positive double, so the maximum of negative numbers is that.
        "max" => all.iter().fold(f64::from_bits(1), |max, number| if max < *number { *number } else { max }),
        "min" => all.iter().fold(f64::MAX, |min, number| if min > *number { *number } else { min }),
        "avg" => sum / count,
        "sum" => sum,
        _ => {
            let squares: f64 = all.iter().fold(0.0, |squares, number| squares + number * number);
            (squares / count - sum * sum / count / count).sqrt()
        }
    };
    if result.is_finite() {
        Ok(Json::Number(Number::Double(result)))
    } else {
        Err(Fail::Crash(format!("{name}() is not a finite number")))
    }
}

fn nth<'doc>(walk: &mut Walk<'doc>, index: i32, model: &Model<'doc>) -> Result<Json, Fail> {
    let Json::Array(elements) = model.value.as_ref() else {
        return Err(Fail::Crash(
            "Aggregation function attempted to calculate value using empty array".to_owned(),
        ));
    };
    let out = || Fail::OutOfRange(format!("Index {index} out of bounds for length {}", elements.len()));
    let at = if index >= 0 {
        usize::try_from(index).map_err(|_| out())?
    } else {
        // An index from the end that reaches the first element is refused too.
        let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        let at = elements.len().checked_sub(back).filter(|at| *at > 0);
        at.ok_or_else(|| {
            Fail::Crash(format!("Target index:{index} larger than object count:{}", elements.len()))
        })?
    };
    let element = elements.get(at).ok_or_else(out)?;
    walk.charge(weight(element))?;
    Ok(match element {
        Json::Number(number) => Json::Number(number.normalised()),
        other => other.clone(),
    })
}

fn concat<'doc>(walk: &mut Walk<'doc>, parameters: &[Parameter], model: &Model<'doc>) -> Result<Json, Fail> {
    let mut text = String::new();
    if let Json::Array(elements) = model.value.as_ref() {
        walk.charge(weight(&model.value))?;
        text.extend(elements.iter().filter_map(Json::as_str));
    }
    for (value, is_path) in values(walk, parameters)? {
        match value {
            Json::Array(elements) => {
                for element in elements.iter().filter(|element| **element != Json::Null) {
                    match element {
                        Json::String(part) => text.push_str(part),
                        Json::Number(number) => text.push_str(&number.normalised().to_string()),
                        other => text.push_str(&other.to_string()),
                    }
                }
            }
            Json::String(part) if is_path => text.push_str(&part),
            _ => {}
        }
    }
    Ok(Json::String(text))
}

fn append<'doc>(
    walk: &mut Walk<'doc>,
    parameters: &[Parameter],
    model: &Model<'doc>,
) -> Result<Cow<'doc, Json>, Fail> {
    if !matches!(model.value.as_ref(), Json::Array(_)) || parameters.is_empty() {
        return Ok(model.value.clone());
    }
    walk.charge(weight(&model.value))?;
    let mut value = model.value.clone().into_owned();
    if let Json::Array(elements) = &mut value {
        elements.extend(values(walk, parameters)?.into_iter().map(|(value, _)| value));
    }
    Ok(Cow::Owned(value))
}

/// The numbers among the arguments.
fn numbers(walk: &mut Walk<'_>, parameters: &[Parameter]) -> Result<Vec<f64>, Fail> {
    let mut numbers = Vec::new();
    for (value, is_path) in values(walk, parameters)? {
        match &value {
            Json::Array(elements) => {
                numbers.extend(elements.iter().filter_map(Json::as_number).map(Number::to_f64));
            }
            // A number written as argument stays a JSON value, which the library does not take for a number.
            Json::Number(number) if is_path => numbers.push(number.to_f64()),
            _ => {}
        }
    }
    Ok(numbers)
}

/// The values of the arguments, and whether each came from a path. Paths are read from the root.
fn values(walk: &mut Walk<'_>, parameters: &[Parameter]) -> Result<Vec<(Json, bool)>, Fail> {
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        values.push(match parameter {
            Parameter::Path(path) => (of_root(walk, path)?, true),
            Parameter::Json(text) => {
                (json::parse(text).map_err(|error| Fail::Crash(error.to_string()))?, false)
            }
        });
    }
    Ok(values)
}

fn of_root(walk: &mut Walk<'_>, path: &Path) -> Result<Json, Fail> {
    let root = walk.root();
    let found = walk.value(path, &root, false)?;
    walk.charge(weight(&found.value))?;
    Ok(match found.value.into_owned() {
        Json::Number(number) => Json::Number(number.normalised()),
        other => other,
    })
}

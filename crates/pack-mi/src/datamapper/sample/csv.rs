//! CSV: the first line names the columns, and a mapping sees a list of rows.

use serde_json::{Map, Value};

use super::super::shape::{Field, Shape};
use super::super::{Kind, Schema, SchemaError};
use super::{Sampled, fitted, plain, scalar, shape_of};

/// What may stand between columns. The one that the first line has most of does.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

pub(super) fn read(text: &str) -> Result<Sampled, SchemaError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    // The first wins when several are as frequent.
    let separator = SEPARATORS.into_iter().rev().max_by_key(|one| first.matches(*one).count()).unwrap_or(',');
    let mut rows = rows(text, separator)?.into_iter();
    let names = rows.next().filter(|names| names.iter().any(|name| !name.trim().is_empty()));
    let names = names
        .ok_or_else(|| SchemaError::Csv { line: 1, reason: "there is no line with names".to_owned() })?;
    let names = named(names)?;
    let mut values = Vec::new();
    for (at, row) in rows.enumerate() {
        if row.len() != names.len() {
            let reason = format!("{} values for {} columns", row.len(), names.len());
            return Err(SchemaError::Csv { line: at + 2, reason });
        }
        let cells = names.iter().cloned().zip(row.iter().map(|cell| scalar(cell)));
        values.push(Value::Object(cells.collect::<Map<String, Value>>()));
    }
    // An empty cell says nothing of its column, except that it is no number.
    let root = if values.is_empty() {
        Shape::Object(names.into_iter().map(|name| Field::new(name, Shape::Text)).collect()).list()
    } else {
        plain(shape_of(&Value::Array(values.clone())))
    };
    let mut value = Value::Array(values);
    fitted(&mut value, &root);
    Ok(Sampled { schema: Schema::new("root", Kind::Csv, root), value })
}

/// The names of columns; those without one are counted.
fn named(cells: Vec<String>) -> Result<Vec<String>, SchemaError> {
    let mut names: Vec<String> = Vec::new();
    for (at, cell) in cells.into_iter().enumerate() {
        let name = match cell.trim() {
            "" => format!("column{}", at + 1),
            name => name.to_owned(),
        };
        if names.contains(&name) {
            return Err(SchemaError::Csv { line: 1, reason: format!("two columns are called {name:?}") });
        }
        names.push(name);
    }
    Ok(names)
}

/// The cells of all lines. A cell in quotes may have separators, line ends and doubled quotes in it.
fn rows(text: &str, separator: char) -> Result<Vec<Vec<String>>, SchemaError> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => (quoted, was_quoted) = (true, true),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                // An empty line is none.
                if !(row.is_empty() && cell.is_empty() && !was_quoted) {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                was_quoted = false;
            }
            c if c == separator && !quoted => {
                row.push(std::mem::take(&mut cell));
                was_quoted = false;
            }
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(SchemaError::Csv { line: rows.len() + 1, reason: "a quote is never closed".to_owned() });
    }
    if !row.is_empty() || !cell.is_empty() || was_quoted {
        row.push(cell);
        rows.push(row);
    }
    Ok(rows)
}

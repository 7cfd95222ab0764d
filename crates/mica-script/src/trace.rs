//! What a thrown value says, and where it was thrown, in the places of the TypeScript.

use rquickjs::{Ctx, Object, Value};

use crate::error::Frame;
use crate::modules::Modules;
use crate::position::Position;

/// Bytes of a message that are kept.
const MESSAGE: usize = 4 << 10;

/// Frames that are kept.
const FRAMES: usize = 32;

/// What a thrown value says.
pub(crate) struct Thrown {
    pub(crate) kind: String,
    pub(crate) message: String,
    /// Whether it says that an import failed.
    pub(crate) is_import: bool,
}

/// Reads a thrown value. Scripts throw anything, so nothing is taken for granted.
pub(crate) fn thrown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Thrown {
    let Some(error) = value.as_object().filter(|_| value.is_error() || value.is_object()) else {
        return Thrown { kind: "Error".to_owned(), message: said(ctx, value), is_import: false };
    };
    let message = property(ctx, error, "message").unwrap_or_else(|| said(ctx, value));
    let kind = property(ctx, error, "name").filter(|name| !name.is_empty());
    let kind = kind.unwrap_or_else(|| "Error".to_owned());
    let is_import = kind == "ReferenceError"
        && (message.starts_with("Error resolving module") || message.starts_with("Error loading module"));
    Thrown { kind, message, is_import }
}

/// The calls that led to a thrown value.
pub(crate) fn frames(ctx: &Ctx<'_>, value: &Value<'_>, modules: &Modules) -> Vec<Frame> {
    let stack = value.as_object().and_then(|error| property(ctx, error, "stack"));
    let stack = stack.unwrap_or_default();
    stack.lines().filter_map(|line| frame(line, modules)).take(FRAMES).collect()
}

/// One line of a stack: `at name (module:line:column)`. Lines of the engine, and of the prelude, have no place.
fn frame(line: &str, modules: &Modules) -> Option<Frame> {
    let rest = line.trim().strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((function, place)) => (Some(function), place),
        None => (None, rest),
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (module, row) = rest.rsplit_once(':')?;
    let code = Position { line: row.parse().ok()?, column: column.parse().ok()? };
    let known = modules.get(module)?;
    let function = function.filter(|name| !name.starts_with('<')).map(str::to_owned);
    Some(Frame { function, module: module.to_owned(), at: known.original(code).unwrap_or(code) })
}

/// A property as text. A getter that throws has said nothing.
fn property(ctx: &Ctx<'_>, object: &Object<'_>, name: &str) -> Option<String> {
    let found = object.get::<_, Value<'_>>(name);
    let value = caught(ctx, found)?;
    let text = value.as_string().map(rquickjs::String::to_string)?;
    caught(ctx, text).map(cut)
}

/// A value that is no error, in words.
fn said<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if let Some(text) = value.as_string() {
        return caught(ctx, text.to_string()).map(cut).unwrap_or_default();
    }
    let json = caught(ctx, ctx.json_stringify(value.clone())).flatten();
    let text = json.and_then(|json| caught(ctx, json.to_string()));
    text.map_or_else(|| value.type_name().to_owned(), cut)
}

fn caught<T>(ctx: &Ctx<'_>, result: rquickjs::Result<T>) -> Option<T> {
    result
        .inspect_err(|error| {
            if error.is_exception() {
                ctx.catch();
            }
        })
        .ok()
}

fn cut(mut text: String) -> String {
    if text.len() > MESSAGE {
        let end = (0..=MESSAGE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

//! From TypeScript to what the engine runs: types go, enums and namespaces become code, places are remembered.
//!
//! Promise: a source that is too deep to be read safely is refused, never a crash. The compiler walks a tree by calling
//! itself, so the source is read on a thread whose stack fits it.

use std::path::Path;
use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::deep;
use crate::error::ScriptError;
use crate::position::{Position, excerpt, position, small};

/// A source without its types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// JavaScript.
    pub code: String,
    places: Arc<Places>,
}

/// Which place of the code comes from which place of the source. Sorted by the place in the code.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places(Vec<(Position, Position)>);

impl Stripped {
    /// The place in the TypeScript that a place in the code comes from: the nearest one before it on its line, else the
    /// first on its line. Of a loop that it cuts off, the engine names a line and its first column.
    pub fn original(&self, at: Position) -> Option<Position> {
        let after = self.places.0.partition_point(|(code, _)| *code <= at);
        let before = after.checked_sub(1).and_then(|index| self.places.0.get(index));
        let on_line = |place: Option<&(Position, Position)>| {
            place.filter(|(code, _)| code.line == at.line).map(|(_, original)| *original)
        };
        on_line(before).or_else(|| on_line(self.places.0.get(after)))
    }
}

/// Removes the types of a source.
///
/// ```
/// let stripped = mica_script::strip("export const half = (n: number): number => n / 2;", "half.ts")?;
/// assert_eq!(stripped.code, "export const half = (n) => n / 2;\n");
/// # Ok::<(), mica_script::ScriptError>(())
/// ```
///
/// # Errors
/// [`ScriptError::Syntax`] with the place in the source.
pub fn strip(source: &str, name: &str) -> Result<Stripped, ScriptError> {
    let name = name.to_owned();
    deep::enough(source, move |source| compile(source, &name))
}

fn compile(source: &str, name: &str) -> Result<Stripped, ScriptError> {
    let allocator = Allocator::default();
    let mut program = parse(&allocator, source, name)?.program;
    let checked = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    refuse(&checked.diagnostics, source, name)?;
    let scoping = checked.semantic.into_scoping();
    let options = TransformOptions::default();
    let made =
        Transformer::new(&allocator, Path::new(name), &options).build_with_scoping(scoping, &mut program);
    refuse(&made.diagnostics, source, name)?;
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: Some(Path::new(name).to_owned()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let mut places: Vec<(Position, Position)> = Vec::new();
    if let Some(map) = printed.map {
        let columns = Columns::of(source);
        places.extend(map.get_tokens().map(|token| {
            let code = Position { line: token.get_dst_line() + 1, column: token.get_dst_col() + 1 };
            (code, columns.position(token.get_src_line(), token.get_src_col()))
        }));
        places.sort_unstable();
    }
    Ok(Stripped { code: printed.code, places: Arc::new(Places(places)) })
}

/// Reads a source, or says where it stops being TypeScript.
pub(crate) fn parse<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    name: &str,
) -> Result<ParserReturn<'a>, ScriptError> {
    let parsed = Parser::new(allocator, source, SourceType::ts().with_module(true)).parse();
    refuse(&parsed.diagnostics, source, name)?;
    if parsed.panicked {
        return Err(syntax(source, name, 0, "this is no TypeScript".to_owned()));
    }
    Ok(parsed)
}

/// The first error among what the compiler says.
fn refuse(said: &Diagnostics, source: &str, name: &str) -> Result<(), ScriptError> {
    match said.errors().next() {
        None => Ok(()),
        Some(error) => Err(syntax(source, name, start(error), message(error))),
    }
}

fn start(error: &OxcDiagnostic) -> usize {
    error.labels.iter().map(|label| label.offset() as usize).min().unwrap_or(0)
}

fn message(error: &OxcDiagnostic) -> String {
    match &error.help {
        Some(help) => format!("{} ({help})", error.message),
        None => error.message.to_string(),
    }
}

fn syntax(source: &str, name: &str, offset: usize, message: String) -> ScriptError {
    let at = position(source, offset);
    ScriptError::Syntax { name: name.to_owned(), at, message, excerpt: excerpt(source, at) }
}

/// Turns the columns of source maps, which count UTF-16, into those of people.
struct Columns<'a>(Vec<&'a str>);

impl<'a> Columns<'a> {
    fn of(source: &'a str) -> Self {
        Self(source.split('\n').collect())
    }

    fn position(&self, line: u32, column: u32) -> Position {
        let text = self.0.get(line as usize).copied().unwrap_or_default();
        let mut units = 0;
        let before = text.chars().take_while(|c| {
            units += small(c.len_utf16());
            units <= column
        });
        Position { line: line + 1, column: small(before.count()) + 1 }
    }
}

#[cfg(test)]
mod tests;

//! Tables of functions.

use synapse_lang::expr::functions::{self, ArgumentKind, Family, Function, ResultKind, Signature};

use super::{CannotFill, Table, unknown};

const FAMILIES: &[(&str, Family)] = &[
    ("string", Family::String),
    ("math", Family::Math),
    ("encoding", Family::Encoding),
    ("kind", Family::Kind),
    ("convert", Family::Convert),
    ("time", Family::Time),
    ("access", Family::Access),
];

/// The table of a family by its name; of all functions without one.
pub(super) fn table(name: &str) -> Result<String, CannotFill> {
    let known = || FAMILIES.iter().map(|(word, _)| *word);
    let family = FAMILIES.iter().find(|(word, _)| *word == name).map(|(_, family)| *family);
    if family.is_none() && !name.is_empty() {
        return Err(unknown("functions", name, known()));
    }
    let mut table = Table::new(&["function", "gives", "what it does", "traps"]);
    for one in functions::all().iter().filter(|one| family.is_none_or(|family| one.family == family)) {
        let forms: Vec<String> = one.signatures.iter().map(|signature| form(one, signature)).collect();
        let mut gives: Vec<&str> = one.signatures.iter().map(|signature| result(signature.result)).collect();
        gives.dedup();
        let note = one.note.as_deref().unwrap_or_default();
        table.row(&[forms.join(" "), gives.join(" / "), one.doc.clone(), note.to_owned()]);
    }
    Ok(table.finish())
}

/// `indexOf(text: string, part: string)`.
fn form(function: &Function, signature: &Signature) -> String {
    let arguments = signature.arguments.iter().map(|(name, kind)| format!("{name}: {}", argument(*kind)));
    format!("`{}({})`", function.name, arguments.collect::<Vec<_>>().join(", "))
}

const fn argument(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Any => "any",
        ArgumentKind::String => "string",
        ArgumentKind::Number => "int|double",
        ArgumentKind::Numeric => "int|long|double",
        ArgumentKind::Int => "int",
        ArgumentKind::Boolean => "boolean",
        ArgumentKind::Scalar => "string|JSON scalar",
        ArgumentKind::TextOrArray => "string|array",
        ArgumentKind::Json => "JSON|its text",
        ArgumentKind::Expression => "expression",
    }
}

const fn result(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::String => "string",
        ResultKind::Int => "int",
        ResultKind::Long => "long",
        ResultKind::Double => "double",
        ResultKind::Number => "as the argument",
        ResultKind::Boolean => "boolean",
        ResultKind::Array => "array",
        ResultKind::Object => "object",
        ResultKind::Any => "any",
    }
}

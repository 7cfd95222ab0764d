//! What every operator makes of every pair of kinds. The table is not written but found out: each cell is evaluated.

use synapse_lang::expr::{Context, Evaluation, Status, evaluate_text};

use super::Table;

/// Operands of each kind: several where the result depends on more than the kind, none of them zero.
const OPERANDS: &[(&str, &[&str])] = &[
    ("integer", &["7", "2", "14"]),
    ("long", &["now()"]),
    ("double", &["2.5"]),
    ("string", &["'a'"]),
    ("boolean", &["true"]),
    ("null", &["null"]),
    ("object", &["payload.object"]),
    ("array", &["payload.array"]),
];

const COLUMNS: &[(&str, &[&str])] = &[
    ("`+`", &["+"]),
    ("`-` `*`", &["-", "*"]),
    ("`/`", &["/"]),
    ("`%`", &["%"]),
    ("`<` `<=` `>` `>=`", &["<", "<=", ">", ">="]),
    ("`==` `!=`", &["==", "!="]),
    ("`and` `or`", &["and", "or"]),
];

/// One row for each pair of kinds, one column for each group of operators that behave alike. Kinds that behave alike
/// beside the same other kind share a row.
pub(super) fn table() -> String {
    let context = Context {
        payload: Some(r#"{"object":{"a":1},"array":[1]}"#.to_owned()),
        now: 1_700_000_000_000,
        ..Context::default()
    };
    let columns: Vec<&str> =
        std::iter::once("operands").chain(COLUMNS.iter().map(|(name, _)| *name)).collect();
    let mut table = Table::new(&columns);
    for (at, (left, lefts)) in OPERANDS.iter().enumerate() {
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        for (right, rights) in OPERANDS.iter().skip(at) {
            let outcomes = |operators: &[&str]| outcomes(operators, lefts, rights, &context);
            let cells: Vec<String> = COLUMNS.iter().map(|(_, operators)| outcomes(operators)).collect();
            match rows.last_mut() {
                Some((names, same)) if *same == cells => {
                    names.push_str(" or ");
                    names.push_str(right);
                }
                _ => rows.push((format!("{left} with {right}"), cells)),
            }
        }
        for (names, mut cells) in rows {
            cells.insert(0, names);
            table.row(&cells);
        }
    }
    table.finish()
}

/// What the operators make of the operands, in both orders.
fn outcomes(operators: &[&str], lefts: &[&str], rights: &[&str], context: &Context) -> String {
    let mut all: Vec<&str> = Vec::new();
    for operator in operators {
        for (left, right) in lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right))) {
            for (one, two) in [(left, right), (right, left)] {
                let word = outcome(&evaluate_text(&format!("{one} {operator} {two}"), context));
                if !all.contains(&word) {
                    all.push(word);
                }
            }
        }
    }
    all.join(" or ")
}

/// The kind of a result, or that there is none.
fn outcome(result: &Evaluation) -> &'static str {
    match result.status {
        Status::Ok => match result.kind.unwrap_or_default() {
            "Integer" => "integer",
            "Long" => "long",
            "Double" => "double",
            "String" => "string",
            "Boolean" => "boolean",
            other => other,
        },
        Status::Null => "null",
        Status::EvalError => "error",
        Status::SyntaxError => "does not parse",
        Status::Crash => "crash",
    }
}

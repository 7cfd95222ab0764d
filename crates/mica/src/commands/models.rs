//! `mica models`: what is known, and where it would be asked.

use std::fmt::Write as _;

use mica_ai::endpoint::Endpoints;
use mica_ai::{Catalogue, Model};
use serde_json::{Value, json};

/// The text to print. `problems`: what is wrong with endpoints that are not there; they are told elsewhere.
pub fn run(
    catalogue: &Catalogue,
    endpoints: &Endpoints,
    problems: &[String],
    filter: Option<&str>,
    json: bool,
) -> String {
    let wanted = |model: &&std::sync::Arc<Model>| {
        filter.is_none_or(|filter| model.id.contains(&filter.to_ascii_lowercase()))
    };
    let rows: Vec<(&Model, Option<String>)> = catalogue
        .models()
        .filter(wanted)
        .map(|model| {
            let place =
                endpoints.select(catalogue, &model.id).ok().map(|choice| choice.endpoint.name.clone());
            (&**model, place)
        })
        .collect();
    if json {
        let list: Vec<Value> =
            rows.iter().map(|(model, place)| json!({ "model": model, "endpoint": place })).collect();
        return format!("{}\n", Value::Array(list));
    }
    if rows.is_empty() {
        return "no model has that in its name; other names can be asked for all the same, with modest facts\n"
            .to_owned();
    }
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<32} {:<10} {:>9} {:>8} {:>9} {:>9}  endpoint",
        "model", "dialect", "context", "output", "$/M in", "$/M out"
    );
    for (model, place) in &rows {
        let price = |amount: Option<f64>| amount.map_or("?".to_owned(), |amount| format!("{amount:.2}"));
        let prices = model.prices.as_ref().map(|prices| prices.base);
        let _ = writeln!(
            out,
            "{:<32} {:<10} {:>9} {:>8} {:>9} {:>9}  {}",
            model.id,
            model.dialect.to_string(),
            model.context,
            model.max_output,
            price(prices.map(|row| row.input.dollars())),
            price(prices.map(|row| row.output.dollars())),
            place.as_deref().unwrap_or("-"),
        );
    }
    if endpoints.is_empty() && problems.is_empty() {
        out.push_str("\nno endpoint is set up, so none can be asked yet; `mica doctor` says how\n");
    }
    out
}

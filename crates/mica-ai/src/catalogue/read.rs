//! Reads model facts from TOML, so that every complaint names the model, the field and the line.
//!
//! Values are taken from the parsed tree one by one instead of by one derived type, because the derived error knows
//! the place in the text but not whose field it is.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::error::{CatalogueError, Place};
use super::names::NameRules;
use super::patch::Patch;
use crate::model::{PriceRow, PriceTier};
use crate::usage::Usd;

/// A text's facts, in the order of their names.
pub(super) struct Fragment {
    pub(super) rules: NameRules,
    pub(super) families: Vec<(String, Patch)>,
    pub(super) models: Vec<(String, Patch, Place)>,
}

const TOP: &[&str] = &["names", "family", "model"];
const NAMES: &[&str] = &["vendors", "variants"];
const FIELDS: &[&str] = &[
    "family",
    "name",
    "aliases",
    "dialect",
    "context",
    "max_input",
    "max_output",
    "tools",
    "images",
    "structured_output",
    "rejects",
    "reasoning",
    "cache",
    "prices",
];
const REASONING: &[&str] = &["style", "levels", "min_budget"];
const CACHE: &[&str] = &["kind", "minimum", "max_marks", "lookback", "ttl_minutes"];
const PRICES: &[&str] = &["input", "output", "cache_read", "cache_write", "cache_write_long", "tiers"];
const TIER: &[&str] = &["above", "input", "output", "cache_read", "cache_write", "cache_write_long"];

/// Reads a text.
pub(super) fn fragment(text: &str) -> Result<Fragment, CatalogueError> {
    let lines = Lines(text);
    let document = DeTable::parse(text).map_err(|error| CatalogueError::Syntax {
        place: lines.place(error.span().map_or(0, |span| span.start)),
        problem: error.message().to_owned(),
    })?;
    let mut out = Fragment { rules: NameRules::default(), families: Vec::new(), models: Vec::new() };
    let whole = Owner { lines, owner: "the file".into(), prefix: "" };
    for field in whole.fields(document.into_inner()) {
        match field.key.as_str() {
            "names" => {
                for rule in whole.at("names.").table(field)? {
                    match rule.key.as_str() {
                        "vendors" => out.rules.vendors = whole.value(rule)?,
                        "variants" => out.rules.variants = whole.value(rule)?,
                        _ => return Err(whole.at("names.").unknown(&rule, NAMES)),
                    }
                }
            }
            "family" => {
                for entry in whole.table(field)? {
                    let (name, patch, _) = patch(lines, "family", entry)?;
                    out.families.push((name, patch));
                }
            }
            "model" => {
                for entry in whole.table(field)? {
                    out.models.push(patch(lines, "model", entry)?);
                }
            }
            _ => return Err(whole.unknown(&field, TOP)),
        }
    }
    Ok(out)
}

fn patch<'i>(
    lines: Lines<'_>,
    kind: &str,
    entry: Field<'i>,
) -> Result<(String, Patch, Place), CatalogueError> {
    let owner = Owner { lines, owner: format!("{kind} {:?}", entry.key), prefix: "" };
    let (name, place) = (entry.key.clone(), lines.place(entry.at));
    let mut out = Patch::default();
    for field in owner.table(entry)? {
        match field.key.as_str() {
            "family" if kind == "model" => out.family = Some(owner.value(field)?),
            "name" => out.name = Some(owner.value(field)?),
            "aliases" => out.aliases = Some(owner.value(field)?),
            "dialect" => out.dialect = Some(owner.value(field)?),
            "context" => out.context = Some(owner.value(field)?),
            "max_input" => out.max_input = Some(owner.value(field)?),
            "max_output" => out.max_output = Some(owner.value(field)?),
            "tools" => out.tools = Some(owner.value(field)?),
            "images" => out.images = Some(owner.value(field)?),
            "structured_output" => out.structured_output = Some(owner.value(field)?),
            "rejects" => out.rejects = Some(owner.value(field)?),
            "reasoning" => reasoning(&owner.at("reasoning."), field, &mut out)?,
            "cache" => cache(&owner.at("cache."), field, &mut out)?,
            "prices" => prices(&owner.at("prices."), field, &mut out)?,
            _ => return Err(owner.unknown(&field, FIELDS)),
        }
    }
    Ok((name, out, place))
}

fn reasoning(owner: &Owner<'_>, field: Field<'_>, out: &mut Patch) -> Result<(), CatalogueError> {
    for field in owner.table(field)? {
        match field.key.as_str() {
            "style" => out.reasoning.style = Some(owner.value(field)?),
            "levels" => out.reasoning.levels = Some(owner.value(field)?),
            "min_budget" => out.reasoning.min_budget = Some(owner.value(field)?),
            _ => return Err(owner.unknown(&field, REASONING)),
        }
    }
    Ok(())
}

fn cache(owner: &Owner<'_>, field: Field<'_>, out: &mut Patch) -> Result<(), CatalogueError> {
    for field in owner.table(field)? {
        match field.key.as_str() {
            "kind" => out.cache.kind = Some(owner.value(field)?),
            "minimum" => out.cache.minimum = Some(owner.value(field)?),
            "max_marks" => out.cache.max_marks = Some(owner.value(field)?),
            "lookback" => out.cache.lookback = Some(owner.value(field)?),
            "ttl_minutes" => out.cache.ttl_minutes = Some(owner.value(field)?),
            _ => return Err(owner.unknown(&field, CACHE)),
        }
    }
    Ok(())
}

fn prices(owner: &Owner<'_>, field: Field<'_>, out: &mut Patch) -> Result<(), CatalogueError> {
    for field in owner.table(field)? {
        match field.key.as_str() {
            "input" => out.prices.input = Some(owner.price(field)?),
            "output" => out.prices.output = Some(owner.price(field)?),
            "cache_read" => out.prices.cache_read = Some(owner.price(field)?),
            "cache_write" => out.prices.cache_write = Some(owner.price(field)?),
            "cache_write_long" => out.prices.cache_write_long = Some(owner.price(field)?),
            "tiers" => out.prices.tiers = Some(tiers(&owner.at("prices.tiers."), field)?),
            _ => return Err(owner.unknown(&field, PRICES)),
        }
    }
    Ok(())
}

fn tiers(owner: &Owner<'_>, field: Field<'_>) -> Result<Vec<PriceTier>, CatalogueError> {
    let at = field.at;
    let DeValue::Array(items) = field.value.into_inner() else {
        return Err(owner.bad("above", at, "a list of tables is needed".into()));
    };
    items
        .into_iter()
        .map(|item| {
            let (mut above, mut input, mut output) = (None, None, None);
            let (mut cache_read, mut cache_write, mut cache_write_long) = (None, None, None);
            let at = item.span().start;
            for field in owner.table(Field { key: String::new(), at, value: item })? {
                match field.key.as_str() {
                    "above" => above = Some(owner.value(field)?),
                    "input" => input = Some(owner.price(field)?),
                    "output" => output = Some(owner.price(field)?),
                    "cache_read" => cache_read = Some(owner.price(field)?),
                    "cache_write" => cache_write = Some(owner.price(field)?),
                    "cache_write_long" => cache_write_long = Some(owner.price(field)?),
                    _ => return Err(owner.unknown(&field, TIER)),
                }
            }
            let missing = |name| owner.bad(name, at, "is missing".into());
            Ok(PriceTier {
                above: above.ok_or_else(|| missing("above"))?,
                row: PriceRow {
                    input: input.ok_or_else(|| missing("input"))?,
                    output: output.ok_or_else(|| missing("output"))?,
                    cache_read,
                    cache_write,
                    cache_write_long,
                },
            })
        })
        .collect()
}

/// A key, its place and its value.
struct Field<'i> {
    key: String,
    at: usize,
    value: Spanned<DeValue<'i>>,
}

/// Whose fields are being read: what complaints begin with.
struct Owner<'t> {
    lines: Lines<'t>,
    owner: String,
    prefix: &'static str,
}

impl<'t> Owner<'t> {
    fn at(&self, prefix: &'static str) -> Owner<'t> {
        Owner { lines: self.lines, owner: self.owner.clone(), prefix }
    }

    fn fields<'i>(&self, table: DeTable<'i>) -> impl Iterator<Item = Field<'i>> {
        table.into_iter().map(|(key, value)| Field {
            at: key.span().start,
            key: key.into_inner().into_owned(),
            value,
        })
    }

    fn table<'i>(&self, field: Field<'i>) -> Result<impl Iterator<Item = Field<'i>>, CatalogueError> {
        let Field { key, at, value } = field;
        match value.into_inner() {
            DeValue::Table(table) => Ok(self.fields(table)),
            _ => Err(self.bad(&key, at, "a table is needed".into())),
        }
    }

    fn value<T: DeserializeOwned>(&self, field: Field<'_>) -> Result<T, CatalogueError> {
        let Field { key, at, value } = field;
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let at = error.span().map_or(at, |span| span.start);
            self.bad(&key, at, error.message().to_owned())
        })
    }

    /// A price. Negative ones are refused here because the money type would turn them into nothing.
    fn price(&self, field: Field<'_>) -> Result<Usd, CatalogueError> {
        let (key, at) = (field.key.clone(), field.at);
        let dollars: f64 = self.value(field)?;
        if dollars.is_finite() && dollars >= 0.0 {
            Ok(Usd::from_dollars(dollars))
        } else {
            Err(self.bad(&key, at, format!("{dollars} is not a price")))
        }
    }

    fn bad(&self, field: &str, at: usize, problem: String) -> CatalogueError {
        CatalogueError::BadValue {
            owner: self.owner.clone(),
            field: format!("{}{field}", self.prefix),
            place: self.lines.place(at),
            problem,
        }
    }

    fn unknown(&self, field: &Field<'_>, known: &[&'static str]) -> CatalogueError {
        CatalogueError::UnknownField {
            owner: self.owner.clone(),
            field: format!("{}{}", self.prefix, field.key),
            place: self.lines.place(field.at),
            known: known.to_vec(),
        }
    }
}

/// Turns offsets into lines.
#[derive(Clone, Copy)]
struct Lines<'t>(&'t str);

impl Lines<'_> {
    fn place(self, at: usize) -> Place {
        let before = self.0.as_bytes().get(..at).unwrap_or_default();
        Place { line: 1 + before.iter().filter(|byte| **byte == b'\n').count() }
    }
}

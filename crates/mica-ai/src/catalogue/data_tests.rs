//! The built-in data: that it can be true, and that it says what its source says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::message::Dialect;
use crate::model::{CacheKind, Parameter, PriceRow, Prices, ReasoningStyle};
use crate::usage::Usd;

#[test]
fn the_data_reads_strictly() {
    let catalogue = Catalogue::parse(BUILTIN).unwrap();
    assert_eq!(catalogue.models().count(), 110);
}

#[test]
fn the_data_is_sound() {
    for model in Catalogue::builtin().models() {
        let id = &model.id;
        assert_eq!(check::faults(model), [], "{id}");
        assert_eq!(*id, id.to_lowercase(), "{id}");
        assert_eq!(model.deployment, *id);
        assert!(!model.name.is_empty(), "{id}");
        let claude = id.starts_with("claude");
        assert_eq!(claude, model.dialect == Dialect::Messages, "{id}");
        assert_eq!(claude, model.cache.kind == CacheKind::Marks, "{id}");
        if claude {
            assert_eq!((model.cache.max_marks, model.cache.lookback), (4, 20), "{id}");
            assert_eq!(model.cache.ttl_minutes, [5, 60], "{id}");
            assert!([512, 1024, 2048, 4096].contains(&model.cache.minimum), "{id}");
            assert!(
                matches!(model.reasoning.style, ReasoningStyle::Adaptive | ReasoningStyle::Budget),
                "{id}"
            );
            let long = model.prices.as_ref().map(|prices| prices.base.cache_write_long.is_some());
            assert_ne!(long, Some(false), "{id}");
        }
        assert_eq!(
            model.accepts(Parameter::Temperature),
            model.accepts(Parameter::TopP),
            "{id}: sampling parameters are rejected together"
        );
    }
}

#[test]
fn models_survive_being_stored() {
    for model in Catalogue::builtin().models() {
        let text = serde_json::to_string(model).unwrap();
        assert_eq!(serde_json::from_str::<Model>(&text).unwrap(), **model);
    }
}

#[test]
fn every_id_and_alias_finds_its_model() {
    let catalogue = Catalogue::builtin();
    for model in catalogue.models() {
        for name in std::iter::once(&model.id).chain(catalogue.aliases(&model.id)) {
            assert_eq!(catalogue.resolve(name).unwrap().model.id, model.id, "{name}");
            let shouted = format!("azure/{}", name.to_uppercase());
            assert_eq!(catalogue.resolve(&shouted).unwrap().model.id, model.id, "{shouted}");
        }
    }
}

/// Where the data departs from its source on purpose; `models.toml` says why at each.
const DEPARTURES: &[(&str, &[&str])] = &[
    ("claude-opus-4-8", &["context", "max_output", "temperature"]),
    ("claude-opus-4-6", &["context"]),
    ("gpt-5", &["context", "max_input"]),
    ("gpt-5-mini", &["context", "max_input"]),
    ("gpt-5-nano", &["context", "max_input"]),
    ("gpt-5.1", &["context", "max_input"]),
    ("gpt-5-codex", &["max_input"]),
    ("gpt-5.1-codex", &["max_input"]),
    ("gpt-5.1-codex-mini", &["max_input"]),
    ("gpt-5.2", &["max_input", "prices"]),
    ("gpt-5.2-codex", &["max_input"]),
    ("gpt-5.3-codex", &["max_input"]),
    ("model-router", &["prices"]),
];

/// Not chat models: their answers are vectors or images, or the completions wire is the only one they have.
fn left_out(id: &str) -> bool {
    id.contains("embed") || id.contains("image") || id == "gpt-3.5-turbo-instruct"
}

/// Give the path of a models.dev extract in MICA_MODELS_JSON to compare the data with its source.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test that is told where its reference data is")]
fn the_data_says_what_its_source_says() {
    let Ok(path) = std::env::var("MICA_MODELS_JSON") else {
        println!("skipped: set MICA_MODELS_JSON to a models.dev extract to compare the catalogue with it");
        return;
    };
    let source: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let departures: BTreeMap<_, _> = DEPARTURES.iter().copied().collect();
    let mut differences = BTreeSet::new();
    let mut expected = BTreeSet::new();
    for entry in source["models"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        if left_out(id) {
            continue;
        }
        for field in departures.get(id).copied().unwrap_or_default() {
            expected.insert(format!("{id} {field}"));
        }
        let model = Catalogue::builtin().resolve(id).unwrap().model;
        assert_eq!(model.id, id);
        let mut compare = |field: &str, same: bool| {
            if !same {
                differences.insert(format!("{id} {field}"));
            }
        };
        let limit = &entry["limit"];
        let whole = |value: &Value| value.as_u64();
        let max_input = whole(&limit["input"]).filter(|max| Some(*max) != whole(&limit["context"]));
        compare("context", whole(&limit["context"]) == Some(model.context));
        compare("max_input", max_input == model.max_input);
        compare("max_output", whole(&limit["output"]) == Some(model.max_output));
        compare("tools", entry["tool_call"] == model.tools);
        let images = entry["input"].as_array().unwrap().iter().any(|kind| kind == "image");
        compare("images", images == model.images);
        compare("reasoning", entry["reasoning"] == (model.reasoning.style != ReasoningStyle::None));
        let rejects = entry["temperature"] == false;
        compare("temperature", rejects != model.accepts(Parameter::Temperature));
        if let Some(structured) = entry["structured_output"].as_bool() {
            compare("structured_output", structured == model.structured_output);
        }
        compare("levels", levels_agree(&entry["reasoning_options"], &model));
        compare("prices", prices_agree(&entry["cost"], model.prices.as_ref()));
    }
    assert_eq!(differences, expected);
}

fn levels_agree(options: &Value, model: &Model) -> bool {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let effort = options.iter().find(|option| option["type"] == "effort");
    match (effort, model.reasoning.style) {
        (Some(effort), ReasoningStyle::Effort | ReasoningStyle::Adaptive) => {
            let ours: Vec<_> = model.reasoning.levels.iter().map(|level| level.name()).collect();
            effort["values"] == serde_json::json!(ours)
        }
        (Some(_), style) => style == ReasoningStyle::Budget,
        (None, style) => {
            matches!(style, ReasoningStyle::None | ReasoningStyle::Always | ReasoningStyle::Budget)
        }
    }
}

fn prices_agree(cost: &Value, prices: Option<&Prices>) -> bool {
    let Some(prices) = prices else {
        return cost.is_null();
    };
    let row = |cost: &Value, row: &PriceRow| {
        let same = |key: &str, ours: Option<Usd>| cost[key].as_f64() == ours.map(Usd::dollars);
        same("input", Some(row.input))
            && same("output", Some(row.output))
            && same("cache_read", row.cache_read)
            && same("cache_write", row.cache_write)
    };
    let tiers = cost["tiers"].as_array().map(Vec::as_slice).unwrap_or_default();
    row(cost, &prices.base)
        && tiers.len() == prices.tiers.len()
        && tiers.iter().zip(&prices.tiers).all(|(theirs, ours)| {
            theirs["tier"]["size"].as_u64() == Some(ours.above) && row(theirs, &ours.row)
        })
}

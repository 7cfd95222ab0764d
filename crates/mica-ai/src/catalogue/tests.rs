//! Finding models by name, and correcting facts.

use proptest::prelude::*;

use super::*;
use crate::message::Dialect;
use crate::model::CacheFacts;
use crate::model::{CacheKind, Effort, Parameter};
use crate::usage::Usd;

fn check(name: &str, expect: Option<(&str, MatchedBy)>) {
    let found = Catalogue::builtin().resolve(name).ok();
    let got = found.as_ref().map(|found| (found.model.id.as_str(), found.by));
    assert_eq!(got, expect, "{name}");
}

#[test]
fn names_that_are_known() {
    use MatchedBy::{Alias, Id, Likeness};
    for (name, id, by) in [
        ("gpt-5.5", "gpt-5.5", Id),
        ("claude-sonnet-4-6", "claude-sonnet-4-6", Id),
        ("GPT-5.5", "gpt-5.5", Alias),
        ("gpt-5-5", "gpt-5.5", Alias),
        ("claude-sonnet-4.6", "claude-sonnet-4-6", Alias),
        ("azure/gpt-5.5", "gpt-5.5", Alias),
        ("openrouter/openai/gpt-5.5", "gpt-5.5", Alias),
        ("anthropic/claude-opus-4.8", "claude-opus-4-8", Alias),
        ("DeepSeek-V3.2", "deepseek-v3.2", Alias),
        ("Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct", Alias),
        ("gpt-5.6", "gpt-5.6-sol", Alias),
        ("gpt-35-turbo", "gpt-3.5-turbo-0125", Alias),
        ("gpt-5-chat-latest", "gpt-5-chat", Alias),
        ("gpt-4-1106-preview", "gpt-4-turbo", Alias),
        (" gpt-4o ", "gpt-4o", Id),
        ("gpt-4o-2024-08-06", "gpt-4o", Likeness),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini", Likeness),
        ("gpt-4.1-2025-04-14", "gpt-4.1", Likeness),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini", Likeness),
        ("gpt-5.1-codex-max-prod", "gpt-5.1-codex-max", Likeness),
        ("gpt-5.5-prod", "gpt-5.5", Likeness),
        ("gpt-5.5_eastus2", "gpt-5.5", Likeness),
        ("gpt-4-0613", "gpt-4", Likeness),
        ("anthropic.claude-sonnet-4-6-v1:0", "claude-sonnet-4-6", Likeness),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", Likeness),
        ("claude-opus-4-5@20251101", "claude-opus-4-5", Likeness),
        ("claude-opus-4-6-latest", "claude-opus-4-6", Likeness),
        ("o3-2025-04-16", "o3", Likeness),
        ("deepseek-r1-0528", "deepseek-r1-0528", Id),
    ] {
        check(name, Some((id, by)));
    }
}

#[test]
fn a_name_never_gets_another_models_facts() {
    for name in [
        "",
        "-",
        "gpt",
        "gpt-5.5-mini",
        "gpt-5.5-pro",
        "gpt-5.7",
        "gpt-5.10",
        "gpt-55",
        "gpt-5-mini-tts",
        "gpt-4o-realtime-preview",
        "gpt-4o-audio-preview-2024-12-17",
        "gpt-4o-prod-mini",
        "o3-pro",
        "o3-deep-research",
        "o1-preview",
        "gpt-3.5-turbo-16k",
        "claude-opus-5-7",
        "claude-opus-4-9",
        "claude-opus-4",
        "claude-3-7-sonnet-20250219",
        "phi-4-14b",
        "deepseek-r1-distill-llama-70b",
        "text-embedding-3-large",
        "my-gpt-5.5",
        "qwen3:8b",
    ] {
        check(name, None);
    }
}

#[test]
fn an_unknown_name_says_what_to_do() {
    let error = Catalogue::builtin().resolve("gpt-9").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown model \"gpt-9\" (known: gpt-3.5-turbo-0125, gpt-3.5-turbo-0301, gpt-3.5-turbo-0613, \
         gpt-3.5-turbo-1106, gpt-4 …): add it as [model.\"gpt-9\"] to the configuration, or map a known model to this \
         deployment"
    );
    assert_eq!(Catalogue::builtin().resolve("qwen3").unwrap_err().alike, Vec::<String>::new());
}

#[test]
fn unknown_models_get_modest_facts() {
    let model = Model::assumed("qwen3:8b", Dialect::Chat);
    assert_eq!((model.context, model.max_output, model.tools), (128_000, 8_192, true));
    assert_eq!(model.cache, CacheFacts::NONE);
    assert_eq!(model.prices, None);
    assert_eq!(check::faults(&model), []);
}

#[test]
fn overrides_are_merged_field_by_field() {
    let base = Catalogue::builtin();
    let catalogue = base
        .with_overrides(
            r#"
            [model."gpt-5.5"]
            max_output = 64_000
            aliases = ["house-model"]
            cache.minimum = 2048
            prices.input = 4
            "#,
        )
        .unwrap();
    let before = base.resolve("gpt-5.5").unwrap().model;
    let after = catalogue.resolve("house-model").unwrap().model;
    let mut expect = (*before).clone();
    expect.max_output = 64_000;
    expect.cache.minimum = 2048;
    expect.prices.as_mut().unwrap().base.input = Usd::from_dollars(4.0);
    assert_eq!(*after, expect);
    assert_eq!(catalogue.resolve("gpt-5.4").unwrap(), base.resolve("gpt-5.4").unwrap());
}

#[test]
fn families_can_be_corrected_and_used_by_new_models() {
    let catalogue = Catalogue::builtin()
        .with_overrides(
            r#"
            [family.claude]
            cache.ttl_minutes = [5]

            [model.claude-opus-6]
            family = "claude"
            context = 2_000_000
            max_output = 256_000

            [model."qwen3:8b"]
            dialect = "chat"
            context = 40_960
            max_output = 8_192
            "#,
        )
        .unwrap();
    let new = catalogue.resolve("claude-opus-6").unwrap().model;
    assert_eq!((new.cache.kind, new.cache.ttl_minutes.as_slice()), (CacheKind::Marks, [5].as_slice()));
    assert_eq!(new.name, "claude-opus-6");
    assert_eq!(catalogue.resolve("claude-opus-5").unwrap().model.cache.ttl_minutes, [5]);
    assert!(catalogue.resolve("qwen3:8b").unwrap().model.tools);
}

fn refused(text: &str, expect: &str) {
    let error = Catalogue::builtin().with_overrides(text).unwrap_err();
    assert_eq!(error.to_string(), expect);
}

#[test]
fn complaints_name_model_field_and_line() {
    refused("[model.gpt-5\n", "line 1: not TOML: unclosed table, expected `]`");
    refused("[models.gpt-5]\n", "line 1: the file has no field \"models\"; use one of names, family, model");
    refused(
        "\n[model.gpt-5]\ncontext = 1\ntemprature = 3\n",
        "line 4: model \"gpt-5\" has no field \"temprature\"; use one of family, name, aliases, dialect, context, max_input, \
         max_output, tools, images, structured_output, rejects, reasoning, cache, prices",
    );
    refused(
        "[model.gpt-5]\ncache = { minimun = 3 }\n",
        "line 2: model \"gpt-5\" has no field \"cache.minimun\"; use one of kind, minimum, max_marks, lookback, ttl_minutes",
    );
    refused(
        "[model.gpt-5]\n\ncontext = \"big\"\n",
        "line 3: model \"gpt-5\": context: invalid type: string \"big\", expected u64",
    );
    refused("[model.gpt-5]\nprices.input = -1\n", "line 2: model \"gpt-5\": prices.input: -1 is not a price");
    refused(
        "[model.gpt-5]\nreasoning.levels = [\"low\", \"huge\"]\n",
        "line 2: model \"gpt-5\": reasoning.levels: unknown variant `huge`, expected one of `none`, `minimal`, `low`, \
         `medium`, `high`, `xhigh`, `max`",
    );
    refused(
        "[model.gpt-5]\nprices.tiers = [{ above = 5, input = 1 }]\n",
        "line 2: model \"gpt-5\": prices.tiers.output: is missing",
    );
    refused(
        "\n[model.gpt-5]\nmax_output = 900_000\n",
        "line 2: model \"gpt-5\": max_output: 900000 is more than the context of 400000",
    );
    refused(
        "[model.gpt-5]\nreasoning.levels = [\"high\", \"low\"]\n",
        "line 1: model \"gpt-5\": reasoning.levels: the levels must ascend, each once",
    );
    refused(
        "[model.mine]\ncontext = 9\n",
        "line 1: model \"mine\" needs dialect: set it, or name a family that has it",
    );
    refused(
        "[model.mine]\nfamily = \"nobody\"\n",
        "line 1: model \"mine\": there is no family \"nobody\"; use one of claude, claude-budget, gpt-4, gpt-5, gpt-5.6, \
         o-series, open",
    );
    refused(
        "[model.mine]\nfamily = \"open\"\ncontext = 9\nmax_output = 9\naliases = [\"GPT-5.5\"]\n",
        "line 1: \"GPT-5.5\" names both \"mine\" and \"gpt-5.5\": drop it from one of them",
    );
    refused("model = 3\n", "line 1: the file: model: a table is needed");
}

#[test]
fn facts_that_requests_depend_on() {
    let of = |name: &str| Catalogue::builtin().resolve(name).unwrap().model;
    assert!(!of("claude-opus-4-8").accepts(Parameter::Temperature));
    assert!(of("claude-sonnet-4-6").accepts(Parameter::Temperature));
    assert!(!of("claude-opus-5-5").accepts(Parameter::ThinkingDisabled));
    assert!(!of("gpt-5.5").accepts(Parameter::TopP));
    assert!(of("gpt-4o").accepts(Parameter::Temperature));
    assert_eq!(of("gpt-5").reasoning.nearest(Effort::None), Some(Effort::Minimal));
    assert_eq!(of("model-router").dialect, Dialect::Chat);
    assert_eq!(of("gpt-5.6-terra").cache.kind, CacheKind::Breakpoints);
}

proptest! {
    #[test]
    fn any_text_is_found_or_unknown(name in "\\PC{0,40}") {
        let _ = Catalogue::builtin().resolve(&name);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        let _ = Catalogue::builtin().with_overrides(&text);
    }

    /// Whatever is appended without a separator makes another name. Models with aliases are left out: what follows the
    /// shorter alias may well be a deployment's suffix.
    #[test]
    fn ids_match_at_boundaries_only(at in 0..110_usize, tail in "[a-z0-9]{1,8}") {
        let ids: Vec<_> = Catalogue::builtin()
            .models()
            .map(|model| model.id.clone())
            .filter(|id| Catalogue::builtin().aliases(id).is_empty())
            .collect();
        let id = &ids[at % ids.len()];
        let name = format!("{id}{tail}");
        if let Ok(found) = Catalogue::builtin().resolve(&name) {
            prop_assert_ne!(&found.model.id, id);
        }
    }
}

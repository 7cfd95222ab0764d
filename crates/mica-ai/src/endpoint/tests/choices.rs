//! From a model's name to a request's address.

use crate::catalogue::{Catalogue, MatchedBy};
use crate::endpoint::{Choice, Endpoints, Facts, SelectError};
use crate::message::{Dialect, Origin};

fn endpoints(variables: &[(&str, &str)]) -> Endpoints {
    Endpoints::from_env(&|name| {
        variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
    .unwrap()
}

const FOUNDRY: (&str, &str) = ("AZURE_OPENAI_RESOURCE_NAME", "res");
const MAP: (&str, &str) =
    ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "gpt-4o=my-gpt4o, my-own=thing, gpt-5.5=gpt-4.1");
const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "k");
const LOCAL: (&str, &str) = ("MICA_LOCAL_BASE_URL", "http://127.0.0.1:11434");

fn select(variables: &[(&str, &str)], name: &str) -> Result<Choice, SelectError> {
    endpoints(variables).select(Catalogue::builtin(), name)
}

fn check(variables: &[(&str, &str)], name: &str, expect: (&str, &str, &str)) {
    let choice = select(variables, name).unwrap();
    assert_eq!(choice.model.dialect, choice.dialect);
    let got = (choice.model.id.as_str(), choice.model.deployment.as_str(), choice.url());
    assert_eq!((got.0, got.1, got.2.as_str()), expect, "{name}");
}

#[test]
fn models_go_where_they_are_hosted() {
    let v1 = "https://res.openai.azure.com/openai/v1/responses";
    let chat = "https://res.openai.azure.com/openai/v1/chat/completions";
    let all = [FOUNDRY, MAP, OPENAI, ANTHROPIC, LOCAL];
    check(&all, "gpt-5.4", ("gpt-5.4", "gpt-5.4", v1));
    check(&all, "gpt-4o", ("gpt-4o", "my-gpt4o", v1));
    check(&all, "azure/GPT-4O", ("gpt-4o", "my-gpt4o", v1));
    check(&all, "my-gpt4o", ("gpt-4o", "my-gpt4o", v1));
    check(&all, "gpt-5.5", ("gpt-5.5", "gpt-4.1", v1));
    check(&all, "my-own", ("my-own", "thing", chat));
    check(&all, "deepseek-v3.2", ("deepseek-v3.2", "deepseek-v3.2", chat));
    check(&all, "claude-opus-5", ("claude-opus-5", "claude-opus-5", "https://api.anthropic.com/v1/messages"));
    check(
        &all,
        "anthropic/claude-opus-5",
        ("claude-opus-5", "claude-opus-5", "https://api.anthropic.com/v1/messages"),
    );
    check(
        &all,
        "foundry/claude-opus-5",
        ("claude-opus-5", "claude-opus-5", "https://res.services.ai.azure.com/anthropic/v1/messages"),
    );
    check(&all, "openai/gpt-5.5", ("gpt-5.5", "gpt-5.5", "https://api.openai.com/v1/responses"));
    check(
        &all,
        "local/hf.co/org/Model:Q4",
        ("hf.co/org/Model:Q4", "hf.co/org/Model:Q4", "http://127.0.0.1:11434/v1/chat/completions"),
    );
    check(&all, "qwen3:8b", ("qwen3:8b", "qwen3:8b", chat));
}

#[test]
fn names_are_sent_as_their_place_knows_them() {
    let responses = "https://api.openai.com/v1/responses";
    check(&[OPENAI], "GPT-5.5", ("gpt-5.5", "gpt-5.5", responses));
    check(&[OPENAI], "gpt-5.6", ("gpt-5.6-sol", "gpt-5.6", responses));
    check(&[OPENAI], "azure/gpt-5.5", ("gpt-5.5", "gpt-5.5", responses));
    check(&[OPENAI], "gpt-4o-2024-08-06", ("gpt-4o", "gpt-4o-2024-08-06", responses));
    let messages = "https://api.anthropic.com/v1/messages";
    check(&[ANTHROPIC], "claude-sonnet-4.6", ("claude-sonnet-4-6", "claude-sonnet-4-6", messages));
    let foundry = "https://res.openai.azure.com/openai/v1/responses";
    check(&[FOUNDRY, MAP], "gpt-5.4-Prod", ("gpt-5.4", "gpt-5.4-Prod", foundry));
    check(&[FOUNDRY, MAP], "gpt-4o-2024-08-06", ("gpt-4o", "gpt-4o-2024-08-06", foundry));
}

#[test]
fn a_local_server_is_spoken_to_over_chat() {
    let url = "http://127.0.0.1:11434/v1/chat/completions";
    check(&[LOCAL], "gpt-5.5", ("gpt-5.5", "gpt-5.5", url));
    check(&[LOCAL], "org/claude-opus-5", ("claude-opus-5", "org/claude-opus-5", url));
}

#[test]
fn a_pasted_deployment_is_the_deployment() {
    let pasted =
        "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-12-01-preview";
    check(
        &[("AZURE_OPENAI_BASE_URL", pasted)],
        "gpt-4o",
        ("gpt-4o", "mine", "https://r.openai.azure.com/openai/responses?api-version=2024-12-01-preview"),
    );
}

#[test]
fn the_dialect_can_be_set() {
    let found = endpoints(&[FOUNDRY]);
    let choice = found.select_as(Catalogue::builtin(), "gpt-5.5", Dialect::Chat).unwrap();
    assert_eq!(choice.url(), "https://res.openai.azure.com/openai/v1/chat/completions");
    assert_eq!(choice.facts, Facts::Known(MatchedBy::Id));
    let origin = Origin { dialect: Dialect::Chat, provider: "foundry".into(), model: "gpt-5.5".into() };
    assert_eq!(choice.origin(), origin);
}

#[test]
fn what_nobody_knows_is_assumed_and_says_so() {
    let choice = select(&[FOUNDRY], "my-deployment").unwrap();
    assert_eq!(choice.facts, Facts::Assumed);
    assert_eq!(choice.model.prices, None);
}

#[test]
fn there_may_be_nowhere_to_go() {
    assert_eq!(select(&[OPENAI], " ").unwrap_err(), SelectError::NoName);
    assert_eq!(select(&[OPENAI], "openai/").unwrap_err(), SelectError::NoName);
    let none = Endpoints::default().select(Catalogue::builtin(), "gpt-5.5").unwrap_err();
    assert_eq!(none, SelectError::NoEndpoints);
    assert_eq!(
        select(&[OPENAI], "claude-opus-5").unwrap_err().to_string(),
        "\"claude-opus-5\" is reached over messages, and none of the endpoints (openai) has that: configure one that has"
    );
}

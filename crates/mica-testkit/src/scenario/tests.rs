//! Scenarios read from files are the ones that are built.

use serde_json::json;

use super::*;
use crate::fault::At;

const ALL: &str = r#"
name = "everything"
key = "secret"
pacing = { chars = 4, delay_ms = 20 }
wire = { late_encrypted = true, reasoning_field = "reasoning" }
strict = { seals = false }
limits = { captured = 8 }

[models.gpt]
rejects = ["temperature"]
cache = { kind = "prefix", minimum = 1024, ttl_minutes = [10] }

[[turns]]
steps = [
  { thinking = "Hm." },
  { redacted = "secret thoughts" },
  { text = "Words." },
  { call = { name = "read", id = "call_1", args = { path = "a" } } },
  { interleaved = [{ name = "a" }, { name = "b", raw = "{oops" }] },
]
stop = "length"
usage = { exact = { input = 100, cache_read = 40, output = 7 } }
fault = { stall = { at = "middle" } }

[[turns]]
repeat = 2
error = "azure_429_retry_after_ms"

[[turns]]
error = { status = 418, headers = { x-pot = "tea" }, body = "short and stout", kinds = ["bad_request"] }

[[turns]]
when = { user_contains = "hello", tool_result = "read", tool_results = 1, model = "gpt" }
steps = [{ refusal = "No." }]
usage = "absent"

[otherwise]
steps = [{ text = "What?" }]
pacing = { first_ms = 5 }
"#;

fn built() -> Scenario {
    let usage = mica_ai::Usage { input: 100, cache_read: 40, output: 7, ..Default::default() };
    let when = When {
        user_contains: Some("hello".into()),
        tool_result: Some("read".into()),
        tool_results: Some(1),
        model: Some("gpt".into()),
    };
    let teapot = crate::preset::Preset {
        status: 418,
        headers: [("x-pot".to_owned(), "tea".to_owned())].into(),
        body: "short and stout".into(),
        kinds: vec!["bad_request".into()],
    };
    let mut scenario = Scenario::new()
        .named("everything")
        .key("secret")
        .pacing(Pacing { chars: 4, delay_ms: 20, ..Pacing::default() })
        .wire(WireOptions {
            late_encrypted: true,
            reasoning_field: ReasoningField::Reasoning,
            ..WireOptions::default()
        })
        .turn(
            Turn::new()
                .thinking("Hm.")
                .step(Step::Redacted("secret thoughts".into()))
                .text("Words.")
                .step(Step::Call(Call::new("read", json!({ "path": "a" })).with_id("call_1")))
                .step(Step::Interleaved(vec![
                    Call { name: "a".into(), ..Call::default() },
                    Call::raw("b", "{oops"),
                ]))
                .stop(Stop::Length)
                .usage(TurnUsage::Exact(usage))
                .fault(Fault::Stall { at: At::Middle }),
        )
        .turn(Turn::error("azure_429_retry_after_ms".into()).repeat(2))
        .turn(Turn::error(ErrorAnswer::Exact(teapot)))
        .turn(Turn::new().refusal("No.").when(when).usage(TurnUsage::Absent))
        .otherwise(Turn::new().text("What?").pacing(Pacing { first_ms: 5, ..Pacing::default() }));
    scenario.strict.seals = false;
    scenario.limits.captured = 8;
    let cache = CacheFacts {
        kind: mica_ai::model::CacheKind::Prefix,
        minimum: 1024,
        max_marks: 0,
        lookback: 0,
        ttl_minutes: vec![10],
    };
    scenario
        .models
        .insert("gpt".into(), ModelFacts { rejects: vec![Parameter::Temperature], cache: Some(cache) });
    scenario
}

#[test]
fn a_file_says_what_the_builder_says() {
    assert_eq!(Scenario::from_toml(ALL).unwrap(), built());
}

#[test]
fn json_has_the_same_shape() {
    let json = serde_json::to_string(&built()).unwrap();
    assert_eq!(Scenario::from_json(&json).unwrap(), built());
}

#[test]
fn a_misspelt_field_is_an_error_that_names_it() {
    let error = Scenario::from_toml("[[turns]]\nstep = []").unwrap_err().to_string();
    assert!(error.contains("step"), "{error}");
    assert!(Scenario::from_json("{\"turns\": [{\"fault\": {\"stal\": {}}}]}").is_err());
}

#[test]
fn the_ending_follows_from_the_steps() {
    assert_eq!(Turn::new().text("x").ending(), Stop::Stop);
    assert_eq!(Turn::new().text("x").call("f", json!({})).ending(), Stop::ToolUse);
    assert_eq!(Turn::new().refusal("x").ending(), Stop::Refusal);
    assert_eq!(Turn::new().call("f", json!({})).stop(Stop::Length).ending(), Stop::Length);
}

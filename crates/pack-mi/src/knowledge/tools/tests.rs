//! The tools as a model calls them.

use mica_agent::{Access, Approval, Args, Effect, RunId, ToolCx};
use mica_ai::Content;
use mica_ai::id::CallId;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;

fn fixed(version: Option<&str>) -> RuntimeVersion {
    let version = version.map(|text| text.parse().unwrap());
    Arc::new(move || version)
}

async fn call(tool: usize, version: Option<&str>, args: Value) -> Result<String, String> {
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let args: Args = args;
    let tools = tools(fixed(version));
    let cx = ToolCx::new(RunId::fresh(), CallId::from("call-1"), CancellationToken::new(), |_| {});
    let output = tools[tool].call(args, &cx).await.map_err(|error| error.message)?;
    Ok(output
        .content
        .iter()
        .map(|one| match one {
            Content::Text { text, .. } => text.as_str(),
            _ => "",
        })
        .collect())
}

#[test]
fn they_only_look() {
    for tool in tools(fixed(None)) {
        let spec = tool.spec();
        assert_eq!(
            (spec.access, spec.effect, spec.approval),
            (Access::Read, Effect::Pure, Approval::NotNeeded)
        );
    }
}

#[tokio::test]
async fn references_are_loaded_by_any_form_of_names() {
    let section = "synapse-expression-spec:type_coercion";
    let whole = call(0, None, json!({ "names": [section] })).await.unwrap();
    assert!(
        whole.starts_with("<reference name=\"synapse-expression-spec:type_coercion\" tokens=\""),
        "{whole}"
    );
    assert!(whole.ends_with(" tokens]"), "{whole}");
    for args in [
        json!({ "names": section }),
        json!({ "name": section }),
        json!({ "context_name": "Expression Spec:type-coercion" }),
    ] {
        assert_eq!(call(0, None, args.clone()).await.as_ref(), Ok(&whole), "{args}");
    }
    let two =
        call(0, None, json!({ "names": "edge-cases:type_gotchas, edge-cases:null_gotchas" })).await.unwrap();
    assert_eq!(two.matches("<reference name=").count(), 2);
}

#[tokio::test]
async fn errors_say_what_to_do() {
    for (args, version, expect) in [
        (
            json!({ "names": ["synapse-expresion-spec"] }),
            None,
            "no reference `synapse-expresion-spec`; did you mean `synapse-expression-spec`?",
        ),
        (
            json!({ "names": ["synapse-expression-spec"] }),
            Some("4.3.0"),
            "`synapse-expression-spec` needs MI 4.4.0 or later; this project says 4.3.0 in pom.xml",
        ),
        (
            json!({ "names": [1] }),
            None,
            "The arguments do not fit the tool: invalid type: integer `1`, expected a string. Give names as a list of texts.",
        ),
    ] {
        assert_eq!(call(0, version, args.clone()).await, Err(expect.to_owned()), "{args}");
    }
    assert_eq!(
        call(1, None, json!({ "query": " " })).await,
        Err("The query is empty. Give identifiers, operators or words to look for.".to_owned())
    );
}

#[tokio::test]
async fn searches_give_rows_with_their_place() {
    let found = call(1, Some("4.6.0"), json!({ "query": "integer + double", "limit": 1 })).await.unwrap();
    assert!(found.starts_with("[synapse-expression-spec:type_coercion"), "{found}");
    assert!(found.contains("\n| integer with double | double |"), "{found}");
    let none = call(1, None, json!({ "query": "zeppelin airship" })).await.unwrap();
    assert!(
        none.starts_with("[nothing in the references fits \"zeppelin airship\"; try other words"),
        "{none}"
    );
}

#[tokio::test]
async fn the_runtime_is_asked_at_every_call() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let old = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&old);
    let version: RuntimeVersion = Arc::new(move || {
        let version = if seen.load(Ordering::SeqCst) { "4.3.0" } else { "4.4.0" };
        version.parse().ok()
    });
    let tool = LoadContextReference::new(version);
    let cx = ToolCx::new(RunId::fresh(), CallId::from("call-1"), CancellationToken::new(), |_| {});
    let Value::Object(args) = json!({ "names": ["synapse-edge-cases:type_gotchas"] }) else {
        panic!("an object")
    };
    assert!(tool.call(args.clone(), &cx).await.is_err());
    old.store(false, Ordering::SeqCst);
    assert!(tool.call(args, &cx).await.is_ok());
}

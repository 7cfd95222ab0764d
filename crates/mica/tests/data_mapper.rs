//! Types of data mappings, checked by the real TypeScript compiler in the real sandbox. Without a compiler
//! (`MICA_PEER_TSC`, set by `cargo xtask test --peers`) the tests say so and do nothing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_testkit::{Call, Scenario, Step, Turn};
use serde_json::{Value, json};
use stage::Stage;

/// What the model is told about a mapper with this mapping.
async fn told(name: &str, mapping: &str) -> Option<String> {
    let Ok(compiler) = std::env::var("MICA_PEER_TSC") else {
        println!("skipped: MICA_PEER_TSC is not set (cargo xtask test --peers sets it)");
        return None;
    };
    let args = json!({
        "name": name, "input_type": "JSON", "input_schema": "{\"id\": 1}",
        "output_type": "JSON", "output_schema": "{\"key\": 1}", "mapping": mapping,
    });
    let call = Turn::new().step(Step::Call(Call::new("create_data_mapper", args)));
    let script = Scenario::new().named(name).turn(call).turn(Turn::new().text("Done."));
    let mut stage = Stage::new(script).await;
    let project = stage.project();
    std::fs::create_dir_all(project.join("src/main/wso2mi/artifacts/apis")).unwrap();
    // As it is found where it is installed: by its name, on the path. Commands do not see the folder beside the project.
    let bin = project.join("node_modules/.bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(compiler, bin.join("tsc")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    stage.set("PATH", format!("{}:{path}", bin.display()));
    let ran = stage.ask(&["--yes", "-p", "Make it."]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let last: Value = stage.server.captured().last().unwrap().json.clone();
    Some(last.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_fit() {
    if let Some(told) = told("fits", "return { key: input.id };").await {
        let told = &told[told.find("Tried on").unwrap()..];
        assert!(told.contains("The TypeScript compiler finds nothing wrong."), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_do_not_fit() {
    // It runs, and even its result fits the sample: only the types say that it need not.
    let mapping = "const key: string = \\\"\\\" + input.id;\nreturn { key: dmUtils.toNumber(input.id) };"
        .replace("\\\"", "\"");
    if let Some(told) = told("misfits", &mapping).await {
        let told = &told[told.find("Tried on").unwrap()..];
        assert!(told.contains("misfits.ts(") && told.contains("error TS2345"), "{told}");
    }
}

//! The types that authors write against: they are those of the engine, and the TypeScript compiler takes what is written
//! against them. Without a compiler (`MICA_PEER_TSC`, set by `cargo xtask test --peers`) that part says so.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test starts the compiler, writes its own files and says why it is skipped"
)]

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use mica_ext::script::{self, API, API_TYPES, Bundle, Setting};
use mica_ext::{Extensions, Typed};
use support::{Stage, factory, only};

/// The members of an interface in the declarations.
fn members(interface: &str) -> BTreeSet<String> {
    let start = format!("export interface {interface} {{\n");
    let body = API_TYPES.split(&start).nth(1).unwrap().split("\n  }\n").next().unwrap();
    let lines = body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let words = lines.map(|line| line.trim().trim_start_matches("readonly "));
    let names = words.filter_map(|line| line.split(['(', ':', '<', '?']).next().map(str::to_owned));
    names
        .filter(|name| {
            name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') && !name.is_empty()
        })
        .collect()
}

fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn events_are_those_of_the_engine() {
    assert_eq!(members("ExtensionEvents"), set(script::events()));
    assert_eq!(members("ExtensionResults"), set(script::ANSWERED));
    for event in script::events() {
        assert!(
            API_TYPES.contains(&format!("    on(event: \"{event}\", handler: Handler<\"{event}\"")),
            "{event}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_those_of_the_engine() {
    assert_eq!(members("ExtensionAPI"), set(API));
    let source = factory(
        "api.registerCommand('names', { handler: (_, ctx) => JSON.stringify([Object.keys(api), Object.keys(ctx.ui), Object.keys(api.storage),
            Object.getOwnPropertyNames(Object.getPrototypeOf(ctx)).filter((name) => name !== 'constructor')]) });",
    );
    let extensions = only(&Stage::new(), &source).await;
    let Some(Ok(Typed::Handled(Some(told)))) = extensions.command("names", "").await else { panic!() };
    let told: Vec<Vec<String>> = serde_json::from_str(&told).unwrap();
    for (interface, names) in
        ["ExtensionAPI", "ExtensionUI", "ExtensionStorage", "ExtensionContext"].into_iter().zip(told)
    {
        assert_eq!(members(interface), names.into_iter().collect(), "{interface}");
    }
}

/// Sources that are checked: those of the tests, those of the examples, and somebody else's where there is one.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in [root.join("tests/extensions"), root.join("../../examples/extensions")] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        found.extend(
            entries.filter(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "ts")),
        );
    }
    let mut sources = Vec::new();
    for path in found {
        let files = if path.is_dir() { vec![path.join("index.ts")] } else { vec![path] };
        for file in files.into_iter().filter(|file| file.exists()) {
            let name = file.to_string_lossy().replace(['/', '.', '\\'], "_");
            sources.push((format!("{name}.ts"), std::fs::read_to_string(&file).unwrap()));
        }
    }
    assert!(sources.len() >= 2);
    sources
}

#[test]
fn the_compiler_takes_what_is_written_against_them() {
    let Ok(compiler) = std::env::var("MICA_PEER_TSC") else {
        println!("skipped: MICA_PEER_TSC is not set (cargo xtask test --peers sets it)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mica.d.ts"), API_TYPES).unwrap();
    let mut files = vec!["mica.d.ts".to_owned()];
    for (name, source) in sources() {
        std::fs::write(folder.path().join(&name), source).unwrap();
        files.push(name);
    }
    let options = serde_json::json!({
        "compilerOptions": {
            "noEmit": true, "strict": true, "target": "es2022", "lib": ["es2022"], "types": [], "module": "esnext",
        },
        "files": files,
    });
    std::fs::write(folder.path().join("tsconfig.json"), options.to_string()).unwrap();
    let ran = Command::new("node").arg(compiler).arg("-p").arg(folder.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_checked_also_loads() {
    for (name, source) in sources() {
        let bundle = Bundle::of_source(&name, &source).unwrap();
        let granted = bundle.manifest().permissions.clone();
        // Folders have more files than their first: those are loaded where they are.
        if source.contains("from \"./") {
            continue;
        }
        let loaded = script::load(&bundle, Setting::new(Stage::new()).granting(granted)).await;
        let extensions = Extensions::new(vec![loaded.unwrap_or_else(|error| panic!("{name}: {error}"))]);
        assert_eq!(extensions.list().len(), 1);
    }
}

//! What scripts can do in a cage.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::time::Duration;

use mica_script::console::{Level, Line};
use mica_script::error::Wanted;
use mica_script::modules::{Found, Nothing};
use mica_script::{Cage, Clock, Frame, Host, Limits, Position, Resolver, ScriptError};
use serde_json::{Value, json};

async fn cage(modules: &[(&str, &str)]) -> Cage {
    let cage = Cage::new(Limits::default()).unwrap();
    for (name, source) in modules {
        cage.module(name, source).await.unwrap();
    }
    cage
}

/// Calls `f` of the only module.
async fn call(source: &str, args: &[Value]) -> Result<Value, ScriptError> {
    cage(&[("a.ts", source)]).await.call("a.ts", "f", args).await
}

#[tokio::test]
async fn values_come_and_go_as_json() {
    let value = json!({ "a": [1, 2.5, null, true], "__proto__": { "b": "ü\u{0}" }, "c": {} });
    assert_eq!(
        call("export const f = (v: any) => v;", std::slice::from_ref(&value)).await,
        Ok(value.clone())
    );
    assert_eq!(
        call("export const f = (...v: any[]) => v.length;", &[json!(1), json!(2)]).await,
        Ok(json!(2))
    );
    assert_eq!(call("export const f = () => {};", &[]).await, Ok(Value::Null));
    assert_eq!(
        call("export const f = () => [undefined, NaN, new Date(0)];", &[]).await,
        Ok(json!([null, null, "1970-01-01T00:00:00.000Z"]))
    );
}

#[tokio::test]
async fn typescript_runs() {
    let source = "enum Size { Small = 1, Large }\nnamespace N { export const one = 1; }\n\
        class Box<T> { constructor(private readonly of: T) {} get(): T { return this.of; } }\n\
        export async function f(n: number): Promise<object> { const b = new Box(Size.Large as number); \
        return { size: b.get() + N.one + n, name: Size[1] }; }";
    assert_eq!(call(source, &[json!(4)]).await, Ok(json!({ "size": 7, "name": "Small" })));
}

#[tokio::test]
async fn modules_import_each_other_and_keep_their_state() {
    let cage = cage(&[
        ("map.ts", "import * as utils from './lib/count';\nimport type { X } from 'nowhere';\nexport const f = () => utils.next();"),
        ("lib/count.ts", "let n = 0;\nexport const next = () => ++n;"),
    ])
    .await;
    for expected in [1, 2] {
        assert_eq!(cage.call("map.ts", "f", &[]).await, Ok(json!(expected)));
    }
    assert_eq!(cage.call("lib/count", "next", &[]).await, Ok(json!(3)));
    cage.fresh().await.unwrap();
    assert_eq!(cage.call("map.ts", "f", &[]).await, Ok(json!(1)));
    cage.module("lib/count.ts", "export const next = () => 'new';").await.unwrap();
    assert_eq!(cage.call("map.ts", "f", &[]).await, Ok(json!("new")));
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let cage = cage(&[
        ("map.ts", "import './gone';\nexport const f = 1;"),
        ("b.ts", "export const g = 1; export function h() {}"),
    ])
    .await;
    let there = || vec!["b.ts".to_owned(), "map.ts".to_owned()];
    let module =
        |name: &str| ScriptError::NotFound { what: Wanted::Module, name: name.to_owned(), there: there() };
    assert_eq!(cage.call("c.ts", "f", &[]).await, Err(module("c.ts")));
    assert_eq!(cage.call("map.ts", "f", &[]).await, Err(module("./gone")));
    let error = cage.call("b.ts", "g", &[]).await.unwrap_err();
    assert_eq!(error.for_model(), "There is no exported function `g`. There is: g, h.");
}

#[tokio::test]
async fn a_resolver_brings_modules() {
    struct Library;
    impl Resolver for Library {
        fn resolve(&mut self, _: &str, import: &str) -> Option<Found> {
            let source = match import {
                "two" => "export const two = 2;",
                "broken" => "export const = 2;",
                _ => return None,
            };
            Some(Found { name: format!("library/{import}.ts"), source: source.to_owned() })
        }
    }
    let cage = Cage::with_host(Limits::default(), Host::new(), Library).unwrap();
    cage.module("a.ts", "import { two } from 'two';\nexport const f = () => two;").await.unwrap();
    cage.module("b.ts", "import 'broken';\nexport const f = () => 1;").await.unwrap();
    assert_eq!(cage.call("a.ts", "f", &[]).await, Ok(json!(2)));
    let error = cage.call("b.ts", "f", &[]).await.unwrap_err();
    assert!(matches!(&error, ScriptError::Syntax { name, .. } if name == "library/broken.ts"), "{error:?}");
}

#[tokio::test]
async fn errors_lead_to_the_typescript() {
    let source = "interface Root {\n  a?: { b: string };\n}\n\nconst inner = (root: Root): string => {\n  const name: string = 'ä' + root.a!.b;\n  return name;\n};\n\nexport function f(root: Root): string {\n  return inner(root);\n}\n";
    let error = call(source, &[json!({})]).await.unwrap_err();
    let frame = |function: &str, line, column| Frame {
        function: Some(function.to_owned()),
        module: "a.ts".to_owned(),
        at: Position { line, column },
    };
    let ScriptError::Thrown { kind, message, frames } = &error else { panic!("{error:?}") };
    assert_eq!((kind.as_str(), message.as_str()), ("TypeError", "cannot read property 'b' of undefined"));
    assert_eq!(frames, &[frame("inner", 6, 30), frame("f", 11, 16)]);
}

#[tokio::test]
async fn the_console_is_kept() {
    let cage = cage(&[("a.ts", "export const f = () => { console.log('a', 1, { b: [2] }, undefined, () => 1); console.error(new Error('no').message); };")]).await;
    cage.call("a.ts", "f", &[]).await.unwrap();
    let line = |level, text: &str| Line { level, text: text.to_owned() };
    let expected = [line(Level::Info, "a 1 {\"b\":[2]} undefined () => 1"), line(Level::Error, "no")];
    assert_eq!(cage.console().lines, expected);
}

#[tokio::test]
async fn time_and_chance_are_given() {
    let source = "export const f = () => [Date.now(), new Date().toISOString(), new Date(5).getTime(), new Date() instanceof Date, new Date().constructor === Date, typeof Date(), Math.random(), Math.random()];";
    let run = async |clock, seed| {
        let cage = Cage::new(Limits { clock, seed, ..Limits::default() }).unwrap();
        cage.module("a.ts", source).await.unwrap();
        cage.call("a.ts", "f", &[]).await.unwrap()
    };
    let first = run(Clock::Frozen(86_400_000), 1).await;
    assert_eq!(
        first.as_array().unwrap()[..6],
        [
            json!(86_400_000),
            json!("1970-01-02T00:00:00.000Z"),
            json!(5),
            json!(true),
            json!(true),
            json!("string")
        ]
    );
    assert_eq!(run(Clock::Frozen(86_400_000), 1).await, first);
    assert_ne!(run(Clock::Frozen(86_400_000), 2).await[6], first[6]);
    assert_ne!(first[6], first[7]);
    assert!(run(Clock::System, 1).await[0].as_i64().unwrap() > 1_700_000_000_000);
}

fn host() -> Host {
    Host::new()
        .with("add", |args| match args.as_slice() {
            [Value::Number(a), Value::Number(b)] => {
                Ok(json!(a.as_i64().unwrap_or(0) + b.as_i64().unwrap_or(0)))
            }
            _ => Err("two numbers are needed".to_owned()),
        })
        .with_async("later", |args| async move {
            tokio::time::sleep(Duration::from_millis(args[0].as_u64().unwrap_or(0))).await;
            if args[0] == json!(13) { Err("unlucky".to_owned()) } else { Ok(json!({ "waited": args[0] })) }
        })
}

async fn with_host(limits: Limits, source: &str) -> Result<Value, ScriptError> {
    let cage = Cage::with_host(limits, host(), Nothing).unwrap();
    cage.module("a.ts", source).await.unwrap();
    cage.call("a.ts", "f", &[]).await
}

#[tokio::test]
async fn host_functions_are_asked() {
    // Longer than a busy machine needs for any of these, and shorter than the one that only waits.
    let limits = || Limits { time: Duration::from_secs(3), ..Limits::default() };
    for (source, expected) in [
        ("() => host.add(1, 2)", json!(3)),
        (
            "() => { try { host.add('a'); } catch (e: any) { return `${e.message}`; } }",
            json!("two numbers are needed"),
        ),
        ("async () => await host.later(1)", json!({ "waited": 1 })),
        (
            "async () => (await Promise.all([host.later(30), host.later(10)])).map((a: any) => a.waited)",
            json!([30, 10]),
        ),
        (
            "async () => { try { await host.later(13); } catch (e: any) { return e.message; } }",
            json!("unlucky"),
        ),
        // Waiting costs no computing time.
        ("async () => (await host.later(3_500)).waited", json!(3_500)),
        ("() => Object.isFrozen(host) && Object.keys(host)", json!(["add", "later"])),
        ("() => typeof (host as any).remove", json!("undefined")),
    ] {
        let source = format!("declare const host: any;\nexport const f = {source};");
        assert_eq!(with_host(limits(), &source).await, Ok(expected), "{source}");
    }
}

#[tokio::test]
async fn waiting_has_an_end() {
    let limits = Limits { wait: Duration::from_millis(50), under_way: 2, ..Limits::default() };
    let error = with_host(limits.clone(), "export const f = async () => await host.later(60_000);").await;
    assert_eq!(error, Err(ScriptError::TimedOut { after: Duration::from_millis(50), frames: vec![] }));
    let many = "export const f = async () => { for (;;) host.later(60_000); };";
    let ScriptError::Thrown { message, .. } = with_host(limits, many).await.unwrap_err() else { panic!() };
    assert_eq!(message, "too many host functions are under way: await some of them first");
}

#[tokio::test]
async fn a_broken_host_function_ends_the_cage_only() {
    let cage =
        Cage::with_host(Limits::default(), Host::new().with("bad", |_| panic!("broken")), Nothing).unwrap();
    cage.module("a.ts", "export const f = () => host.bad();").await.unwrap();
    for _ in 0..2 {
        let error = cage.call("a.ts", "f", &[]).await.unwrap_err();
        assert!(matches!(error, ScriptError::Ended { .. }), "{error:?}");
    }
}

//! Scripts that mean no good: each ends with the right error, in time, and the process and other cages go on.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::time::{Duration, Instant};

use mica_script::{Cage, Limits, ScriptError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const GOOD: &str = "export const f = (n: number) => ({ n: n + 1, own: Object.keys({}) });";

/// What is tried, the function that tries it, and how it ends: in one of these ways, where the machine decides what is used
/// up first.
#[rustfmt::skip]
const SCRIPTS: &[(&str, &str, &str)] = &[
    // Time.
    ("loop", "() => { for (;;) {} }", "TimedOut"),
    ("loop that catches", "() => { for (;;) { try { for (;;) {} } catch {} finally { continue; } } }", "TimedOut"),
    ("promises without an end", "async () => { for (;;) await null; }", "TimedOut"),
    ("promises behind the back", "() => { const g = (): void => { Promise.resolve().then(g); }; g(); return 1; }", "TimedOut"),
    ("loop behind the back", "() => { Promise.resolve().then(() => { for (;;) {} }); return 1; }", "TimedOut"),
    ("regular expression", "() => /^(a+)+$/.test('a'.repeat(40) + 'b')", "TimedOut"),
    ("sparse array", "() => { const a: any[] = []; a.length = 2 ** 32 - 1; return a.indexOf(1); }", "TimedOut"),
    ("sort", "() => [3, 2, 1].sort(() => { for (;;) {} })", "TimedOut"),
    ("promise that never settles", "() => new Promise(() => {})", "NeverSettles"),
    ("thenable that never settles", "async () => { await { then() {} }; }", "NeverSettles"),
    // Single steps that nobody can stop: the thread is given up, and the cage with it.
    ("search", "() => ('a'.repeat(4 << 20) + 'b').indexOf('a'.repeat(2 << 20) + 'c')", "TimedOut, and ended"),
    // Memory.
    ("growing string", "() => { let s = 'x'; for (;;) s += s; }", "InternalError: string too long"),
    ("huge string", "() => 'x'.repeat(10 * 2 ** 30)", "RangeError: invalid repeat count"),
    ("doubled string", "() => { let s = 'x'; for (;;) s = (s + s).trim() + s; }", "OutOfMemory"),
    ("arrays", "() => { const a: any[] = []; for (;;) a.push(new Array(1000).fill(a.length)); }", "OutOfMemory"),
    ("buffer", "() => new ArrayBuffer(1 << 30)", "OutOfMemory"),
    ("promises that grow behind the back", "() => { const g = (): any => Promise.resolve().then(g); g(); return 1; }", "OutOfMemory"),
    ("arrays behind the back", "() => { (async () => { const a: any[] = []; for (;;) { await null; a.push(new Array(1000).fill(a.length)); } })(); return 1; }", "OutOfMemory"),
    ("memory that is looked at behind the back", "() => { (async () => new ArrayBuffer(1 << 30))().catch(() => {}); return 1; }", "answered 1"),
    ("memory that is caught", "() => { const a: any[] = []; for (;;) try { a.push(new Uint8Array(1 << 20)); } catch {} }", "TimedOut"),
    // Stack.
    ("recursion", "() => { const g = (): any => g() + 1; return g(); }", "StackOverflow"),
    ("recursion through getters", "() => { const o = { get a(): any { return this.a; } }; return o.a; }", "StackOverflow"),
    ("recursion through JSON", "() => { let a: any = []; for (let i = 0; i < 1e4; i++) a = [a]; return a; }", "StackOverflow"),
    // Other objects.
    ("pollution", "() => { (Object.prototype as any).polluted = 1; }", "TypeError: object is not extensible"),
    ("pollution through proto", "() => { (({}) as any).__proto__.toJSON = () => 'gone'; }", "TypeError: object is not extensible"),
    ("changed builtin", "() => { Object.prototype.toString = () => { for (;;) {} }; return { a: 1 }; }", "answered {\"a\":1}"),
    ("changed JSON", "() => { JSON.stringify = () => 'gone'; JSON.parse = () => 'gone'; return { a: 1 }; }", "answered {\"a\":1}"),
    // Results.
    ("large result", "() => 'x'.repeat(2 << 20)", "TooLarge"),
    ("deep result", "() => { let a: any = []; for (let i = 0; i < 500; i++) a = [a]; return a; }", "not JSON: it is nested too deeply"),
    ("getter that loops", "() => ({ get a() { for (;;) {} } })", "TimedOut"),
    ("getter that throws", "() => ({ get a() { throw new Error('no'); } })", "not JSON: no"),
    ("getter that changes", "() => { let n = 0; return { get a() { return n++; } }; }", "answered {\"a\":0}"),
    ("toJSON that loops", "() => ({ toJSON() { for (;;) {} } })", "TimedOut"),
    ("proxy that loops", "() => new Proxy({}, { ownKeys() { for (;;) {} } })", "TimedOut"),
    ("proxy that grows", "() => new Proxy([], { get: (_, k) => k === 'length' ? 2 ** 32 : 'x'.repeat(100) })", "TimedOut or OutOfMemory"),
    ("proxy of proxies", "() => { const p: any = new Proxy({}, { get: () => p, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }); return p; }", "not JSON: circular reference"),
    ("cycle", "() => { const a: any = {}; a.a = a; return a; }", "not JSON: circular reference"),
    ("function", "() => () => 1", "not JSON: it is a function"),
    ("symbol", "() => Symbol('a')", "not JSON: it is a symbol"),
    ("bigint", "() => ({ a: 1n })", "not JSON: BigInt are forbidden in JSON.stringify"),
    // Errors.
    ("error with getters", "() => { throw { get message() { for (;;) {} }, get stack() { for (;;) {} } }; }", "Error: object"),
    ("thrown null", "() => { throw null; }", "Error: null"),
    ("thrown object", "() => { throw { code: 7 }; }", "Error: {\"code\":7}"),
    ("rejected", "async () => { throw new TypeError('no'); }", "TypeError: no"),
    // The machine.
    ("file", "async () => await import('/etc/passwd')", "NotFound"),
    ("builtin module", "async () => await import('node:fs')", "NotFound"),
    ("globals", "() => ['process', 'require', 'fetch', 'setTimeout', 'std', 'os', 'Deno', 'performance'].filter((n) => n in globalThis)", "answered []"),
    ("function from text", "() => (() => {}).constructor('return typeof process')()", "answered \"undefined\""),
];

fn limits(time: u64) -> Limits {
    Limits { time: Duration::from_millis(time), memory: 32 << 20, value: 1 << 20, ..Limits::default() }
}

async fn cage(bad: &str, time: u64) -> Cage {
    let cage = Cage::new(limits(time)).unwrap();
    cage.module("bad.ts", bad).await.unwrap();
    cage.module("good.ts", GOOD).await.unwrap();
    cage
}

/// How it ended, without the details.
fn ending(answer: &Result<Value, ScriptError>) -> String {
    match answer {
        Ok(value) => format!("answered {value}"),
        Err(ScriptError::Thrown { kind, message, .. }) => format!("{kind}: {message}"),
        Err(ScriptError::NotJson { reason }) => format!("not JSON: {reason}"),
        Err(error) => format!("{error:?}").split([' ', '{']).next().unwrap().to_owned(),
    }
}

async fn try_out(what: &str, source: &str, expected: &str) {
    // What must end for another reason has more time than a slow machine needs to get there.
    let time = if expected.starts_with("TimedOut") { 1_000 } else { 60_000 };
    let cage = cage(source, time).await;
    let began = Instant::now();
    let answer = cage.call("bad.ts", "f", &[]).await;
    let took = began.elapsed();
    let expected_after =
        if expected.ends_with(", and ended") { "Ended" } else { "answered {\"n\":2,\"own\":[]}" };
    let mut endings = expected.trim_end_matches(", and ended").split(" or ");
    let ending_of_it = ending(&answer);
    assert!(endings.any(|one| one == ending_of_it), "{what}: {ending_of_it} is not {expected}");
    assert!(took < Duration::from_secs(100), "{what} took {took:?}");
    let after = cage.call("good.ts", "f", &[json!(1)]).await;
    assert_eq!(ending(&after), expected_after, "{what}: the cage goes on");
}

#[tokio::test]
async fn hostile_scripts_end_and_the_cage_goes_on() {
    for (what, function, expected) in SCRIPTS {
        try_out(what, &format!("export const f = {function};"), expected).await;
    }
}

#[tokio::test]
async fn loops_outside_of_functions_end() {
    try_out("loop at the top", "for (;;) {}\nexport const f = 1;", "TimedOut").await;
    try_out("promise at the top", "await new Promise(() => {});\nexport const f = 1;", "NeverSettles").await;
}

#[tokio::test]
async fn a_stopped_script_says_where_it_was() {
    let cage = cage(
        "interface A {}\n\nexport function f(a: A) {\n  for (;;) {\n    g();\n  }\n}\n\nfunction g() {}\n",
        300,
    )
    .await;
    let error = cage.call("bad.ts", "f", &[]).await.unwrap_err();
    let ScriptError::TimedOut { after, frames } = &error else { panic!("{error:?}") };
    assert_eq!(*after, Duration::from_millis(300));
    let outer = frames.last().unwrap();
    assert_eq!((outer.function.as_deref(), outer.module.as_str()), (Some("f"), "bad.ts"));
    assert!((4..=6).contains(&outer.at.line), "{frames:?}");
}

#[tokio::test]
async fn somebody_can_stop_a_loop() {
    let cage = Cage::new(Limits { time: Duration::from_secs(60), ..limits(0) }).unwrap();
    cage.module("bad.ts", "export function f() { for (;;) {} }").await.unwrap();
    cage.module("good.ts", GOOD).await.unwrap();
    let stop = CancellationToken::new();
    let began = Instant::now();
    let (answer, ()) = tokio::join!(cage.call_until("bad.ts", "f", &[], &stop), async {
        // The loop has begun: it is what keeps the thread busy.
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    });
    assert_eq!(answer, Err(ScriptError::Cancelled));
    assert_eq!(cage.call("good.ts", "f", &[json!(1)]).await, Ok(json!({ "n": 2, "own": [] })));
    // Nobody waits for the answer any more: the loop ends, or the next call would not begin.
    let dropped = tokio::time::timeout(Duration::from_millis(50), cage.call("bad.ts", "f", &[])).await;
    assert!(dropped.is_err());
    assert_eq!(cage.call("good.ts", "f", &[json!(1)]).await, Ok(json!({ "n": 2, "own": [] })));
    assert!(began.elapsed() < Duration::from_secs(59));
}

#[tokio::test]
async fn the_console_is_bounded() {
    let cage = cage(
        "export const f = () => { for (let i = 0; i < 100; i++) console.log('x'.repeat(1023)); };",
        60_000,
    )
    .await;
    cage.call("bad.ts", "f", &[]).await.unwrap();
    let console = cage.console();
    assert_eq!((console.lines.len(), console.dropped), (64, 36));
    assert_eq!(cage.console().lines.len(), 0);
}

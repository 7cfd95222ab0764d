//! A script that stays: calls that take turns, timers, and ends.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mica_script::modules::Found;
use mica_script::resident::Household;
use mica_script::{Host, Limits, Resident, Resolver, ScriptError};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Calls a function of the module by name, with the text; `abort` and `timer` are told to it, too.
const CODE: &str = r#"(host, { setTimer, clearTimer, current }) => {
    globalThis.given = { host, setTimer, clearTimer, current };
    let module;
    return (what, number, text) => {
        if (what === "abort") return void module?.abort?.(number);
        if (what === "timer") return module.timer(Number(text), number);
        const { name, arg } = JSON.parse(text);
        return import("main.ts").then((found) => (module = found)[name](arg, number)).then((made) => JSON.stringify(made));
    };
}"#;

struct One(String);

impl Resolver for One {
    fn resolve(&mut self, _: &str, import: &str) -> Option<Found> {
        (import == "main.ts").then(|| Found { name: "main.ts".to_owned(), source: self.0.clone() })
    }
}

struct Rig {
    resident: Resident,
    gate: Arc<Notify>,
    troubles: Arc<Mutex<Vec<String>>>,
}

fn rig(source: &str) -> Rig {
    let (gate, troubles) = (Arc::new(Notify::new()), Arc::<Mutex<Vec<String>>>::default());
    let (open, told) = (gate.clone(), troubles.clone());
    let host = Host::new().with("now", |args| Ok(json!(args.len()))).with_async("gate", move |_| {
        let open = open.clone();
        async move {
            open.notified().await;
            Ok(Value::Null)
        }
    });
    let household = Household {
        limits: Limits {
            memory: 16 << 20,
            time: Duration::from_secs(2),
            value: 1 << 20,
            ..Limits::default()
        },
        host,
        code: CODE,
        trouble: Box::new(move |error| told.lock().unwrap().push(error.to_string())),
    };
    Rig { resident: Resident::new(household, One(source.to_owned())).unwrap(), gate, troubles }
}

impl Rig {
    async fn call(&self, number: u64, name: &str, arg: Value) -> Result<Value, ScriptError> {
        self.call_until(number, name, arg, &CancellationToken::new()).await
    }

    async fn call_until(
        &self,
        number: u64,
        name: &str,
        arg: Value,
        cancel: &CancellationToken,
    ) -> Result<Value, ScriptError> {
        let text = json!({ "name": name, "arg": arg }).to_string();
        let made = self.resident.call(number, "call", text, cancel).await?;
        Ok(made.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap()))
    }
}

#[tokio::test]
async fn calls_take_turns_and_share_what_the_module_keeps() {
    let rig = rig(
        "let open: number[] = [];
         export const wait = async (_: unknown, number: number) => { open.push(number); await given.host.gate(); return open; };
         export const look = (arg: unknown, number: number) => [open, arg, number, given.current(), given.host.now(1, 2), typeof host];",
    );
    let waiting = rig.call(1, "wait", Value::Null);
    let looking = async {
        // The first call is in the queue before this one: it has begun when this is answered.
        let looked = rig.call(2, "look", json!({ "a": 1 })).await;
        rig.gate.notify_one();
        looked
    };
    let (waited, looked) = tokio::join!(waiting, looking);
    assert_eq!(looked.unwrap(), json!([[1], { "a": 1 }, 2, 2, 2, "undefined"]));
    assert_eq!(waited.unwrap(), json!([1]));
}

#[tokio::test]
async fn a_cancelled_call_is_told_and_others_go_on() {
    let rig = rig(
        "const told: number[] = [];
         export const abort = (number: number) => told.push(number);
         export const wait = async () => { try { await given.host.gate(); } catch (error) { return [told, error.message]; } };
         export const stubborn = async () => { for (;;) { try { await given.host.gate(); return 'through'; } catch {} } };
         export const look = () => told;",
    );
    let cancel = CancellationToken::new();
    let waiting = rig.call_until(1, "wait", Value::Null, &cancel);
    let cancelling = async {
        rig.call(2, "look", Value::Null).await.unwrap();
        cancel.cancel();
    };
    let (waited, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(waited.unwrap(), json!([[1], "the call was stopped"]));
    let cancel = CancellationToken::new();
    let (waited, ()) = tokio::join!(rig.call_until(3, "stubborn", Value::Null, &cancel), async {
        rig.call(4, "look", Value::Null).await.unwrap();
        cancel.cancel();
    });
    assert_eq!(waited, Err(ScriptError::Cancelled), "it is left to itself");
    assert_eq!(rig.call(5, "look", Value::Null).await.unwrap(), json!([1, 3]));
}

#[tokio::test]
async fn what_cuts_one_off_ends_all() {
    for (name, expected) in
        [("loop", "it was stopped after 2s"), ("hoard", "it needs more than 16777216 bytes of memory")]
    {
        let rig = rig(
            "export const wait = () => given.host.gate();
             export const loop = () => { for (;;) {} };
             export const hoard = () => { const all = []; for (;;) all.push('x'.repeat(1000) + all.length); };",
        );
        let (waited, cut) = tokio::join!(rig.call(1, "wait", Value::Null), rig.call(2, name, Value::Null));
        assert_eq!(cut.unwrap_err().to_string(), expected);
        assert_eq!(waited, Err(ScriptError::Ended { reason: expected.to_owned() }));
        let after = rig.call(3, "wait", Value::Null).await;
        assert_eq!(after, Err(ScriptError::Ended { reason: expected.to_owned() }));
        assert_eq!(*rig.troubles.lock().unwrap(), [expected]);
    }
}

#[tokio::test]
async fn failures_and_promises_without_an_end_are_answers() {
    let rig = rig("export const fail = () => { throw new TypeError('no'); };
         export const never = () => new Promise(() => {});
         export const deep = () => { const down = (n: number): number => down(n) + 1; return down(1); };
         export const large = () => 'x'.repeat(2e6);
         export const fine = () => 1;");
    for (name, expected) in [
        ("fail", "TypeError: no"),
        ("never", "its promise never settles"),
        ("deep", "its calls are nested too deeply"),
        ("large", "the result has 2000002 bytes, more than 1048576"),
    ] {
        assert_eq!(rig.call(1, name, Value::Null).await.unwrap_err().to_string(), expected);
        assert_eq!(rig.call(2, "fine", Value::Null).await, Ok(json!(1)), "it goes on");
    }
}

#[tokio::test]
async fn a_call_that_another_lets_go_on_is_answered_while_a_timer_is_far_away() {
    let rig = rig(
        "let open: (made: string) => void;
         export const timer = () => {};
         export const wait = () => { given.setTimer(1, 1e6); return new Promise((resolve) => { open = resolve; }); };
         export const lets = (fails: boolean) => { open('through'); if (fails) throw new Error('no'); return 'done'; };",
    );
    for (fails, expect) in [(false, Ok(json!("done"))), (true, Err("Error: no"))] {
        let waiting = tokio::time::timeout(Duration::from_secs(100), rig.call(1, "wait", Value::Null));
        let (waited, made) = tokio::join!(waiting, rig.call(2, "lets", json!(fails)));
        assert_eq!(waited.expect("it is answered").unwrap(), json!("through"));
        match expect {
            Ok(expect) => assert_eq!(made.unwrap(), expect),
            Err(expect) => assert!(made.unwrap_err().to_string().contains(expect)),
        }
    }
}

#[tokio::test]
async fn timers_fire_as_calls_of_their_own() {
    let rig = rig("const fired: number[] = []; let done: (all: number[]) => void;
         const all = new Promise((resolve) => { done = resolve; });
         export const timer = (id: number) => {
             fired.push(id);
             if (id === 7) throw new Error('seven');
             if (id === 3) done(fired);
         };
         export const begin = () => {
             const set = [3, 7, 1, 2].map((id) => given.setTimer(id, id === 3 ? 40 : id));
             given.clearTimer(2);
             let more = 0; for (let id = 100; id < 200; id++) { if (given.setTimer(id, 1e6)) more += 1; }
             return [set, more];
         };
         export const end = () => all;");
    assert_eq!(rig.call(1, "begin", Value::Null).await.unwrap(), json!([[true, true, true, true], 61]));
    let fired = rig.call(2, "end", Value::Null).await.unwrap();
    assert_eq!(fired, json!([1, 7, 3]));
    assert_eq!(*rig.troubles.lock().unwrap(), ["Error: seven"]);
}

//! What extensions cost on the path of every tool.
//!
//! Without any, being among the hooks and listeners must cost nothing: allocations are counted with and without, and must
//! be the same. With one scripted handler of `tool_call`, a call through the gate is measured against the same gate with a
//! compiled guard that does the same, in the same run; the bar is in microseconds, because that is what is added to each
//! tool.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::exit,
    unsafe_code,
    missing_docs,
    reason = "a measuring program; counting allocations needs an allocator of its own"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mica_agent::event::Deaf;
use mica_agent::hooks::Gated;
use mica_agent::{
    Agent, Args, Context, HookStack, Hooks, Listener, NoHooks, Outcome, ToolOutput, ToolSpec, TypedTool,
    Verdict,
};
use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use mica_ai::{Dialect, Model};
use mica_ext::script::{self, Bundle, Setting};
use mica_ext::world::NoWorld;
use mica_ext::{Extension, Extensions, Guard, Guarded, Origin, Registry};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The bar for the median of a scripted handler.
const BAR: Duration = Duration::from_micros(100);
/// Calls that are measured.
const CALLS: usize = 5_000;
/// Calls before counting.
const WARM: usize = 500;
/// Turns of the runs whose allocations are counted.
const TURNS: usize = 50;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes everything on to the allocator of the system, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let free = runtime.block_on(nothing());
    let program = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let met = program.block_on(program.spawn(async { scripted().await })).unwrap();
    if !free || !met {
        std::process::exit(1);
    }
}

/// Allocations of a gate and of a run, without extensions and with an empty set of them.
async fn nothing() -> bool {
    let empty = Extensions::default();
    let without: Arc<dyn Hooks> = Arc::new(HookStack::new(vec![Arc::new(NoHooks), Arc::new(Judge)]));
    let with: Arc<dyn Hooks> = Arc::new(HookStack::new(vec![Arc::new(empty.clone()), Arc::new(Judge)]));
    let (mut gates, mut runs) = ([0; 2], [0; 2]);
    // Twice: what is only made once is not counted.
    for _ in 0..2 {
        for (at, hooks) in [&without, &with].into_iter().enumerate() {
            gates[at] = gated(&**hooks, 100).await.1;
        }
        for (at, hooks) in
            [Arc::new(NoHooks) as Arc<dyn Hooks>, Arc::new(empty.clone())].into_iter().enumerate()
        {
            let listener: Arc<dyn Listener> =
                if at == 0 { Arc::new(Unheard) } else { Arc::new(empty.clone()) };
            runs[at] = whole_run(hooks, listener).await;
        }
    }
    println!("{:<44} {:>9} {:>9} {:>7}", "allocations", "without", "with", "more");
    for (name, [without, with]) in [("100 calls through the gate", gates), ("a run of 50 tool turns", runs)] {
        println!("{name:<44} {without:>9} {with:>9} {:>7}", i128::from(with) - i128::from(without));
    }
    let free = gates[1] <= gates[0] && runs[1] <= runs[0];
    println!("no extension costs nothing: {}", verdict(free));
    free
}

/// One scripted handler, against a compiled one.
async fn scripted() -> bool {
    let source = r#"
        export default (api: any) => {
            api.on("tool_call", (event: any) => {
                if (event.toolName === "shell" && /rm\s+-rf/.test(event.input.command)) return { block: true, reason: "no" };
            });
        };"#;
    let bundle = Bundle::of_source("bench", source).unwrap();
    let scripted = script::load(&bundle, Setting::new(Arc::new(NoWorld))).await.unwrap();
    let scripted = Extensions::new(vec![scripted]);
    let registry = Registry { guards: vec![Arc::new(Compiled)], ..Registry::default() };
    let compiled = Extensions::new(vec![Extension::new("bench", Origin::Compiled, registry)]);
    // Who goes first alternates, so that neither always finds the caches warm.
    gated(&scripted, WARM).await;
    gated(&compiled, WARM).await;
    let (mut ours, mut floor, mut hop) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CALLS / 100 {
        ours.extend(gated(&scripted, 100).await.0);
        floor.extend(gated(&compiled, 100).await.0);
        hop.extend(hops(100).await);
    }
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>7}",
        "a call through the gate, µs", "script", "compiled", "hand-off", "ratio"
    );
    for percent in [50, 95] {
        let (ours, floor, hop) = (at(&mut ours, percent), at(&mut floor, percent), at(&mut hop, percent));
        let ratio = micros(ours) / micros(hop);
        println!(
            "p{percent:<43} {:>9.1} {:>9.1} {:>9.1} {ratio:>7.2}",
            micros(ours),
            micros(floor),
            micros(hop)
        );
    }
    let p50 = at(&mut ours, 50);
    println!("p50 {:.1} µs, bar {} µs: {}", micros(p50), BAR.as_micros(), verdict(p50 <= BAR));
    p50 <= BAR
}

/// The floor of anything that is asked of a thread of its own: a question there and an answer back.
async fn hops(times: usize) -> Vec<Duration> {
    let (ask, mut asked) = tokio::sync::mpsc::channel::<tokio::sync::oneshot::Sender<()>>(1);
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            while let Some(reply) = asked.recv().await {
                let _ = reply.send(());
            }
        });
    });
    let mut times_taken = Vec::with_capacity(times);
    for _ in 0..times {
        let began = Instant::now();
        let (reply, answer) = tokio::sync::oneshot::channel();
        ask.send(reply).await.unwrap();
        answer.await.unwrap();
        times_taken.push(began.elapsed());
    }
    drop(ask);
    thread.join().unwrap();
    times_taken
}

/// Passes calls through a gate. Answers how long each took, and the allocations of all of them.
async fn gated(hooks: &dyn Hooks, calls: usize) -> (Vec<Duration>, u64) {
    let model = ScriptedModel::new(Scenario::new());
    let cx = Context::new(Arc::new(model), Arc::new(Model::assumed("bench", Dialect::Responses)));
    let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
    let spec = ToolSpec::new("shell", "Runs a command.", schema);
    let arguments = Arguments::from_value(&json!({ "command": "cargo test --workspace", "timeout": 60 }));
    let call = ToolCall { id: "call_1".into(), name: "shell".to_owned(), arguments };
    let args: Args = call.arguments.parse().unwrap();
    let mut times = Vec::with_capacity(calls);
    let mut allocated = 0;
    for _ in 0..calls {
        let mut gated = Gated { call: &call, spec: &spec, args: args.clone() };
        let (before, began) = (ALLOCATIONS.load(Ordering::Relaxed), Instant::now());
        let verdict = hooks.gate(&mut gated, &cx).await;
        times.push(began.elapsed());
        allocated += ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(verdict, Verdict::Pass);
    }
    (times, allocated)
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    #[serde(rename = "path")]
    _path: String,
}

/// The allocations of a run with these hooks and this listener.
async fn whole_run(hooks: Arc<dyn Hooks>, listener: Arc<dyn Listener>) -> u64 {
    let turn = Turn::new().call("read", json!({ "path": "src/main.rs" }));
    let script = Scenario::new().turn(turn.repeat(TURNS)).turn(Turn::new().text("Done."));
    let mut context = Context::new(
        Arc::new(ScriptedModel::new(script)),
        Arc::new(Model::assumed("bench", Dialect::Responses)),
    );
    context.tools.add(Arc::new(TypedTool::new("read", "Reads a file.", |_: Read, _| async move {
        Ok(ToolOutput::text("nothing"))
    })));
    let agent = Agent::new(context, vec![hooks]);
    agent.listen(listener);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let outcome = agent.prompt("Read.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed));
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[times.len() * percent / 100]
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

/// Some hook that judges, so that a stack is asked at all.
struct Judge;

#[async_trait]
impl Hooks for Judge {
    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        Verdict::Pass
    }
}

/// A listener that wants to hear nothing.
struct Unheard;

#[async_trait]
impl Listener for Unheard {
    fn hears(&self, _: &mica_agent::EventKind) -> bool {
        false
    }

    async fn event(&self, event: mica_agent::Event) {
        Deaf.event(event).await;
    }
}

/// The same judgement, compiled.
struct Compiled;

#[async_trait]
impl Guard for Compiled {
    fn reviews(&self) -> bool {
        false
    }

    async fn tool_call(&self, _: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, String> {
        let command = args.get("command").and_then(|command| command.as_str()).unwrap_or_default();
        if spec.name == "shell" && command.contains("rm -rf") {
            return Ok(Guarded::Block { reason: "no".to_owned() });
        }
        Ok(Guarded::Pass)
    }
}

//! What the cache gives back over whole sessions, through the real loop and on each wire: figures, and a floor.
//!
//! Ideal is every token that an earlier request of the session had sent. Run with `--no-capture` to see the figures.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests are tests")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use mica_agent::{Agent, Context, Outcome, ToolOutput, TypedTool};
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::model::{CacheKind, Effort, PriceRow, Prices};
use mica_ai::request::CacheTtl;
use mica_ai::usage::Usd;
use mica_ai::{Catalogue, Dialect, Model, Remote, Usage};
use mica_context::breakpoints::MarkSettings;
use mica_context::section::Rendered;
use mica_context::segments::{self, CacheCheck};
use mica_context::{Journal, WindowKeeper, WindowSettings};
use mica_testkit::cache::{self, Prompt};
use mica_testkit::{CacheReport, Scenario, Script, ScriptedTransport, Step, Turn, When};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// Which file.
    path: String,
    /// How many bytes of it.
    bytes: usize,
}

/// A model of the catalogue, on a wire.
fn model(name: &str, dialect: Dialect) -> Model {
    let mut model = (*Catalogue::builtin().resolve(name).unwrap().model).clone();
    model.dialect = dialect;
    model.deployment = name.to_owned();
    if model.prices.is_none() {
        // The catalogue has no prices for GPT-5.6 yet: those of GPT-5.5, and the quarter more that its writes cost.
        let base = PriceRow {
            input: Usd::from_dollars(5.0),
            output: Usd::from_dollars(30.0),
            cache_read: Some(Usd::from_dollars(0.5)),
            cache_write: Some(Usd::from_dollars(6.25)),
            cache_write_long: None,
        };
        model.prices = Some(Prices { base, tiers: Vec::new() });
    }
    model
}

/// One model for each wire and kind of cache.
fn models() -> Vec<Model> {
    vec![
        model("claude-opus-4-8", Dialect::Messages),
        model("gpt-5.6-sol", Dialect::Responses),
        model("gpt-5.5", Dialect::Responses),
        model("gpt-4.1", Dialect::Chat),
    ]
}

#[derive(Default)]
struct Misses(Mutex<Vec<CacheCheck>>);

impl Journal for Misses {
    fn missed(&self, check: &CacheCheck) {
        self.0.lock().unwrap().push(check.clone());
    }
}

struct Session {
    agent: Agent,
    script: Arc<Script>,
    model: Model,
    misses: Arc<Misses>,
    /// Seconds since the session began.
    time: Arc<AtomicU64>,
}

/// Text that is not the same twice, so that no prefix matches by accident.
fn text(seed: usize, bytes: usize) -> String {
    let mut words = String::with_capacity(bytes + 16);
    let mut state = seed as u64 + 1;
    while words.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push_str(
            ["order ", "api ", "proxy ", "sequence ", "endpoint ", "log\n"][(state >> 33) as usize % 6],
        );
    }
    words.truncate(bytes);
    words
}

fn session(model: Model, scenario: Scenario, prefix: usize, ttl: CacheTtl) -> Session {
    let transport = ScriptedTransport::new(scenario.model(&model));
    let script = Arc::clone(transport.script());
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    let remote = Remote::new(Arc::new(endpoint), model.dialect, Arc::new(NoCredential), Arc::new(transport));
    let mut context = Context::new(Arc::new(remote), Arc::new(model.clone()));
    context.settings.effort = Some(Effort::Low);
    context.settings.cache_key = Some("session-1".into());
    context.system = vec![text(1, prefix * 3 / 4), text(2, prefix / 4)];
    context.tools.add(Arc::new(TypedTool::new("read", "Reads a file.", |args: Read, _| async move {
        Ok(ToolOutput::text(text(args.path.len() * 1_000 + args.bytes, args.bytes)))
    })));
    let time = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&time);
    let told = Arc::clone(&time);
    let misses = Arc::new(Misses::default());
    let marks = MarkSettings { prefix: ttl };
    let keeper = WindowKeeper::new(Arc::new(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst))
    }))
    .settings(WindowSettings { marks, ..WindowSettings::default() })
    .journal(misses.clone())
    // The time changes with every prompt: in the system prompt it would cost the whole history each time.
    .turn_sections(Arc::new(move |_| {
        vec![
            Rendered::turn("time", Some(format!("It is {} s past nine.", told.load(Ordering::SeqCst)))),
            Rendered::turn("page", Some("The orders page is open.".to_owned())),
        ]
    }));
    let agent = Agent::new(context, vec![Arc::new(keeper)]);
    Session { agent, script, model, misses, time }
}

impl Session {
    fn pass(&self, seconds: u64) {
        self.time.fetch_add(seconds, Ordering::SeqCst);
        self.script.skip(Duration::from_secs(seconds));
    }

    async fn prompt(&self, words: String) {
        let outcome = self.agent.prompt(words).await.unwrap();
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    }

    /// For each request, the tokens of its longest prefix that an earlier one had sent.
    fn ideal(&self) -> Vec<u64> {
        let sent: Vec<Vec<String>> = self
            .script
            .captured()
            .iter()
            .map(|request| {
                let prompt = Prompt::on_wire(self.model.dialect, &request.json, &self.model.deployment);
                prompt.blocks.into_iter().map(|block| block.text).collect()
            })
            .collect();
        (0..sent.len())
            .map(|at| {
                cache::tokens(sent[..at].iter().map(|earlier| common(&sent[at], earlier)).max().unwrap_or(0))
            })
            .collect()
    }

    /// Prints the figures, and returns the share of the ideal that was read.
    async fn figures(&self, title: &str) -> f64 {
        let reports = self.script.cache_reports();
        let ideal = self.ideal();
        let sum = |of: &dyn Fn(&CacheReport) -> u64| reports.iter().map(of).sum::<u64>();
        let (input, read) = (sum(&CacheReport::input), sum(&|report| report.read));
        let possible: u64 = ideal.iter().sum();
        for (at, ideal) in ideal.iter().enumerate().skip(1) {
            assert_eq!(*ideal, reports[at - 1].input(), "request {at} begins with all of the one before");
        }
        let usages: Vec<Usage> = self
            .agent
            .with(|cx| {
                let answers = cx.messages.iter().filter_map(|message| match message {
                    mica_ai::Message::Assistant(answer) => Some(answer.usage),
                    _ => None,
                });
                answers.collect()
            })
            .await
            .unwrap();
        assert_eq!(usages.len(), reports.len());
        let prices = self.model.prices.as_ref().unwrap();
        let cost = |usage: &Usage| prices.cost(usage).total().dollars();
        let plain = |usage: &Usage| Usage { cache_read: 0, cache_write: 0, cache_write_long: 0, ..*usage };
        let cached: f64 = usages.iter().map(cost).sum();
        let uncached: f64 = usages.iter().map(|usage| cost(&plain(usage))).sum();
        let share = read as f64 / possible as f64;
        println!(
            "{title} | {} on {} ({:?}): {} requests, {input} tokens in, last {}; read {:.2} % of input, {:.2} % of the \
             ideal {possible}; ${cached:.4} instead of ${uncached:.4} ({:.0} % saved)",
            self.model.id,
            self.model.dialect,
            self.model.cache.kind,
            reports.len(),
            reports.last().unwrap().input(),
            100.0 * read as f64 / input as f64,
            100.0 * share,
            100.0 * (1.0 - cached / uncached),
        );
        for (number, (report, ideal)) in reports.iter().zip(&ideal).enumerate() {
            if report.read < *ideal
                && (*ideal - report.read > 128 || self.model.cache.kind != CacheKind::Prefix)
            {
                let short = ideal - report.read;
                println!("    request {number}: {short} of {ideal} tokens short: {}", report.reason);
            }
        }
        for miss in self.misses.0.lock().unwrap().iter() {
            let reason = miss.reason.as_ref().unwrap();
            println!("    told: {} of {} tokens: {reason}", miss.shortfall(), miss.expected);
        }
        share
    }
}

/// Bytes that two prompts have in common from their beginnings: whole blocks, and the first that differs as far as it goes.
fn common(one: &[String], other: &[String]) -> usize {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let part = match (one.get(same), other.get(same)) {
        (Some(one), Some(other)) => {
            one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
        }
        _ => 0,
    };
    one[..same].iter().map(String::len).sum::<usize>() + part
}

/// Fifty turns of one run. Most call one to three tools; every tenth calls 25 at once, which is more blocks than Claude
/// searches back.
fn fifty_turns() -> Scenario {
    let mut scenario = Scenario::new().named("fifty");
    for turn in 0..49 {
        let calls = if turn % 10 == 9 { 25 } else { turn % 3 + 1 };
        let mut step = Turn::new().thinking(text(turn, 200)).text(text(turn + 100, 120));
        for call in 0..calls {
            let bytes = if calls > 3 { 300 } else { 500 + (turn * 613 + call * 97) % 2_500 };
            step = step.call("read", json!({ "path": "f".repeat(turn + call + 1), "bytes": bytes }));
        }
        scenario = scenario.turn(step);
    }
    scenario.turn(Turn::new().text("Done."))
}

#[tokio::test(start_paused = true)]
async fn cache_holds_over_fifty_turns() {
    for model in models() {
        let session = session(model, fifty_turns(), 24_000, CacheTtl::Short);
        session.prompt("Do all of it.".into()).await;
        assert_eq!(session.script.requests(), 50);
        let share = session.figures("fifty turns").await;
        assert!(share >= 0.98, "{}: {share}", session.model.id);
        assert_eq!(session.misses.0.lock().unwrap().len(), 0, "nothing is told when nothing is missed");
    }
}

/// What the mark on the tail before is for: with one on the tail alone, a batch of 25 calls is out of Claude's search.
#[tokio::test(start_paused = true)]
async fn the_tail_before_is_what_large_batches_need() {
    let mut model = model("claude-opus-4-8", Dialect::Messages);
    model.cache.max_marks = 1;
    let session = session(model, fifty_turns(), 24_000, CacheTtl::Short);
    session.prompt("Do all of it.".into()).await;
    let share = session.figures("fifty turns, one mark").await;
    assert!(share < 0.98, "{share}");
    let misses = session.misses.0.lock().unwrap();
    let out_of_reach = Some(segments::Reason::OutOfReach { lookback: 20 });
    assert_eq!(misses.len(), 4, "each is noticed");
    assert!(misses.iter().all(|miss| miss.reason == out_of_reach), "{misses:?}");
}

/// The wires are as strict as the providers: calls without results, results without calls and foreign seals are refused.
#[tokio::test(start_paused = true)]
async fn a_compacted_window_is_accepted_on_every_wire() {
    for mut model in models() {
        model.context = 50_000;
        let summary =
            "<summary>\n## Goal\nRead all.\n## Done\nSome.\n## The turn under way\nAsks for all.\n</summary>";
        let when = When { user_contains: Some("Write a summary".into()), ..When::default() };
        let scenario = fifty_turns().turn(Turn::new().text(summary).when(when));
        let session = session(model, scenario, 24_000, CacheTtl::Short);
        session.prompt("Do all of it.".into()).await;
        let reports = session.script.cache_reports();
        // Every request beyond the fifty was answered with a summary.
        let compactions = reports.len() - 50;
        let (input, read) =
            reports.iter().fold((0, 0), |(input, read), report| (input + report.input(), read + report.read));
        println!(
            "a window of 50,000 | {} on {}: {compactions} compactions, {input} tokens in, read {:.2} % of input",
            session.model.id,
            session.model.dialect,
            100.0 * read as f64 / input as f64
        );
        // A summary is read from the cache but for what came since the request before, and the request for it. On
        // Messages the script takes the request for a note on the results beside it, and goes on with its work: what
        // it says is no summary, and a transcript is sent, without tools and marks.
        let asks: Vec<f64> = session
            .script
            .captured()
            .iter()
            .zip(&reports)
            .filter(|(request, _)| request.json["tools"].is_array())
            .filter(|(request, _)| String::from_utf8_lossy(&request.body).contains("Write a summary"))
            .map(|(_, report)| report.hit_ratio())
            .collect();
        assert!(!asks.is_empty() && asks.iter().all(|ratio| *ratio > 0.85), "{}: {asks:?}", session.model.id);
        assert_eq!(session.misses.0.lock().unwrap().len(), 0, "what a compaction costs is no miss");
    }
}

/// Input tokens at the beginning of each of the ten turns of the conversation that the figures are compared with.
const TEN: [usize; 10] = [12_500, 15_000, 20_000, 27_500, 35_000, 40_000, 45_000, 50_000, 55_000, 60_000];

fn ten_turns() -> Scenario {
    let mut scenario = Scenario::new().named("ten");
    for (turn, size) in TEN.iter().enumerate() {
        // What a turn adds: a result, an answer and the next prompt. Four bytes are a token to the simulator.
        let grows = TEN.get(turn + 1).map_or(2_000, |next| next - size) * 4;
        let bytes = grows - 2_600;
        let mut ask = Turn::new().text("Looking.");
        // No single result is so large that it would be spilled.
        for part in 0..bytes.div_ceil(20_000) {
            let bytes = (bytes - part * 20_000).min(20_000);
            ask.steps.push(Step::Call(mica_testkit::Call::new(
                "read",
                json!({ "path": "f".repeat(turn * 5 + part + 1), "bytes": bytes }),
            )));
        }
        scenario = scenario.turn(ask).turn(Turn::new().text(text(turn, 1_200)));
    }
    scenario
}

#[tokio::test(start_paused = true)]
async fn cache_holds_over_the_ten_turn_conversation() {
    for model in models() {
        let session = session(model, ten_turns(), 49_000, CacheTtl::Short);
        for turn in 0..10 {
            session.prompt(format!("Question {turn}: {}", text(turn + 50, 700))).await;
            session.pass(90);
        }
        let reports = session.script.cache_reports();
        let first: Vec<u64> = reports.iter().step_by(2).map(CacheReport::input).collect();
        let ratios: Vec<String> =
            reports.iter().step_by(2).map(|report| format!("{:.0}%", 100.0 * report.hit_ratio())).collect();
        println!("input at each prompt {first:?}, read {ratios:?}");
        assert!((12_000..13_500).contains(&first[0]) && (57_000..63_000).contains(&first[9]), "{first:?}");
        let share = session.figures("ten turns").await;
        assert!(share >= 0.98, "{}: {share}", session.model.id);
        assert_eq!(session.misses.0.lock().unwrap().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_told_as_what_it_is() {
    for (ttl, kept) in [(CacheTtl::Short, 0), (CacheTtl::Long, 12_000)] {
        let session = session(model("claude-opus-4-8", Dialect::Messages), ten_turns(), 49_000, ttl);
        for turn in 0..3 {
            session.prompt(format!("Question {turn}: {}", text(turn + 50, 700))).await;
            session.pass(if turn == 1 { 400 } else { 10 });
        }
        session.figures("a pause of 400 s").await;
        let misses = session.misses.0.lock().unwrap().clone();
        assert_eq!(misses.len(), 1);
        let reason = misses[0].reason.as_ref().unwrap().to_string();
        assert_eq!(reason, "the entry expired: it lives 300 s, and 400 s passed");
        // What lives for an hour is read all the same.
        assert!(misses[0].read >= kept && misses[0].read < kept + 2_000, "{misses:?}");
    }
}

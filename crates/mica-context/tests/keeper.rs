//! The keeper in the real loop: when it acts, what it tells, what it records, and when it stops.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::{Agent, Context, EventKind, Outcome, RunError, ToolOutput, TypedTool};
use mica_ai::id::MessageId;
use mica_ai::model::{CacheFacts, CacheKind};
use mica_ai::request::CachePoint;
use mica_ai::{Content, Dialect, Message, Model};
use mica_context::compact::{CompactSettings, CompactionRecord, FileLedger, MadeBy, NamedArguments, Trigger};
use mica_context::prune::{PruneRecord, PruneSettings};
use mica_context::section::{Rendered, context_block};
use mica_context::{Journal, WindowKeeper, WindowSettings};
use mica_testkit::{Scenario, ScriptedModel, Turn, When};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// Which file.
    path: String,
    /// How many words of it.
    words: usize,
}

#[derive(Default)]
struct Notes {
    compacted: Mutex<Vec<CompactionRecord>>,
    pruned: Mutex<Vec<PruneRecord>>,
    attached: Mutex<Vec<(MessageId, String)>>,
    is_full: bool,
}

#[async_trait]
impl Journal for Notes {
    async fn compacted(&self, record: &CompactionRecord) -> Result<(), String> {
        self.compacted.lock().unwrap().push(record.clone());
        if self.is_full { Err("the disk is full".to_owned()) } else { Ok(()) }
    }

    async fn pruned(&self, record: &PruneRecord) -> Result<(), String> {
        self.pruned.lock().unwrap().push(record.clone());
        Ok(())
    }

    async fn attached(&self, message: &MessageId, block: &str) -> Result<(), String> {
        self.attached.lock().unwrap().push((message.clone(), block.to_owned()));
        Ok(())
    }
}

struct Stage {
    agent: Agent,
    model: Arc<ScriptedModel>,
    notes: Arc<Notes>,
    keeper: Arc<WindowKeeper>,
    time: Arc<AtomicU64>,
}

/// Settings in which nothing is pruned, so that compaction can be looked at alone.
fn no_pruning() -> WindowSettings {
    let prune = PruneSettings { keep_results: u64::MAX, keep_percent: 100, ..PruneSettings::default() };
    let compact = CompactSettings { keep_recent: 1_500, ..CompactSettings::default() };
    WindowSettings { prune, compact, ..WindowSettings::default() }
}

fn stage(scenario: Scenario, window: u64, settings: WindowSettings, notes: Notes) -> Stage {
    let mut model = Model::assumed("scripted", Dialect::Messages);
    model.context = window;
    model.max_output = 1_000;
    model.cache =
        CacheFacts { kind: CacheKind::Marks, minimum: 512, max_marks: 4, lookback: 20, ttl_minutes: vec![5] };
    let scripted = Arc::new(ScriptedModel::new(scenario));
    let mut context = Context::new(scripted.clone(), Arc::new(model));
    context.system = vec!["You do what is asked. ".repeat(100)];
    context.tools.add(Arc::new(TypedTool::new("read", "Reads a file.", |args: Read, _| async move {
        Ok(ToolOutput::text(format!("{} {}", args.path, "word ".repeat(args.words))))
    })));
    let notes = Arc::new(notes);
    let time = Arc::new(AtomicU64::new(0));
    let (clock, told) = (Arc::clone(&time), Arc::clone(&time));
    let keeper = WindowKeeper::new(Arc::new(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst))
    }))
    .settings(settings)
    .files(Arc::new(NamedArguments::default().reads("read", "path")))
    .journal(notes.clone())
    .turn_sections(Arc::new(move |_| {
        vec![Rendered::turn("hour", Some(format!("Hour {}.", told.load(Ordering::SeqCst) / 3_600)))]
    }));
    let keeper = Arc::new(keeper);
    let agent = Agent::new(context, vec![keeper.clone()]);
    Stage { agent, model: scripted, notes, keeper, time }
}

/// Turns that read files of so many words, and then an answer.
fn reads(words: &[usize]) -> Scenario {
    let mut scenario = Scenario::new();
    for (at, words) in words.iter().enumerate() {
        scenario =
            scenario.turn(Turn::new().call("read", json!({ "path": format!("f{at}"), "words": words })));
    }
    scenario.turn(Turn::new().text("Done."))
}

fn summary(scenario: Scenario) -> Scenario {
    let words = "<summary>\n## Goal\nRead all files.\n## Done\nSome are read.\n## The turn under way\nIt asks for files.\n</summary>";
    let when = When { user_contains: Some("Write a summary".into()), ..When::default() };
    scenario.turn(Turn::new().text(words).when(when))
}

impl Stage {
    async fn prompt(&self, words: &str) -> (Outcome, Vec<WindowChange>) {
        let mut events = self.agent.subscribe();
        let outcome = self.agent.prompt(words).await.unwrap();
        let mut changes = Vec::new();
        while let Ok(event) = events.try_recv() {
            if let EventKind::Window { change } = event.kind {
                changes.push(change);
            }
        }
        (outcome, changes)
    }

    async fn messages(&self) -> Vec<Message> {
        self.agent.with(|cx| cx.messages.clone()).await.unwrap()
    }
}

fn kinds(changes: &[WindowChange]) -> Vec<&str> {
    changes.iter().map(|change| change.kind.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_long_run_is_compacted_between_its_turns() {
    let stage = stage(summary(reads(&[600; 30])), 8_000, no_pruning(), Notes::default());
    let (outcome, changes) = stage.prompt("Read all files.").await;
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    assert!(!changes.is_empty() && changes.iter().all(|change| change.kind == "compaction"), "{changes:?}");
    assert!(changes.iter().all(|change| change.after < change.before * 8 / 10), "{changes:?}");

    let records = stage.notes.compacted.lock().unwrap().clone();
    assert_eq!(records.len(), changes.len());
    assert!(records.len() > 2);
    assert!(records.iter().all(|record| record.made == MadeBy::Model && record.split_turn), "{records:?}");
    assert!(matches!(records[0].trigger, Trigger::Threshold { .. }));
    assert_eq!(records[0].summary.goal, "Read all files.");
    // The ledger has all files that were summarised away, over all compactions.
    let last = records.last().unwrap();
    assert_eq!(last.ledger.read[..2], ["f0", "f1"]);
    assert!(
        last.summarised.contains(records[records.len() - 2].message.id()),
        "a summary is updated, not lost"
    );

    // Each summary was asked for with the conversation as it was, so that the cache is read: the same system prompt,
    // tools and messages, then one more; the last mark is where the request before ended.
    let requests = stage.model.requests();
    let asks: Vec<usize> = (0..requests.len())
        .filter(|at| {
            matches!(requests[*at].messages.last(), Some(Message::User(user))
            if matches!(&user.content[0], Content::Text { text } if text.contains("Write a summary")))
        })
        .collect();
    assert_eq!(asks.len(), records.len());
    for ask in asks {
        let (before, ask) = (&requests[ask - 1], &requests[ask]);
        assert_eq!(before.messages, ask.messages[..before.messages.len()]);
        assert_eq!(
            (&before.system, &before.tools, &before.tool_choice),
            (&ask.system, &ask.tools, &ask.tool_choice)
        );
        let tail = before.messages.last().unwrap().id().clone();
        assert_eq!(ask.cache.marks.last().unwrap().at, CachePoint::Message(tail));
    }
    let spent = stage.agent.with(|cx| cx.tally.usage).await.unwrap();
    assert!(records.iter().all(|record| record.usage.input > 0));
    assert!(spent.cache_read > 0 && spent.input > records.iter().map(|record| record.usage.input).sum());
    // The window still says what the turn sections said.
    let messages = stage.messages().await;
    assert_eq!(context_block::changed(&messages, &[Rendered::turn("hour", Some("Hour 0.".into()))]), None);
}

#[tokio::test(start_paused = true)]
async fn promise_4_the_window_only_grows_except_at_a_recorded_compaction() {
    let stage = stage(summary(reads(&[600; 30])), 8_000, no_pruning(), Notes::default());
    let (outcome, _) = stage.prompt("Read all files.").await;
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let requests = stage.model.requests();
    let mut breaks = Vec::new();
    // What asks for a summary is no turn of the conversation: the next turn is held against the turn before it.
    let is_ask = |message: Option<&Message>| matches!(message, Some(Message::User(user)) if matches!(&user.content[0], Content::Text { text } if text.contains("Write a summary")));
    let turns: Vec<_> = requests.iter().filter(|request| !is_ask(request.messages.last())).collect();
    assert_eq!(turns.len(), 31);
    for pair in turns.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        assert_eq!((&before.system, &before.tools), (&after.system, &after.tools));
        if !after.messages.starts_with(&before.messages) {
            breaks.push(after.messages[0].id().clone());
        }
    }
    let records = stage.notes.compacted.lock().unwrap().clone();
    let recorded: Vec<MessageId> = records.iter().map(|record| record.message.id().clone()).collect();
    assert!(recorded.len() > 2);
    assert_eq!(breaks, recorded, "every window that did not grow has a reason on record");
}

#[tokio::test(start_paused = true)]
async fn a_full_window_is_compacted_and_asked_again() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("read", json!({ "path": "a", "words": 1_500 })))
        .turn(Turn::new().call("read", json!({ "path": "b", "words": 100 })))
        .turn(Turn::error("anthropic_prompt_too_long".into()))
        // The summary is asked for with a transcript, since the conversation does not fit. This one fails.
        .turn(Turn::error("anthropic_529".into()))
        .turn(Turn::new().text("Done."));
    let stage = stage(scenario, 100_000, no_pruning(), Notes::default());
    let (outcome, changes) = stage.prompt("Read a and b.").await;
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    assert_eq!(kinds(&changes), [""; 0], "it is told before the next turn");
    let record = stage.notes.compacted.lock().unwrap()[0].clone();
    assert_eq!(record.trigger, Trigger::Overflow);
    assert!(
        matches!(&record.made, MadeBy::Machine { because } if because.contains("overloaded")),
        "{:?}",
        record.made
    );
    assert!(record.summary.turn.contains("Read a and b."), "{:?}", record.summary);
    assert_eq!(record.ledger, FileLedger { read: vec!["a".into()], changed: Vec::new() });
    let requests = stage.model.requests();
    assert!(requests[3].tools.is_empty() && requests[3].messages.len() == 1, "a transcript");
    assert_eq!(stage.messages().await.len(), 4, "the summary, the second call, its result, the answer");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_never_satisfied_ends_the_run() {
    let full = || Turn::error("anthropic_prompt_too_long".into());
    let scenario = Scenario::new()
        .turn(Turn::new().call("read", json!({ "path": "a", "words": 3_000 })))
        .turn(Turn::new().call("read", json!({ "path": "b", "words": 1_000 })))
        .otherwise(full());
    let stage = stage(scenario, 100_000, no_pruning(), Notes::default());
    let (outcome, _) = stage.prompt("Read a and b.").await;
    let Outcome::Failed { error: RunError::Model(error) } = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.kind(), "context_overflow");
    assert_eq!(
        stage.notes.compacted.lock().unwrap().len(),
        1,
        "what cannot shrink further is not tried again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_does_not_fit_is_a_limit_not_a_loop() {
    let stage = stage(reads(&[]), 4_000, no_pruning(), Notes::default());
    let (outcome, changes) = stage.prompt(&"word ".repeat(5_000)).await;
    let Outcome::Exhausted { limit } = outcome else { panic!("{outcome:?}") };
    assert_eq!(limit.name, "window");
    assert_eq!(kinds(&changes), ["compaction_stuck"]);
    assert_eq!(changes[0].reason, "nothing can be summarised: all of it is recent");
    assert_eq!(stage.model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_too_long_is_not_paid_for_in_every_turn() {
    // Each part of a summary may have 6,000 bytes; two full ones take as much as what they replace.
    let long = format!(
        "<summary>\n## Goal\n{}\n## Done\n{}\n</summary>",
        "word ".repeat(1_150),
        "word ".repeat(1_150)
    );
    let when = When { user_contains: Some("Write a summary".into()), ..When::default() };
    let scenario = reads(&[60; 60]).turn(Turn::new().text(long).when(when));
    let mut settings = no_pruning();
    settings.compact.keep_percent = 60;
    settings.compact.keep_recent = 20_000;
    let stage = stage(scenario, 8_000, settings, Notes::default());
    let (outcome, changes) = stage.prompt("Read all files.").await;
    let Outcome::Exhausted { limit } = outcome else { panic!("{outcome:?}") };
    assert_eq!(limit.name, "window");
    assert_eq!(kinds(&changes), ["compaction_stuck"], "{changes:?}");
    let asked = stage.model.requests().len();
    let summaries = asked
        - stage.messages().await.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
    assert!((1..=4).contains(&summaries), "{summaries} of {asked}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_recorded_is_not_done() {
    let notes = Notes { is_full: true, ..Notes::default() };
    let stage = stage(summary(reads(&[600; 12])), 8_000, no_pruning(), notes);
    let (outcome, _) = stage.prompt("Read all files.").await;
    let Outcome::Failed { error } = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.to_string(), "the session could not be written: the disk is full");
    assert!(
        !mica_context::compact::checkpoint::is_checkpoint(&stage.messages().await[0]),
        "the window is as it was"
    );
}

#[tokio::test(start_paused = true)]
async fn a_compaction_can_be_asked_for() {
    let stage = stage(summary(reads(&[1_000, 1_000])), 100_000, no_pruning(), Notes::default());
    stage.prompt("Read two files.").await;
    stage.keeper.request_compaction(Some("the second file".into()));
    let (outcome, changes) = stage.prompt("And now?").await;
    // The script has nothing more to say, which is not the point here.
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert_eq!(kinds(&changes), ["compaction"]);
    let record = stage.notes.compacted.lock().unwrap()[0].clone();
    assert_eq!(record.trigger, Trigger::Manual { focus: Some("the second file".into()) });
    let requests = stage.model.requests();
    let Some(Message::User(ask)) = requests[3].messages.last() else { panic!() };
    assert!(
        matches!(&ask.content[0], Content::Text { text } if text.ends_with("attention to this: the second file"))
    );
}

#[tokio::test(start_paused = true)]
async fn old_results_are_pruned_before_anything_is_summarised() {
    let mut settings = no_pruning();
    settings.prune = PruneSettings { keep_results: 1_500, keep_percent: 100, ..PruneSettings::default() };
    let stage = stage(reads(&[800; 10]), 8_000, settings, Notes::default());
    let (outcome, changes) = stage.prompt("Read all files.").await;
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    assert!(!changes.is_empty() && changes.iter().all(|change| change.kind == "pruning"), "{changes:?}");
    let records = stage.notes.pruned.lock().unwrap().clone();
    assert_eq!(records.len(), changes.len());
    let messages = stage.messages().await;
    let texts: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message {
            Message::ToolResult(result) => match &result.content[0] {
                Content::Text { text } => Some(&text[..21]),
                Content::Image(_) => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(texts[0], "[An earlier result of");
    assert!(texts[9].starts_with("f9 word"), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn turn_sections_ride_with_the_user() {
    let stage = stage(Scenario::from(Turn::new().text("Yes.")), 100_000, no_pruning(), Notes::default());
    for seconds in [0, 60, 7_200] {
        stage.time.store(seconds, Ordering::SeqCst);
        stage.prompt("Well?").await;
    }
    let messages = stage.messages().await;
    let parts: Vec<usize> = messages
        .iter()
        .filter_map(|message| match message {
            Message::User(user) => Some(user.content.len()),
            _ => None,
        })
        .collect();
    assert_eq!(parts, [2, 1, 2], "told at first, not again while it holds, and when it changed");
    let attached = stage.notes.attached.lock().unwrap();
    assert_eq!(attached.len(), 2);
    assert_eq!(attached[1].0, *messages[4].id());
    assert!(attached[1].1.contains("Hour 2."));
    // What was sent before is sent again as it was.
    let requests = stage.model.requests();
    for pair in requests.windows(2) {
        assert_eq!(pair[0].system, pair[1].system);
        assert_eq!(pair[0].messages, pair[1].messages[..pair[0].messages.len()]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_miss_is_told_with_its_reason() {
    let stage = stage(Scenario::from(Turn::new().text("Yes.")), 100_000, no_pruning(), Notes::default());
    stage.prompt("One?").await;
    assert_eq!(kinds(&stage.prompt("Two?").await.1), [""; 0]);
    stage.agent.with(|cx| cx.system[0].push_str("And be brief.")).await.unwrap();
    assert_eq!(kinds(&stage.prompt("Three?").await.1), [""; 0], "it is known once the answer is there");
    let (_, changes) = stage.prompt("Four?").await;
    assert_eq!(kinds(&changes), ["cache_miss"]);
    assert_eq!(changes[0].reason, "segment 1 changed (static sections)");
    assert!(changes[0].before > 500 && changes[0].after < changes[0].before / 2, "{changes:?}");
    let report = stage.agent.with(|cx| stage.keeper.report(cx)).await.unwrap();
    assert!(report.fill.counted > 0 && report.fill.estimated == 0, "{report:?}");
    assert_eq!(stage.keeper.cache_checks().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn another_model_has_its_own_window_and_cache() {
    let scenario = Scenario::new()
        .turn(Turn::new().text("One."))
        .turn(Turn::error("anthropic_prompt_too_long".into()))
        .otherwise(Turn::new().text("Yes."));
    let stage = stage(scenario, 500_000, no_pruning(), Notes::default());
    stage.prompt("One?").await;
    stage.prompt(&"Two? ".repeat(2_000)).await;
    let window = async || stage.agent.with(|cx| stage.keeper.report(cx).window).await.unwrap();
    let learnt = window().await;
    assert!(learnt < 500_000, "the provider said that it takes less: {learnt}");
    let before = stage.keeper.cache_checks().len();
    stage.keeper.model_changed();
    stage
        .agent
        .with(|cx| {
            let mut model = (*cx.model).clone();
            (model.deployment, model.context) = ("other".to_owned(), 400_000);
            cx.model = Arc::new(model);
        })
        .await
        .unwrap();
    assert_eq!(window().await, 400_000, "what was learnt of one says nothing of the other");
    stage.prompt("Three?").await;
    let checks = stage.keeper.cache_checks();
    let reasons: Vec<String> =
        checks[before..].iter().filter_map(|check| Some(check.reason.as_ref()?.to_string())).collect();
    assert_eq!(reasons, ["the model changed, and each has a cache of its own"]);
    // The same deployment at another endpoint is another cache, too.
    stage.keeper.model_changed();
    stage.agent.with(|cx| cx.system[0].push_str("And be brief.")).await.unwrap();
    stage.prompt("Four?").await;
    let reason = stage.keeper.cache_checks().last().unwrap().reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "the model changed, and each has a cache of its own");
}

//! Any conversation, any cut: pairs stay together, order stays, nothing falls between.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_ai::arguments::Arguments;
use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::{Assistant, Block, Content, Dialect, Model, Origin, StopReason, User, replay};
use mica_testkit::{Scenario, ScriptedModel};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::section::Rendered;

/// One thing of a conversation, before it has ids.
#[derive(Debug, Clone)]
enum Piece {
    User(usize),
    /// An answer: words, calls, and which of them get a result. What is said meanwhile may come before the results.
    Answer {
        words: usize,
        calls: Vec<bool>,
        meanwhile: bool,
        fails: bool,
    },
}

fn piece() -> impl Strategy<Value = Piece> {
    let answer =
        (1usize..200, proptest::collection::vec(proptest::bool::weighted(0.9), 0..4), any::<bool>(), 0..10)
            .prop_map(|(words, calls, meanwhile, luck)| Piece::Answer {
                words,
                calls,
                meanwhile: meanwhile && luck < 3,
                fails: luck == 9,
            });
    prop_oneof![2 => (1usize..300).prop_map(Piece::User), 3 => answer]
}

fn origin() -> Origin {
    Origin { dialect: Dialect::Messages, provider: "p".into(), model: "m".into() }
}

fn user(id: &str, words: usize) -> Message {
    Message::User(User { id: id.into(), content: vec![Content::text("word ".repeat(words))] })
}

fn conversation(pieces: &[Piece]) -> Vec<Message> {
    let mut messages = vec![user("begin", 5)];
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::User(words) => messages.push(user(&format!("u{at}"), *words)),
            Piece::Answer { words, calls, meanwhile, fails } => {
                let mut answer = Assistant::empty(format!("a{at}").as_str().into(), origin());
                answer.stop = match (fails, calls.is_empty()) {
                    (true, _) => StopReason::Error,
                    (false, true) => StopReason::Stop,
                    (false, false) => StopReason::ToolUse,
                };
                let text = mica_ai::message::Text { text: "word ".repeat(*words), ..Default::default() };
                answer.blocks.push(Block::Text(text));
                let made: Vec<ToolCall> = (0..calls.len())
                    .map(|call| ToolCall {
                        id: format!("c{at}x{call}").as_str().into(),
                        name: if call % 2 == 0 { "read".into() } else { "write".into() },
                        arguments: Arguments::from_value(&json!({ "path": format!("f{at}") })),
                    })
                    .collect();
                answer.blocks.extend(made.iter().cloned().map(Block::ToolCall));
                messages.push(answer.into());
                if *meanwhile {
                    messages.push(user(&format!("m{at}"), 3));
                }
                for (call, _) in made.iter().zip(calls).filter(|(_, answered)| **answered) {
                    let mut result =
                        call.result(vec![Content::text("word ".repeat(*words * 3))], ResultStatus::Ok);
                    result.id = format!("r{}", call.id).as_str().into();
                    messages.push(result.into());
                }
            }
        }
    }
    messages
}

/// Remembers what it was given to summarise.
#[derive(Default)]
struct Notes(Mutex<Vec<Vec<MessageId>>>);

#[async_trait]
impl Summarise for Notes {
    async fn summarise(&self, job: Job<'_>) -> Summarised {
        let ids = job.dropped().iter().map(|message| message.id().clone()).collect();
        self.0.lock().unwrap().push(ids);
        let summary = Summary { goal: "Go on.".into(), ..Summary::default() };
        let usage = Usage { input: 10, output: 1, ..Usage::default() };
        Summarised { summary: Ok(summary), usage }
    }
}

fn context(messages: Vec<Message>) -> Context {
    let model = Arc::new(Model::assumed("m", Dialect::Messages));
    let mut cx = Context::new(Arc::new(ScriptedModel::new(Scenario::new())), model);
    cx.messages = messages;
    cx
}

fn compact(cx: &mut Context, keep: u64, notes: &dyn Summarise) -> Result<CompactionRecord, Stuck> {
    let scale = Scale::assumed(&cx.model);
    let files = NamedArguments::default().reads("read", "path").changes("write", "path");
    let means = Means {
        sections: &[],
        settings: CompactSettings { keep_recent: keep, floor_percent: 0, ..CompactSettings::default() },
        limits: WindowLimits::new(&cx.model, &cx.settings, None),
        scale,
        filled: scale.apply(tokens::of_messages(&cx.messages)),
        summarise: notes,
        files: &files,
        marks: MarkSettings::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let record = runtime.block_on(prepare(cx, Trigger::Manual { focus: None }, means))?;
    apply(&mut cx.messages, &record);
    Ok(record)
}

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id().clone()).collect()
}

/// Which call is answered by which result, as a provider gets to see it.
fn pairs(messages: &[Message], of: &HashSet<MessageId>) -> Vec<(String, String)> {
    let sent = replay::normalise(messages, &origin(), &Model::assumed("m", Dialect::Messages));
    let mut calls: HashSet<String> = HashSet::new();
    let mut pairs = Vec::new();
    for message in &sent {
        match &**message {
            Message::Assistant(answer) => calls.extend(answer.calls().map(|call| call.id.to_string())),
            Message::ToolResult(result) => {
                assert!(calls.contains(result.call.as_str()), "a result without its call");
                // A result that a provider gets for a call without one is named after the answer that made the call.
                let by = result.id.as_str().split('/').next().unwrap_or_default();
                if of.contains(&MessageId::from(by)) {
                    pairs.push((result.call.to_string(), transcript::contents(&result.content)));
                }
            }
            Message::User(_) => {}
        }
    }
    pairs
}

proptest! {
    #[test]
    fn nothing_falls_between(pieces in proptest::collection::vec(piece(), 1..30), keep in 0u64..6_000) {
        let before = conversation(&pieces);
        let mut cx = context(before.clone());
        let notes = Notes::default();
        let Ok(record) = compact(&mut cx, keep, &notes) else { return Ok(()) };
        // The summary, and then what was kept: all that was not summarised, in order.
        let summarised = notes.0.lock().unwrap().concat();
        prop_assert_eq!(&record.summarised, &summarised);
        prop_assert_eq!([summarised, ids(&cx.messages[1..])].concat(), ids(&before));
        prop_assert_eq!(&cx.messages[1..], &before[record.summarised.len()..]);
        prop_assert!(checkpoint::is_checkpoint(&cx.messages[0]));
        // What a provider gets of the kept part is what it got before.
        let kept: HashSet<MessageId> = ids(&cx.messages).into_iter().collect();
        prop_assert_eq!(pairs(&before, &kept), pairs(&cx.messages, &kept));
        prop_assert_eq!(cx.tally.usage.input, 10, "what the summary took is counted");
    }

    #[test]
    fn two_in_a_row_lose_nothing_that_the_first_kept(
        first in proptest::collection::vec(piece(), 4..20),
        second in proptest::collection::vec(piece(), 4..20),
        keep in 200u64..3_000,
    ) {
        let mut cx = context(conversation(&first));
        let notes = Notes::default();
        let Ok(one) = compact(&mut cx, keep, &notes) else { return Ok(()) };
        let mut more = conversation(&second);
        for message in &mut more {
            // Ids of the second half must not be those of the first.
            let fresh = MessageId::from(format!("second-{}", message.id()));
            match message {
                Message::User(user) => user.id = fresh,
                Message::Assistant(answer) => answer.id = fresh,
                Message::ToolResult(result) => result.id = fresh,
            }
        }
        cx.messages.extend(more);
        let window = ids(&cx.messages);
        let Ok(two) = compact(&mut cx, keep, &notes) else { return Ok(()) };
        prop_assert_eq!(two.summarised.first(), Some(one.message.id()), "the first summary is in the second's input");
        prop_assert_eq!([two.summarised.clone(), ids(&cx.messages[1..])].concat(), window);
        // The ledger only grows.
        let known: HashSet<&String> = two.ledger.read.iter().chain(&two.ledger.changed).collect();
        prop_assert!(one.ledger.read.iter().chain(&one.ledger.changed).all(|path| known.contains(path)));
    }

    #[test]
    fn every_allowed_cut_keeps_pairs(pieces in proptest::collection::vec(piece(), 1..15)) {
        let messages = conversation(&pieces);
        for at in (0..messages.len()).filter(|at| cut::is_allowed(&messages, *at)) {
            let (dropped, kept) = messages.split_at(at);
            let calls: HashSet<_> = dropped
                .iter()
                .filter_map(|message| match message {
                    Message::Assistant(answer) => Some(answer.calls().map(|call| call.id.clone())),
                    _ => None,
                })
                .flatten()
                .collect();
            for message in kept {
                if let Message::ToolResult(result) = message {
                    prop_assert!(!calls.contains(&result.call), "cut at {} splits {}", at, result.call);
                }
            }
        }
    }
}

fn answer(words: usize, calls: usize) -> Piece {
    Piece::Answer { words, calls: vec![true; calls], meanwhile: false, fails: false }
}

#[test]
fn a_turn_that_is_split_is_summarised_apart() {
    // Words are two tokens with their share of frames; a turn of one call is about 5 times its words.
    let mut cx = context(conversation(&[
        Piece::User(20),
        answer(300, 1),
        Piece::User(50),
        answer(100, 1),
        answer(100, 1),
        answer(100, 1),
    ]));
    let sizes: Vec<u64> = cx.messages.iter().map(tokens::of_message).collect();
    let keep = sizes[sizes.len() - 4..].iter().sum();
    let found = cut::find(&cx.messages, &sizes, keep, 0).unwrap();
    assert_eq!(ids(&cx.messages)[found.first_kept], "a4".into());
    assert_eq!(found.turn_start.map(|at| ids(&cx.messages)[at].clone()), Some("u2".into()));
    let job = Job {
        cx: &cx,
        messages: &cx.messages,
        cut: found,
        focus: None,
        whole: Some(4_000),
        room: 100_000,
        marks: MarkSettings::default(),
    };
    let by_machine = machine::summarise(&job);
    assert!(by_machine.turn.starts_with("The user asked: word"), "{}", by_machine.turn);
    assert!(by_machine.turn.contains("read {\"path\":\"f3\"}"), "{}", by_machine.turn);
    assert!(by_machine.done.contains("f1") && !by_machine.done.contains("f3"), "{}", by_machine.done);
    let record = compact(&mut cx, keep, &Notes::default()).unwrap();
    assert!(record.split_turn);
}

#[test]
fn what_is_not_worth_it_is_not_done() {
    let notes = Notes::default();
    let mut cx = context(vec![user("only", 5_000)]);
    assert_eq!(compact(&mut cx, 100, &notes).unwrap_err(), Stuck::NothingToDrop);
    // A summary that is longer than what it replaces.
    struct Chatty;
    #[async_trait]
    impl Summarise for Chatty {
        async fn summarise(&self, _: Job<'_>) -> Summarised {
            let summary = Summary { goal: "word ".repeat(1_000), ..Summary::default() };
            Summarised { summary: Ok(summary), usage: Usage::default() }
        }
    }
    let mut cx = context(vec![user("one", 100), user("two", 100)]);
    let before = cx.messages.clone();
    let scale = Scale::assumed(&cx.model);
    let means = Means {
        sections: &[],
        settings: CompactSettings { keep_recent: 10, floor_percent: 20, ..CompactSettings::default() },
        limits: WindowLimits::new(&cx.model, &cx.settings, None),
        scale,
        filled: scale.apply(tokens::of_messages(&cx.messages)),
        summarise: &Chatty,
        files: &(),
        marks: MarkSettings::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let stuck = runtime.block_on(prepare(&mut cx, Trigger::Overflow, means)).unwrap_err();
    assert!(matches!(stuck, Stuck::TooLittle { freed: 0, .. }), "{stuck}");
    assert_eq!(cx.messages, before, "and the window is as it was");
}

#[test]
fn turn_sections_that_still_hold_are_carried_over() {
    let mut messages = conversation(&[answer(300, 1), Piece::User(10), answer(10, 0)]);
    let sections =
        [Rendered::turn("page", Some("Orders".into())), Rendered::turn("time", Some("09:00".into()))];
    if let Message::User(first) = &mut messages[0] {
        context_block::attach(&[], &sections, first).unwrap();
    }
    let (head, tail) = messages.split_at_mut(3);
    if let Message::User(second) = &mut tail[0] {
        let sections = [Rendered::turn("time", Some("09:30".into()))];
        context_block::attach(head, &sections, second).unwrap();
    }
    let mut cx = context(messages);
    compact(&mut cx, 200, &Notes::default()).unwrap();
    let Message::User(first) = &cx.messages[0] else { panic!() };
    let text = transcript::contents(&first.content);
    assert!(text.contains("Orders") && !text.contains("09:00"), "{text}");
    let now = [Rendered::turn("page", Some("Orders".into())), Rendered::turn("time", Some("09:30".into()))];
    assert_eq!(context_block::changed(&cx.messages, &now), None, "the window still says all of it");
}

#[test]
fn a_record_survives_being_written() {
    let mut cx = context(conversation(&[answer(300, 2), Piece::User(10), answer(10, 0)]));
    let record = compact(&mut cx, 200, &Notes::default()).unwrap();
    assert_eq!(record.ledger, FileLedger { read: Vec::new(), changed: vec!["f0".into()] });
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<CompactionRecord>(&text).unwrap(), record);
}

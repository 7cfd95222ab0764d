//! What is pruned, what is not, and when it pays.

use mica_ai::arguments::Arguments;
use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::model::{CacheFacts, PriceRow};
use mica_ai::usage::Usd;
use mica_ai::{Assistant, Block, Dialect, Origin, User};

use super::*;

/// A conversation of turns, each with one result of so many words.
fn conversation(words: &[usize]) -> Vec<Message> {
    let mut messages: Vec<Message> = vec![User::text("Begin.").into()];
    for (turn, words) in words.iter().enumerate() {
        let call = ToolCall {
            id: format!("c{turn}").as_str().into(),
            name: "read".into(),
            arguments: Arguments::from_text("{}"),
        };
        let origin = Origin { dialect: Dialect::Chat, provider: "p".into(), model: "m".into() };
        let mut answer = Assistant::empty(format!("a{turn}").as_str().into(), origin);
        answer.stop = StopReason::ToolUse;
        answer.blocks = vec![Block::ToolCall(call.clone())];
        messages.push(answer.into());
        let mut result = call.result(vec![Content::text("word ".repeat(*words))], ResultStatus::Ok);
        result.id = format!("r{turn}").as_str().into();
        messages.push(result.into());
    }
    messages
}

fn scale() -> Scale {
    Scale::assumed(&Model::assumed("m", Dialect::Chat))
}

fn settings() -> PruneSettings {
    PruneSettings { keep_results: 3_000, ..PruneSettings::default() }
}

#[test]
fn old_results_go_and_new_ones_stay() {
    let messages = conversation(&[1_000, 10, 2_000, 1_000, 1_000]);
    let found = find(&messages, &settings(), 100_000, scale()).unwrap();
    // The small one stays, and so do the two newest, which fill the budget.
    assert_eq!(found.at, [2, 6]);
    let mut pruned = messages.clone();
    let notes = notes(&messages, &found);
    apply(&mut pruned, &notes);
    let before = tokens::of_messages(&messages);
    assert!(before - tokens::of_messages(&pruned) >= found.freed * 9 / 10);
    let Message::ToolResult(result) = &pruned[2] else { panic!() };
    assert_eq!(
        result.content,
        [Content::text(
            "[An earlier result of read (5000 bytes) was removed to make room. Call it again if needed.]"
        )]
    );
    assert_eq!(find(&pruned, &settings(), 100_000, scale()), None, "and once is enough");
}

#[test]
fn what_the_model_has_not_seen_stays() {
    assert_eq!(find(&conversation(&[50_000]), &settings(), 100_000, scale()), None);
}

#[test]
fn a_spilled_result_keeps_its_path() {
    let mut messages = conversation(&[10, 5_000, 5_000]);
    if let Message::ToolResult(result) = &mut messages[2] {
        let preview =
            format!("<spilled path=\"/s/000001-read.txt\" bytes=\"9\">\n{}\n</spilled>", "word ".repeat(300));
        result.content = vec![Content::text(preview)];
    }
    let found = find(&messages, &settings(), 100_000, scale()).unwrap();
    assert_eq!(
        notes(&messages, &found)[0].1,
        "[An earlier result of read was removed to make room. All of it is in /s/000001-read.txt.]"
    );
}

#[test]
fn it_is_done_when_it_pays() {
    let mut model = Model::assumed("m", Dialect::Messages);
    model.cache = CacheFacts { kind: CacheKind::Marks, ..CacheFacts::NONE };
    model.prices = Some(mica_ai::model::Prices {
        base: PriceRow {
            input: Usd::from_dollars(5.0),
            output: Usd::from_dollars(25.0),
            cache_read: Some(Usd::from_dollars(0.5)),
            cache_write: Some(Usd::from_dollars(6.25)),
            cache_write_long: None,
        },
        tiers: Vec::new(),
    });
    let pruning = |freed, again| Pruning { at: vec![1], freed, again };
    // Much freed near the tail: 20 turns read 60,000 tokens less each. Little freed far from it: the 7 turns until the
    // window is full again do not pay for writing all of the rest.
    assert!(pays(&pruning(60_000, 40_000), 3_000, &model, true));
    assert!(!pays(&pruning(20_000, 140_000), 3_000, &model, true));
    // Nothing is in the cache any more: nothing is lost.
    assert!(pays(&pruning(20_000, 140_000), 3_000, &model, false));
    model.prices = None;
    assert!(pays(&pruning(60_000, 40_000), 3_000, &model, true), "the usual ratios say the same");
    assert!(!pays(&pruning(20_000, 140_000), 3_000, &model, true), "the usual ratios say the same");
}

//! The estimate is held to counts of a real tokenizer, and the anchor to what it covers.

use mica_ai::message::{Image, ToolCall};
use mica_ai::{Assistant, Origin, User};

use super::*;

/// A sample, and what `o200k_base` and `cl100k_base` count for it (tiktoken-rs 0.7, once).
macro_rules! sample {
    ($name:literal, $o200k:literal, $cl100k:literal) => {
        ($name, include_str!(concat!("samples/", $name, ".txt")), $o200k, $cl100k)
    };
}

const SAMPLES: [(&str, &str, u64, u64); 16] = [
    sample!("prose", 549, 548),
    sample!("de", 38, 50),
    sample!("rust", 480, 480),
    sample!("toml", 493, 495),
    sample!("json", 632, 635),
    sample!("json-dense", 346, 339),
    sample!("xml", 185, 182),
    sample!("log", 540, 540),
    sample!("hex", 531, 528),
    sample!("base64", 619, 644),
    sample!("zh", 62, 82),
    sample!("ja", 47, 69),
    sample!("ko", 34, 47),
    sample!("ru", 40, 58),
    sample!("ar", 36, 84),
    sample!("emoji", 31, 37),
];

#[test]
fn the_estimate_is_rather_too_high() {
    println!("{:12} {:>6} {:>6} {:>6} {:>8} {:>8}", "sample", "o200k", "cl100k", "here", "error", "bytes/4");
    let percent = |one: u64, other: u64| one as f64 * 100.0 / other as f64 - 100.0;
    for (name, text, o200k, cl100k) in SAMPLES {
        let estimate = of_text(text);
        let error = percent(estimate, o200k);
        let naive = percent(text.len() as u64 / 4, o200k);
        println!("{name:12} {o200k:6} {cl100k:6} {estimate:6} {error:+7.0}% {naive:+7.0}%");
        let script = matches!(name, "zh" | "ja" | "ko" | "ru" | "ar");
        assert!(error > -3.0, "{name}: too low by {error:.0} %");
        assert!(error < if script { 85.0 } else { 45.0 }, "{name}: too high by {error:.0} %");
    }
}

#[test]
fn nothing_takes_nothing() {
    assert_eq!(of_text(""), 0);
    assert_eq!(of_text("word"), 2);
}

fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|three| {
            let word = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            [18, 12, 6, 0].map(|shift| alphabet[(word >> shift & 63) as usize] as char)
        })
        .collect()
}

#[test]
fn pictures_count_by_their_size() {
    let picture = |data: String| {
        let source = ImageSource::Base64(data.into());
        of_content(&Content::Image(Image { media_type: "image/png".into(), source }))
    };
    assert_eq!(picture(png(750, 100)), 100);
    assert_eq!(picture(png(4000, 4000)), 1_600);
    assert_eq!(picture("/9j/4AAQ".into()), 1_600);
}

fn answer(text: &str, usage: Usage) -> Message {
    let origin = Origin { dialect: Dialect::Responses, provider: "p".into(), model: "m".into() };
    let mut answer = Assistant::empty(mica_ai::id::MessageId::fresh(), origin);
    answer.blocks.push(Block::Text(mica_ai::message::Text { text: text.into(), ..Default::default() }));
    answer.usage = usage;
    answer.stop = StopReason::Stop;
    answer.into()
}

#[test]
fn what_was_counted_is_not_estimated_again() {
    let usage = Usage { input: 5_000, output: 100, ..Usage::default() };
    let scale = Scale(100);
    let mut messages: Vec<Message> = vec![User::text("Begin.").into(), answer("Done.", usage)];
    let before = Digest::of("model and prefix");
    let anchor = Anchor::new(1, messages[1].id(), &usage, before).unwrap();
    messages.push(User::text("word").into());
    let now = |messages: &[Message], before| fill(&[], &[], messages, before, Some(&anchor), scale);
    assert_eq!(now(&messages, before), Fill { counted: 5_100, estimated: 2 + FRAME });
    // Another model or prompt, or another window, and the count says nothing any more.
    assert_eq!(now(&messages, Digest::of("another")).counted, 0);
    assert_eq!(now(&messages[1..], before).counted, 0);
    let uncounted = Anchor::new(1, messages[1].id(), &Usage::default(), before);
    assert_eq!(uncounted, None, "a provider that does not count");
}

#[test]
fn the_scale_is_learnt_within_reason() {
    let scale = Scale(133);
    assert_eq!(scale.learn(10_000, 12_000), Scale(120));
    assert_eq!(scale.learn(10_000, 900_000), Scale(250));
    assert_eq!(scale.learn(500, 5_000), scale, "too small to show anything");
    assert_eq!(Scale(120).apply(10), 12);
}

#[test]
fn failed_answers_take_nothing() {
    let Message::Assistant(mut failed) = answer("Half an ans", Usage::default()) else { panic!() };
    failed.stop = StopReason::Error;
    failed.blocks.push(Block::ToolCall(ToolCall {
        id: "c".into(),
        name: "read".into(),
        arguments: mica_ai::arguments::Arguments::from_text("{"),
    }));
    assert_eq!(of_message(&failed.into()), 0);
}

//! The recorded answers in `chat/fixtures`, as they are, cut and garbled.

use proptest::prelude::*;

use crate::dialect::fixtures::{check_folder, play};
use crate::message::Dialect;

const ANSWER: &[u8] = include_bytes!("../fixtures/text.sse");
const CALLS: &[u8] = include_bytes!("../fixtures/calls_interleaved.sse");

#[test]
fn recorded_answers_come_to_what_is_expected() {
    check_folder(Dialect::Chat, "src/dialect/chat/fixtures");
}

fn is_done(bytes: &[u8]) -> bool {
    play(Dialect::Chat, [bytes]).last().is_some_and(|last| last.starts_with(r#"{"type":"done""#))
}

/// Cut anywhere before the end of the chunk with the finish reason, an answer is not finished; anywhere after, it
/// is.
#[test]
fn an_answer_is_finished_exactly_when_its_reason_arrived() {
    for (answer, reason) in
        [(ANSWER, r#""finish_reason":"stop"}],"usage":null}"#), (CALLS, r#""finish_reason":"tool_calls"}]}"#)]
    {
        let text = std::str::from_utf8(answer).unwrap();
        let finished = text.find(reason).unwrap() + reason.len();
        for cut in 0..answer.len() {
            assert_eq!(is_done(&answer[..cut]), cut >= finished, "cut at {cut}");
        }
    }
}

proptest! {
    #[test]
    fn garbled_answers_are_read_the_same_in_any_pieces(
        calls: bool,
        garbled in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        piece in 1usize..40,
    ) {
        let mut bytes = if calls { CALLS.to_vec() } else { ANSWER.to_vec() };
        for (at, byte) in garbled {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(play(Dialect::Chat, [bytes.as_slice()]), play(Dialect::Chat, bytes.chunks(piece)));
    }
}

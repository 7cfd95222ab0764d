//! What every stream must hold, whatever the bytes are.

use std::sync::Arc;

use mica_ai::decode::Decoder;
use mica_ai::{Assistant, Block, Dialect, Model, Origin, Outcome, StreamEvent};

/// Decodes an answer whole and in pieces, and checks what must hold of any. The first byte chooses how large the
/// pieces are; the rest is the body of the response.
pub fn check_answer(dialect: Dialect, input: &[u8]) {
    let Some((&size, body)) = input.split_first() else {
        return;
    };
    let (events, outcome) = decode(dialect, [body]);
    let (in_pieces, in_pieces_outcome) = decode(dialect, body.chunks(usize::from(size).max(1)));
    assert_eq!(text(&events), text(&in_pieces), "in pieces, and whole");
    assert_eq!(format!("{outcome:?}"), format!("{in_pieces_outcome:?}"), "in pieces, and whole");
    check_order(&events, &outcome);
}

fn decode<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<StreamEvent>, Outcome) {
    let origin = Origin { dialect, provider: "fuzz".to_owned(), model: "fuzz".to_owned() };
    let mut decoder = Decoder::new(
        dialect,
        Assistant::empty("answer".into(), origin),
        Arc::new(Model::assumed("fuzz", dialect)),
    );
    let mut events = Vec::new();
    for piece in pieces {
        let ended = decoder.push(piece);
        events.append(decoder.events());
        if ended {
            break;
        }
    }
    let outcome = decoder.finish(None, &mut events);
    (events, outcome)
}

/// Blocks open once, in order, are fed only while they are open, and close at most once; a whole answer leaves none
/// open. A stream starts once, and first.
fn check_order(events: &[StreamEvent], outcome: &Outcome) {
    let message = outcome.message();
    let mut open: Vec<bool> = Vec::new();
    for (position, event) in events.iter().enumerate() {
        match event {
            StreamEvent::Start { .. } => assert_eq!(position, 0, "a stream starts once, and first"),
            StreamEvent::TextStart { block, .. }
            | StreamEvent::ThinkingStart { block }
            | StreamEvent::CallStart { block, .. } => {
                assert_eq!(*block, open.len(), "blocks open in order");
                open.push(true);
            }
            StreamEvent::Image { block, .. } => {
                assert_eq!(*block, open.len(), "blocks open in order");
                open.push(false);
            }
            StreamEvent::TextDelta { block, .. }
            | StreamEvent::ThinkingDelta { block, .. }
            | StreamEvent::CallDelta { block, .. } => assert!(open[*block], "only open blocks are fed"),
            StreamEvent::TextEnd { block }
            | StreamEvent::ThinkingEnd { block }
            | StreamEvent::CallEnd { block } => {
                assert!(open[*block], "a block closes once");
                open[*block] = false;
            }
            StreamEvent::Usage(_) => {}
            StreamEvent::Retry(_) | StreamEvent::Done { .. } | StreamEvent::Error { .. } => {
                panic!("a decoder does not tell {event:?}")
            }
        }
    }
    assert_eq!(open.len(), message.blocks.len(), "every block was told");
    if matches!(outcome, Outcome::Done(_)) {
        assert!(!open.contains(&true), "a whole answer leaves nothing open");
    }
    let mut ids: Vec<&str> = Vec::new();
    for block in &message.blocks {
        if let Block::ToolCall(call) = block {
            assert!(
                !call.id.as_str().is_empty() && !ids.contains(&call.id.as_str()),
                "calls can be told apart"
            );
            ids.push(call.id.as_str());
            let _ = call.arguments.parse();
        }
    }
}

fn text(events: &[StreamEvent]) -> String {
    events.iter().map(|event| format!("{event:?}\n")).collect()
}

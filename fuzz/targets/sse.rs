//! The SSE reader: how the bytes are cut into pieces makes no difference, and no event passes the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_ai::sse::{SseError, SseEvent, SseReader};

/// Small, so that the fuzzer reaches it.
const LIMIT: usize = 64;

// The first byte chooses how large the pieces are; the rest is the stream.
fuzz_target!(|input: &[u8]| {
    let Some((&size, stream)) = input.split_first() else {
        return;
    };
    let pieces = stream.chunks(usize::from(size).max(1));
    assert_eq!(read(pieces, SseReader::DEFAULT_LIMIT), read([stream], SseReader::DEFAULT_LIMIT));

    let (events, _) = read([stream], LIMIT);
    for event in events {
        assert!(event.data.len() <= LIMIT, "an event of {} bytes passed a limit of {LIMIT}", event.data.len());
    }
});

/// All events of a stream that arrives in these pieces, and what it ended with.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> (Vec<SseEvent>, Option<SseError>) {
    let mut reader = SseReader::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next_event() {
                Ok(Some(event)) => events.push(event.clone()),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}

//! The SSE reader: how the bytes are cut into pieces makes no difference, and no event passes the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_ai::sse::{SseError, SseEvent, SseReader};

/// Small, so that the fuzzer reaches it.
const SMALL: usize = 64;

// The first byte chooses how large the pieces are; the rest is the stream.
fuzz_target!(|input: &[u8]| {
    let Some((&size, stream)) = input.split_first() else {
        return;
    };
    for limit in [SMALL, SseReader::DEFAULT_LIMIT] {
        let pieces = stream.chunks(usize::from(size).max(1));
        let whole = read([stream], limit);
        assert_eq!(read(pieces, limit), whole, "in pieces, and whole");
        for event in whole.0 {
            let length = event.name.len() + event.data.len();
            assert!(length <= limit, "an event of {length} bytes passed a limit of {limit}");
        }
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

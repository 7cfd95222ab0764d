//! PDF documents and notebooks: whatever the bytes are, reading ends within its bounds and never panics.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mica_tools::{notebook, pdf};
use tokio_util::sync::CancellationToken;

fuzz_target!(|input: &[u8]| {
    let cancel = CancellationToken::new();
    let bounds = pdf::Bounds {
        stream: 1 << 20,
        unpacked: 4 << 20,
        objects: 10_000,
        steps: 200_000,
        text: 100_000,
        time: Duration::from_secs(5),
    };
    let mut budget = pdf::Budget::new(bounds, &cancel);
    if let Ok(pages) = pdf::read(input, 1, 100, &mut budget) {
        let text: usize = pages.pages.iter().map(|(_, text)| text.len()).sum();
        // One letter may be a few signs, and each page may end with one that is over the limit.
        assert!(text <= bounds.text + 300 * pages.pages.len(), "{text} bytes of text");
    }
    let _ = notebook::cells(input);
});

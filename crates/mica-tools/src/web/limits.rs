//! How much is taken from the web, and for how long.

use std::time::Duration;

/// Limits of the tools on the web. What is beyond is left out or refused, and the result says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebLimits {
    /// Bytes that are downloaded of one answer.
    pub downloaded: usize,
    /// Bytes of it once it is unpacked.
    pub unpacked: usize,
    /// From the first name that is looked up to the last byte.
    pub deadline: Duration,
    /// Redirects that are followed.
    pub redirects: usize,
    /// Bytes of one page of a result.
    pub page: usize,
    /// Bytes of an answer that is an error.
    pub error: usize,
    /// How long a text is kept for its next page.
    pub kept_for: Duration,
    /// Texts that are kept.
    pub kept: usize,
    /// Bytes of all texts that are kept.
    pub kept_bytes: usize,
    /// Results of one search at most.
    pub hits: usize,
    /// Bytes of what a result of a search says about a page.
    pub snippet: usize,
}

impl Default for WebLimits {
    /// 5 MiB hold the longest pages that people read, and gzip makes at most twice that of it here. Half a minute is what
    /// slow servers take. A page of 24 kB is 6,000 tokens, and stays below what is spilled to a file. A quarter of an hour
    /// is enough to read on, and too short to be misled by an old text.
    fn default() -> Self {
        Self {
            downloaded: 5 << 20,
            unpacked: 10 << 20,
            deadline: Duration::from_secs(30),
            redirects: 5,
            page: 24_000,
            error: 2_000,
            kept_for: Duration::from_secs(15 * 60),
            kept: 12,
            kept_bytes: 24 << 20,
            hits: 20,
            snippet: 600,
        }
    }
}

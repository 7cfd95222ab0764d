//! How much the tools take in and give out.

/// Limits of the tools of one workspace. What is beyond a limit is left out, and the result says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that is read, edited or searched line by line.
    pub file_bytes: u64,
    /// Bytes of an image that is shown to a model.
    pub image_bytes: u64,
    /// Lines of one read.
    pub read_lines: usize,
    /// Bytes of one read.
    pub read_bytes: usize,
    /// Bytes of one line, in reads.
    pub line_bytes: usize,
    /// Bytes of one line, in search results.
    pub match_bytes: usize,
    /// Matching lines of one search, unless the call says otherwise.
    pub matches: usize,
    /// Names in one list, unless the call says otherwise.
    pub names: usize,
    /// Bytes of all search results of one call.
    pub search_bytes: usize,
    /// Bytes of a diff that is kept with a result.
    pub diff_bytes: usize,
}

impl Default for Limits {
    /// A read of 2,000 lines or 50 kB is what coding agents settled on: a whole source file, and a small part of a
    /// window. An image below 3.75 MB stays below the 5 MB that providers take, once it is base64.
    fn default() -> Self {
        Self {
            file_bytes: 32 << 20,
            image_bytes: 3_750_000,
            read_lines: 2_000,
            read_bytes: 50_000,
            line_bytes: 2_000,
            match_bytes: 500,
            matches: 100,
            names: 200,
            search_bytes: 50_000,
            diff_bytes: 32_000,
        }
    }
}

//! Lines of Markdown with what stands before them: quotes, and the indentation of lists.

/// Quotes and lists inside of each other. What is deeper is written at this depth.
const LEVELS: usize = 12;

/// What comes between two blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// The end of the line.
    Line,
    /// An empty line.
    Blank,
}

#[derive(Debug)]
struct Level {
    /// Before the first line, until it is written.
    first: Option<String>,
    /// Before the others.
    rest: String,
}

/// Writes blocks, up to a limit.
#[derive(Debug)]
pub(super) struct Writer {
    out: String,
    levels: Vec<Level>,
    /// Levels that were too many.
    beyond: usize,
    gap: Gap,
    limit: usize,
}

impl Writer {
    pub(super) fn new(limit: usize) -> Self {
        Self { out: String::new(), levels: Vec::new(), beyond: 0, gap: Gap::Line, limit }
    }

    /// Whether nothing more is written.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= self.limit
    }

    /// Begins a quote or an item: what follows stands behind `first`, and behind `rest` from the second line on.
    pub(super) fn enter(&mut self, first: &str, rest: &str) {
        if self.levels.len() >= LEVELS {
            self.beyond += 1;
        } else {
            self.levels.push(Level { first: Some(first.to_owned()), rest: rest.to_owned() });
        }
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.levels.pop();
        }
    }

    /// Says that what comes next follows more closely than a paragraph does.
    pub(super) fn closely(&mut self) {
        self.gap = Gap::Line;
    }

    /// Whether the next line is the first of an item.
    pub(super) fn begins_item(&self) -> bool {
        self.levels.last().is_some_and(|level| level.first.is_some())
    }

    /// Writes a block of lines.
    pub(super) fn block(&mut self, text: &str) {
        for line in text.lines() {
            if self.is_full() {
                return;
            }
            self.line(line);
            self.gap = Gap::Line;
        }
        self.gap = Gap::Blank;
    }

    fn line(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let written = self.levels.iter().take_while(|level| level.first.is_none());
                let prefix: String = written.map(|level| level.rest.as_str()).collect();
                self.out.push_str(prefix.trim_end());
                self.out.push('\n');
            }
        }
        let mut prefix = String::new();
        for level in &mut self.levels {
            match level.first.take() {
                Some(first) => prefix.push_str(&first),
                None => prefix.push_str(&level.rest),
            }
        }
        let text = text.trim_end();
        self.out.push_str(if text.is_empty() { prefix.trim_end() } else { &prefix });
        self.out.push_str(text);
    }

    /// What was written.
    pub(super) fn finish(mut self) -> String {
        self.out.truncate(self.out.floor_char_boundary(self.limit));
        self.out
    }
}

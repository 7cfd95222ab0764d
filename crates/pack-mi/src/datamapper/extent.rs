//! How much of a schema is read: types that use others twice, and those twice again, would never end.

use std::cell::Cell;

/// Parts of one schema at most.
const PARTS: usize = 20_000;

/// Parts within parts at most. Those who work on a shape go through it by calling themselves.
const DEEPEST: usize = 100;

/// Counts what is read.
#[derive(Debug, Default)]
pub(super) struct Extent {
    parts: Cell<usize>,
    depth: Cell<usize>,
}

/// One part, while it is read.
pub(super) struct Within<'a>(&'a Extent);

impl Extent {
    /// Goes into a part. `Err` says why not.
    pub(super) fn enter(&self) -> Result<Within<'_>, String> {
        self.parts.set(self.parts.get() + 1);
        if self.parts.get() > PARTS {
            return Err(format!("it has more than {PARTS} parts, counted each time they are used"));
        }
        if self.depth.get() >= DEEPEST {
            return Err(format!("its parts are nested more than {DEEPEST} times"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(Within(self))
    }
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get() - 1);
    }
}

//! Rings, chains and other shapes of projects: what is found in them, and how often sequences are looked into.

use std::cell::Cell;

thread_local! {
    /// How many trees were made to look into sequences, on this thread.
    pub(super) static TREES: Cell<usize> = const { Cell::new(0) };
}

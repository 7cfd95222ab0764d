//! Flows that would be too long for a page.

//! Findings on plain expressions.

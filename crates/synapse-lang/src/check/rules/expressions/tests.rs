//! Expressions in documents.

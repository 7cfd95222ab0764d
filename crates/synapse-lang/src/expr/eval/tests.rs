//! Expressions and what they give.

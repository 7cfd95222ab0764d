//! Recording and playing.

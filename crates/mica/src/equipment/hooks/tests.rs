//! Which hooks count.

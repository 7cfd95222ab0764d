//! Cases that pages would be too long for.

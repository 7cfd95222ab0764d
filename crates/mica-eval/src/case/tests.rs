//! Reading cases.

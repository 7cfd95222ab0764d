//! Proposals that several processes look at.

//! Approvals that are there again.

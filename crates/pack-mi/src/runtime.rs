//! Builds, tests and the server: what runs a project, and what its output means.

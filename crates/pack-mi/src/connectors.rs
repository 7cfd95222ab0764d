//! Connectors: which there are, what they can do, and how a project gets them.

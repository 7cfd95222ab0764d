//! Extensions: files that people drop into a folder, and that change what the agent does.

pub mod found;

//! Commands that run no agent.

pub mod check;
pub mod config;
pub mod desk;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod expr;
pub mod ext;
pub mod fix;
pub mod format;
pub mod graph;
pub mod hooks;
pub mod knowledge;
pub mod language;
pub mod lsp;
pub mod mcp;
pub mod memory;
pub mod models;
pub mod new;
pub mod outline;
pub mod rules;
pub mod sandbox;
pub mod sessions;
pub mod skills;
pub mod trust;
pub mod undo;

//! Commands that run no agent.

pub mod config;
pub mod doctor;
pub mod models;
pub mod rules;
pub mod sessions;
pub mod trust;

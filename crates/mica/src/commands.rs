//! Commands that run no agent.

pub mod config;
pub mod doctor;
pub mod models;
pub mod sandbox;
pub mod sessions;
pub mod trust;

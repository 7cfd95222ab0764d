//! Addresses, settings, variables and choices, as tables.

mod addresses;
mod choices;
mod configuration;

//! The domain of WSO2 Micro Integrator: an agent that knows Synapse, and checks what it writes.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.

pub mod connectors;
pub mod datamapper;
pub mod knowledge;
pub mod runtime;
pub mod second_opinion;

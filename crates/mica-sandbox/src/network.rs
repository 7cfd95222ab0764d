//! The network grant: a list of hosts, and a proxy that reaches those and no others.

mod address;
mod host;
mod proxy;

pub use address::is_public;
pub use host::Host;
pub use proxy::{Asked, Refusal};
pub(crate) use proxy::{Log, Proxy};

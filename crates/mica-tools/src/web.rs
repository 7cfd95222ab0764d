//! Tools on the web: reading a page, and finding some.
//!
//! Both only look, and both leave the machine, so a person is asked first, or a rule that names the host. What comes back
//! are the words of strangers and is fenced as such.
//!
//! Invariants: nothing on a private network is reached unless the settings name its host; the address that was judged is the
//! one that is connected to; a redirect to another host is a result, and never followed; every answer has a limit, in bytes
//! downloaded, in bytes unpacked and in time. No client is made before it is needed.

pub mod address;
mod charset;
pub mod error;
mod fence;
pub mod fetch;
pub mod html;
mod http;
pub mod limits;
mod media;
mod pages;
pub mod proxies;
pub mod reach;
pub mod request;
pub mod search;
#[cfg(test)]
mod testing;

pub use address::Address;
pub use error::WebError;
pub use fetch::WebFetch;
pub use http::Web;
pub use limits::WebLimits;
pub use pages::Clock;
pub use proxies::Proxies;
pub use reach::{Resolver, SystemResolver};
pub use request::{WebAnswer, WebRequest};
pub use search::{Hit, Query, SearchProvider, Service, ServiceKind, WebSearch};

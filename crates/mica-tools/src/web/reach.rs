//! Which machines may be connected to: those on the public internet, and private ones that were named.
//!
//! Invariant: an address is connected to only after it was judged, and what is connected to is what was judged. A name is
//! looked up once for each request.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use mica_sandbox::Host;
use mica_sandbox::network::is_public;

use super::address::Address;
use super::error::WebError;

/// Addresses of one name that are tried. Names have a handful.
const MOST: usize = 16;

/// Finds the addresses of a name.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// The addresses of a host.
    ///
    /// # Errors
    /// What the system says when there are none.
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The system's own way to look up names.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// Judges where addresses lead.
#[derive(Clone)]
pub(super) struct Reach {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) private: Arc<[Host]>,
}

impl Reach {
    /// The addresses that a page is at, all of which may be connected to.
    pub(super) async fn addresses(&self, page: &Address) -> Result<Vec<SocketAddr>, WebError> {
        let host = page.host();
        let found = match page.machine() {
            Some(machine) => vec![SocketAddr::new(machine, page.port())],
            None => {
                let unknown = |reason: String| WebError::Unknown { host: host.to_owned(), reason };
                let found = self.resolver.lookup(host, page.port()).await;
                let found = found.map_err(|error| unknown(error.to_string()))?;
                if found.is_empty() {
                    return Err(unknown("it has no address".to_owned()));
                }
                found
            }
        };
        self.judge(page, &found)?;
        // The port is the one that was judged, whatever a resolver says.
        Ok(found.iter().take(MOST).map(|found| SocketAddr::new(found.ip(), page.port())).collect())
    }

    /// Refuses a host when one of its addresses is private: a public one beside it is a trick, or looks like one.
    fn judge(&self, page: &Address, found: &[SocketAddr]) -> Result<(), WebError> {
        let named = self.private.iter().any(|host| host.matches(page.host(), page.port()));
        let refused = found.iter().map(SocketAddr::ip).find(|address| {
            let literal = page.machine() == Some(*address);
            !is_public(*address) && !(named && (literal || !is_never_named(*address)))
        });
        match refused {
            None => Ok(()),
            Some(address) => Err(WebError::Private { host: page.host().to_owned(), address }),
        }
    }

    /// Whether an address can be refused before anything is asked: it is written as a number, and private.
    pub(super) fn refuses_at_sight(&self, page: &Address) -> Result<(), WebError> {
        match page.machine() {
            Some(machine) => self.judge(page, &[SocketAddr::new(machine, page.port())]),
            None => Ok(()),
        }
    }
}

/// Addresses to which no name has reason to lead, also not one that may be private: the services that clouds answer
/// machines with, and addresses that are no single machine. Who wants them lists them by number.
fn is_never_named(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
                || address.is_unspecified()
                || address == Ipv4Addr::new(168, 63, 129, 16)
                || address == Ipv4Addr::new(100, 100, 100, 200)
        }
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(inner) => is_never_named(inner.into()),
            None => {
                address.is_unicast_link_local()
                    || address.is_multicast()
                    || address.is_unspecified()
                    || address.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]
            }
        },
    }
}

#[cfg(test)]
mod tests;

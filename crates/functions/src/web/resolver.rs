//! Names to addresses, and the guard between them.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;

/// The addresses of a name, later.
pub(super) type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Finds the addresses of a name. Tests answer with addresses of their own.
pub(super) trait Lookup: Send + Sync {
    fn lookup(&self, name: String) -> Looking;
}

/// The resolver of the operating system.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: String) -> Looking {
        Box::pin(async move {
            // The port is needed by the call and means nothing to the answer.
            let addresses = tokio::net::lookup_host((name, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// Refuses names that have an address that is not public, and names that have none.
///
/// The client connects to exactly the addresses that this returns, so a name cannot change its address between the
/// check and the connection. Literal addresses never come here; the client checks them in the URL.
pub(super) struct Guard {
    pub(super) lookup: Arc<dyn Lookup>,
}

/// The host is not on the public internet: it has an address that is not public, or none at all.
///
/// The two are one error, because whoever could tell them apart could find out which names an internal network has.
#[derive(Debug)]
pub(super) struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host is not on the public internet")
    }
}

impl Error for NotPublic {}

impl NotPublic {
    /// Whether this is why a request failed.
    pub(super) fn is_cause_of(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = self.lookup.lookup(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = looking.await.map_err(|_| NotPublic)?;
            // One bad address is enough: which of them a connection takes is up to whoever answers for the name.
            if addresses.is_empty() || !addresses.iter().copied().all(is_public) {
                return Err(NotPublic.into());
            }
            Ok(sockets(addresses))
        })
    }
}

/// Takes names as they are, for hosts that the configuration allows.
pub(super) struct Open {
    pub(super) lookup: Arc<dyn Lookup>,
}

impl Resolve for Open {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = self.lookup.lookup(name.as_str().to_owned());
        Box::pin(async move { Ok(sockets(looking.await?)) })
    }
}

/// With port 0, which the client replaces by that of the URL.
fn sockets(addresses: Vec<IpAddr>) -> Addrs {
    Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)))
}

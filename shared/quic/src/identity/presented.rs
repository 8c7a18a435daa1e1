//! The certificate that handshakes present, which can be replaced while a server runs.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// A certificate with its chain and key.
#[derive(Debug)]
pub(super) struct Presented(RwLock<Arc<CertifiedKey>>);

impl Presented {
    pub(super) fn new(certified: CertifiedKey) -> Arc<Self> {
        Arc::new(Self(RwLock::new(Arc::new(certified))))
    }

    pub(super) fn get(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Presents another one's from now on.
    pub(super) fn replace(&self, other: &Self) {
        let other = other.get();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = other;
    }
}

impl ResolvesServerCert for Presented {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.get())
    }
}

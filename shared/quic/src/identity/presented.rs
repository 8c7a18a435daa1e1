//! The certificate that handshakes present, which can be replaced while a server runs, and the
//! certificates for browsers.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use phaselock::fingerprint::Fingerprint;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::rotation::{Rotation, is_self_signed};
use crate::clock::Clock;
use crate::web::ALPN;

/// Source of the date, as Unix time in seconds.
type Date = Box<dyn Fn() -> i64 + Send + Sync>;

/// A certificate with its chain and key.
pub(super) struct Presented {
    certified: RwLock<Arc<CertifiedKey>>,
    /// Certificates for browsers, created when one is first needed.
    rotation: Mutex<Option<Rotation>>,
    /// The date by which they are created and renewed; by default from the system clock.
    date: OnceLock<Date>,
}

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presented").field("certified", &self.certified).finish_non_exhaustive()
    }
}

impl Presented {
    pub(super) fn new(certified: CertifiedKey) -> Arc<Self> {
        let certified = RwLock::new(Arc::new(certified));
        Arc::new(Self { certified, rotation: Mutex::default(), date: OnceLock::new() })
    }

    pub(super) fn date_by(&self, date: Date) {
        // Only the first call counts.
        let _ = self.date.set(date);
    }

    pub(super) fn get(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.certified.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Presents another certificate from now on.
    pub(super) fn replace(&self, other: &Self) {
        let other = other.get();
        *self.certified.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    /// Returns the certificate for a browser.
    fn for_browser(&self) -> Option<Arc<CertifiedKey>> {
        match self.rotate() {
            Some(rotation) => rotation.as_ref().map(Rotation::certified),
            None => Some(self.get()),
        }
    }

    /// Returns the digests by which browsers may know the server, the one in force first; none if
    /// an authority signed the certificate.
    pub(super) fn hashes(&self) -> Vec<Fingerprint> {
        let rotation = self.rotate();
        rotation.iter().filter_map(|it| it.as_ref()).flat_map(Rotation::hashes).collect()
    }

    /// Returns the digests by which a browser may have known the server recently.
    pub(super) fn known(&self) -> Vec<Fingerprint> {
        let rotation = self.rotate();
        rotation.iter().filter_map(|it| it.as_ref()).flat_map(Rotation::known).collect()
    }

    /// Returns the certificates that are created and renewed here; `None` if an authority's is
    /// presented. Empty if none could be created.
    fn rotate(&self) -> Option<MutexGuard<'_, Option<Rotation>>> {
        if !self.get().end_entity_cert().is_ok_and(is_self_signed) {
            return None;
        }
        let mut rotation = self.rotation.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.date.get().map_or_else(|| Clock::unix_millis() / 1000, |date| date());
        let renewed = match &mut *rotation {
            Some(rotation) => rotation.advance(now),
            none => Rotation::begin(now).map(|begun| *none = Some(begun)),
        };
        if let Err(error) = renewed {
            tracing::error!(
                name: "page_certificate_failed",
                %error,
                "cannot make a certificate for browsers"
            );
        }
        Some(rotation)
    }
}

impl ResolvesServerCert for Presented {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let is_browser = hello.alpn().is_some_and(|mut names| names.all(|name| name == ALPN));
        if is_browser { self.for_browser() } else { Some(self.get()) }
    }
}

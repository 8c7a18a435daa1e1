//! Certificates for browsers that are created and renewed here.
//!
//! A browser accepts a server whose certificate no authority has signed only by a digest that the
//! page provides, and only if the certificate uses ECDSA on P-256 and is valid for at most two
//! weeks (W3C WebTransport, custom certificate requirements). So they are created here, stored
//! nowhere, and renewed. The next one's digest is published from the day on which the one before it
//! comes into force, so that a page opened days ago still knows the server.

use std::sync::Arc;
use std::time::Duration;

use phaselock::fingerprint::Fingerprint;
use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

use super::crypto::{fingerprint_of, provider};
use super::error::IdentityError;

const DAY: i64 = 24 * 3600;
/// How long before its creation a certificate becomes valid, for browsers whose clocks are slow, in
/// seconds.
const BEFORE: i64 = DAY;
/// How long after its creation it is valid, in seconds; together with the time before, less than
/// the two weeks that browsers allow.
const VALID: i64 = 12 * DAY;
/// How long one is in force, in seconds. It is published for as long before, and valid for as long
/// after.
const TURN: i64 = 4 * DAY;

/// A certificate that is valid for a few days.
#[derive(Debug)]
struct Short {
    certified: Arc<CertifiedKey>,
    hash: Fingerprint,
    /// Unix time of its creation in seconds.
    made: i64,
}

impl Short {
    fn make(now: i64) -> Result<Self, IdentityError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::new(["phaselock".to_owned(), "localhost".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "phaselock");
        let at = |secs: i64| {
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(secs.max(0).unsigned_abs())
        };
        (params.not_before, params.not_after) = (at(now - BEFORE), at(now + VALID));
        let der = params.self_signed(&key)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let signing = provider().key_provider.load_private_key(key)?;
        let hash = fingerprint_of(&der);
        Ok(Self { certified: Arc::new(CertifiedKey::new(vec![der], signing)), hash, made: now })
    }
}

/// The certificate in force, and the next one.
#[derive(Debug)]
pub(super) struct Rotation {
    current: Short,
    next: Short,
    last: Option<Fingerprint>,
    /// Unix time in seconds from which the current one is in force.
    turned: i64,
}

impl Rotation {
    /// Creates the first two, at a Unix time in seconds.
    pub(super) fn begin(now: i64) -> Result<Self, IdentityError> {
        Ok(Self { current: Short::make(now)?, next: Short::make(now)?, last: None, turned: now })
    }

    /// Puts the next one into force if it is time. If the date has moved so far that browsers would
    /// refuse the next one, both are replaced. On an error nothing changes.
    pub(super) fn advance(&mut self, now: i64) -> Result<(), IdentityError> {
        // If the date moved back by less, the certificates are still valid.
        if (-BEFORE..TURN).contains(&(now - self.turned)) {
            return Ok(());
        }
        let next = Short::make(now)?;
        let is_fresh = (-BEFORE..2 * TURN).contains(&(now - self.next.made));
        let current = if is_fresh { None } else { Some(Short::make(now)?) };
        (self.last, self.turned) = (Some(self.current.hash), now);
        self.current = match current {
            None => std::mem::replace(&mut self.next, next),
            Some(current) => {
                self.next = next;
                current
            }
        };
        Ok(())
    }

    pub(super) fn certified(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.certified)
    }

    pub(super) fn hashes(&self) -> impl Iterator<Item = Fingerprint> + use<> {
        [self.current.hash, self.next.hash].into_iter()
    }

    pub(super) fn known(&self) -> impl Iterator<Item = Fingerprint> + use<> {
        self.hashes().chain(self.last)
    }
}

/// Whether a certificate is its own issuer's, so that no authority has signed it.
pub(super) fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    // An unreadable certificate would not work for browsers either.
    EndEntityCert::try_from(certificate).map_or(true, |it| it.issuer() == it.subject())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_certificate_is_told_days_before_and_valid_days_after() {
        let start = 1_800_000_000;
        let mut rotation = Rotation::begin(start).expect("two certificates");
        let mut told: Vec<(i64, Fingerprint)> = Vec::new();
        for hour in 0..24 * 60 {
            let now = start + hour * 3600;
            rotation.advance(now).expect("a certificate");
            let in_force = &rotation.current;
            assert!((now - in_force.made) < VALID - TURN + 3600, "valid for days to come");
            for hash in rotation.hashes() {
                if told.iter().all(|(_, it)| *it != hash) {
                    told.push((now, hash));
                }
            }
            let since = told.iter().find(|(_, hash)| *hash == in_force.hash).expect("told").0;
            assert!(hour < 24 * 4 || now - since >= TURN, "known to pages of days ago, {hour}");
            let before = rotation.known().last().expect("one");
            assert!(hour < 24 * 4 || told.iter().any(|(_, hash)| *hash == before));
        }
        assert_eq!(told.len(), 2 + 14, "two at first, and one each four days");
    }

    #[test]
    fn a_clock_that_jumps_makes_new_certificates() {
        let start = 1_800_000_000;
        for now in [start + 90 * DAY, start - 90 * DAY] {
            let mut rotation = Rotation::begin(start).expect("two certificates");
            let before: Vec<_> = rotation.hashes().collect();
            rotation.advance(now).expect("a certificate");
            assert_eq!(rotation.current.made, now);
            assert!(rotation.hashes().all(|hash| !before.contains(&hash)));
        }
    }
}

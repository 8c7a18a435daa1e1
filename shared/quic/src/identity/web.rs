//! The certificates by which browsers know a server: an authority's, or else short-lived ones that
//! `rotation.rs` creates and renews.

use std::sync::Arc;

use phaselock::fingerprint::Fingerprint;
use rustls::pki_types::ServerName;
use webpki::EndEntityCert;

use super::Identity;
use super::presented::Presented;
use super::rotation::is_self_signed;
use crate::web::{Challenge, Shown, binding, without_port};

/// Certificates by which browsers know a server. Clones share them.
#[derive(Clone, Debug)]
pub struct WebCertificates(Arc<Presented>);

impl WebCertificates {
    /// Returns SHA-256 digests for a browser's `serverCertificateHashes`, the one in force first.
    /// Empty if an authority has signed the server's certificate, which is then presented to
    /// browsers too.
    pub fn hashes(&self) -> Vec<Fingerprint> {
        self.0.hashes()
    }

    /// Returns the first host in the server's certificate that is not a pattern, if an authority
    /// has signed it.
    pub fn host(&self) -> Option<String> {
        let certified = self.0.get();
        let certificate = certified.end_entity_cert().ok()?;
        if is_self_signed(certificate) {
            return None;
        }
        let parsed = EndEntityCert::try_from(certificate).ok()?;
        let mut names = parsed.valid_dns_names();
        names.find(|name| !name.starts_with('*')).map(str::to_owned)
    }

    /// Returns all values that a proof may be bound to, for a browser that requested the server by
    /// `authority`.
    pub(crate) fn bindings(&self, challenge: &Challenge, authority: &str) -> Vec<[u8; 32]> {
        let known = self.0.known();
        let mut shown: Vec<_> = known.into_iter().map(Shown::Hash).collect();
        if self.is_valid_for(authority) {
            shown.push(Shown::Host(authority));
        }
        shown.iter().map(|shown| binding(challenge, shown)).collect()
    }

    /// Whether the certificate is an authority's and valid for this host.
    fn is_valid_for(&self, authority: &str) -> bool {
        let certified = self.0.get();
        let host = without_port(authority).trim_matches(['[', ']']);
        let Ok(certificate) = certified.end_entity_cert() else { return false };
        let (Ok(name), Ok(parsed)) =
            (ServerName::try_from(host), EndEntityCert::try_from(certificate))
        else {
            return false;
        };
        !is_self_signed(certificate) && parsed.verify_is_valid_for_subject_name(&name).is_ok()
    }
}

impl Identity {
    /// Takes the date, as Unix time in seconds, from `date` instead of the system clock, so that a
    /// clock that jumps does not renew the certificates for browsers. Only the first call counts.
    pub fn date_by(&self, date: impl Fn() -> i64 + Send + Sync + 'static) {
        self.presented.date_by(Box::new(date));
    }

    /// Returns the certificates by which browsers know servers with this identity.
    pub fn web(&self) -> WebCertificates {
        WebCertificates(Arc::clone(&self.presented))
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    #[test]
    fn own_certificates_are_told_and_an_authoritys_is_not() {
        let own = Identity::ephemeral().expect("an identity");
        let web = own.web();
        let hashes = web.hashes();
        assert_eq!((hashes.len(), web.host()), (2, None));
        assert_eq!(web.hashes(), hashes, "they stay");
        assert!(!hashes.contains(&own.fingerprint), "it is valid for too long");
        let challenge = [1; 32];
        assert_eq!(web.bindings(&challenge, "localhost:4433").len(), 2, "no host proves it");

        own.present(&of_authority("game.example.org"));
        assert!(web.hashes().is_empty());
        assert_eq!(web.host().as_deref(), Some("game.example.org"));
        let bindings = web.bindings(&challenge, "game.example.org:4433");
        assert_eq!(bindings, [binding(&challenge, &Shown::Host("game.example.org:4433"))]);
        assert!(web.bindings(&challenge, "evil.example").is_empty());
    }

    /// Creates an identity signed by an authority.
    fn of_authority(host: &str) -> Identity {
        let folder = tempfile::tempdir().expect("a folder");
        let (authority, key) = (KeyPair::generate(), KeyPair::generate());
        let (authority, key) = (authority.expect("a key"), key.expect("a key"));
        let mut params = CertificateParams::new(Vec::new()).expect("good");
        params.distinguished_name.push(DnType::CommonName, "an authority");
        let issuer = rcgen::Issuer::new(params, authority);
        let params = CertificateParams::new([host.to_owned()]).expect("good");
        let certificate = params.signed_by(&key, &issuer).expect("signed");
        let paths = Identity::paths_in(folder.path());
        std::fs::write(&paths.0, certificate.pem()).expect("written");
        std::fs::write(&paths.1, key.serialize_pem()).expect("written");
        Identity::load(&paths.0, &paths.1).expect("an identity")
    }
}

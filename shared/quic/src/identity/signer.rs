//! Signs announcements with a server's key, and verifies them.

use std::sync::Arc;

use phaselock::fingerprint::Fingerprint;
use phaselock::limits::{ANNOUNCED_CERTIFICATE_BYTES_MAX, ANNOUNCED_SIGNATURE_BYTES_MAX};
use phaselock::wire::directory::{
    AnnouncementProof, ProofPurpose, SignedFacts, Token, signed_text,
};
use rustls::SignatureScheme;
use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use super::crypto::{fingerprint_of, provider};
use super::presented::Presented;

/// The certificate that a server currently presents, and its key for signing.
#[derive(Clone, Debug)]
pub struct Signer(Arc<Presented>);

/// Why a server's certificate cannot be announced.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    #[error(
        "the certificate has {0} bytes, but an announcement can hold only \
         {ANNOUNCED_CERTIFICATE_BYTES_MAX}; use the certificate that the server creates itself"
    )]
    Long(usize),
    #[error(
        "the certificate's key cannot sign an announcement; use the certificate that the server \
         creates itself"
    )]
    Key,
}

impl Signer {
    pub(super) fn new(presented: Arc<Presented>) -> Self {
        Self(presented)
    }

    /// Returns the fingerprint of the certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.get().cert.first().map_or(Fingerprint([0; 32]), fingerprint_of)
    }

    /// Creates the proof for a directory of this name (`host:port`) that gave this token to the
    /// server at this port.
    pub fn prove(
        &self,
        purpose: ProofPurpose,
        directory: &str,
        token: Token,
        port: u16,
    ) -> Result<AnnouncementProof, SignError> {
        let certified = self.0.get();
        let certificate = certified.cert.first().ok_or(SignError::Key)?;
        if certificate.len() > ANNOUNCED_CERTIFICATE_BYTES_MAX {
            return Err(SignError::Long(certificate.len()));
        }
        let schemes = provider().signature_verification_algorithms.supported_schemes();
        let signer = certified.key.choose_scheme(&schemes).ok_or(SignError::Key)?;
        let text = signed_text(SignedFacts {
            purpose,
            directory,
            token: &token,
            port,
            certificate: fingerprint_of(certificate),
        });
        let signature = signer.sign(&text).map_err(|_| SignError::Key)?;
        if signature.len() > ANNOUNCED_SIGNATURE_BYTES_MAX {
            return Err(SignError::Key);
        }
        let scheme = u16::from(signer.scheme());
        let (certificate, directory) = (certificate.to_vec(), directory.to_owned());
        Ok(AnnouncementProof { token, certificate, scheme, signature, directory })
    }
}

/// Returns what the server that made this proof has signed, if the proof is valid.
pub fn facts_of(purpose: ProofPurpose, proof: &AnnouncementProof, port: u16) -> SignedFacts<'_> {
    let certificate = fingerprint_of(&CertificateDer::from(&*proof.certificate));
    let (directory, token) = (&*proof.directory, &proof.token);
    SignedFacts { purpose, directory, token, port, certificate }
}

/// Returns the fingerprint of the certificate whose key signed this token and port for a purpose
/// and for the directory that the proof names; `None` if the proof is invalid.
pub fn verified(
    purpose: ProofPurpose,
    proof: &AnnouncementProof,
    port: u16,
) -> Option<Fingerprint> {
    let der = CertificateDer::from(&*proof.certificate);
    let certificate = EndEntityCert::try_from(&der).ok()?;
    let scheme = SignatureScheme::from(proof.scheme);
    let facts = facts_of(purpose, proof, port);
    let (fingerprint, text) = (facts.certificate, signed_text(facts));
    let supported = provider().signature_verification_algorithms.mapping;
    let (_, algorithms) = supported.iter().find(|(it, _)| *it == scheme)?;
    let is_valid = algorithms
        .iter()
        .any(|it| certificate.verify_signature(*it, &text, &proof.signature).is_ok());
    is_valid.then_some(fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    const LIST: ProofPurpose = ProofPurpose::Announcement;
    const PLACES: ProofPurpose = ProofPurpose::Places(None);
    const HOST: &str = "directory.example.org:4435";

    /// Whose proof it is, for a server that wants to be listed.
    fn listed(proof: &AnnouncementProof, port: u16) -> Option<Fingerprint> {
        verified(LIST, proof, port)
    }

    #[test]
    fn signature_holds_for_one_token_one_port_and_one_certificate() {
        let [one, two] = [0; 2].map(|_| Identity::ephemeral().expect("an identity"));
        let proof = one.signer().prove(LIST, HOST, [7; 24], 4433).expect("a proof");
        assert_eq!(one.signer().fingerprint(), one.fingerprint);
        assert_eq!(listed(&proof, 4433), Some(one.fingerprint));
        assert_eq!(listed(&proof, 4434), None, "another port");
        assert_eq!(verified(PLACES, &proof, 4433), None, "another purpose");
        let own = ProofPurpose::Places(Some(([203, 0, 113, 7], 7001).into()));
        let places = one.signer().prove(own, HOST, [7; 24], 4433).expect("a proof");
        assert_eq!(verified(own, &places, 4433), Some(one.fingerprint));
        assert_eq!(verified(PLACES, &places, 4433), None, "another address");
        assert_eq!(listed(&places, 4433), None, "another purpose");
        for directory in ["evil.example.org:4435", ""] {
            let relayed = AnnouncementProof { directory: directory.into(), ..proof.clone() };
            assert_eq!(listed(&relayed, 4433), None, "another directory");
            let relayed = AnnouncementProof { directory: directory.into(), ..places.clone() };
            assert_eq!(verified(own, &relayed, 4433), None, "another directory");
        }
        let replayed = AnnouncementProof { token: [8; 24], ..proof.clone() };
        assert_eq!(listed(&replayed, 4433), None, "another token");
        let stolen = AnnouncementProof { certificate: two.certificate.to_vec(), ..proof.clone() };
        assert_eq!(listed(&stolen, 4433), None, "another's certificate");
        for scheme in [0, 0x0401, 0x0807, u16::MAX] {
            assert_eq!(
                listed(&AnnouncementProof { scheme, ..proof.clone() }, 4433),
                None,
                "{scheme:#x}"
            );
        }
        for certificate in [vec![], vec![0x30; 9], proof.certificate[..99].to_vec()] {
            assert_eq!(listed(&AnnouncementProof { certificate, ..proof.clone() }, 4433), None);
        }
        one.present(&two);
        assert_eq!(one.signer().fingerprint(), two.fingerprint, "the one that is presented");
        let proof = one.signer().prove(LIST, HOST, [7; 24], 4433).expect("a proof");
        assert_eq!(listed(&proof, 4433), Some(two.fingerprint));
    }
}

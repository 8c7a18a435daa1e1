//! The identity of servers in tests that repeat to the byte.

use phaselock_quic::identity::Identity;
use rcgen::{CertificateParams, KeyPair, SerialNumber};

/// An identity that is the same each time, with signatures of one length (RFC 8032): others' differ
/// by bytes, which is enough for another course of a session on a narrow path. Fails if the system
/// takes no files.
pub fn same_identity() -> anyhow::Result<Identity> {
    // An Ed25519 key of zeros (RFC 8410, 7).
    let mut key = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    key.extend([0; 32]);
    let key = KeyPair::try_from(key)?;
    let mut certificate = CertificateParams::new(["phaselock".to_owned()])?;
    certificate.serial_number = Some(SerialNumber::from(1));
    certificate.not_before = rcgen::date_time_ymd(2000, 1, 1);
    certificate.not_after = rcgen::date_time_ymd(3000, 1, 1);
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("cert.pem"), certificate.self_signed(&key)?.pem())?;
    std::fs::write(directory.path().join("key.pem"), key.serialize_pem())?;
    Ok(Identity::load_or_create(directory.path())?)
}

//! Identities of servers and players for tests that repeat to the byte.

use phaselock_quic::identity::Identity;
use phaselock_quic::player::PlayerKeys;
use rcgen::{CertificateParams, KeyPair, SerialNumber};
use tempfile::TempDir;

/// An Ed25519 key of equal bytes (RFC 8410, 7).
fn same_key(byte: u8) -> anyhow::Result<KeyPair> {
    let mut key = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    key.extend([byte; 32]);
    Ok(KeyPair::try_from(key)?)
}

/// A fixed player's key, and the directory with its file. All clients get a number derived from it,
/// whose length differs from key to key. Fails if files cannot be written.
pub fn same_player(number: u64) -> anyhow::Result<(PlayerKeys, TempDir)> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("player.pem");
    std::fs::write(&path, same_key(number as u8)?.serialize_pem())?;
    Ok((PlayerKeys::File(path), directory))
}

/// A fixed identity, with signatures of one length (RFC 8032): other signatures differ in length,
/// which is enough to change the course of a session on a narrow path. Fails if files cannot be
/// written.
pub fn same_identity() -> anyhow::Result<Identity> {
    let key = same_key(0)?;
    let mut certificate = CertificateParams::new(["phaselock".to_owned()])?;
    certificate.serial_number = Some(SerialNumber::from(1));
    certificate.not_before = rcgen::date_time_ymd(2000, 1, 1);
    certificate.not_after = rcgen::date_time_ymd(3000, 1, 1);
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("cert.pem"), certificate.self_signed(&key)?.pem())?;
    std::fs::write(directory.path().join("key.pem"), key.serialize_pem())?;
    Ok(Identity::load_or_create(directory.path())?)
}

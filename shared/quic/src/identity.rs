//! The server's certificate and private key: created once, stored on disk, presented to all
//! clients.
//!
//! Clients pin the certificate's fingerprint, so a lost key locks out all players. Therefore no
//! file is ever overwritten, and any doubt is an error that says what to do.

mod crypto;
mod error;
mod presented;
mod rotation;
mod signer;
#[cfg(test)]
mod tests;
pub mod web;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phaselock::fingerprint::Fingerprint;
use phaselock::textfile::{Text, TextError};
use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use ring::hmac;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};

pub use self::crypto::fingerprint_of;
pub(crate) use self::crypto::provider;
pub use self::error::{CERTIFICATE_FILE, IdentityError, KEY_FILE};
use self::presented::Presented;
pub use self::signer::{SignError, Signer, facts_of, verified};
use crate::{files, private};

/// Chains from certificate authorities take under 10 KiB; a larger file is not a certificate.
const PEM_BYTES_MAX: usize = 64 * 1024;

/// The server's identity: the certificate that it presents in a handshake and the key that proves
/// it.
#[derive(Debug)]
pub struct Identity {
    /// The end-entity certificate, whose fingerprint clients pin.
    pub certificate: CertificateDer<'static>,
    /// The private key of that certificate. Its `Debug` does not print it.
    pub key: PrivateKeyDer<'static>,
    /// SHA-256 digest of [`certificate`](Self::certificate).
    pub fingerprint: Fingerprint,
    /// Certificate and key as used in handshakes; all servers with this identity share them.
    presented: Arc<Presented>,
}

impl Identity {
    /// Loads the identity in `data_dir`, or creates and stores a new one if there is none.
    ///
    /// Its files are `cert.pem` and `key.pem`. They may come from a certificate authority, with the
    /// chain in `cert.pem`, the server's own certificate first.
    pub fn load_or_create(data_dir: &Path) -> Result<Self, IdentityError> {
        let (certificate_path, key_path) = Self::paths_in(data_dir);
        let certificate_pem = read_pem(&certificate_path)?;
        let key_pem = read_pem(&key_path)?;
        match (certificate_pem, key_pem) {
            (Some(certificate_pem), Some(key_pem)) => {
                private::keep_private(&key_path);
                Self::from_pem(&certificate_path, &certificate_pem, &key_path, &key_pem)
            }
            (Some(_), None) => {
                Err(IdentityError::Half { present: certificate_path, missing: key_path })
            }
            (None, Some(_)) => {
                Err(IdentityError::Half { present: key_path, missing: certificate_path })
            }
            (None, None) => {
                let (identity, certificate_pem, key_pem) = Self::generate()?;
                private::create_dir(data_dir)
                    .map_err(io_error("create the directory", data_dir))?;
                // The key first: if two servers start at once, the second fails on it.
                write_new(data_dir, &key_path, &key_pem)?;
                write_new(data_dir, &certificate_path, &certificate_pem)?;
                sync_dir(data_dir)?;
                tracing::info!(
                    name: "identity_made",
                    fingerprint = %identity.fingerprint,
                    directory = %data_dir.display(),
                    "made a new server identity; back it up, because players pin it"
                );
                Ok(identity)
            }
        }
    }

    /// Loads the identity in these files: the certificate with its chain, the server's own first,
    /// and the private key.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, IdentityError> {
        let identity = Self::inspect(certificate, key);
        let identity = identity.map_err(|mut errors| errors.swap_remove(0))?;
        private::keep_private(key);
        Ok(identity)
    }

    /// Loads the identity in these files and changes nothing, not even the mode of a readable key.
    ///
    /// # Errors
    ///
    /// The problems of both files.
    pub fn inspect(certificate: &Path, key: &Path) -> Result<Self, Vec<IdentityError>> {
        let chain = read_existing_pem(certificate).and_then(|pem| chain_in(certificate, &pem));
        let found = read_existing_pem(key).and_then(|pem| key_in(key, &pem));
        match (chain, found) {
            (Ok(chain), Ok(found)) => {
                Self::of_pair((certificate, chain), (key, found)).map_err(|error| vec![error])
            }
            (chain, found) => Err(chain.err().into_iter().chain(found.err()).collect()),
        }
    }

    /// Returns the paths of certificate and key in a data directory.
    pub fn paths_in(data_dir: &Path) -> (PathBuf, PathBuf) {
        (data_dir.join(CERTIFICATE_FILE), data_dir.join(KEY_FILE))
    }

    /// Makes all servers with this identity present the certificate of another from now on.
    /// Connected clients are not affected.
    pub fn present(&self, other: &Self) {
        self.presented.replace(&other.presented);
    }

    /// Creates a new identity that is not stored.
    pub fn ephemeral() -> Result<Self, IdentityError> {
        Self::generate().map(|(identity, _, _)| identity)
    }

    /// Returns a signer that always uses the certificate its servers present.
    pub fn signer(&self) -> Signer {
        Signer::new(Arc::clone(&self.presented))
    }

    /// Returns the server's TLS 1.3 configuration, without client certificates, offering `alpn`.
    pub fn server_crypto(&self, alpn: &[u8]) -> Result<rustls::ServerConfig, rustls::Error> {
        let presented = Arc::clone(&self.presented);
        let mut crypto = rustls::ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_cert_resolver(presented);
        crypto.alpn_protocols = vec![alpn.to_vec()];
        // Our clients never resume a TLS session, so tickets would be useless.
        crypto.send_tls13_tickets = 0;
        crypto.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(crypto)
    }

    /// Returns the key of QUIC's stateless resets (RFC 9000, 10.3). It is derived from the stored
    /// key, so that a restarted server can reset its predecessor's connections at once.
    pub(crate) fn reset_key(&self) -> hmac::Key {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.key.secret_der());
        hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, b"phaselock stateless reset").as_ref())
    }

    /// Returns the secret by which a server recognises its own connection ids.
    pub(crate) fn id_secret(&self) -> u64 {
        let tag = hmac::sign(&self.reset_key(), b"phaselock connection ids");
        tag.as_ref().first_chunk().copied().map_or(0, u64::from_le_bytes)
    }

    fn generate() -> Result<(Self, String, String), IdentityError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::new(["phaselock".to_owned(), "localhost".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "phaselock");
        // Pins do not expire, and hosts' clocks may be wrong. Both years are arbitrary.
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(3000, 1, 1);
        let certificate = params.self_signed(&key)?;
        let (certificate_pem, key_pem) = (certificate.pem(), key.serialize_pem());
        let der = certificate.der().clone();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let signing = provider().key_provider.load_private_key(key.clone_key())?;
        let presented = Presented::new(CertifiedKey::new(vec![der.clone()], signing));
        let fingerprint = fingerprint_of(&der);
        let identity = Self { fingerprint, certificate: der, key, presented };
        Ok((identity, certificate_pem, key_pem))
    }

    fn from_pem(
        certificate_path: &Path,
        certificate_pem: &[u8],
        key_path: &Path,
        key_pem: &[u8],
    ) -> Result<Self, IdentityError> {
        let chain = chain_in(certificate_path, certificate_pem)?;
        let key = key_in(key_path, key_pem)?;
        Self::of_pair((certificate_path, chain), (key_path, key))
    }

    /// Creates the identity from a non-empty chain and a key, each with the path of its file.
    fn of_pair(
        (certificate_path, chain): (&Path, Vec<CertificateDer<'static>>),
        (key_path, (key, signing)): (&Path, LoadedKey),
    ) -> Result<Self, IdentityError> {
        let certificate = chain[0].clone();
        let certified = CertifiedKey::new(chain, signing);
        match certified.keys_match() {
            Ok(()) => {}
            Err(rustls::Error::InconsistentKeys(_)) => {
                return Err(IdentityError::Mismatch {
                    certificate: certificate_path.to_owned(),
                    key: key_path.to_owned(),
                });
            }
            Err(error) => {
                let problem = format!("holds a certificate that does not load ({error})");
                return Err(unusable(certificate_path, problem));
            }
        }
        let presented = Presented::new(certified);
        Ok(Self { fingerprint: fingerprint_of(&certificate), certificate, key, presented })
    }
}

fn unusable(path: &Path, problem: impl Into<String>) -> IdentityError {
    IdentityError::Unusable { path: path.to_owned(), problem: problem.into() }
}

/// Returns the certificates in a PEM file, at least one.
fn chain_in(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let chain = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| unusable(path, format!("is not valid PEM ({error})")))?;
    let empty = || unusable(path, "holds no certificate in PEM");
    if chain.is_empty() { Err(empty()) } else { Ok(chain) }
}

/// A private key, and its signer.
type LoadedKey = (PrivateKeyDer<'static>, Arc<dyn SigningKey>);

/// Returns the private key in a PEM file.
fn key_in(path: &Path, pem: &[u8]) -> Result<LoadedKey, IdentityError> {
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        pem::Error::NoItemsFound => unusable(path, "holds no private key in PEM"),
        error => unusable(path, format!("is not valid PEM ({error})")),
    })?;
    let signing = provider().key_provider.load_private_key(key.clone_key()).map_err(|error| {
        unusable(path, format!("holds a private key that does not load ({error})"))
    })?;
    Ok((key, signing))
}

/// Derives the seed of maps from a seed of the world, without revealing it.
pub fn map_seed(seed: u64) -> u64 {
    let text = [&b"phaselock map "[..], &seed.to_le_bytes()].concat();
    let digest = ring::digest::digest(&ring::digest::SHA256, &text);
    digest.as_ref().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IdentityError {
    let path = path.to_owned();
    move |error| IdentityError::Io { action, path, error }
}

/// Reads a PEM file for rustls, without the traces of editors. Returns `None` if there is no such
/// file.
pub(crate) fn read_pem(path: &Path) -> Result<Option<Vec<u8>>, IdentityError> {
    let Some(bytes) = files::read(path, PEM_BYTES_MAX).map_err(io_error("read", path))? else {
        return Ok(None);
    };
    match Text::decode(&bytes, PEM_BYTES_MAX) {
        Ok(text) => {
            let lines: Vec<_> = text.lines().map(|(_, line)| line.trim_start()).collect();
            Ok(Some(lines.join("\n").into_bytes()))
        }
        // Comments may be in another encoding, and rustls skips them.
        Err(TextError::Utf8(_)) => Ok(Some(bytes)),
        Err(error) => Err(unusable(path, format!("is not PEM ({error})"))),
    }
}

/// Reads a PEM file that must be there.
fn read_existing_pem(path: &Path) -> Result<Vec<u8>, IdentityError> {
    let missing = || io_error("open", path)(io::ErrorKind::NotFound.into());
    read_pem(path)?.ok_or_else(missing)
}

/// Writes a new file, completely or not at all, readable by its owner only.
pub(crate) fn write_new(dir: &Path, path: &Path, content: &str) -> Result<(), IdentityError> {
    let mut file = tempfile::Builder::new()
        .make_in(dir, private::create_new)
        .map_err(io_error("write in the directory", dir))?;
    file.write_all(content.as_bytes()).map_err(io_error("write", path))?;
    file.as_file().sync_all().map_err(io_error("write", path))?;
    file.persist_noclobber(path).map_err(|error| io_error("create", path)(error.error))?;
    Ok(())
}

/// Makes renames survive a power failure, if directories can be synced.
fn sync_dir(dir: &Path) -> Result<(), IdentityError> {
    if cfg!(unix) {
        File::open(dir)
            .and_then(|dir| dir.sync_all())
            .map_err(io_error("sync the directory", dir))?;
    }
    Ok(())
}

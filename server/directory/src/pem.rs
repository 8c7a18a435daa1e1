//! Certificates and keys from files, read again when the files have changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// Maximum size of a file with certificates. Bundles of authorities have about 220 kB.
const BYTES_MAX: u64 = 1024 * 1024;

/// Reads a file of limited size.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let said = || format!("cannot read {}", path.display());
    let size = fs::metadata(path).with_context(said)?.len();
    ensure!(size <= BYTES_MAX, "{} is too large for a certificate or key", path.display());
    fs::read(path).with_context(said)
}

/// Parses a file with at least one certificate.
pub(crate) fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    // The error may quote the file.
    let found = found.map_err(|_| anyhow::anyhow!("{} is not valid PEM", path.display()))?;
    if found.is_empty() {
        bail!("{} has no certificate in PEM", path.display());
    }
    Ok(found)
}

/// A certificate and its key, from two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyPairFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl KeyPairFiles {
    /// Reads both files.
    pub(crate) fn read(&self) -> Result<[Vec<u8>; 2]> {
        Ok([read(&self.certificate)?, read(&self.key)?])
    }

    /// Parses the contents of both files, and checks that they belong together. The error never
    /// quotes the key.
    pub(crate) fn parse(
        &self,
        certificate: &[u8],
        key: &[u8],
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let chain = certificates(&self.certificate, certificate)?;
        let key_file = self.key.display();
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| anyhow::anyhow!("{key_file} has no private key in PEM"))?;
        let provider = Arc::new(default_provider());
        CertifiedKey::from_der(chain.clone(), key.clone_key(), &provider).map_err(|error| {
            let certificate = self.certificate.display();
            anyhow::anyhow!("the key in {key_file} does not fit {certificate}: {error}")
        })?;
        Ok((chain, key))
    }
}
